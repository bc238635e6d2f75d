//! What a process and all that it started hold in memory.

use std::collections::HashMap;
use std::fs;

/// KiB that a process and all that it started hold at this moment.
pub(super) fn of_tree(process: u32) -> u64 {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut held = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else { continue };
        let Some(parent) = field(&status, "PPid:").and_then(|parent| u32::try_from(parent).ok()) else {
            continue;
        };
        children.entry(parent).or_default().push(id);
        held.insert(id, field(&status, "VmRSS:").unwrap_or(0));
    }
    let (mut sum, mut left) = (0, vec![process]);
    while let Some(id) = left.pop() {
        // Taken out, so that a strange table cannot lead round in circles.
        sum += held.remove(&id).unwrap_or(0);
        left.extend(children.remove(&id).unwrap_or_default());
    }
    sum
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_holds_something() {
        assert!(of_tree(std::process::id()) > 100);
        assert_eq!(field("PPid:\t7\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12));
        assert_eq!(field("PPid:\t7\n", "VmRSS:"), None);
    }
}
