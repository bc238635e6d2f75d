//! The setting of a command: directories, configuration and trust. Loading it changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{AgentId, CallId, MessageId, SessionId, ToolContext};
use haft_store::Redactor;

use crate::cli::Globals;
use crate::config::{self, Config, PluginWords};
use crate::exit::{Exit, Failure};
use crate::paths::{Env, Paths, project_root};
use crate::plugins;
use crate::terminal::{Terminal, confirm};
use crate::trust::Trust;

/// Where a command runs and what holds there.
pub(crate) struct Setting {
    pub(crate) terminal: Terminal,
    pub(crate) env: Arc<Env>,
    pub(crate) paths: Paths,
    /// The working directory, with every symbolic link resolved.
    pub(crate) directory: PathBuf,
    /// The root of the git worktree around it, if there is one.
    pub(crate) worktree: Option<PathBuf>,
    pub(crate) trusted: bool,
    /// Whether custom tools and plugins are left out.
    pub(crate) pure: bool,
    pub(crate) config: Arc<Config>,
    pub(crate) agent: AgentId,
    pub(crate) session: SessionId,
}

impl Setting {
    /// A call that somebody at the command line makes, as a tool is told of it.
    pub(crate) fn context(&self) -> ToolContext {
        ToolContext {
            session: self.session.clone(),
            agent: self.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        }
    }

    pub(crate) fn load(globals: &Globals, terminal: Terminal) -> Result<Setting, Failure> {
        let env = Arc::new(Env::real());
        let paths = Paths::from_env(&env).map_err(|error| Failure::new(Exit::Usage, error))?;
        let directory = directory(globals)?;
        let worktree = project_root(&directory);
        let session = match &globals.session {
            Some(given) => {
                check_plain(&env, "--session", given)?;
                SessionId::parse(given).map_err(Failure::usage)?
            }
            None => SessionId::mint(),
        };
        let mut trust = Trust::load(&paths, &env).map_err(|error| Failure::new(Exit::Usage, error))?;
        let project = worktree.as_ref().unwrap_or(&directory);
        let mut trusted = trust.is_trusted(project);
        let brings_files = config::has_project_files(&env, &paths, &directory, worktree.as_deref());
        let brings_files = brings_files.map_err(|error| Failure::new(Exit::Usage, error))?
            || plugins::brings_code(config::directories(&env, &paths, &directory, project));
        if !trusted && brings_files {
            trusted = ask_for_trust(&mut trust, project, terminal)?;
        }
        let config = Config::load(&env, &paths, &directory, worktree.as_deref(), trusted)
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        if let Some(file) = config::unsettled(&config).filter(|_| trusted) {
            let file = haft::visible(&file.to_string_lossy());
            let failure = Failure::usage(format_args!("{file} is just changing, so it is not believed"));
            return Err(failure.hint("try again; if a command that haft runs here makes it, that is in vain"));
        }
        for warning in config.warnings() {
            terminal.note(&format!("{} {warning}", terminal.err().yellow("warning:")));
        }
        let agent = globals.agent.as_deref().unwrap_or_else(|| config.default_agent());
        let agent = AgentId::parse(agent).map_err(Failure::usage)?;
        let (pure, config) = (globals.pure, Arc::new(config));
        Ok(Setting { terminal, env, paths, directory, worktree, trusted, pure, config, agent, session })
    }

    /// The same place with what plugins say about it.
    pub(crate) fn with_words(&self, globals: &Globals, words: &[PluginWords]) -> Result<Setting, Failure> {
        let Setting { terminal, env, paths, directory, worktree, trusted, pure, session, .. } = self;
        let config = Config::load_with(env, paths, directory, worktree.as_deref(), *trusted, words)
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        let agent = globals.agent.as_deref().unwrap_or_else(|| config.default_agent());
        Ok(Setting {
            terminal: *terminal,
            env: env.clone(),
            paths: paths.clone(),
            directory: directory.clone(),
            worktree: worktree.clone(),
            trusted: *trusted,
            pure: *pure,
            agent: AgentId::parse(agent).map_err(Failure::usage)?,
            session: session.clone(),
            config: Arc::new(config),
        })
    }

    /// The root of the project: its worktree, or the working directory.
    pub(crate) fn project(&self) -> &PathBuf {
        self.worktree.as_ref().unwrap_or(&self.directory)
    }
}

/// Ids and keys are kept as they are, so none may hold a secret.
pub(crate) fn check_plain(env: &Env, flag: &str, text: &str) -> Result<(), Failure> {
    match Redactor::from_env(env.iter()).redact(text) == text {
        true => Ok(()),
        false => Err(Failure::usage(format_args!("{flag} holds a secret, and would be kept as it is"))),
    }
}

fn directory(globals: &Globals) -> Result<PathBuf, Failure> {
    let given = match &globals.cwd {
        Some(given) => given.clone(),
        None => std::env::current_dir().map_err(|error| {
            Failure::usage(format_args!("the working directory cannot be used: {error}"))
                .hint("name one with --cwd")
        })?,
    };
    let real = given.canonicalize();
    let real =
        real.map_err(|error| Failure::usage(format_args!("cannot work in {}: {error}", given.display())))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(Failure::usage(format_args!("{} is not a directory", real.display()))),
    }
}

fn ask_for_trust(trust: &mut Trust, project: &Path, terminal: Terminal) -> Result<bool, Failure> {
    if terminal.json || !Terminal::is_interactive() {
        terminal.note(&format!(
            "note: {} is not trusted, so its configuration can only narrow what is allowed (haft trust)",
            haft::visible(&project.to_string_lossy())
        ));
        return Ok(false);
    }
    let question = format!(
        "{} brings its own configuration. Trusting it lets it widen what is allowed and run code.\nTrust it?",
        haft::visible(&project.to_string_lossy())
    );
    if !confirm(&question) {
        return Ok(false);
    }
    trust.add(project).map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(true)
}
