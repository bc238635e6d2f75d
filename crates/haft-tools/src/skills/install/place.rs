//! Where skills are installed: written beside, then swapped in by one rename.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft::{CallId, visible};
use serde::{Deserialize, Serialize};

use super::package::{Package, digest, digest_of};
use super::{InstallError, Installed};

pub(super) const MARKER: &str = ".haft-skill.json";
pub(super) const STAGING: &str = ".staging-";
/// What is on its way for longer was left by a process that is gone.
const STALE: Duration = Duration::from_secs(60 * 60);

/// What is known of an installed skill.
#[derive(PartialEq, Serialize, Deserialize)]
struct Marker {
    source: String,
    version: Option<String>,
    digest: String,
}

/// A skill that is checked and waits to be swapped in, unless it is there already.
pub(super) struct Staged {
    installed: Installed,
    staging: Option<Staging>,
    target: PathBuf,
}

/// Refuses to take the place of a skill that came from elsewhere.
pub(super) fn check_taken(name: &str, source: &str, into: &Path) -> Result<(), InstallError> {
    let target = into.join(name);
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    let from = match marker_of(&target) {
        Some(known) if known.source == source => return Ok(()),
        Some(known) => format!("from {}", visible(&known.source)),
        None => "by other means".to_owned(),
    };
    Err(InstallError::Taken { name: name.to_owned(), from, path: visible(&target.to_string_lossy()) })
}

fn marker_of(target: &Path) -> Option<Marker> {
    serde_json::from_slice(&fs::read(target.join(MARKER)).ok()?).ok()
}

/// Writes a skill beside its place, unless the very same is there. What is on disk counts, not what was noted of it.
pub(super) fn stage(package: &Package, source: &str, into: &Path) -> Result<Staged, InstallError> {
    let target = into.join(&package.name);
    let marker = Marker {
        source: source.to_owned(),
        version: package.version.clone(),
        digest: digest(&package.files),
    };
    let is_same = marker_of(&target).is_some_and(|known| known == marker)
        && digest_of(&target).is_some_and(|there| there == marker.digest);
    let installed =
        Installed { name: package.name.clone(), version: package.version.clone(), is_new: !is_same };
    if is_same {
        return Ok(Staged { installed, staging: None, target });
    }
    let staging = Staging(into.join(format!("{STAGING}{}", CallId::mint())));
    let failed = |source| InstallError::Write { path: visible(&target.to_string_lossy()), source };
    write_all(&staging.0, package, &marker).map_err(failed)?;
    Ok(Staged { installed, staging: Some(staging), target })
}

impl Staged {
    pub(super) fn name(&self) -> &str {
        &self.installed.name
    }

    /// Puts it in the place of an earlier version, at once or not at all.
    pub(super) fn put(self, into: &Path) -> Result<Installed, InstallError> {
        if let Some(staging) = &self.staging {
            let failed =
                |source| InstallError::Write { path: visible(&self.target.to_string_lossy()), source };
            swap(&staging.0, &self.target).map_err(failed)?;
            fs::File::open(into).and_then(|directory| directory.sync_all()).map_err(failed)?;
        }
        Ok(self.installed)
    }
}

/// Removes what an installation that was interrupted has left.
pub(super) fn sweep(into: &Path) {
    for entry in into.read_dir().into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(STAGING);
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|at| at.elapsed().ok());
        if is_ours && age.is_some_and(|age| age > STALE) {
            drop(Staging(entry.path()));
        }
    }
}

/// A directory on its way. Whatever is in it at the end goes: what was not finished, or what was replaced.
struct Staging(PathBuf);

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody looks into it; what cannot be removed now is only in the way.
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn write_all(staging: &Path, package: &Package, marker: &Marker) -> std::io::Result<()> {
    fs::create_dir_all(staging)?;
    let marker = serde_json::to_vec(marker)?;
    let files = package.files.iter().map(|(path, bytes)| (path.as_path(), bytes));
    for (path, bytes) in files.chain([(Path::new(MARKER), &marker)]) {
        let path = staging.join(path);
        fs::create_dir_all(path.parent().unwrap_or(staging))?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    fs::File::open(staging)?.sync_all()
}

/// Exchanges two directories in one step where there is something to exchange with.
fn swap(staging: &Path, target: &Path) -> std::io::Result<()> {
    if target.symlink_metadata().is_err() {
        return fs::rename(staging, target);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staging, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Without that, the old one stands aside for a moment.
    let aside = staging.with_extension("old");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(staging, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::remove_dir_all(aside)
}
