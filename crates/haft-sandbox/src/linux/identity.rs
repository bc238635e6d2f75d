//! Users and groups in the new namespace: the same as outside, so that files keep their owners.

use std::fs;
use std::io;

use rustix::process::Pid;

/// Maps every user and group to itself where this process may, and otherwise only its own.
pub(super) fn map(pid: Pid) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{}/{name}", pid.as_raw_nonzero());
    let all = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).map(|map| to_itself(&map));
    let is_root = rustix::process::geteuid().is_root();
    if is_root && fs::write(file("uid_map"), all("uid_map")?).is_ok() {
        return fs::write(file("gid_map"), all("gid_map")?);
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // Without this, a group could be left that denies something.
    fs::write(file("setgroups"), "deny")?;
    fs::write(file("uid_map"), format!("{user} {user} 1"))?;
    fs::write(file("gid_map"), format!("{group} {group} 1"))
}

/// The ids that exist here, each mapped to itself: a container has fewer than the host.
fn to_itself(map: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (first, count) = (words.next()?, words.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::to_itself;

    #[test]
    fn the_ids_of_a_container_are_mapped_to_themselves() {
        assert_eq!(to_itself("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(to_itself("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
