//! Commands that run another command which stands among their own words, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A command whose words contain another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Options that take the next word.
    pub(super) values: &'static str,
    /// So many operands come before the command.
    pub(super) operands: usize,
    pub(super) form: Form,
}

/// In which form the other command stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As words.
    Words,
    /// As words behind assignments.
    Assigned,
    /// As words to which more are added that are not known.
    Extended,
    /// As words that are joined to a script.
    Joined,
}

const fn wrapper(names: &'static str, values: &'static str, operands: usize, form: Form) -> Wrapper {
    Wrapper { names, values, operands, form }
}

#[rustfmt::skip]
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("env", "-u --unset -C --chdir -a --argv0", 0, Form::Assigned),
    wrapper("sudo", "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type", 0, Form::Assigned),
    wrapper("doas", "-u -C -a", 0, Form::Words),
    wrapper("timeout gtimeout", "-s -k --signal --kill-after", 1, Form::Words),
    wrapper("nice", "-n --adjustment", 0, Form::Words),
    wrapper("ionice", "-c -n -p --class --classdata", 0, Form::Words),
    wrapper("nohup setsid builtin busybox toybox unbuffer caffeinate catchsegv fakeroot dbus-run-session torsocks proxychains proxychains4 xvfb-run noglob", "-n -s -e -p", 0, Form::Words),
    wrapper("time", "-f -o --format --output", 0, Form::Assigned),
    wrapper("command", "", 0, Form::Words),
    wrapper("exec", "-a", 0, Form::Words),
    wrapper("coproc", "", 0, Form::Assigned),
    wrapper("stdbuf", "-i -o -e --input --output --error", 0, Form::Words),
    wrapper("chrt taskset", "-T -P -D", 1, Form::Words),
    wrapper("prlimit numactl systemd-run systemd-inhibit", "-p -u -E --unit --property --setenv --what --who --why", 0, Form::Words),
    wrapper("chroot", "--userspec --groups", 1, Form::Words),
    wrapper("unshare nsenter", "-t --target -S -G -w -r --setuid --setgid", 0, Form::Words),
    wrapper("setpriv runuser", "-u -g -G --reuid --regid --groups --user --group", 0, Form::Words),
    wrapper("strace ltrace", "-e -o -p -s -u -E -a -b -I -O -S -P -X", 0, Form::Words),
    wrapper("flock", "-w -E --timeout --conflict-exit-code", 1, Form::Words),
    wrapper("ssh-agent", "-a -P -t", 0, Form::Words),
    wrapper("rlwrap script", "-f -H -b -c -a", 0, Form::Words),
    wrapper("xargs gxargs", "-I -n -P -L -d -E -s -a --replace --max-args --max-procs --max-lines --delimiter --arg-file --max-chars", 0, Form::Extended),
    wrapper("parallel", "-j -a -I -N -n --jobs --arg-file --colsep --delimiter", 0, Form::Extended),
    wrapper("watch", "-n --interval", 0, Form::Joined),
];

/// The shells, which run the script behind `-c`, a file, or what they are fed.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "pwsh", "elvish", "nu",
];

/// Commands for which an "always" would allow anything: what they run is in their arguments or elsewhere.
pub(super) const RUNNERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "julia",
    "Rscript",
    "java",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "ssh",
    "awk",
    "gawk",
    "mawk",
    "su",
    "eval",
    "source",
    ".",
    "trap",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "gdb",
    "lldb",
    "osascript",
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Wrapper>> = LazyLock::new(|| {
    let each = |wrapper: &'static Wrapper| wrapper.names.split(' ').map(move |name| (name, wrapper));
    WRAPPERS.iter().flat_map(each).collect()
});

/// The wrapper of this name.
pub(super) fn wrapper_of(name: &str) -> Option<&'static Wrapper> {
    BY_NAME.get(name).copied()
}

/// Whether a command of this name runs what its words or others tell it to.
pub(super) fn runs_anything(name: &str) -> bool {
    SHELLS.contains(&name) || RUNNERS.contains(&name) || wrapper_of(name).is_some()
}
