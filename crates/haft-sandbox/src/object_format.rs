//! How long the hashes of a repository are; only its configuration says so.

use std::io::Read;
use std::path::Path;

use crate::gitlinks::open_file;

/// So much of a configuration is read for what it says of hashes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The length of hashes in the repository of a directory, in bytes.
pub(crate) fn hash_bytes(common: &Path) -> usize {
    let mut config = Vec::new();
    let read = open_file(&common.join("config"))
        .and_then(|file| file.take(CONFIG_BYTES_MAX).read_to_end(&mut config).ok());
    let format = read.and_then(|_| object_format(&String::from_utf8_lossy(&config)));
    if format.as_deref() == Some("sha256") { 32 } else { 20 }
}

/// What a configuration says of `extensions.objectFormat`, the last time that it does.
fn object_format(config: &str) -> Option<String> {
    let (mut is_within, mut format) = (false, None);
    for line in config.lines().map(str::trim) {
        let mut rest = line;
        // What follows the name of a section on its line belongs to it.
        if let Some((name, after)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            is_within = name.trim().eq_ignore_ascii_case("extensions");
            rest = after.trim();
        }
        let Some((key, value)) = rest.split_once('=').filter(|_| is_within) else { continue };
        if key.trim().eq_ignore_ascii_case("objectformat") {
            let value = value.split(['#', ';']).next().unwrap_or_default();
            format = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    format
}

#[cfg(test)]
mod tests {
    use super::object_format;

    #[test]
    fn only_the_last_word_of_its_own_section_counts() {
        for (config, format) in [
            ("[core]\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n", Some("sha256")),
            ("[Extensions] ObjectFormat = \"sha256\" ; as told\n", Some("sha256")),
            ("[extensions]\nobjectFormat = sha256\nobjectFormat = sha1\n", Some("sha1")),
            ("[extensions]\ncompatObjectFormat = sha256\n", None),
            ("[extensions]\n# objectFormat = sha256\n;objectFormat = sha256\n", None),
            ("# [extensions]\nobjectFormat = sha256\n", None),
            ("[init]\ndefaultObjectFormat = sha256\n", None),
            ("[haft]\nobjectFormat = sha256\n", None),
            ("[extensions \"x\"]\nobjectFormat = sha256\n", None),
        ] {
            assert_eq!(object_format(config).as_deref(), format, "{config}");
        }
    }
}
