//! What a command may do: a profile is a value that the caller fills in and the kernel enforces.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use crate::SandboxError;
use crate::defaults;
use crate::hosts::HostGrant;
use crate::os;
use crate::report::Level;

/// What the kernel lets a process do.
///
/// The three constructors are the three profiles people know; every field can be changed after, to grant more or
/// less. What is not granted is refused by the kernel, or [`Sandbox::command`](crate::Sandbox::command) fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Whether there is any confinement at all.
    pub access: Access,
    /// Directories, each with all below it, that may be changed.
    pub writable: Vec<PathBuf>,
    /// Files and directories that stay visible where a private directory covers them, such as one in `/tmp`.
    pub readable: Vec<PathBuf>,
    /// What stays unchanged even within a writable directory.
    pub protected: Vec<Protected>,
    /// Files and directories whose content is not to be read: keys and the like. Those that do not exist are passed over.
    pub hidden: Vec<PathBuf>,
    /// Unix sockets of the host that may be connected to. All others are covered or out of reach.
    pub sockets: Vec<PathBuf>,
    /// Which network there is.
    pub network: Network,
    /// What `/tmp` and `/var/tmp` are.
    pub temp: Temp,
    /// The home directory with the caches that appear writable, each a private copy that is thrown away.
    pub caches: Option<Caches>,
    /// How much of the machine it may use.
    pub limits: Limits,
    /// Whether standard input is a terminal that the command is to control.
    pub terminal: bool,
    /// A directory that the command cannot reach, where that is kept which is taken away from protected paths, and where
    /// it stands who was let write there ([`Vouching`](crate::Vouching)). Without one, what is taken away is gone.
    pub custody: Option<PathBuf>,
}

/// Whether a profile confines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything is refused but what the profile grants.
    Confined,
    /// Nothing is refused; processes are still ended as a tree.
    Full,
}

/// A path that a command must not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// The file or directory.
    pub path: PathBuf,
    /// What to do where there is nothing to protect yet.
    pub absent: Absent,
}

/// How a protected path is held when it does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// An empty directory stands there, read-only, while the command runs. Where the directory above it is
    /// missing too, that one is masked instead.
    Mask,
    /// As `Mask`, but only where the directory above exists: a new repository may be made, an old one not changed.
    MaskWithin,
    /// Whatever the command puts there is taken away within moments, and when it has ended at the latest. Nothing
    /// stands there meanwhile, neither for the command nor on the host; but the kernel does not prevent the attempt.
    Remove,
    /// The path is that of a `HEAD`, there or not, by which git knows a repository. It may be changed, but the directory
    /// it is in neither becomes a repository nor ceases to be one; what would have done so is undone.
    Repository,
    /// The path is a directory, there or not. What is in it may be changed, what is put there besides is removed.
    Additions,
    /// The path is `.git/index` of a working tree, wherever its index really is. Repositories may be added to it, but
    /// what runs something in those, and in those that they lead to, is removed: git believes them then. Those of all
    /// working trees that have such a path are the person's own.
    Gitlinks,
    /// The same, of an index that has whole directories as one entry each. Only commits tell which repositories these
    /// have in them, so all are looked at that appear there.
    GitlinksWithin,
}

/// As long as the kernel takes paths, with their end.
const PATH_BYTES_MAX: usize = 4096;

/// Where the proxy listens in a network of the command's own. Nobody else is there yet, so no port is taken.
pub(crate) const PROXY_PORT: u16 = 48_128;

/// Which network a command has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// None: sockets of the internet families cannot be made (`ENETUNREACH`).
    Off,
    /// A loopback of its own, with nobody else on it.
    Loopback,
    /// The same, with an HTTP proxy on it that leads to these hosts and no others.
    Hosts(Vec<HostGrant>),
    /// The host's.
    Host,
}

/// What the temporary directories are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Temp {
    /// Empty, in memory, gone with the command.
    Fresh,
    /// A directory of the caller's, so that the commands of one session see each other's files.
    Directory(PathBuf),
}

/// Directories of the home directory that appear writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caches {
    /// The home directory.
    pub home: PathBuf,
    /// Paths relative to it.
    pub paths: Vec<PathBuf>,
}

