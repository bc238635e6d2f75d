//! That a machine was tried and holds everything, remembered so that the next process need not try again.
//!
//! The file is a hint, not a promise: a command that cannot be confined as it says is not run, and the hint is forgotten.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};

use super::helper::BUILD;
use super::program::{Helper, Helpers};

/// What a trial depends on, each read anew: the kernel's start, the namespaces we are in, and what a person may switch.
const CIRCUMSTANCES: [&str; 4] = [
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
];
/// What is remembered is shorter.
const REMEMBERED_BYTES_MAX: u64 = 4 << 10;
const NAMESPACES: [&str; 4] = ["user", "mnt", "pid", "net"];

/// The helper with which namespaces of our own worked here, when somebody last tried and had the same to choose from.
pub(crate) fn recalled(file: &Path, helpers: &Helpers) -> Option<Helper> {
    let then = read(file).ok()?;
    let worked = then.strip_prefix(circumstances(helpers).as_str())?;
    helpers.iter().find(|helper| mark(helper).is_some_and(|mark| mark == worked)).cloned()
}

/// Remembers that they do. Where that fails, the next process tries again, as if nobody had.
pub(crate) fn remember(file: &Path, helpers: &Helpers, worked: &Helper) {
    if let Some(mark) = mark(worked) {
        let _tried_again = write(file, &(circumstances(helpers) + &mark));
    }
}

/// What a file holds, if it is one of ours: neither a link, nor large, nor anything that would keep us waiting.
fn read(file: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(file, flags, Mode::empty())?);
    let mut text = String::new();
    if opened.metadata()?.is_file() {
        opened.take(REMEMBERED_BYTES_MAX).read_to_string(&mut text)?;
    }
    Ok(text)
}

/// Takes the place of whatever is there under this name.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let unnamed = file.with_extension(own_ending());
    // What is there already is somebody else's: it is neither written to nor removed.
    let mut made = File::create_new(&unnamed)?;
    let written = made.write_all(text.as_bytes()).and_then(|()| fs::rename(&unnamed, file));
    if written.is_err() {
        let _stays = fs::remove_file(&unnamed);
    }
    written
}

/// An ending that nobody else uses: not another thread, nor a process of the same number in another container or after
/// this one.
fn own_ending() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{count}", std::process::id(), since.as_nanos())
}

/// Forgets it, because it is no longer so.
pub(crate) fn forget(file: &Path) {
    let _tried_again = fs::remove_file(file);
}

/// Everything that the answer depends on, as text.
fn circumstances(helpers: &Helpers) -> String {
    let made: Vec<_> = helpers.iter().map(Helper::made).collect();
    // Not every kernel has every switch.
    let switches = CIRCUMSTANCES.map(|path| fs::read_to_string(path).unwrap_or_default());
    let namespaces =
        NAMESPACES.map(|kind| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default());
    let who = rustix::process::geteuid().as_raw();
    format!("{who} {BUILD} {made:?} {switches:?} {namespaces:?}\n")
}

/// Which helper it was; nothing where it is not there.
fn mark(helper: &Helper) -> Option<String> {
    helper.made().map(|made| format!("{made:?}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_who_remember_at_once_do_not_disturb_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tried");
        let write_often = || (0..200).try_for_each(|_| write(&file, "whole"));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4).map(|_| scope.spawn(write_often)).collect();
            for writer in writers {
                writer.join().unwrap().unwrap();
            }
        });
        assert_eq!(read(&file).unwrap(), "whole");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_another_process_of_the_same_number_is_writing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (file, others) = (dir.path().join("tried"), format!("tried.{}", std::process::id()));
        fs::write(dir.path().join(&others), "half").unwrap();
        write(&file, "whole").unwrap();
        assert_eq!(read(&file).unwrap(), "whole");
        assert_eq!(fs::read_to_string(dir.path().join(others)).unwrap(), "half");
    }
}
