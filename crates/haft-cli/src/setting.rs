//! The setting of a command: directories, configuration and trust. Loading it changes nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{AgentId, CallId, MessageId, SessionId, ToolContext};
use haft_store::Redactor;
use haft_tools::Guarding;

use crate::cli::Globals;
use crate::config::{self, Config, PluginWords};
use crate::exit::{Exit, Failure};
use crate::paths::{Env, Paths, project_root};
use crate::plugins;
use crate::terminal::{Terminal, confirm};
use crate::trust::Trust;
use crate::trusted::Trusted;

/// So often configuration is read that changes while it is read; each time is waited for a moment.
const READS_MAX: usize = 8;

/// Where a command runs and what holds there.
pub(crate) struct Setting {
    pub(crate) terminal: Terminal,
    pub(crate) env: Arc<Env>,
    pub(crate) paths: Paths,
    /// The working directory, with every symbolic link resolved.
    pub(crate) directory: PathBuf,
    /// The root of the git worktree around it, if there is one.
    pub(crate) worktree: Option<PathBuf>,
    pub(crate) trusted: Trusted,
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

    /// For a command that obeys the project's rules: where they cannot be read, it does nothing.
    pub(crate) fn load(globals: &Globals, terminal: Terminal) -> Result<Setting, Failure> {
        match Setting::load_or_persons(globals, terminal)? {
            (_, Some(fault)) => Err(fault.hint(
                "rules that cannot be read cannot be obeyed, so nothing is done here until that is mended; \
                 `haft undo` works, should a call have done it",
            )),
            (setting, None) => Ok(setting),
        }
    }

    /// For a command that needs no rules of the project: where they cannot be read, it goes on without them.
    pub(crate) fn load_anyway(globals: &Globals, terminal: Terminal) -> Result<Setting, Failure> {
        let why = "this command needs no rules of the project, and goes on with your own configuration";
        Setting::load_despite(globals, terminal, why)
    }

    /// For a command that goes on where the rules of the project cannot be read, and tells the person why.
    pub(crate) fn load_despite(globals: &Globals, terminal: Terminal, why: &str) -> Result<Setting, Failure> {
        let (setting, fault) = Setting::load_or_persons(globals, terminal)?;
        if let Some(fault) = fault {
            let warning = terminal.err().yellow("warning:");
            terminal.note(&format!("{warning} {}", haft::visible_lines(&fault.message())));
            terminal.note(&format!("note: {why}"));
        }
        Ok(setting)
    }

    /// The setting; where only the project's configuration cannot be read, what holds without it, and the fault.
    pub(crate) fn load_or_persons(
        globals: &Globals,
        terminal: Terminal,
    ) -> Result<(Setting, Option<Failure>), Failure> {
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
        let bringing = config::levels_with_files(&env, &paths, &directory, worktree.as_deref());
        let mut bringing = bringing.map_err(|error| Failure::new(Exit::Usage, error))?;
        bringing.extend(plugins::levels_with_code(config::directories(&env, &paths, &directory, project)));
        ask_for_trust(&mut trust, project, &bringing, terminal)?;
        let mut trusted = trust.trusted();
        let read = || Config::load(&env, &paths, &directory, worktree.as_deref(), &trusted);
        let (config, fault) = match believed(read) {
            Ok(config) => (config, None),
            Err(fault) => match Config::load_persons(&env, &paths, &directory, worktree.as_deref()) {
                Ok(config) => (config, Some(fault)),
                // The person's own is at fault, and says what the project's code may do, too.
                Err(_) => return Err(fault),
            },
        };
        if fault.is_some() {
            // Whatever it says about its code is not known, so none of it runs.
            trusted = Trusted::default();
        }
        for warning in config.warnings() {
            terminal.note(&format!("{} {warning}", terminal.err().yellow("warning:")));
        }
        for faulty in config.faulty_commands().iter().filter(|faulty| faulty.is_trusted) {
            terminal.note(&format!("{} {}", terminal.err().yellow("warning:"), faulty.fault));
        }
        let mut agent = agent(globals, &config)?;
        if fault.is_some() && config.agent(agent.as_str()).is_err() {
            // Only the project may have described it, and nobody is to work under it now.
            agent = AgentId::parse(config::DEFAULT_AGENT).map_err(Failure::usage)?;
        }
        let (pure, config) = (globals.pure, Arc::new(config));
        let setting =
            Setting { terminal, env, paths, directory, worktree, trusted, pure, config, agent, session };
        Ok((setting, fault))
    }

    /// The same place with what plugins say about it.
    pub(crate) fn with_words(&self, globals: &Globals, words: &[PluginWords]) -> Result<Setting, Failure> {
        let Setting { terminal, env, paths, directory, worktree, trusted, pure, session, .. } = self;
        let read = || Config::load_with(env, paths, directory, worktree.as_deref(), trusted, words);
        let config = believed(read)?;
        Ok(Setting {
            terminal: *terminal,
            env: env.clone(),
            paths: paths.clone(),
            directory: directory.clone(),
            worktree: worktree.clone(),
            trusted: trusted.clone(),
            pure: *pure,
            agent: agent(globals, &config)?,
            session: session.clone(),
            config: Arc::new(config),
        })
    }

