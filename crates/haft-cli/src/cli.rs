//! The command line: what can be typed. Parsing it does nothing.

mod subcommands;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use subcommands::{
    AuthCommand, GcArgs, LogArgs, LogCommand, OutputArgs, PermissionCommand, SessionCommand, SkillCommand,
    ToolsCommand, TrustCommand, UndoArgs,
};

/// The tool system of a coding agent: typed, permitted, bounded, recorded.
#[derive(Parser)]
#[command(
    name = "haft",
    version,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = "\
Data goes to standard output, everything else to standard error.

Exit codes:
  0  all is well                         6  approval needed, and nobody to ask
  1  a defect, or not recorded           7  no such tool, or no longer
  2  usage, configuration, tool files    8  a call died, and its outcome is unknown
  3  the tool failed                   124  haft's own deadline passed
  4  invalid input or output           130  interrupted
  5  denied by a rule or a person      143  terminated")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be begun.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewKind {
    /// A tool that a model can call
    Tool,
    /// A plugin that takes part in what happens
    Plugin,
}

/// What every command understands.
#[derive(Args, Clone)]
pub(crate) struct Globals {
    /// Works as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The session that calls belong to; a new one unless given
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The agent whose rules hold; the configured one, or build, unless given
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Prints one JSON document, or one a line for streams
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Loads no custom tools and no plugins
    #[arg(long, global = true)]
    pub(crate) pure: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Says less
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Says more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb` or missing
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs one tool, without a model
    Call(CallArgs),
    /// Has an agent work on something; without a prompt on a terminal, a conversation
    ///
    /// `haft "do this"` is short for `haft run "do this"`: a first word that is no command is a prompt if it contains
    /// a space. While the agent works, what you type is queued. Ctrl-C stops it, a second Ctrl-C leaves.
    Run(RunArgs),
    /// Lists the tools, or shows one
    Tools {
        #[command(subcommand)]
        command: Option<ToolsCommand>,
    },
    /// Shows what was called, newest last
    Log(LogArgs),
    /// Prints the whole output of a call
    Output(OutputArgs),
    /// Asks about permissions, and answers requests for them
    Permission {
        #[command(subcommand)]
        command: PermissionCommand,
    },
    /// Shows sessions, or removes them
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Lists the agents, or shows what one is told
    Agents {
        /// The agent
        name: Option<String>,
    },
    /// Lists the custom commands, or shows one
    Commands {
        /// The command
        name: Option<String>,
    },
    /// Lists skills, or installs them
    Skill {
        #[command(subcommand)]
        command: SkillCommand,
    },
    /// Trusts a project's own configuration
    Trust {
        #[command(subcommand)]
        command: Option<TrustCommand>,
        /// The directory; the project around the working directory unless given, or that directory itself where the
        /// project is trusted already
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
        /// Trusts even the home directory or the root of the disk
        #[arg(long)]
        force: bool,
    },
    /// Takes back what calls changed in files; without --yes, shows what that would change
    Undo(UndoArgs),
    /// Shows what haft keeps, and removes what may go
    Gc(GcArgs),
    /// Stores keys of model providers, or forgets them
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Lists the models that can be reached
    Models {
        /// Those of this provider
        #[arg(value_name = "PROVIDER")]
        provider: Option<String>,
    },
    /// Begins a tool or a plugin of your own
    New {
        /// What to begin
        kind: NewKind,
        /// Its name
        name: String,
        /// For every project of yours, and not only for this one
        #[arg(long)]
        global: bool,
    },
    /// Shows whether everything is in order
    Doctor,
    /// Prints completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page
    Man,
    /// Answers the questions of behaviour cases
    #[command(hide = true)]
    Probe {
        /// The kind of question
        kind: String,
    },
}

/// One call.
#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool
    pub(crate) tool: String,
    /// Its input: JSON, name=text, name:=json, @file with JSON, or - for JSON on standard input
    #[arg(value_name = "INPUT", allow_hyphen_values = false)]
    pub(crate) input: Vec<String>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    /// Shows what would be decided and done, and does nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A name for the call: within its session, a call of that name never runs twice
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Gives up after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
}

/// A run of an agent.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// What it is to do; @path attaches a file or an image, /name performs a custom command. What is piped in is attached
    pub(crate) prompt: Option<String>,
    /// Further words for the custom command of --command
    #[arg(value_name = "ARGUMENT", requires = "command")]
    pub(crate) arguments: Vec<String>,
    /// Performs the custom command of this name, with the words that follow
    #[arg(long, value_name = "NAME")]
    pub(crate) command: Option<String>,
    /// The model; the configured one unless given
    #[arg(long, short, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// Goes on with the last session of this project
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) last: bool,
    /// Goes on with this session
    #[arg(long, short = 's', value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Attaches a file or an image, and lets the agent read it
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Vec<String>,
    /// Answers every question with yes, like --yes; rules that deny still hold
    #[arg(long)]
    pub(crate) auto: bool,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: crate::run::Format,
    /// Prints plain lines that never change, for screen readers
    #[arg(long)]
    pub(crate) screen_reader: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// Consent that is given on the command line.
#[derive(Args, Default)]
pub(crate) struct ConsentArgs {
    /// Answers every question with yes; rules that deny still hold
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Allows an action, on everything or on what a pattern matches
    #[arg(long, value_name = "ACTION[=PATTERN]")]
    pub(crate) allow: Vec<String>,
    /// Denies an action, on everything or on what a pattern matches
    #[arg(long, value_name = "ACTION[=PATTERN]")]
    pub(crate) deny: Vec<String>,
    /// Further rules, from a JSON file: a list of {permission, pattern, action}, or a permission object
    #[arg(long, value_name = "FILE")]
    pub(crate) permission: Option<PathBuf>,
    /// What to do with a question: ask on a terminal, refuse, or wait for `haft permission reply`
    #[arg(long, value_name = "HOW", default_value = "ask")]
    pub(crate) on_ask: OnAsk,
}

/// What becomes of a question.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum OnAsk {
    /// Asked on a terminal, refused without one.
    #[default]
    Ask,
    /// Refused at once.
    Refuse,
    /// Waits for so many seconds for an answer from elsewhere.
    Wait(u64),
}

impl std::str::FromStr for OnAsk {
    type Err = String;

    fn from_str(raw: &str) -> Result<OnAsk, String> {
        const WAIT_SECONDS: u64 = 600;
        const WAIT_SECONDS_MAX: u64 = 7 * 24 * 3600;
        match raw.split_once(':') {
            None if raw == "ask" => Ok(OnAsk::Ask),
            None if raw == "refuse" => Ok(OnAsk::Refuse),
            None if raw == "wait" => Ok(OnAsk::Wait(WAIT_SECONDS)),
            Some(("wait", seconds)) => {
                let seconds = seconds.parse().ok().filter(|seconds| *seconds <= WAIT_SECONDS_MAX);
                seconds.map(OnAsk::Wait).ok_or_else(|| format!("wait at most {WAIT_SECONDS_MAX} seconds"))
            }
            _ => Err("expected ask, refuse, wait or wait:SECONDS".to_owned()),
        }
    }
}
