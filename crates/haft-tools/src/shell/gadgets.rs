//! Options by which commands execute or write, as data. A rule for a command does not cover these.
//!
//! It is a list of what is known, not a boundary: what a command really does is confined by the kernel.

/// What an option makes a command do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Runs other commands or code.
    Runs,
    /// Writes files.
    Writes,
}

/// Commands, what their options do, and the options.
///
/// `--long` stands also for its abbreviations and for `--long=value`; `-x` for any cluster with that letter; `-word`
/// for itself; `key=` for what begins so; `word` for an operand; `+` for an operand that begins so; `#2` for two
/// operands or more; `#0` for none; `*` for the command whatever its options. A second word of the command is its
/// first operand.
#[rustfmt::skip]
pub(super) const GADGETS: &[(&str, Does, &str)] = &[
    // Finding and looking.
    ("find", Does::Runs, "-exec -execdir -ok -okdir"),
    ("find", Does::Writes, "-delete -fprint -fprint0 -fprintf -fls"),
    ("fd fdfind", Does::Runs, "-x -X --exec --exec-batch"),
    ("rg", Does::Runs, "--pre --hostname-bin -z --search-zip"),
    ("ag ack", Does::Runs, "--pager --output"),
    ("tree", Does::Writes, "-o"),
    ("bat batcat", Does::Runs, "--pager --map-syntax"),
    ("less", Does::Runs, "-k --lesskey-file --lesskey-src --lesskey-content +"),
    ("less", Does::Writes, "-o -O --log-file --LOG-FILE"),
    ("more most", Does::Runs, "+"),
    ("man", Does::Runs, "-P --pager -H --html -C --config-file -T --troff-device"),
    ("file", Does::Writes, "-C --compile"),
    ("fzf", Does::Runs, "--preview --bind --listen"),
    // Text.
    ("sort", Does::Writes, "-o --output"),
    ("sort", Does::Runs, "--compress-program"),
    ("shuf", Does::Writes, "-o --output"),
    ("uniq", Does::Writes, "#2"),
    ("tee sponge", Does::Writes, "#1"),
    ("split", Does::Runs, "--filter"),
    ("split csplit", Does::Writes, "*"),
    ("xxd", Does::Writes, "#2"),
    ("iconv", Does::Writes, "-o --output"),
    ("yq", Does::Writes, "-i --inplace"),
    ("sed gsed", Does::Writes, "-i --in-place"),
    ("sed gsed", Does::Runs, "-f --file"),
    ("awk gawk mawk nawk", Does::Runs, "-f --file -i --include -l --load -E --exec -e --source -D --debug"),
    ("awk gawk mawk nawk", Does::Writes, "-d --dump-variables -o --pretty-print -p --profile"),
    ("pr nl fmt", Does::Runs, "--pager"),
    ("xmllint", Does::Runs, "--shell"),
    ("xmllint", Does::Writes, "-o --output"),
    ("dd", Does::Writes, "of="),
    ("date", Does::Writes, "-s --set"),
    ("openssl", Does::Writes, "-out"),
    ("openssl", Does::Runs, "-engine -provider -provider-path"),
    // Archives.
    ("tar bsdtar gtar", Does::Runs, "--to-command --checkpoint-action --use-compress-program -I --rsh-command --info-script --new-volume-script -F --rmt-command"),
    ("tar bsdtar gtar", Does::Writes, "-c -x -r -u -A --create --extract --get --append --update --catenate --concatenate --delete --remove-files"),
    ("zip", Does::Runs, "-T -TT --test --unzip-command"),
    ("zip unzip 7z 7za unrar", Does::Writes, "*"),
    ("cpio", Does::Runs, "--rsh-command --to-stdout"),
    ("cpio", Does::Writes, "-i -p -o --extract --pass-through --create"),
    // The network.
    ("curl", Does::Writes, "-o -O -J -D -c --output --remote-name --remote-name-all --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc"),
    ("curl", Does::Runs, "-K -T -F -d --config --upload-file --form --data --data-binary --data-raw --data-urlencode --json --engine --proxy"),
    ("wget", Does::Writes, "*"),
    ("wget", Does::Runs, "-e --execute --use-askpass --post-file --body-file --config"),
    ("ssh autossh mosh telnet nc ncat netcat socat", Does::Runs, "*"),
    ("scp sftp", Does::Runs, "-S -o -F -D -J"),
    ("rsync", Does::Runs, "-e --rsh --rsync-path --files-from"),
    ("ftp lftp", Does::Runs, "*"),
    ("tcpdump", Does::Runs, "-z"),
    ("tcpdump", Does::Writes, "-w"),
    ("nmap", Does::Runs, "--script --datadir"),
    ("nmap", Does::Writes, "-oN -oX -oG -oA"),
    ("ssh-keygen", Does::Runs, "-D -w"),
    ("ip", Does::Runs, "-b -batch -force exec"),
    // Version control. Without a second word: before the subcommand or anywhere.
    ("git", Does::Runs, "-c --config-env --exec-path --ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager --extcmd --template --upload-archive"),
    ("git", Does::Writes, "--output --output-directory --separate-git-dir"),
    ("git rebase", Does::Runs, "-x --exec"),
    ("git bisect", Does::Runs, "run"),
    ("git submodule", Does::Runs, "foreach update add"),
    ("git filter-branch", Does::Runs, "*"),
    ("git difftool", Does::Runs, "*"),
    ("git mergetool", Does::Runs, "*"),
    ("git config", Does::Writes, "#2 -e --edit --add --unset --unset-all --replace-all --rename-section --remove-section set unset edit"),
    ("git archive", Does::Writes, "-o --output"),
    ("git archive", Does::Runs, "--remote --exec"),
    ("git grep", Does::Runs, "-O --open-files-in-pager"),
    ("git format-patch", Does::Writes, "*"),
    ("git bundle", Does::Writes, "create"),
    ("git clone", Does::Runs, "-u -c --upload-pack --config --template --recurse-submodules --recursive"),
    ("git fetch", Does::Runs, "--upload-pack --recurse-submodules"),
    ("git ls-remote", Does::Runs, "--upload-pack --exec"),
    ("git worktree", Does::Writes, "add move remove"),
    ("git help", Does::Runs, "-w -m --web --man"),
    ("git for-each-repo", Does::Runs, "*"),
    ("git hook", Does::Runs, "*"),
    ("git credential", Does::Runs, "*"),
    ("git maintenance", Does::Runs, "*"),
    ("git send-email", Does::Runs, "*"),
    ("git daemon", Does::Runs, "*"),
    ("git instaweb", Does::Runs, "*"),
    ("git web--browse", Does::Runs, "*"),
    ("hg", Does::Runs, "--config --pager"),
    ("svn", Does::Runs, "--config-option --config-dir --editor-cmd --diff-cmd --diff3-cmd"),
    ("gh", Does::Runs, "alias extension"),
    // Building.
    ("make gmake bmake", Does::Runs, "--eval -f --file --makefile -I --include-dir SHELL= MAKEFLAGS= MAKEFILES= .SHELLFLAGS="),
    ("cmake", Does::Runs, "-P -E -C --build --install"),
    ("ninja", Does::Runs, "-f -t"),
    ("cargo", Does::Runs, "--config -Z --manifest-path"),
    ("cargo install", Does::Runs, "*"),
    ("go", Does::Runs, "-exec -toolexec -vettool -overlay -modfile"),
    ("go run", Does::Runs, "*"),
    ("go generate", Does::Runs, "*"),
    ("go env", Does::Writes, "-w -u"),
    ("gcc g++ cc c++ clang clang++", Does::Runs, "-wrapper -fplugin= -specs= -B -Xclang -load"),
    ("ld nm ar ranlib objdump", Does::Runs, "--plugin -plugin"),
    ("gradle gradlew", Does::Runs, "-I --init-script -b --build-file"),
    ("mvn mvnw", Does::Runs, "-f --file -s --settings"),
    ("npm pnpm yarn bun", Does::Runs, "--script-shell --node-options --prefix config exec x dlx --shell -c --call"),
    ("npx pnpx bunx uvx pipx", Does::Runs, "*"),
    ("pip pip3", Does::Runs, "-e --editable --global-option --config-settings config"),
    ("docker podman nerdctl", Does::Runs, "exec run -v --volume --mount --privileged"),
    ("kubectl", Does::Runs, "exec --kubeconfig"),
    ("terraform", Does::Runs, "-chdir="),
    // Languages: what is given by an option or fed is no file that somebody could look at.
    ("python python2 python3 pypy pypy3", Does::Runs, "-c -m -i -x -X -W #0 -"),
    ("perl", Does::Runs, "-e -E -i -M -m -I -x -d -C #0 -"),
    ("ruby", Does::Runs, "-e -i -r -x -I -C #0 -"),
    ("node nodejs", Does::Runs, "-e -p -r -i --eval --print --require --import --loader --experimental-loader --env-file --inspect --inspect-brk --run #0 -"),
    ("deno", Does::Runs, "eval repl run x --allow-all -A --allow-run -c --config"),
    ("bun", Does::Runs, "-e -p --eval --print -r --preload"),
    ("php", Does::Runs, "-r -R -B -E -a -d -c -z #0 -"),
    ("lua luajit tclsh wish expect", Does::Runs, "-e -c -l -i #0 -"),
    ("julia Rscript R osascript ghc runghc scala groovy elixir erl", Does::Runs, "-e -E --eval --expr -r -eval #0"),
    ("java", Does::Runs, "-agentlib -agentpath -javaagent -XX"),
    ("sqlite3 mysql psql mongosh redis-cli duckdb", Does::Runs, "*"),
    // Editors and others that run whatever they are told.
    ("vi vim nvim view ex ed emacs nano pico joe micro code", Does::Runs, "*"),
    ("gdb lldb strace ltrace perf valgrind", Does::Runs, "*"),
    ("crontab at batch systemctl service launchctl", Does::Runs, "*"),
    ("tmux screen dtach", Does::Runs, "*"),
    ("logrotate run-parts dpkg apt apt-get yum dnf pacman brew snap", Does::Runs, "*"),
    ("mount umount chroot unshare nsenter bwrap", Does::Runs, "*"),
    // The shell itself.
    ("test [", Does::Runs, "-v -R"),
    ("let", Does::Runs, "*"),
    ("printf", Does::Runs, "-v"),
    ("mapfile readarray", Does::Runs, "-C"),
    ("read wait getopts", Does::Runs, "+[ -p"),
    ("enable", Does::Runs, "-f"),
    ("hash", Does::Runs, "-p"),
    ("complete compgen bind", Does::Runs, "*"),
    ("fc history", Does::Runs, "*"),
];

