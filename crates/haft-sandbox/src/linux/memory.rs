//! How much memory a whole command may use: a control group, where the user has one to make groups in.
//!
//! Only version 2 is used, whose groups are handed to users by systemd and by containers that mean to. A process may
//! stand in a leaf only, so the group is made beside or above its own, wherever memory is counted below.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// What our groups are called, followed by the process that made one.
const NAME: &str = "haft-";

/// A group for one command. It is removed when this is dropped, by when the command must be gone.
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes a group whose processes together have no more than this; none, where that is not possible.
    pub(super) fn make(bytes: u64) -> Option<Group> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let (root, own) = (root(&mounts)?, own.lines().find_map(|line| line.strip_prefix("0::/"))?);
        Group::below(&root, Path::new(own), bytes)
    }

    /// Makes one below the nearest directory, from `own` up to `root`, that allows it.
    fn below(root: &Path, own: &Path, bytes: u64) -> Option<Group> {
        own.ancestors().map(|own| root.join(own)).find_map(|above| Group::make_in(&above, bytes).ok())
    }

    fn make_in(above: &Path, bytes: u64) -> io::Result<Group> {
        let counted = fs::read_to_string(above.join("cgroup.subtree_control"))?;
        if !counted.split_whitespace().any(|what| what == "memory") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Whoever may not move processes here may not use a group here either.
        rustix::fs::access(above.join("cgroup.procs"), rustix::fs::Access::WRITE_OK)?;
        sweep(above);
        let group = Group(above.join(format!("{NAME}{}", std::process::id())));
        fs::create_dir(&group.0)?;
        fs::write(group.0.join("memory.max"), bytes.to_string())?;
        // Without these it is slower to end, but it ends.
        fs::write(group.0.join("memory.swap.max"), "0").ok();
        fs::write(group.0.join("memory.oom.group"), "1").ok();
        Ok(group)
    }

    /// Moves a process in, with all it will start.
    pub(super) fn admit(&self, pid: Pid) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), pid.as_raw_nonzero().to_string())
    }

    /// Whether the command was ended because it wanted more.
    pub(super) fn has_run_out(&self) -> bool {
        let events = fs::read_to_string(self.0.join("memory.events")).unwrap_or_default();
        let killed = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        killed.is_some_and(|count| count.trim() != "0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).ok();
    }
}

/// Takes away what killed supervisors left. A group that has processes cannot be removed.
fn sweep(above: &Path) {
    let groups = fs::read_dir(above).into_iter().flatten().flatten();
    let is_left =
        |name: &str| name.strip_prefix(NAME).is_some_and(|pid| !Path::new("/proc").join(pid).exists());
    let ours = groups.filter(|entry| is_left(&entry.file_name().to_string_lossy()));
    ours.for_each(|entry| drop(fs::remove_dir(entry.path())));
}

/// Where the groups of version 2 are mounted.
fn root(mounts: &str) -> Option<PathBuf> {
    let is_groups = |line: &&str| line.split(" - ").nth(1).is_some_and(|kind| kind.starts_with("cgroup2 "));
    mounts.lines().find(is_groups)?.split(' ').nth(4).map(PathBuf::from)
}

/// Has this process, and all it starts, end first when the machine runs out of memory.
pub(super) fn give_way() {
    // Where it cannot be written, the kernel chooses as it always does.
    fs::write("/proc/self/oom_score_adj", "1000").ok();
}

/// Half of what the machine has.
pub(crate) fn half_of_it() -> Option<u64> {
    let found = rustix::system::sysinfo();
    #[allow(clippy::useless_conversion, reason = "it is smaller on smaller machines")]
    let all = u64::try_from(found.totalram).ok()?.checked_mul(u64::from(found.mem_unit))?;
    Some(all / 2).filter(|half| *half > 0)
}

#[cfg(test)]
mod tests {
    use super::{Group, root};
    use rustix::process::getpid;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_group_is_made_in_the_nearest_place_that_counts_memory() {
        let top = tempfile::tempdir().unwrap();
        let own = Path::new("user/app/term");
        let counts = |directory: &str, what: &str| {
            let directory = top.path().join(directory);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.subtree_control"), what).unwrap();
            fs::write(directory.join("cgroup.procs"), "").unwrap();
        };
        counts("user/app/term", "");
        counts("user/app", "cpu pids\n");
        counts("user", "cpu memory pids\n");
        counts("", "memory\n");
        let stale = top.path().join("user/haft-99999999");
        fs::create_dir(&stale).unwrap();
        let group = Group::below(top.path(), own, 1 << 20).unwrap();
        assert_eq!(group.0.parent().unwrap(), top.path().join("user"));
        assert!(!stale.exists());
        assert_eq!(fs::read_to_string(group.0.join("memory.max")).unwrap(), "1048576");
        group.admit(getpid()).unwrap();
        assert_eq!(fs::read_to_string(group.0.join("cgroup.procs")).unwrap(), std::process::id().to_string());
        assert!(!group.has_run_out());
        fs::write(group.0.join("memory.events"), "low 0\noom 2\noom_kill 1\n").unwrap();
        assert!(group.has_run_out());
    }

    #[test]
    fn where_memory_is_not_counted_there_is_no_group() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("cgroup.subtree_control"), "pids").unwrap();
        assert!(Group::below(top.path(), Path::new(""), 1).is_none());
        assert!(Group::below(&top.path().join("none"), Path::new("a/b"), 1).is_none());
    }

    #[test]
    fn the_groups_are_found_where_they_are_mounted() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 24 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(root(mounts).as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
        assert_eq!(root("30 24 0:26 / /x rw - tmpfs cgroup2 rw\n"), None);
    }
}
