//! Custom commands: prompts that have a name, as the configuration describes them.

use super::agents::AgentMode;
use super::discover::Family;
use super::error::{ConfigError, Located, Problem, did_you_mean, shown};
use super::node::{Entry, Kind, Node};
use super::rules::Standing;
use super::text::Span;
use super::warning::Warnings;
use super::{Config, schema};

/// Where they are configured.
pub(super) const TABLE: &str = "command";
/// The text of one, which may have slots for what is typed after its name.
pub(super) const TEMPLATE: &str = "template";

/// Nobody types a longer name.
const NAME_CHARS_MAX: usize = 100;
/// So many are told that stand where nobody trusts it.
const STRANGE_MAX: usize = 100;
/// So many are told that something is wrong with.
const FAULTY_MAX: usize = 100;

/// A prompt that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomCommand {
    /// Its name, with a slash for each directory.
    pub(crate) name: String,
    /// What is sent, once its slots are filled.
    pub(crate) template: String,
    /// What it is good for.
    pub(crate) description: Option<String>,
    /// The agent that is spoken to, for this message.
    pub(crate) agent: Option<String>,
    /// The model that answers, for this message.
    pub(crate) model: Option<String>,
    /// Whether another agent does it as a task; nothing leaves it to the agent.
    pub(crate) subtask: Option<bool>,
    /// Where its template stands.
    pub(crate) place: String,
}

/// A custom command of a directory that is not trusted: it is told, and does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StrangeCommand {
    /// Its name.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) place: String,
}

/// A custom command that is left out, because something is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FaultyCommand {
    /// Its name, or nothing if all of a table is at fault.
    pub(crate) name: String,
    /// What is wrong, and where.
    pub(crate) fault: String,
    /// Whether it would count if nothing were wrong with it.
    pub(crate) is_trusted: bool,
}

/// Why there is no such command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    /// Nobody has described it.
    #[error("there is no command \"{name}\"{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// Only the project describes it, where nobody has trusted it.
    #[error("the command \"{name}\" stands at {place}, in a directory that is not trusted (haft trust)")]
    Untrusted {
        /// The name.
        name: String,
        /// Where it stands.
        place: String,
    },
    /// Something is wrong with it.
    #[error("the command \"{name}\" cannot be used: {fault}")]
    Faulty {
        /// The name.
        name: String,
        /// What is wrong, and where.
        fault: String,
    },
}

impl Config {
    /// The custom commands that can be used, sorted by name.
    pub(crate) fn commands(&self) -> Vec<CustomCommand> {
        let entries = self.merged.get(TABLE).map(Node::entries).unwrap_or_default();
        let mut commands: Vec<CustomCommand> = entries.iter().filter_map(read).collect();
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        commands
    }

    /// A custom command that can be used.
    pub(crate) fn command(&self, name: &str) -> Result<CustomCommand, CommandError> {
        let mut commands = self.commands();
        if let Some(at) = commands.iter().position(|command| command.name == name) {
            return Ok(commands.swap_remove(at));
        }
        if let Some(strange) = self.strange_commands.iter().find(|strange| strange.name == name) {
            let place = strange.place.clone();
            return Err(CommandError::Untrusted { name: shown(name), place });
        }
        if let Some(faulty) = self.faulty_commands.iter().find(|faulty| faulty.name == name) {
            return Err(CommandError::Faulty { name: shown(name), fault: faulty.fault.clone() });
        }
        let known = commands.iter().map(|command| command.name.as_str());
        Err(CommandError::Unknown {
            name: shown(name),
            nearest: haft::nearest(name, known).map(str::to_owned),
        })
    }

    /// Whether another agent does a command as a task: it says so, or that agent works for agents alone.
    pub(crate) fn is_task(&self, command: &CustomCommand) -> bool {
        let agent = || self.agent(command.agent.as_deref()?).ok();
        command.subtask.unwrap_or_else(|| agent().is_some_and(|agent| agent.mode == AgentMode::Subagent))
    }

