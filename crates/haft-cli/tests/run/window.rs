//! A terminal to run haft in: tmux draws it, so what is compared is what a person would see.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{HAFT, Place};

/// Long enough for a machine that is busy with everything else.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// Whether there is no tmux here, and none can be had.
pub(crate) fn is_missing() -> bool {
    std::env::var("HAFT_TEST_MISSING").is_ok_and(|missing| missing.split(' ').any(|name| name == "tmux"))
}

/// A terminal in which haft runs, and after it a shell that says how it left.
pub(crate) struct Window {
    socket: PathBuf,
}

impl Window {
    pub(crate) fn open(place: &Place, columns: usize, args: &[&str]) -> Window {
        Window::with(place, columns, "screen", args)
    }

    /// On a terminal of this kind.
    pub(crate) fn with(place: &Place, columns: usize, term: &str, args: &[&str]) -> Window {
        let quoted: Vec<String> =
            args.iter().map(|arg| format!("'{}'", arg.replace('\'', r"'\''"))).collect();
        let script = place.root().join("go.sh");
        let text = format!(
            "trap : INT\n\
             cd '{ws}'\n\
             env -i PATH=\"$PATH\" HOME='{home}' HAFT_HOME='{home}/haft' LANG=C.UTF-8 NO_COLOR=1 TERM={term} '{HAFT}' {args}\n\
             echo \"left with $?\"\n\
             stty -a | grep -oE -- '-?(echo|icanon|isig) ' | tr '\\n' ' '\n\
             exec sleep 600\n",
            ws = place.ws().display(),
            home = place.home().display(),
            args = quoted.join(" "),
        );
        std::fs::write(&script, text).unwrap();
        // A server that is just leaving must not be taken for the next one.
        static WINDOWS: AtomicUsize = AtomicUsize::new(0);
        let number = WINDOWS.fetch_add(1, Ordering::Relaxed);
        let window = Window { socket: place.root().join(format!("tmux{number}")) };
        let size = columns.to_string();
        let command = format!("sh '{}'", script.display());
        window.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &size, "-y", "24", &command]);
        window
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output =
            Command::new("tmux").arg("-S").arg(&self.socket).args(args).env("LANG", "C.UTF-8").output();
        let output = output.unwrap();
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What is on the terminal, and what has left it at the top.
    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-", "-E", "-"]).trim_end().to_owned()
    }

    /// Waits until something is shown.
    pub(crate) fn wait(&self, text: &str) -> &Window {
        self.wait_until(text, |screen| screen.contains(text))
    }

    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> &Window {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return self;
            }
            assert!(began.elapsed() < PATIENCE, "waited for {what:?} and saw\n{screen}");
            std::thread::sleep(LOOK);
        }
    }

    /// Presses keys, by tmux's names for them.
    pub(crate) fn press(&self, keys: &[&str]) -> &Window {
        self.tmux(&[&["send-keys"], keys].concat());
        self
    }

    /// Types a text as it is.
    pub(crate) fn write(&self, text: &str) -> &Window {
        self.tmux(&["send-keys", "-l", text]);
        self
    }

    pub(crate) fn resize(&self, columns: usize) -> &Window {
        self.tmux(&["resize-window", "-x", &columns.to_string()]);
        self
    }

    /// The process that runs in the window's shell.
    pub(crate) fn process(&self) -> String {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap().trim().to_owned()
    }

    /// How haft left, when it has.
    pub(crate) fn code(&self) -> i32 {
        self.wait("left with ").wait("isig");
        let screen = self.screen();
        let modes: Vec<&str> = screen.lines().last().unwrap_or_default().split_whitespace().collect();
        assert_eq!(modes, ["isig", "icanon", "echo"], "the terminal is as it was:\n{screen}");
        let line = screen.lines().find_map(|line| line.strip_prefix("left with ")).unwrap();
        line.trim().parse().unwrap()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _gone = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// A text without what is different each time: durations and ids.
pub(crate) fn settled(screen: &str) -> String {
    let times = regex::Regex::new(r"\b\d+(\.\d)?s\b").unwrap();
    let ids = regex::Regex::new(r"\bses_\w+").unwrap();
    let spinners = regex::Regex::new("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]").unwrap();
    let text = times.replace_all(screen, "TIME");
    let text = ids.replace_all(&text, "SESSION");
    spinners.replace_all(&text, "*").into_owned()
}

/// Writes the answers of a model, and names it.
pub(crate) fn script(place: &Place, script: &serde_json::Value) -> String {
    place.file("script.json", &script.to_string());
    format!("scripted/{}", place.ws().join("script.json").display())
}
