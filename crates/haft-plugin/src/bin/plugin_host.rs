//! The host by itself, for the tests of this crate; `haft plugin-host` is what people run.

use std::process::ExitCode;

use haft_plugin::engine::{Limits, serve};

fn main() -> ExitCode {
    let mut limits = Limits::default();
    if let Some(megabytes) =
        std::env::var("HAFT_PLUGIN_MEMORY_MIB").ok().and_then(|text| text.parse::<usize>().ok())
    {
        limits.memory_bytes = megabytes << 20;
    }
    serve(rustix::stdio::stdin(), std::io::stdout(), limits)
}
