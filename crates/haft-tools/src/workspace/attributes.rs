//! What a file keeps when its content is replaced, and gets back when it is restored: owner, group, mode and extended
//! attributes.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use haft::Attributes;
use rustix::fs::Stat;

/// Set-user-id and set-group-id.
const BORROWED_IDENTITY: u32 = 0o6000;

/// Gives the new file what the old one has.
pub(super) fn keep(old: &File, stat: &Stat, new: &File) -> io::Result<()> {
    give(&of(old, stat)?, new)
}

/// What a file has.
pub(super) fn of(file: &File, stat: &Stat) -> io::Result<Attributes> {
    Ok(Attributes {
        mode: stat.st_mode & 0o7777,
        owner: stat.st_uid,
        group: stat.st_gid,
        extended: extended(file)?,
    })
}

/// Gives a file these.
pub(super) fn give(attributes: &Attributes, new: &File) -> io::Result<()> {
    let Attributes { mode, owner, group, extended } = attributes;
    let made = new.metadata()?;
    let is_same_owner = made.uid() == *owner && made.gid() == *group;
    let owner_kept = is_same_owner || fchown(new, Some(*owner), Some(*group)).is_ok();
    give_extended(extended, new)?;
    // Somebody else's identity must not be lent to a file of ours.
    let mode = if owner_kept { *mode } else { mode & !BORROWED_IDENTITY };
    new.set_permissions(Permissions::from_mode(mode))
}

#[cfg(target_os = "linux")]
fn extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::fs::{fgetxattr, flistxattr};
    use rustix::io::Errno;

    let mut names = vec![0; 64 << 10];
    let listed = match flistxattr(file, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut value = if listed > 0 { vec![0; 64 << 10] } else { Vec::new() };
    let mut found = Vec::new();
    for name in names[..listed].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        match fgetxattr(file, name, &mut value[..]) {
            Ok(length) => found.push((name.to_vec(), value[..length].to_vec())),
            Err(error) if is_personal(name) => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
fn give_extended(extended: &[(Vec<u8>, Vec<u8>)], new: &File) -> io::Result<()> {
    for (name, value) in extended {
        match rustix::fs::fsetxattr(new, name.as_slice(), value, rustix::fs::XattrFlags::empty()) {
            Ok(()) => {}
            Err(error) if is_personal(name) => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(())
}

/// A person's own attributes are kept or the change fails; labels are the system's affair.
#[cfg(target_os = "linux")]
fn is_personal(name: &[u8]) -> bool {
    name.starts_with(b"user.")
}

#[cfg(not(target_os = "linux"))]
fn extended(_file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    Ok(Vec::new())
}

#[cfg(not(target_os = "linux"))]
fn give_extended(_extended: &[(Vec<u8>, Vec<u8>)], _new: &File) -> io::Result<()> {
    Ok(())
}