/// Builtins after which other commands of a script may mean something else.
pub(super) const SHADOWING: &[&str] = &[
    ".",
    "alias",
    "bind",
    "builtin",
    "complete",
    "coproc",
    "enable",
    "eval",
    "exec",
    "getopts",
    "hash",
    "mapfile",
    "read",
    "readarray",
    "set",
    "shopt",
    "source",
    "trap",
    "unalias",
];

/// Variables by which other programs are made to run or to load something.
#[rustfmt::skip]
const DANGEROUS: &[&str] = &[
    "PATH", "IFS", "ENV", "BASH_ENV", "BASH_XTRACEFD", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELLOPTS",
    "BASHOPTS", "CDPATH", "GLOBIGNORE", "SHELL", "HOME", "TMPDIR", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER",
    "LESS", "LESSOPEN", "LESSCLOSE", "GREP_OPTIONS", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "CFLAGS",
    "LDFLAGS", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTDOC", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
    "NODE_OPTIONS", "NODE_PATH", "GOFLAGS", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS", "SUDO_ASKPASS",
    "EXINIT", "VIMINIT", "FCEDIT", "GCONV_PATH", "LOCPATH", "TERMCAP", "TERMINFO", "TZDIR", "OPENSSL_CONF", "AWKPATH",
    "AWKLIBPATH", "POSIXLY_CORRECT", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
];

/// Beginnings of the names of such variables.
const DANGEROUS_BEGINNINGS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "PERL",
    "RUBY",
    "BASH_FUNC",
    "CARGO_",
    "npm_",
    "NPM_",
    "GCC_",
    "RIPGREP_",
    "HAFT_",
    "OPENCODE_",
];

/// Whether setting a variable can make other programs run something.
pub(super) fn is_dangerous_variable(name: &str) -> bool {
    DANGEROUS.contains(&name) || DANGEROUS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}
