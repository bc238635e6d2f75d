//! Paths that stand in a word in a form of their own: behind `file:`, with percent signs, and in the patterns of curl.

/// So many paths one pattern of curl may stand for.
const PATHS_MAX: usize = 256;

/// So often a word is taken for an address.
const SCHEMES_MAX: usize = 16;

/// The paths that a text leads to besides those that it spells. What curl finds by a pattern is put in wildcards of the
/// shell where it is no list.
pub(super) fn led_to(name: &str, text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let schemes = lower.match_indices("file:").take(SCHEMES_MAX);
    let behind = schemes.filter_map(|(at, scheme)| path_of(&text[at + scheme.len()..]));
    let mut found: Vec<String> = behind.collect();
    if name == "curl" && text.contains(['{', '[']) {
        let spelled = text.rsplit(['@', '=']).next().filter(|_| found.is_empty()).map(str::to_owned);
        found = found.into_iter().chain(spelled).flat_map(|path| patterned(&path)).collect();
    }
    found
}

/// The path in what follows `file:`, which may name a host.
fn path_of(rest: &str) -> Option<String> {
    let path = match rest.strip_prefix("//") {
        Some(named) => &named[named.find('/')?..],
        None => rest,
    };
    decoded(path)
}

/// A path with the characters in it that percent signs stand for.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|_| *first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).ok()
}

/// What a pattern of curl stands for: lists in braces are each of their parts, ranges are anything but a single letter.
fn patterned(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        let close = if rest[at..].starts_with('{') { '}' } else { ']' };
        let Some(end) = rest[at..].find(close).map(|end| at + end) else { break };
        let (before, inside) = (&rest[..at], &rest[at + 1..end]);
        let choices: Vec<String> = match close {
            '}' => inside.split(',').map(str::to_owned).collect(),
            _ if inside.len() == 3 && inside[1..].starts_with('-') => vec![format!("[{inside}]")],
            _ => vec!["*".to_owned()],
        };
        // More are not looked at one by one.
        let choices = if found.len() * choices.len() > PATHS_MAX { vec!["*".to_owned()] } else { choices };
        let with =
            |path: &String| choices.iter().map(|one| format!("{path}{before}{one}")).collect::<Vec<_>>();
        found = found.iter().flat_map(with).collect();
        rest = &rest[end + 1..];
    }
    found.iter().map(|path| format!("{path}{rest}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_lead_to_paths() {
        for (name, text, paths) in [
            ("x", "file:///a/b", &["/a/b"][..]),
            ("x", "FILE://localhost/a/b", &["/a/b"]),
            ("x", "--url=File:/a%2fb%20c", &["/a/b c"]),
            ("x", "http://e.test/{a,b}", &[]),
            ("curl", "file:///a/{b,c}/[d-e]", &["/a/b/[d-e]", "/a/c/[d-e]"]),
            ("curl", "f=@a/{b}", &["a/b"]),
            ("curl", "a/[1-10]", &["a/*"]),
            ("curl", "a", &[]),
        ] {
            assert_eq!(led_to(name, text), paths, "{text}");
        }
    }
}
