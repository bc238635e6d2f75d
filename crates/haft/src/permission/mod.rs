//! Permission: who may do what to what, who decides, and the proof of it.
//!
//! [`Rule`]s say; [`decide`] applies them; the [`Gate`] asks where they say ask; a [`Permit`] proves the consent.

mod wildcard;
mod resource;
mod rule;
mod grant;
mod decision;
mod ask;
mod pending;
mod gate;

pub use ask::{
    Answer, Ask, Asker, Choice, Inquired, Inquiry, Nobody, Policy, Question, Reach, Reply, Request, Showing,
    Told,
};
pub use decision::{Decision, Reason, decide, decide_perhaps, strictest};
pub use gate::{Consent, Gate, GateParts, Permit, Rehearsed, ReplyError};
pub use grant::{Grant, GrantBook, MemoryGrants, Scope};
pub use resource::{Allowed, Resource};
pub use rule::{Effect, Layer, Origin, Rule, Ruleset};
pub use wildcard::Pattern;
