//! Files as the protocol names them: by `file://` addresses.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const SCHEME: &str = "file://";

/// The address of an absolute path.
pub(super) fn of(path: &Path) -> String {
    let mut address = SCHEME.to_owned();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// The path of an address, however it is escaped; `None` if it is not that of a file here.
pub(super) fn path(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix(SCHEME)?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    if !rest.starts_with('/') {
        return None;
    }
    let (mut bytes, mut at) = (Vec::with_capacity(rest.len()), 0);
    let raw = rest.as_bytes();
    while at < raw.len() {
        let escaped = (raw[at] == b'%').then(|| rest.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(raw[at]);
                at += 1;
            }
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_read_however_they_are_escaped() {
        assert_eq!(of(Path::new("/a b/ä@c#?%.rs")), "file:///a%20b/%C3%A4%40c%23%3F%25.rs");
        for address in ["file:///a@b.c", "file:///a%40b.c", "file://localhost/a%40b.c", "file:///a%40b.c#L1"]
        {
            assert_eq!(path(address), Some(PathBuf::from("/a@b.c")), "{address}");
        }
        for other in ["https://a/b", "untitled:x", "file://host/x", "file:", ""] {
            assert_eq!(path(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_path_has_an_address(bytes in proptest::collection::vec(1u8.., 0..40)) {
            let bytes = [b"/".as_slice(), &bytes].concat();
            let named = Path::new(OsStr::from_bytes(&bytes));
            prop_assert_eq!(path(&of(named)), Some(named.to_path_buf()));
        }

        #[test]
        fn no_address_makes_it_panic(address: String) {
            path(&format!("{SCHEME}/{address}"));
        }
    }
}
