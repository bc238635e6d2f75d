//! What the helper is told, and what it tells back, as bytes.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::wire::Wire;
use crate::hosts::HostGrant;
use crate::profile::{Absent, Access, Caches, Limits, Network, Profile, Protected, Temp};
use crate::report::Level;
use crate::spec::{Left, Program, Spec};

/// Fields in the order they are told, so that putting and taking cannot disagree.
macro_rules! wire_struct {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }
            fn take(bytes: &mut &[u8]) -> io::Result<Self> {
                Ok(Self { $($field: Wire::take(bytes)?),* })
            }
        }
    };
}

/// Variants without fields, each as its place in the list.
macro_rules! wire_enum {
    ($type:ident { $($variant:ident),* $(,)? }) => {
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let variants = [$($type::$variant),*];
                let place = variants.iter().position(|variant| variant == self);
                u8::try_from(place.expect("every variant is listed")).expect("few variants").put(out);
            }
            fn take(bytes: &mut &[u8]) -> io::Result<Self> {
                let variants = [$($type::$variant),*];
                let place = usize::from(u8::take(bytes)?);
                variants.get(place).copied().ok_or_else(|| io::ErrorKind::InvalidData.into())
            }
        }
    };
}

wire_enum!(Access { Confined, Full });
wire_enum!(Absent { Mask, MaskWithin, Remove, Repository, Additions, Gitlinks, GitlinksWithin });
wire_enum!(Level { None, LandlockOnly, Bubblewrap, Namespaces });
wire_struct!(Protected { path, absent });
wire_struct!(Caches { home, paths });
wire_struct!(Limits { processes, memory_bytes, file_bytes, open_files });
wire_struct!(Program { program, args, env, cwd });
wire_struct!(Profile {
    access,
    writable,
    readable,
    protected,
    hidden,
    sockets,
    network,
    temp,
    caches,
    limits,
    terminal,
    custody,
});
wire_struct!(Left { processes, names });
wire_struct!(Spec { level, profile, program, bubblewrap });

impl Wire for Temp {
    fn put(&self, out: &mut Vec<u8>) {
        let directory = match self {
            Temp::Fresh => None,
            Temp::Directory(path) => Some(path.clone()),
        };
        directory.put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<Temp> {
        Ok(<Option<PathBuf> as Wire>::take(bytes)?.map_or(Temp::Fresh, Temp::Directory))
    }
}

impl Wire for Network {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Network::Off => 0_u8.put(out),
            Network::Loopback => 1_u8.put(out),
            Network::Host => 2_u8.put(out),
            Network::Hosts(grants) => {
                let grants: Vec<String> = grants.iter().map(HostGrant::to_string).collect();
                (3_u8, grants).put(out);
            }
        }
    }
    fn take(bytes: &mut &[u8]) -> io::Result<Network> {
        match u8::take(bytes)? {
            0 => Ok(Network::Off),
            1 => Ok(Network::Loopback),
            2 => Ok(Network::Host),
            3 => {
                let grants = <Vec<String> as Wire>::take(bytes)?;
                let grant = |text: &String| HostGrant::parse(text).map_err(io::Error::other);
                grants.iter().map(grant).collect::<io::Result<_>>().map(Network::Hosts)
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        OsString::from(self).put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<String> {
        Ok(OsString::take(bytes)?.to_string_lossy().into_owned())
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<u32> {
        u32::try_from(u64::take(bytes)?).map_err(io::Error::other)
    }
}

/// What the helper tells of a command, besides its exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// The sandbox could not be set up.
    Setup(String),
    /// The program could not be started.
    Start(String),
    /// What appeared at a protected path was taken away, and where it is kept.
    Removed(PathBuf, Vec<PathBuf>),
    /// So many more were removed.
    RemovedBesides(u64),
    /// How the command ended, as the kernel writes it. Told within the helper only.
    Status(u64),
    /// Bubblewrap has done its part. Told within the helper only.
    Begun,
    /// A host that the command asked for and that is not granted.
    Refused(String),
    /// The command was ended because it wanted more memory than it may have.
    OutOfMemory,
    /// What was still running when the command had ended.
    Left(Left),
    /// All could be set up, by this build. Told only where there was nothing to run.
    Tried(String),
}

impl Wire for Told {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Told::Setup(why) => (0_u8, why.clone()).put(out),
            Told::Start(why) => (1_u8, why.clone()).put(out),
            Told::Removed(path, kept) => (2_u8, (path.clone(), kept.clone())).put(out),
            Told::Status(raw) => (3_u8, *raw).put(out),
            Told::Begun => 4_u8.put(out),
            Told::Refused(host) => (5_u8, host.clone()).put(out),
            Told::OutOfMemory => 6_u8.put(out),
            Told::Tried(build) => (7_u8, build.clone()).put(out),
            Told::RemovedBesides(count) => (8_u8, *count).put(out),
            Told::Left(left) => {
                9_u8.put(out);
                left.put(out);
            }
        }
    }
    fn take(bytes: &mut &[u8]) -> io::Result<Told> {
        match u8::take(bytes)? {
            0 => String::take(bytes).map(Told::Setup),
            1 => String::take(bytes).map(Told::Start),
            2 => Wire::take(bytes).map(|(path, kept)| Told::Removed(path, kept)),
            3 => u64::take(bytes).map(Told::Status),
            4 => Ok(Told::Begun),
            5 => String::take(bytes).map(Told::Refused),
            6 => Ok(Told::OutOfMemory),
            7 => String::take(bytes).map(Told::Tried),
            8 => u64::take(bytes).map(Told::RemovedBesides),
            9 => Wire::take(bytes).map(Told::Left),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HostGrant, Level, Network, Profile, Program, Spec, Wire};
    use std::path::Path;

    #[test]
    fn what_is_told_is_what_is_understood() {
        let mut profile = Profile::workspace_write(["/ws"]).with_home(Path::new("/home/me"));
        profile.limits.memory_bytes = Some(7);
        profile.network = Network::Hosts(vec![HostGrant::parse("*.a.b:8443").unwrap()]);
        let program = Program {
            program: "sh".into(),
            args: vec!["-c".into(), "true\n".into()],
            env: vec![("A".into(), "b=c".into())],
            cwd: "/ws".into(),
        };
        let spec =
            Spec { level: Level::Namespaces, profile, program, bubblewrap: Some("/usr/bin/bwrap".into()) };
        let mut told = Vec::new();
        spec.put(&mut told);
        assert_eq!(Spec::take(&mut told.as_slice()).unwrap(), spec);
        for cut in 0..told.len() {
            assert!(Spec::take(&mut &told[..cut]).is_err(), "{cut} bytes were enough");
        }
    }
}
