//! Commands that run another command which stands among their own words, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A command whose words contain another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Options that take the next word.
    pub(super) values: &'static str,
    /// Options that take none. One that is neither leaves open where the other command begins.
    pub(super) flags: &'static str,
    /// Options that take a script.
    pub(super) scripts: &'static str,
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

#[rustfmt::skip]
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: "env", operands: 0, form: Form::Assigned,
        values: "-u --unset -C --chdir -a --argv0",
        flags: "-i --ignore-environment -0 --null -v --debug --list-signal-handling --ignore-signal --default-signal --block-signal",
        scripts: "-S --split-string" },
    Wrapper { names: "sudo", operands: 0, form: Form::Assigned,
        values: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type --other-user --close-from --command-timeout",
        flags: "-n -E -H -i -s -S -k -K -b -A -v -l -P -B -N --non-interactive --preserve-env --set-home --login --shell --stdin --background --askpass --reset-timestamp --preserve-groups",
        scripts: "" },
    Wrapper { names: "doas", operands: 0, form: Form::Words,
        values: "-u -C -a",
        flags: "-n -s -L",
        scripts: "" },
    Wrapper { names: "pkexec", operands: 0, form: Form::Words,
        values: "--user",
        flags: "--disable-internal-agent --keep-cwd",
        scripts: "" },
    Wrapper { names: "timeout gtimeout", operands: 1, form: Form::Words,
        values: "-s -k --signal --kill-after",
        flags: "-f -p -v --foreground --preserve-status --verbose",
        scripts: "" },
    Wrapper { names: "nice", operands: 0, form: Form::Words,
        values: "-n --adjustment",
        flags: "",
        scripts: "" },
    Wrapper { names: "ionice", operands: 0, form: Form::Words,
        values: "-c -n -p -P -u --class --classdata",
        flags: "-t --ignore",
        scripts: "" },
    Wrapper { names: "nohup builtin unbuffer catchsegv torsocks noglob busybox toybox", operands: 0, form: Form::Words,
        values: "",
        flags: "-p -q",
        scripts: "" },
    Wrapper { names: "setsid", operands: 0, form: Form::Words,
        values: "",
        flags: "-c -f -w --ctty --fork --wait",
        scripts: "" },
    Wrapper { names: "caffeinate", operands: 0, form: Form::Words,
        values: "-t -w",
        flags: "-d -i -m -s -u",
        scripts: "" },
    Wrapper { names: "fakeroot", operands: 0, form: Form::Words,
        values: "-l -s -i -f -b --lib --faked -b",
        flags: "-u -h --unknown-is-real",
        scripts: "" },
    Wrapper { names: "dbus-run-session", operands: 0, form: Form::Words,
        values: "--config-file --dbus-daemon",
        flags: "",
        scripts: "" },
    Wrapper { names: "proxychains proxychains4", operands: 0, form: Form::Words,
        values: "-f",
        flags: "-q",
        scripts: "" },
    Wrapper { names: "xvfb-run", operands: 0, form: Form::Words,
        values: "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait",
        flags: "-a -l --auto-servernum --listen-tcp",
        scripts: "" },
    Wrapper { names: "time", operands: 0, form: Form::Assigned,
        values: "-f -o --format --output",
        flags: "-p -v -a -q --portability --verbose --append --quiet",
        scripts: "" },
    Wrapper { names: "command", operands: 0, form: Form::Words,
        values: "",
        flags: "-p",
        scripts: "" },
    Wrapper { names: "exec", operands: 0, form: Form::Words,
        values: "-a",
        flags: "-c -l",
        scripts: "" },
    Wrapper { names: "coproc", operands: 0, form: Form::Assigned,
        values: "",
        flags: "",
        scripts: "" },
    Wrapper { names: "stdbuf", operands: 0, form: Form::Words,
        values: "-i -o -e --input --output --error",
        flags: "",
        scripts: "" },
    Wrapper { names: "chrt", operands: 1, form: Form::Words,
        values: "-T -P -D --sched-runtime --sched-period --sched-deadline",
        flags: "-a -b -d -f -i -o -r -R -v --fifo --rr --idle --batch --other --verbose",
        scripts: "" },
    Wrapper { names: "taskset", operands: 1, form: Form::Words,
        values: "",
        flags: "-a -c --all-tasks --cpu-list",
        scripts: "" },
    Wrapper { names: "prlimit", operands: 0, form: Form::Words,
        values: "-p -o --pid --output",
        flags: "",
        scripts: "" },
    Wrapper { names: "numactl", operands: 0, form: Form::Words,
        values: "-i -w -N -C -m -p -P --interleave --weighted-interleave --cpunodebind --physcpubind --membind --preferred",
        flags: "-l -a --localalloc --all",
        scripts: "" },
    Wrapper { names: "systemd-run", operands: 0, form: Form::Words,
        values: "-p -u -E -M -H -C -d -t --unit --property --setenv --slice --description --service-type --uid --gid --nice --working-directory --on-active --on-calendar --machine --host",
        flags: "-q -G -P -S -r --user --system --scope --pty --pipe --quiet --wait --collect --same-dir --no-block --no-ask-password",
        scripts: "" },
    Wrapper { names: "systemd-inhibit", operands: 0, form: Form::Words,
        values: "--what --who --why --mode",
        flags: "",
        scripts: "" },
    Wrapper { names: "chroot", operands: 1, form: Form::Words,
        values: "--userspec --groups",
        flags: "--skip-chdir",
        scripts: "" },
    Wrapper { names: "unshare", operands: 0, form: Form::Words,
        values: "-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --map-users --map-groups --propagation --setgroups --load-interp --monotonic --boottime",
        flags: "-m -u -i -n -p -U -C -T -f -r -c --mount --uts --ipc --net --pid --user --cgroup --time --fork --map-root-user --map-current-user --map-auto --mount-proc --kill-child --keep-caps",
        scripts: "" },
    Wrapper { names: "nsenter", operands: 0, form: Form::Words,
        values: "-t -S -G --target --setuid --setgid",
        flags: "-a -m -u -i -n -p -U -C -T -F -e --all --mount --uts --ipc --net --pid --user --cgroup --time --no-fork --env --preserve-credentials",
        scripts: "" },
    Wrapper { names: "setpriv", operands: 0, form: Form::Words,
        values: "--reuid --regid --ruid --euid --rgid --egid --groups --pdeathsig --inh-caps --ambient-caps --bounding-set --securebits --selinux-label --apparmor-profile --ptracer --landlock-access --landlock-rule --seccomp-filter",
        flags: "-d --dump --list-caps --no-new-privs --nnp --clear-groups --keep-groups --init-groups --reset-env",
        scripts: "" },
    Wrapper { names: "runuser", operands: 0, form: Form::Words,
        values: "-u -g -G -s -w -T --user --group --supp-group --shell --whitelist-environment",
        flags: "-f -l -m -p -P --fast --login --preserve-environment --pty",
        scripts: "-c --command --session-command" },
    Wrapper { names: "strace ltrace", operands: 0, form: Form::Words,
        values: "-e -o -p -s -u -E -a -b -I -O -S -P -X -U -l -n -A -w -x --expr --output --attach --string-limit --user --env --trace --signal",
        flags: "-f -ff -c -C -d -D -h -i -k -q -qq -r -t -tt -ttt -T -v -V -y -yy -z -Z --follow-forks --quiet --seccomp-bpf",
        scripts: "" },
    Wrapper { names: "valgrind", operands: 0, form: Form::Words,
        values: "",
        flags: "-q -v -s",
        scripts: "" },
    Wrapper { names: "flock", operands: 1, form: Form::Words,
        values: "-w -E --wait --timeout --conflict-exit-code --start --length",
        flags: "-s -x -e -u -n -o -F --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose --fcntl",
        scripts: "-c --command" },
    Wrapper { names: "ssh-agent", operands: 0, form: Form::Words,
        values: "-a -P -t -E -O",
        flags: "-c -s -D -d",
        scripts: "" },
    Wrapper { names: "script", operands: 1, form: Form::Words,
        values: "-T -B -I -O -E -m -o --log-timing --log-io --log-in --log-out --echo --logging-format --output-limit",
        flags: "-a -e -f -q -t -r --append --return --flush --force --quiet --timing",
        scripts: "-c --command" },
    Wrapper { names: "rlwrap", operands: 0, form: Form::Words,
        values: "-b -C -D -f -g -H -l -L -M -p -P -q -s -S -t -w -z",
        flags: "-a -A -c -e -E -i -I -m -N -n -o -O -r -R -U -v -W -X",
        scripts: "" },
    Wrapper { names: "setarch linux32 linux64 i386 i686 x86_64 uname26 ppc ppc64 sparc sparc64", operands: 0, form: Form::Words,
        values: "",
        flags: "-B -F -I -L -R -S -T -X -Z -v -3 --32bit --fdpic-funcptrs --short-inode --addr-compat-layout --addr-no-randomize --whole-seconds --sticky-timeouts --read-implies-exec --mmap-page-zero --3gb --4gb --uname-2.6 --verbose",
        scripts: "" },
    Wrapper { names: "xargs gxargs", operands: 0, form: Form::Extended,
        values: "-I -n -P -L -d -E -s -a -J -R -S --max-args --max-procs --delimiter --arg-file --max-chars --process-slot-var",
        flags: "-0 -r -t -x -p -o -i -l -e --null --no-run-if-empty --verbose --exit --interactive --open-tty --replace --max-lines --eof --show-limits",
        scripts: "" },
    Wrapper { names: "parallel", operands: 0, form: Form::Extended,
        values: "-j -a -I -N -n --jobs --arg-file --colsep --delimiter",
        flags: "-k -q -0 -u -v --keep-order --quote --null",
        scripts: "" },
    Wrapper { names: "logsave", operands: 1, form: Form::Words,
        values: "",
        flags: "-a -s -v",
        scripts: "" },
    Wrapper { names: "choom", operands: 0, form: Form::Words,
        values: "-n -p --adjust --pid",
        flags: "",
        scripts: "" },
    Wrapper { names: "uclampset", operands: 0, form: Form::Words,
        values: "-m -M -p --pid",
        flags: "-a -s -R --all-tasks --system --reset-on-fork --verbose",
        scripts: "" },
    Wrapper { names: "systemd-cat", operands: 0, form: Form::Words,
        values: "-t -p --identifier --priority --stderr-priority --level-prefix --namespace",
        flags: "",
        scripts: "" },
    Wrapper { names: "runcon", operands: 0, form: Form::Words,
        values: "-t -u -r -l --type --user --role --range",
        flags: "-c --compute",
        scripts: "" },
    Wrapper { names: "heaptrack memusage sotruss eatmydata chronic nocache torify tsocks vglrun optirun primusrun \
        dumb-init tini catatonit pg_virtualenv cpulimit firejail aa-exec cgexec softlimit chpst bear scan-build trickle \
        memleax retry not not-14", operands: 0, form: Form::Words,
        values: "-n -o -p -u -g -d -l -s -e -F -T",
        flags: "-q -v -r -a -f",
        scripts: "" },
    Wrapper { names: "gosu su-exec setuidgid envuidgid s6-setuidgid envdir faketime datefudge", operands: 1, form: Form::Words,
        values: "",
        flags: "-f -s -m",
        scripts: "" },
    Wrapper { names: "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 ld-musl-x86_64.so.1 \
        ld-musl-aarch64.so.1", operands: 0, form: Form::Words,
        values: "--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend --glibc-hwcaps-mask",
        flags: "--list --verify --inhibit-cache",
        scripts: "" },
    Wrapper { names: "ccache sccache distcc icecc buildcache gomacc", operands: 0, form: Form::Words,
        values: "-M -F -o -d -k -x --max-size --max-files --set-config --dir --config-path --get-config --trim-dir --trim-max-size",
        flags: "-s -v -z -C -c -p -V -h --show-stats --verbose --zero-stats --clear --cleanup --show-config --version --help --start-server --stop-server",
        scripts: "" },
    Wrapper { names: "libtool glibtool", operands: 0, form: Form::Words,
        values: "--mode --tag -dlopen",
        flags: "-n -v --silent --quiet --verbose --debug --dry-run --version --help --config --features --finish --preserve-dup-deps",
        scripts: "" },
    Wrapper { names: "ifne", operands: 0, form: Form::Words,
        values: "",
        flags: "-n",
        scripts: "" },
    Wrapper { names: "setlock", operands: 1, form: Form::Words,
        values: "",
        flags: "-n -N -x -X",
        scripts: "" },
    Wrapper { names: "coresched", operands: 1, form: Form::Words,
        values: "-s -d -t --source --dest --dest-type",
        flags: "-v --verbose",
        scripts: "" },
    Wrapper { names: "with-contenv nsjail minijail0 proot fakechroot bubblejail sudo-rs run0 please lxc-execute lxc-attach apptainer \
        singularity kcov gdbserver uftrace trace-cmd nyc c8 wine wine64 box64 box86 arch qemu-x86_64 qemu-aarch64 qemu-i386 qemu-arm \
        execlineb pgrphack fghack ttyrec onchange reflex bench poop", operands: 0, form: Form::Words,
        values: "",
        flags: "",
        scripts: "-c" },
    Wrapper { names: "watch", operands: 0, form: Form::Joined,
        values: "-n -q -s --interval --equexit --shotsdir",
        flags: "-b -c -C -d -e -f -g -p -r -t -w -x --beep --color --no-color --differences --errexit --chgexit --no-title --exec --precise --no-wrap",
        scripts: "" },
];