/// How much of the machine a command may use. `None` leaves a limit as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads at a time. Holds in namespaces only: elsewhere a user's other processes count too.
    pub processes: Option<u32>,
    /// Bytes of memory: of the whole command where a control group can be had, and in any case of what each process
    /// has for itself. Address space that is only reserved does not count.
    pub memory_bytes: Option<u64>,
    /// Bytes of the largest file.
    pub file_bytes: Option<u64>,
    /// Open files per process.
    pub open_files: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            processes: Some(2048),
            memory_bytes: os::half_of_memory(),
            file_bytes: Some(16 << 30),
            open_files: Some(4096),
        }
    }
}

impl Limits {
    /// Leaves everything as it is.
    pub const NONE: Limits =
        Limits { processes: None, memory_bytes: None, file_bytes: None, open_files: None };
}

impl Profile {
    /// Everything can be looked at but secrets, nothing can be changed but private temporary files; no network.
    pub fn read_only() -> Profile {
        Profile {
            access: Access::Confined,
            writable: Vec::new(),
            readable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            sockets: Vec::new(),
            network: Network::Off,
            temp: Temp::Fresh,
            caches: None,
            limits: Limits::default(),
            terminal: false,
            custody: None,
        }
    }

    /// As [`read_only`](Profile::read_only), but the workspace's directories may be changed, except for what makes
    /// later programs run something.
    pub fn workspace_write<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>) -> Profile {
        let writable: Vec<PathBuf> = roots.into_iter().map(|root| root.as_ref().to_path_buf()).collect();
        let protected = writable.iter().flat_map(|root| defaults::protected(root)).collect();
        Profile { writable, protected, ..Profile::read_only() }
    }

    /// No confinement. The command still runs under a supervisor that ends its whole tree.
    pub fn full_access() -> Profile {
        Profile { access: Access::Full, network: Network::Host, limits: Limits::NONE, ..Profile::read_only() }
    }

    /// Has the kernel prevent what would otherwise be undone: an empty directory stands for every protected path
    /// that is absent, for the command and on the host, as long as the command runs.
    #[must_use]
    pub fn with_masks(mut self) -> Profile {
        self.protected.iter_mut().for_each(|protected| match protected.absent {
            // Git fails on a directory of these names.
            Absent::Remove if protected.path.components().any(|part| part.as_os_str() == ".git") => {}
            Absent::Remove => protected.absent = Absent::Mask,
            Absent::Mask
            | Absent::MaskWithin
            | Absent::Repository
            | Absent::Additions
            | Absent::Gitlinks
            | Absent::GitlinksWithin => {}
        });
        self
    }

    /// Hides the secrets and offers the caches that are usual in a home directory.
    #[must_use]
    pub fn with_home(mut self, home: &Path) -> Profile {
        self.hidden.extend(defaults::secrets(home));
        let paths = defaults::CACHES.iter().map(PathBuf::from).collect();
        self.caches = Some(Caches { home: home.to_path_buf(), paths });
        self
    }

    /// Lets one more file or directory be changed, except for what makes later programs run something.
    #[must_use]
    pub fn with_writable(mut self, path: PathBuf) -> Profile {
        self.protected.extend(defaults::protected(&path));
        self.writable.push(path);
        self
    }

    /// Protects in a directory within a writable one what makes later programs run something.
    #[must_use]
    pub fn with_protected(mut self, directory: &Path) -> Profile {
        self.protected.extend(defaults::protected(directory));
        self
    }

    /// Variables that make up for what the sandbox lacks. They are suggestions; the caller decides.
    pub fn suggested_env(&self, level: Level) -> Vec<(&'static str, String)> {
        if self.access == Access::Full {
            return Vec::new();
        }
        // Root without capabilities cannot give files away, which `tar` tries as root.
        let mut env = vec![("TAR_OPTIONS", "--no-same-owner".to_owned())];
        if let Network::Hosts(grants) = &self.network {
            env.extend(proxy_env(grants));
        }
        let temp = match (&self.temp, level) {
            (_, Level::Namespaces) => return env,
            (_, Level::Bubblewrap) => "/tmp".to_owned(),
            (Temp::Directory(path), Level::LandlockOnly | Level::None) => path.to_string_lossy().into_owned(),
            (Temp::Fresh, Level::LandlockOnly | Level::None) => return env,
        };
        // Without private layers the caches are read-only, so they are put where files can be written.
        let caches = ["XDG_CACHE_HOME", "npm_config_cache", "GRADLE_USER_HOME", "GOCACHE", "GOMODCACHE"];
        env.extend(caches.map(|name| (name, format!("{temp}/cache-{}", name.to_lowercase()))));
        env.push(("TMPDIR", temp));
        env
    }

    /// The same profile with every path absolute and free of links, so that what is granted is what was named.
    pub(crate) fn resolved(&self) -> Result<Profile, SandboxError> {
        let mut profile = self.clone();
        for root in &mut profile.writable {
            *root = existing(root)?;
            if *root == Path::new("/") {
                return Err(SandboxError::RootIsEverything);
            }
        }
        for path in &mut profile.readable {
            *path = existing(path)?;
        }
        // All of it can be seen but what is private or hidden, which must not be laid bare by its name.
        profile.readable.retain(|path| path != Path::new("/"));
        for path in &mut profile.sockets {
            *path = existing(path)?;
        }
        if let Temp::Directory(path) = &mut profile.temp {
            *path = existing(path)?;
        }
        let mut known = Known::default();
        profile.hidden = profile.hidden.iter().filter_map(|path| known.real(path)).collect();
        // What the kernel takes no path of cannot come to be.
        profile.protected.retain(|protected| protected.path.as_os_str().len() < PATH_BYTES_MAX);
        for protected in &mut profile.protected {
            protected.path = match (protected.absent, protected.path.parent()) {
                // Its `.git` may be a link, and the index wherever that leads; it is known by its working tree.
                (Absent::Gitlinks | Absent::GitlinksWithin, Some(git)) => {
                    above_resolved(git, &mut known)?.join("index")
                }
                _ => above_resolved(&protected.path, &mut known)?,
            };
        }
        if let Some(caches) = &mut profile.caches {
            match caches.home.canonicalize() {
                Ok(home) if home != Path::new("/") && home.is_dir() => caches.home = home,
                Ok(_) | Err(_) => profile.caches = None,
            }
        }
        Ok(profile)
    }
}

