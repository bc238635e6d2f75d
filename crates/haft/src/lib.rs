//! The tool system of a coding agent.
//!
//! A language model asks for something; haft decides whether it may, does it, and tells the model exactly what
//! happened. This crate is the centre: it knows no network, no processes, no files and no database, only the
//! [seams](Services) for them.
//!
//! A [`Tool`] is what an [`Executor`]'s author wrote, without a name. A [`Registry`] gives it one, for as long as its
//! [`Registration`] lives. A [`Turn`] fixes what a model is told, and [settles](Turn::settle) the calls it makes.
//!
//! ```
//! use std::sync::Arc;
//! use haft::permission::Ruleset;
//! use haft::{AgentId, Audience, Call, CallId, Input, MessageId, Registry, Services, SessionId, Settlement, ToolContext};
//! use haft::{Executor, Tool, ToolError, TurnSpec};
//!
//! /// Greets somebody.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! struct Greeter;
//!
//! impl Executor for Greeter {
//!     type Input = Greet;
//!     type Output = String;
//!
//!     async fn execute(&self, input: &Greet, _: &ToolContext) -> Result<String, ToolError> {
//!         Ok(format!("Hello, {}!", input.name))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::root();
//! let _registration = registry.register([("greet", Tool::new(Greeter))])?;
//!
//! let spec = TurnSpec {
//!     agent: AgentId::parse("build")?,
//!     rules: Arc::new(Ruleset::default()),
//!     audience: Audience::Operator,
//!     configuration: 0,
//! };
//! let turn = registry.turn(&spec, Services::in_memory(Ruleset::default())).await?;
//! let call = Call {
//!     context: ToolContext {
//!         session: SessionId::mint(),
//!         agent: spec.agent.clone(),
//!         message: MessageId::mint(),
//!         call: CallId::mint(),
//!     },
//!     provider_id: None,
//!     name: "greet".to_owned(),
//!     input: Input::Json(serde_json::json!({ "name": "world" })),
//! };
//! let Settlement::Completed(done) = turn.settle(call).await? else { panic!("it was rejected") };
//! assert_eq!(done.text(), "Hello, world!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

#![deny(missing_docs)]

mod id;
mod name;
mod content;
mod error;
mod schema;
mod codec;
mod tool;
mod audience;
mod registry;
mod turn;
mod settlement;
mod settle;
mod catch;
mod hooks;
pub mod permission;
pub mod preview;
mod boundary;
mod output;
mod memory;
mod transcript;
mod inbox;
mod subagents;
mod open_turns;
mod recorder;
mod journal;
mod events;
pub mod json;
mod visible;
pub mod secrets;
mod sync;

pub use audience::{Audience, Model, TurnSpec, Viewer, When};
pub use boundary::{BoundError, Boundary, Limits, Shortening, bound, hint};
pub use codec::{InputError, Issue, OutputError};
pub use content::{Content, KEPT, Presented};
pub use error::{BoxError, Invalid, Refusal, ToolError, causes};
pub use events::{Event, Events, Saying, Subscription};
pub use hooks::{Described, Hook};
pub use id::{
    AgentId, CallId, GrantId, ID_BYTES_MAX, InquiryId, InvalidId, JobId, MessageId, OutputId, RequestId,
    SessionId,
};
pub use inbox::{Inbox, Note, Shelf};
pub use journal::{Attributes, Change, IMAGE_BYTES_KEPT, Image, Journal, Journaled, Reopen, Restorer};
pub use memory::{Memory, ShortMemory, Topic};
pub use name::{Action, InvalidName, NAME_BYTES_MAX, ToolName, nearest};
pub use open_turns::{OpenTurn, OpenTurns};
pub use output::{ADDRESS, Address, MemoryOutputs, OpenOutput, Output, OutputStore, Readable, Spool};
pub use recorder::{
    Ended, Intent, Interruption, MemoryRecorder, Opened, Past, Recorder, Remembered, Seq, StoreError,
};
pub use registry::{Factory, InitContext, Offer, RegisterError, Registrar, Registration, Registry, Source};
pub use schema::Schema;
pub use settlement::{Call, Completed, Input, Rejection, SettleError, Settlement, told_name};
pub use subagents::{SubAgent, SubAgents, Task, TaskReport, TaskState};
pub use tool::{Callback, Dynamic, Encoded, Executor, Tool, ToolContext};
pub use transcript::{
    CallPart, Finish, History, Lease, LeaseError, MemoryTranscript, Message, Part, Role, SessionStart,
    Transcript, Usage,
};
pub use turn::{Definition, Services, Turn, TurnError};
pub use visible::{is_deceptive, visible, visible_lines};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