/// Wrappers that start a shell where no command is given, and feed it what they are fed.
#[rustfmt::skip]
pub(super) const SHELL_OTHERWISE: &[&str] = &[
    "sudo", "doas", "pkexec", "chroot", "unshare", "nsenter", "script", "runuser", "fakeroot", "systemd-run", "parallel",
    "setarch", "linux32", "linux64", "i386", "i686", "x86_64", "uname26", "ppc", "ppc64", "sparc", "sparc64",
];

/// Programs with a subcommand that runs another command, and how many operands come before that. A rule about such a
/// program speaks of what it runs, and so does one about what it runs.
#[rustfmt::skip]
pub(super) const LAUNCHERS: &[(&str, &str, usize)] = &[
    ("uv", "run", 0), ("poetry", "run", 0), ("bundle", "exec", 0), ("pipenv", "run", 0), ("conda", "run", 0),
    ("mamba", "run", 0), ("micromamba", "run", 0), ("pdm", "run", 0), ("hatch", "run", 0), ("rye", "run", 0),
    ("mise", "exec", 0), ("mise", "x", 0), ("asdf", "exec", 0), ("direnv", "exec", 1), ("rustup", "run", 1),
    ("npm", "exec", 0), ("npm", "x", 0), ("pnpm", "exec", 0), ("pnpm", "dlx", 0), ("yarn", "exec", 0), ("yarn", "run", 0),
    ("bun", "x", 0), ("bun", "run", 0), ("heroku", "local:run", 0), ("rbenv", "exec", 0), ("pyenv", "exec", 0), ("volta", "run", 0), ("nvm", "exec", 0), ("op", "run", 0),
    ("doppler", "run", 0), ("devbox", "run", 0), ("flox", "activate", 0), ("nix", "develop", 0), ("nix", "shell", 0),
    ("nix", "run", 0), ("dotnet", "exec", 0), ("composer", "exec", 0), ("npx", "", 0), ("bunx", "", 0), ("pnpx", "", 0),
    ("uvx", "", 0), ("pipx", "run", 0), ("dotenvx", "run", 0), ("dotenv", "", 0), ("cross-env", "", 0),
    ("cross-env-shell", "", 0), ("env-cmd", "", 0), ("pixi", "run", 0), ("pixi", "exec", 0), ("tox", "exec", 0), ("tox", "e", 0),
    ("aws-vault", "exec", 1), ("saml2aws", "exec", 0), ("chamber", "exec", 1), ("infisical", "run", 0), ("envchain", "", 1),
    ("opam", "exec", 0), ("stack", "exec", 0), ("cabal", "exec", 0), ("dune", "exec", 0), ("foreman", "run", 0),
    ("honcho", "run", 0), ("fnm", "exec", 0), ("nodenv", "exec", 0), ("goenv", "exec", 0), ("jenv", "exec", 0),
    ("plenv", "exec", 0), ("lerna", "exec", 0), ("nx", "exec", 0), ("gem", "exec", 0), ("guix", "shell", 0),
    ("guix", "environment", 0), ("meson", "devenv", 0), ("toolbox", "run", 0), ("buildah", "run", 1), ("lxc", "exec", 1),
    ("rtx", "exec", 0), ("proto", "run", 1), ("rvm", "do", 0), ("coverage", "run", 0), ("limactl", "shell", 1),
    ("multipass", "exec", 1), ("npm", "explore", 1), ("yarn", "node", 0), ("pnpm", "node", 0), ("nvm", "run", 1),
];

