//! What a file keeps when its content is replaced: owner, group, mode and extended attributes.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use rustix::fs::Stat;

/// Set-user-id and set-group-id.
const BORROWED_IDENTITY: u32 = 0o6000;

/// Gives the new file what the old one has.
pub(super) fn keep(old: &File, stat: &Stat, new: &File) -> io::Result<()> {
    let made = new.metadata()?;
    let is_same_owner = made.uid() == stat.st_uid && made.gid() == stat.st_gid;
    let owner_kept = is_same_owner || fchown(new, Some(stat.st_uid), Some(stat.st_gid)).is_ok();
    keep_extended(old, new)?;
    let mut mode = stat.st_mode & 0o7777;
    if !owner_kept {
        // Somebody else's identity must not be lent to a file of ours.
        mode &= !BORROWED_IDENTITY;
    }
    new.set_permissions(Permissions::from_mode(mode))
}

#[cfg(target_os = "linux")]
fn keep_extended(old: &File, new: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    use rustix::io::Errno;

    let mut names = vec![0; 64 << 10];
    let listed = match flistxattr(old, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut value = vec![0; 64 << 10];
    for name in names[..listed].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let copied = fgetxattr(old, name, &mut value[..])
            .and_then(|length| fsetxattr(new, name, &value[..length], XattrFlags::empty()));
        match copied {
            Ok(()) => {}
            // A person's own attributes are kept or the change fails; labels are the system's affair.
            Err(error) if name.starts_with(b"user.") => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn keep_extended(_old: &File, _new: &File) -> io::Result<()> {
    Ok(())
}
