//! What can be typed after commands that have commands of their own.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ConsentArgs;

#[derive(Subcommand)]
pub(crate) enum ToolsCommand {
    /// Lists the tools that a model would be shown
    List {
        /// Lists every registered tool
        #[arg(long)]
        all: bool,
        /// As shown to this model
        #[arg(long, short, value_name = "PROVIDER/MODEL")]
        model: Option<String>,
    },
    /// Shows a tool's description and schemas
    Show {
        /// The tool
        tool: String,
    },
    /// Checks every file with custom tools or plugins, and says what is wrong with it
    Check,
}

/// Which calls to show.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LogCommand>,
    /// Calls of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Calls in this state: pending, running, completed or error, or ended for a reason such as denied or cancelled
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Calls no older than this, such as 30m, 12h or 7d
    #[arg(long, value_name = "AGE")]
    pub(crate) since: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 50)]
    pub(crate) limit: usize,
    /// Goes on as further calls are made
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Subcommand)]
pub(crate) enum LogCommand {
    /// Shows one call: input, state, times, what the model was told
    Show {
        /// The call, or the beginning of its id
        call: String,
    },
    /// Checks that the record is whole
    Verify,
}

/// What `haft gc` takes.
#[derive(Args)]
pub(crate) struct GcArgs {
    /// Removes it
    #[arg(long)]
    pub(crate) yes: bool,
    /// Counts in what was kept to undo changes with and is damaged, missing or sealed with a key that is gone
    #[arg(long)]
    pub(crate) unreadable: bool,
}

/// What to undo.
#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The call, or the beginning of its id; the last one that changed files in this project unless given. With
    /// --session, every call of that session
    pub(crate) call: Option<String>,
    /// Does it; rules that deny still hold
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

/// Which part of an output to print.
#[derive(Args)]
pub(crate) struct OutputArgs {
    /// The call or the output, or the beginning of its id
    pub(crate) call: String,
    /// These lines, counted from one, such as 10:20, 10: or :20
    #[arg(long, value_name = "A:B", conflicts_with_all = ["grep", "tail"])]
    pub(crate) lines: Option<String>,
    /// Lines that match a regular expression, with their numbers
    #[arg(long, value_name = "REGEX", conflicts_with = "tail")]
    pub(crate) grep: Option<String>,
    /// The last so many lines
    #[arg(long, value_name = "N")]
    pub(crate) tail: Option<usize>,
}

#[derive(Subcommand)]
pub(crate) enum PermissionCommand {
    /// Prints what is decided about an action on a resource
    Check {
        /// The action, such as edit
        action: String,
        /// The resource, such as src/main.rs
        resource: String,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Prints what is decided and why: the rule, where it stands, what it overrode
    Explain {
        /// The action, such as edit
        action: String,
        /// The resource, such as src/main.rs
        resource: String,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Prints exactly what a person would be shown if a call asked
    Preview {
        /// The tool
        tool: String,
        /// Its input, as for `haft call`
        #[arg(value_name = "INPUT")]
        input: Vec<String>,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Prints the patterns that an "always" would save for a call
    SuggestAlways {
        /// The tool
        #[arg(default_value = "bash")]
        tool: String,
        /// Its input, as for `haft call`
        #[arg(value_name = "INPUT")]
        input: Vec<String>,
        /// Short for a tool that runs commands: its input is this command
        #[arg(long, conflicts_with = "input")]
        command: Option<String>,
    },
    /// Lists the rules that hold and the consents that were saved
    List,
    /// Revokes a saved consent
    Forget {
        /// The consent, as `haft permission list` names it
        grant: String,
    },
    /// Lists requests that wait for an answer
    Pending,
    /// Answers a request
    Reply {
        /// The request, as `haft permission pending` names it
        request: String,
        /// once, always or reject; for questions of an agent, answer or reject
        reply: String,
        /// The answer to a question of an agent, once for each: numbers or labels of what is chosen, or words
        #[arg(long, short, value_name = "ANSWER")]
        answer: Vec<String>,
        /// What to do instead, for a rejection
        #[arg(long, short, value_name = "WORDS")]
        message: Option<String>,
        /// How far an "always" reaches: session, project or user
        #[arg(long, default_value = "project")]
        scope: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum SessionCommand {
    /// Lists sessions, newest last
    List {
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: usize,
        /// All of them, of every project
        #[arg(long)]
        all: bool,
    },
    /// Shows one session and its calls
    Show {
        /// The session
        id: String,
    },
    /// Shows a session and those it started
    Tree {
        /// The session; every root unless given
        id: Option<String>,
    },
    /// Prints sessions as JSON, one a line
    Export {
        /// The session
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Every session
        #[arg(long)]
        all: bool,
    },
    /// Removes a session, its calls and its outputs
    Rm {
        /// The session
        id: String,
        /// Does not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum SkillCommand {
    /// Lists the skills that are found, and what is wrong with others
    List,
    /// Installs skills for all projects, or brings them up to date
    Install {
        /// A directory or a ZIP archive with a skill or several, or the address of an index; the configured ones unless given
        #[arg(value_name = "DIR|FILE.zip|URL")]
        source: Option<String>,
        /// Lets them take the place of skills of the same name that came from elsewhere
        #[arg(long)]
        replace: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum TrustCommand {
    /// Lists trusted projects, and directories in them that are trusted for themselves
    List,
    /// Withdraws trust from a project
    Forget {
        /// The directory; the working directory, or else the project around it, unless given
        directory: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
pub(crate) enum AuthCommand {
    /// Stores the key of a provider, read from the terminal or from standard input, or logs in through a plugin
    Login {
        /// The provider, such as anthropic
        #[arg(value_name = "PROVIDER")]
        provider: Option<String>,
        /// How to log in, where plugins offer a choice: a label, a number, or key
        #[arg(long, value_name = "LABEL|NUMBER")]
        method: Option<String>,
    },
    /// Lists the providers that have a key, and where it comes from
    // tidy: not a tool name
    List,
    /// Forgets the stored key of a provider
    Logout {
        /// The provider
        #[arg(value_name = "PROVIDER")]
        provider: String,
    },
}