/// The shells, which run the script behind `-c`, a file, or what they are fed.
pub(super) const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "rbash",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "elvish",
    "nu",
    "yash",
    "xonsh",
    "lksh",
    "oksh",
    "loksh",
    "pdksh",
    "posh",
    "osh",
    "ysh",
    "rc",
    "es",
    "sash",
    "hush",
    "ion",
    "murex",
    "ngs",
    "scsh",
    "powershell",
];

/// Commands for which an "always" would allow anything: what they run is in their arguments or elsewhere.
#[rustfmt::skip]
pub(super) const RUNNERS: &[&str] = &[
    "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "php", "lua", "luajit",
    "tclsh", "julia", "Rscript", "java", "npx", "pnpx", "bunx", "uvx", "pipx", "ssh", "awk", "gawk", "mawk", "su", "eval",
    "source", ".", "trap", "vi", "vim", "nvim", "emacs", "gdb", "lldb", "osascript", "tsx", "ts-node", "nix", "nix-shell",
    "dotnet", "jshell", "irb", "ghci", "iex", "expect", "wish", "R", "scala", "groovy", "elixir", "erl", "runghc",
    "guile", "racket", "octave", "swipl", "ocaml", "sbcl", "ipython", "coffee", "qjs", "raku", "jruby", "micropython", "kotlin",
    "gjs", "nawk",
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Wrapper>> = LazyLock::new(|| {
    let each =
        |wrapper: &'static Wrapper| wrapper.names.split_ascii_whitespace().map(move |name| (name, wrapper));
    WRAPPERS.iter().flat_map(each).collect()
});

/// The wrapper of this name.
pub(super) fn wrapper_of(name: &str) -> Option<&'static Wrapper> {
    BY_NAME.get(name).copied()
}

