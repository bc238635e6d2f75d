//! Names that resolve without a file: Node's own modules, Bun's, and the packages that haft brings along.

use super::super::failure::OTHER_RUNTIMES;
use super::resolve::{Missing, Target};
use crate::embedded;

/// Node's modules, those included that this engine does not have.
const NODE: &[&str] = &[
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "sea",
    "sqlite",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "test",
    "test/reporters",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Packages of npm that haft has its own version of, for files that have none installed.
const OURS: &[(&str, &str)] = &[
    ("@opencode-ai/plugin", "plugin/index"),
    ("@opencode-ai/plugin/tool", "plugin/tool"),
    ("zod", "zod/index"),
    ("zod/v4", "zod/index"),
];

/// Resolves what no file in the world can replace.
pub(super) fn fixed(specifier: &str) -> Option<Result<Target, Missing>> {
    if specifier == "bun" {
        return Some(Ok(Target::Internal("bun/index".to_owned())));
    }
    if specifier.starts_with("bun:") {
        return Some(Err(unsupported(specifier)));
    }
    let bare = specifier.strip_prefix("node:");
    let name = bare.unwrap_or(specifier);
    if bare.is_none() && !NODE.contains(&name) {
        return None;
    }
    // Folders named `parts` hold what our modules share, and are nobody else's business.
    let ours = format!("node/{name}");
    let is_public = NODE.contains(&name) && !name.split('/').any(|part| part == "parts");
    if is_public && embedded::has(&ours) {
        Some(Ok(Target::Internal(ours)))
    } else {
        Some(Err(unsupported(specifier)))
    }
}

/// Resolves packages that are not installed but that haft brings along.
pub(super) fn brought_along(specifier: &str) -> Option<Target> {
    let (_, ours) = OURS.iter().find(|(name, _)| *name == specifier)?;
    embedded::has(ours).then(|| Target::Internal((*ours).to_owned()))
}

fn unsupported(specifier: &str) -> Missing {
    Missing {
        module: specifier.to_owned(),
        message: format!("this engine has no `{specifier}`"),
        fix: Some(OTHER_RUNTIMES.to_owned()),
        unsupported: true,
        importer: None,
    }
}