    /// What is protected wherever it lies: what the person owns and says, and what is believed.
    pub(crate) fn guarding(&self) -> Guarding {
        let skills = |home: &PathBuf| [home.join(".agents/skills"), home.join(".claude/skills")];
        let mut configuration = config::persons(&self.env, &self.paths, &self.directory);
        configuration.extend(self.paths.home.iter().flat_map(skills));
        Guarding {
            home: self.paths.home.clone(),
            configuration,
            of_git: self.paths.of_git(&self.env),
            believed: self.trusted.directories().cloned().collect(),
            custody: Some(self.paths.custody()),
        }
    }

    /// A failure that may speak of what is configured, without what was put in there from elsewhere.
    pub(crate) fn as_written(&self, failure: Failure) -> Failure {
        failure.reworded(|message| self.config.as_written(message))
    }

    /// Whether the root of the project is trusted, and with it the project as a whole: what stands further down in files
    /// of configuration and in files with code counts for itself.
    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted.holds(self.project())
    }

    /// The root of the project: its worktree, or the working directory.
    pub(crate) fn project(&self) -> &PathBuf {
        self.worktree.as_ref().unwrap_or(&self.directory)
    }
}

/// What is read, if it is there to stay. What just changes is read again, but not without end.
fn believed(read: impl Fn() -> Result<Config, config::ConfigError>) -> Result<Config, Failure> {
    let mut changing = None;
    for _ in 0..READS_MAX {
        let config = read().map_err(|error| Failure::new(Exit::Usage, error))?;
        changing = config::unsettled(&config);
        if changing.is_none() {
            return Ok(config);
        }
    }
    let file = changing.map(|file| haft::visible(&file.to_string_lossy())).unwrap_or_default();
    let failure = Failure::usage(format_args!("{file} is changing all the time, so it is not believed"));
    Err(failure.hint("try again; if a command that haft runs here makes it, that is in vain"))
}

/// The agent whose rules hold.
fn agent(globals: &Globals, config: &Config) -> Result<AgentId, Failure> {
    let name = globals.agent.as_deref().unwrap_or_else(|| config.default_agent());
    let agent = AgentId::parse(name).map_err(Failure::usage);
    agent.map_err(|failure| failure.reworded(|message| config.as_written(message)))
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

/// Asks whether to trust what brings configuration or code: the project first, and then what counts for itself in it.
fn ask_for_trust(
    trust: &mut Trust,
    project: &Path,
    bringing: &BTreeSet<PathBuf>,
    terminal: Terminal,
) -> Result<(), Failure> {
    let trusted = trust.trusted();
    let strange: Vec<&Path> =
        bringing.iter().map(PathBuf::as_path).filter(|level| !trusted.holds(level)).collect();
    if !strange.is_empty() && !trusted.holds(project) && !ask_about(trust, project, None, terminal)? {
        return Ok(());
    }
    let mut below = strange.into_iter().filter(|level| *level != project);
    below.try_for_each(|level| ask_about(trust, level, Some(project), terminal).map(drop))
}

/// Asks whether to trust one directory, which lies in a project that is trusted or is one itself.
fn ask_about(
    trust: &mut Trust,
    directory: &Path,
    within: Option<&Path>,
    terminal: Terminal,
) -> Result<bool, Failure> {
    let shown = haft::visible(&directory.to_string_lossy());
    let stranger = trust.stranger(directory);
    if terminal.json || !Terminal::is_interactive() {
        terminal.note(&match (stranger, within) {
            (Some(stranger), _) => format!(
                "note: {shown} was trusted when it was somebody else's; it belongs to {stranger} now, so until it is \
                 trusted anew its configuration can only narrow what is allowed, and its code is not run (haft trust \
                 {shown})"
            ),
            (None, None) => format!(
                "note: {shown} is not trusted, so its configuration can only narrow what is allowed (haft trust)"
            ),
            (None, Some(_)) => format!(
                "note: {shown} lies in a trusted project and counts for itself: until it is trusted too, its \
                 configuration can only narrow what is allowed, and its code is not run (haft trust {shown})"
            ),
        });
        return Ok(false);
    }
    let lies = within.map_or(String::new(), |project| {
        format!(", beside that of {}", haft::visible(&project.to_string_lossy()))
    });
    let whose = stranger.map_or(String::new(), |stranger| {
        format!("It was trusted when it was somebody else's; it belongs to {stranger} now.\n")
    });
    let question = format!(
        "{shown} brings its own configuration{lies}. Trusting it lets it widen what is allowed and run code.\n\
         {whose}Trust it?"
    );
    if !confirm(&question) {
        return Ok(false);
    }
    trust.add(directory).map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(true)
}
