//! Whose home directory is where: what `~user` stands for.

/// The home directory of somebody who is listed on this machine, if its path stays one word wherever it is put.
pub(super) fn home_of(user: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if user.is_empty() || !user.chars().all(is_name) {
        return None;
    }
    let listed = std::fs::read_to_string("/etc/passwd").ok()?;
    let of_user = |line: &&str| line.split(':').next() == Some(user);
    let home = listed.lines().find(of_user)?.split(':').nth(5)?;
    let splits = |c: char| c.is_whitespace() || "*?[]\\~".contains(c);
    (home.starts_with('/') && !home.contains(splits)).then(|| home.trim_end_matches('/').to_owned())
}