/// Whether a command of this name runs what its words or others tell it to.
pub(super) fn runs_anything(name: &str) -> bool {
    is_interpreter(name) || wrapper_of(name).is_some()
}

/// Whether a command of this name runs a file that its words name.
pub(super) fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || RUNNERS.contains(&name)
}

/// Whether a program has a subcommand that runs another command.
pub(super) fn is_launcher(name: &str) -> bool {
    LAUNCHERS.iter().any(|(launcher, ..)| *launcher == name)
}

/// Whether the second word of a command makes it run another command.
pub(super) fn does_launch<W: AsRef<str>>(name: &str, words: &[W]) -> bool {
    let second = words.get(1).map_or("", AsRef::as_ref);
    LAUNCHERS.iter().any(|(launcher, subcommand, _)| *launcher == name && *subcommand == second)
}

/// A name without the version that may stand behind it: `python3.11`, `perl5.36.0`, `vim.basic`.
pub(super) fn unversioned(name: &str) -> &str {
    if !name.contains(|c: char| c == '.' || c.is_ascii_digit()) || runs_anything(name) {
        return name;
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let flavour = name.split_once('.').map_or(name, |(before, _)| before);
    [bare, flavour].into_iter().find(|one| is_interpreter(one) || *one == "gawk").unwrap_or(name)
}