/// By these variables programs find the proxy. What is on the command's own loopback is reached without it, unless the
/// host's is granted.
fn proxy_env(grants: &[HostGrant]) -> Vec<(&'static str, String)> {
    let is_granted = |address: IpAddr| grants.iter().any(|grant| grant.is_address(address));
    let own = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let own =
        own.into_iter().filter(|address| !is_granted(*address)).map(|address: IpAddr| address.to_string());
    let direct = std::iter::once("localhost".to_owned()).chain(own).collect::<Vec<_>>().join(",");
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let upper = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    let lower = ["http_proxy", "https_proxy", "all_proxy"];
    let mut env: Vec<_> = upper.into_iter().chain(lower).map(|name| (name, proxy.clone())).collect();
    env.extend(["NO_PROXY", "no_proxy"].map(|name| (name, direct.clone())));
    // Node passes over these variables unless it is told not to.
    env.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    env
}

fn existing(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| SandboxError::NoSuchPath { path: path.to_path_buf(), source })
}

/// Resolves what exists of a path that may not exist. Its last name is kept even if it is a link: the link is
/// what must not be changed.
fn above_resolved(path: &Path, known: &mut Known) -> Result<PathBuf, SandboxError> {
    let not_absolute = || SandboxError::NotAbsolute { path: path.to_path_buf() };
    let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(not_absolute)?;
    let mut missing = vec![name];
    for above in parent.ancestors() {
        if let Some(real) = known.real(above) {
            return Ok(missing.iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.push(above.file_name().ok_or_else(not_absolute)?);
    }
    Err(not_absolute())
}

/// Where paths really lead. Many lie in the same directories, and those in each other, so it is remembered: each is looked at
/// once, however deep it lies.
#[derive(Default)]
struct Known(HashMap<PathBuf, Option<PathBuf>>);

impl Known {
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(real) = self.0.get(path) {
            return real.clone();
        }
        // The outermost first; what lies in nothing is nowhere.
        let unknown: Vec<&Path> = path.ancestors().take_while(|part| !self.0.contains_key(*part)).collect();
        for part in unknown.into_iter().rev() {
            let real = self.next(part);
            self.0.insert(part.to_path_buf(), real);
        }
        self.0.get(path).cloned().flatten()
    }

    fn next(&self, path: &Path) -> Option<PathBuf> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().ok();
        };
        let path = self.0.get(above)?.as_ref()?.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path.canonicalize().ok(),
            Ok(_) => Some(path),
            Err(_) => None,
        }
    }
}