    /// The custom commands that only sources describe whose directories are not trusted.
    pub(crate) fn strange_commands(&self) -> &[StrangeCommand] {
        &self.strange_commands
    }

    /// The custom commands that are left out.
    pub(crate) fn faulty_commands(&self) -> &[FaultyCommand] {
        &self.faulty_commands
    }

    /// Leaves out a command that something is wrong with.
    pub(super) fn leave_out(&mut self, name: String, error: &ConfigError, standing: Standing) {
        // Commands around the project do not count anyway.
        if standing != Standing::Around && self.faulty_commands.len() < FAULTY_MAX {
            let (fault, is_trusted) = (haft::causes(error), standing == Standing::Full);
            self.faulty_commands.push(FaultyCommand { name, fault, is_trusted });
        }
    }

    /// Leaves out the commands of a file that something is wrong with, if it is none of haft's own.
    pub(super) fn leave_out_faulty(&mut self, root: &mut Node, family: Family, standing: Standing) {
        let Some(table) = root.get_mut(TABLE).filter(|_| family == Family::Opencode) else { return };
        let Kind::Object(entries) = &mut table.kind else {
            self.leave_out(String::new(), &table.expected("an object"), standing);
            root.remove(TABLE);
            return;
        };
        entries.retain(|Entry { key, value, .. }| {
            match schema::check_command(value, &mut Warnings::default()) {
                Ok(()) => true,
                Err(error) => {
                    self.leave_out(key.clone(), &error, standing);
                    false
                }
            }
        });
    }

    /// Has commands that are only changed say again what they say.
    pub(super) fn complete_commands(&self, root: &mut Node) {
        let Some(known) = self.merged.get(TABLE) else { return };
        for Entry { key, value, .. } in root.get_mut(TABLE).map(Node::entries_mut).unwrap_or_default() {
            let is_missing = value.get(TEMPLATE).is_none();
            let said = known.get(key).map(Node::entries).unwrap_or_default();
            let template = said.iter().find(|field| field.key == TEMPLATE && is_missing);
            if let (Some(template), Kind::Object(fields)) = (template, &mut value.kind) {
                fields.push(template.clone());
            }
        }
    }

    /// Takes note of the commands of a source that does not count.
    pub(super) fn take_note_of_commands(&mut self, root: &Node) {
        let left = STRANGE_MAX.saturating_sub(self.strange_commands.len());
        let entries = root.get(TABLE).map(Node::entries).unwrap_or_default();
        let strange = |CustomCommand { name, place, .. }: CustomCommand| StrangeCommand { name, place };
        self.strange_commands.extend(entries.iter().filter_map(read).map(strange).take(left));
    }
}

/// Whether a name can be typed after a slash.
pub(super) fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_segment =
        |segment: &str| !segment.is_empty() && !segment.starts_with('.') && segment.chars().all(is_plain);
    name.chars().count() <= NAME_CHARS_MAX && name.split('/').all(is_segment)
}

/// Checks that a command has something to say.
pub(super) fn check_template(command: &Node) -> Result<(), ConfigError> {
    match command.get(TEMPLATE).and_then(Node::as_text) {
        Some(template) if !template.trim().is_empty() => Ok(()),
        Some(_) | None => Err(Located::new(Problem::NoTemplate, &command.span).into()),
    }
}

fn read(Entry { key, value, .. }: &Entry) -> Option<CustomCommand> {
    let text = |key: &str| value.get(key).and_then(Node::as_text).map(str::to_owned);
    let template = value.get(TEMPLATE)?;
    Some(CustomCommand {
        name: Some(key).filter(|name| is_name(name))?.clone(),
        template: template.as_text()?.to_owned(),
        description: text("description"),
        agent: text("agent"),
        model: text("model"),
        subtask: value.get("subtask").and_then(Node::as_bool),
        place: place(&template.span),
    })
}

fn place(span: &Span) -> String {
    format!("{}:{}:{}", span.name(), span.line, span.column)
}
