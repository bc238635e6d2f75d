//! What built-in tools work with. Each takes the parts it needs as its fields.

use std::path::PathBuf;
use std::sync::Arc;

use haft::permission::{Asker, Gate};
use haft::{Events, Hook, Inbox, Journal, Memory, OpenTurns, OutputStore, SubAgents};

use crate::after::AfterChange;
use crate::code::CodeSearching;
use crate::jobs::Jobs;
use crate::lsp::Languages;
use crate::process::Processes;
use crate::search_service::WebSearching;
use crate::skills::Skills;
use crate::web::Web;
use crate::workspace::Workspace;

/// The services of one location.
#[derive(Clone)]
pub struct ToolServices {
    /// Resolves paths and performs effects on files.
    pub workspace: Workspace,
    /// Decides and asks.
    pub gate: Gate,
    /// Retained outputs, which can be read like files.
    pub outputs: Arc<dyn OutputStore>,
    /// What a session remembers from one call to the next.
    pub memory: Arc<dyn Memory>,
    /// What calls changed, to undo it by.
    pub journal: Arc<dyn Journal>,
    /// Where tools report.
    pub events: Events,
    /// As many bytes of an image or a document as are shown, whoever produces it.
    pub media_bytes_max: u64,
    /// An image whose longer side has more pixels is scaled down.
    pub image_side_max: u32,
    /// A directory for what can be made again; `None` where nothing is to be kept.
    pub cache: Option<PathBuf>,
    /// How commands are run.
    pub processes: Arc<Processes>,
    /// The commands in the background; `None` where the process ends with the call, so that nothing can go on.
    pub jobs: Option<Arc<Jobs>>,
    /// Take part when a command is started.
    pub hooks: Arc<[Arc<dyn Hook>]>,
    /// Whether a file has to be read in a session before it is changed there.
    pub require_read: bool,
    /// What is done after files were changed, in this order.
    pub after: Arc<[Arc<dyn AfterChange>]>,
    /// The language servers.
    pub languages: Languages,
    /// Who answers questions that concern no permission.
    pub asker: Arc<dyn Asker>,
    /// Other agents, where there is a conversation that they can be part of.
    pub subagents: Option<Arc<dyn SubAgents>>,
    /// What is to be said next in a session.
    pub inbox: Inbox,
    /// The turns under way.
    pub turns: OpenTurns,
    /// Who searches the web.
    pub web_search: WebSearching,
    /// Where code is searched.
    pub code_search: CodeSearching,
    /// Where skills are found.
    pub skills: Arc<Skills>,
    /// Reaches the network.
    pub web: Web,
}
