//! The agents that take part, each told where the scripted model is, with nothing else to reach or to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::model::{Call, Model};

/// The packages of the peers with npm.
const PACKAGES: [&str; 2] = ["opencode-ai", "@openai/codex"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Agent {
    Haft,
    OpenCode,
    Codex,
}

/// All that take part, where they lie, and what they are told.
pub(in super::super) struct Agents {
    haft: PathBuf,
    peers: PathBuf,
    /// Where each has its own home.
    homes: PathBuf,
}

impl Agents {
    /// Finds the peers: in the directory that `PEERS` names, or where they are installed now.
    pub(in super::super) fn find(haft: PathBuf, kept: &Path, homes: &Path) -> Result<Agents> {
        let peers = std::env::var_os("PEERS").map_or_else(|| kept.join("peers"), PathBuf::from);
        let agents = Agents { haft, peers, homes: homes.to_owned() };
        if agents.missing().is_none() {
            return Ok(agents);
        }
        eprintln!("opencode and Codex are not in {}; trying npm install", agents.peers.display());
        fs::create_dir_all(&agents.peers)?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&agents.peers).args(PACKAGES);
        let installed = npm.stdout(Stdio::null()).status();
        let how = installed.map_or_else(|error| error.to_string(), |status| status.to_string());
        ensure!(
            agents.missing().is_none(),
            "THERE IS NOTHING TO COMPARE WITH: {} is not there, and npm could not install it ({how}); \
             run npm install {} somewhere, name that directory with PEERS and run this again",
            agents.missing().unwrap_or_default(),
            PACKAGES.join(" ")
        );
        Ok(agents)
    }

    fn missing(&self) -> Option<&'static str> {
        let is_there = |agent: Agent| self.program(agent).exists();
        [(Agent::OpenCode, "opencode"), (Agent::Codex, "codex")]
            .into_iter()
            .find_map(|(agent, name)| (!is_there(agent)).then_some(name))
    }

    fn program(&self, agent: Agent) -> PathBuf {
        let installed = |name: &str| self.peers.join("node_modules/.bin").join(name);
        match agent {
            Agent::Haft => self.haft.clone(),
            Agent::OpenCode => installed("opencode"),
            Agent::Codex => installed("codex"),
        }
    }

    /// What an agent is called, with its version.
    pub(super) fn version(&self, agent: Agent) -> Result<String> {
        let mut command = Command::new(self.program(agent));
        self.isolate(&mut command, agent)?;
        let output = command.arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The agent with nothing to do yet, in a home of its own.
    pub(in super::super) fn alone(&self, agent: Agent) -> Result<Command> {
        let mut command = Command::new(self.program(agent));
        self.isolate(&mut command, agent)?;
        Ok(command)
    }

    /// The agent at work in a directory: it says "go" to the model, and does what it is told.
    pub(super) fn command(&self, agent: Agent, model: &Model, directory: &Path) -> Result<Command> {
        let mut command = Command::new(self.program(agent));
        let home = self.isolate(&mut command, agent)?;
        let url = model.url();
        match agent {
            Agent::Haft => {
                command.env("HAFT_LLM_BASE_URL", url).env("OPENAI_API_KEY", "x").env("HAFT_TRUST", "1");
                command.args(["run", "--auto", "-m", "openai/fake-model", "go"]);
            }
            Agent::OpenCode => {
                let file = home.join("opencode.json");
                fs::write(&file, opencode(&url))?;
                command.env("OPENCODE_CONFIG", file);
                // With a title it asks for none.
                command.args(["run", "--auto", "-m", "fake/fake-model", "--title", "t", "go"]);
            }
            Agent::Codex => {
                fs::write(home.join("config.toml"), codex(&url))?;
                command.env("FAKE_KEY", "x").args(["exec", "--skip-git-repo-check", "go"]);
            }
        }
        command.current_dir(directory).stdin(Stdio::null());
        Ok(command)
    }

    /// Gives an agent a home of its own, and has it leave everybody else alone.
    fn isolate(&self, command: &mut Command, agent: Agent) -> Result<PathBuf> {
        let home = self.homes.join(format!("{agent:?}"));
        fs::create_dir_all(&home)?;
        let path = std::env::var_os("PATH").context("there is no PATH")?;
        command.env_clear().env("PATH", path).env("HOME", &home).env("TERM", "dumb").env("NO_COLOR", "1");
        for kind in ["CONFIG", "DATA", "CACHE", "STATE"] {
            command.env(format!("XDG_{kind}_HOME"), home.join(kind.to_ascii_lowercase()));
        }
        match agent {
            Agent::Haft => {
                command.env("HAFT_HOME", home.join("haft"));
            }
            Agent::Codex => {
                command.env("CODEX_HOME", &home);
            }
            Agent::OpenCode => {
                const OFF: [&str; 9] = [
                    "AUTOUPDATE",
                    "MODELS_FETCH",
                    "DEFAULT_PLUGINS",
                    "LSP_DOWNLOAD",
                    "SHARE",
                    "EXTERNAL_SKILLS",
                    "CLAUDE_CODE",
                    "TERMINAL_TITLE",
                    "EMBEDDED_WEB_UI",
                ];
                for what in OFF {
                    command.env(format!("OPENCODE_DISABLE_{what}"), "1");
                }
                // As if it had installed its plugin package before, which it would do first otherwise.
                let config = home.join("config/opencode");
                fs::create_dir_all(config.join("node_modules"))?;
                let package = json!({ "dependencies": { "@opencode-ai/plugin": "*" } });
                let lock = json!({ "name": "x", "lockfileVersion": 3, "packages": { "": package } });
                fs::write(config.join("package.json"), package.to_string())?;
                fs::write(config.join("package-lock.json"), lock.to_string())?;
            }
        }
        Ok(home)
    }
}

impl Agent {
    pub(super) const ALL: [Agent; 3] = [Agent::Haft, Agent::OpenCode, Agent::Codex];

    pub(super) fn name(self) -> &'static str {
        match self {
            Agent::Haft => "haft",
            Agent::OpenCode => "opencode",
            Agent::Codex => "Codex",
        }
    }

    /// How its model has it read a file. Codex has no tool for that, and models use its shell.
    pub(super) fn read(self, file: &Path) -> Call {
        let path = file.display();
        match self {
            Agent::Haft | Agent::OpenCode => {
                Call { name: "read", input: json!({ "filePath": path.to_string() }) }
            }
            Agent::Codex => {
                Call { name: "exec_command", input: json!({ "cmd": format!("sed -n 1,2000p {path}") }) }
            }
        }
    }
}

/// Everything off that would cost opencode time: snapshots, language servers, formatters, updates.
fn opencode(url: &str) -> String {
    let limit = json!({ "context": 10_000_000, "output": 32_000 });
    let model = json!({ "name": "fake-model", "tool_call": true, "limit": limit });
    json!({
        "autoupdate": false, "share": "disabled", "snapshot": false, "lsp": false, "formatter": false,
        "model": "fake/fake-model", "small_model": "fake/fake-model", "enabled_providers": ["fake"],
        "permission": "allow",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible", "name": "Fake",
            "options": { "baseURL": url, "apiKey": "x" },
            "models": { "fake-model": model },
        } },
    })
    .to_string()
}

/// Everything off that would have Codex reach out or ask; the model is one that it gives function tools.
fn codex(url: &str) -> String {
    format!(
        r#"model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
[features]
plugins = false
apps = false
remote_plugin = false
[model_providers.fake]
name = "fake"
base_url = "{url}"
wire_api = "responses"
env_key = "FAKE_KEY"
"#
    )
}
