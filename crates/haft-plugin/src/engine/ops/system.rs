//! Where and when the code runs.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use rquickjs::{Ctx, IntoJs, Object, Result};

use super::super::host::host;
use super::bytes::Nullable;
use super::errors;

/// The longest line of a log.
const LOG_CHARS_MAX: usize = 64 << 10;

pub(super) fn cwd(ctx: Ctx<'_>) -> Result<String> {
    match std::env::current_dir() {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(error) => Err(errors::io(&ctx, &error, "uv_cwd", None, None)),
    }
}

pub(super) fn chdir(ctx: Ctx<'_>, path: String) -> Result<()> {
    std::env::set_current_dir(&path).map_err(|error| errors::io(&ctx, &error, "chdir", Some(&path), None))
}

pub(super) fn env() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

pub(super) fn argv() -> Vec<String> {
    let own = std::env::current_exe().map(|path| path.to_string_lossy().into_owned());
    let file = host().modules.borrow().entry_file();
    own.into_iter().chain((!file.is_empty()).then_some(file)).collect()
}

pub(super) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

pub(super) fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

pub(super) fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    }
}

pub(super) fn pid() -> u32 {
    std::process::id()
}

pub(super) fn ppid() -> i32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get())
}

pub(super) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

pub(super) fn homedir() -> String {
    let own = || passwd().map(|entry| entry.home);
    std::env::var("HOME").ok().filter(|home| !home.is_empty()).or_else(own).unwrap_or_else(|| "/".to_owned())
}

pub(super) fn tmpdir() -> String {
    let named = ["TMPDIR", "TMP", "TEMP"].iter().find_map(|name| std::env::var(name).ok());
    let path = named.filter(|path| !path.is_empty()).unwrap_or_else(|| "/tmp".to_owned());
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        _ => path,
    }
}

pub(super) fn user(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let entry = passwd();
    let user = Object::new(ctx)?;
    user.set("uid", rustix::process::getuid().as_raw())?;
    user.set("gid", rustix::process::getgid().as_raw())?;
    let name = entry.as_ref().map(|entry| entry.name.clone()).or_else(|| std::env::var("USER").ok());
    user.set("username", name.unwrap_or_default())?;
    user.set("shell", Nullable(entry.map(|entry| entry.shell).filter(|shell| !shell.is_empty())))?;
    Ok(user)
}

pub(super) fn system(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let uname = rustix::system::uname();
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let memory = read("/proc/meminfo");
    let kilobytes = |name: &str| -> f64 {
        let line = memory.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0.0)
    };
    let numbers = |text: &str, count: usize| -> Vec<f64> {
        let mut found: Vec<f64> =
            text.split_whitespace().take(count).filter_map(|word| word.parse().ok()).collect();
        found.resize(count, 0.0);
        found
    };
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map(|(_, model)| model.to_owned());
    let system = Object::new(ctx.clone())?;
    system.set("type", uname.sysname().to_string_lossy().into_owned())?;
    system.set("release", uname.release().to_string_lossy().into_owned())?;
    system.set("version", uname.version().to_string_lossy().into_owned())?;
    system.set("machine", uname.machine().to_string_lossy().into_owned())?;
    system.set("cpus", std::thread::available_parallelism().map_or(1, usize::from))?;
    system.set("cpuModel", model.unwrap_or_default())?;
    system.set("totalmem", kilobytes("MemTotal:") * 1024.0)?;
    system.set("freemem", kilobytes("MemAvailable:") * 1024.0)?;
    system.set("loadavg", numbers(&read("/proc/loadavg"), 3).into_js(&ctx)?)?;
    system.set("uptime", numbers(&read("/proc/uptime"), 1)[0])?;
    Ok(system)
}

pub(super) fn memory(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident: f64 = pages.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let resident = resident * rustix::param::page_size() as f64;
    let memory = Object::new(ctx)?;
    memory.set("rss", resident)?;
    memory.set("heapTotal", resident)?;
    memory.set("heapUsed", resident)?;
    Ok(memory)
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

pub(super) fn hrtime() -> f64 {
    host().started.elapsed().as_secs_f64() * 1000.0
}

/// A stack as it is in the person's files.
pub(super) fn map_stack(stack: String) -> String {
    super::super::failure::mapped_stack(&stack)
}

pub(super) fn log(level: String, text: String) {
    let level = match level.as_str() {
        known @ ("debug" | "info" | "notice" | "warn" | "error") => known,
        _ => "info",
    };
    match text.char_indices().nth(LOG_CHARS_MAX) {
        Some((at, _)) => host().wire.log(level, &format!("{}… ({} bytes)", &text[..at], text.len())),
        None => host().wire.log(level, &text),
    }
}

struct Passwd {
    name: String,
    home: String,
    shell: String,
}

/// The line of `/etc/passwd` for the user.
fn passwd() -> Option<Passwd> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let uid = rustix::process::getuid().as_raw().to_string();
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    let fields: Vec<&str> = line.split(':').collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or_default().to_owned();
    Some(Passwd { name: field(0), home: field(5), shell: field(6) })
}
