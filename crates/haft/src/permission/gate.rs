//! The gate: decides about every effect, asks where the rules say so, and hands out permits.
//!
//! A [`Permit`] is the only way to an effect and carries the target that was approved, so what was approved is what
//! happens. It cannot be made or copied outside this file:
//!
//! ```compile_fail
//! let forged = haft::permission::Permit("anything");
//! ```

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::Value;

use super::ask::{Answer, Ask, Asker, Nobody, Policy, Question, Reach, Reply, Request, Showing, told};
use super::decision::{Decision, Reason, decide, decide_perhaps, strictest};
use super::grant::{Grant, GrantBook, MemoryGrants, Scope};
use super::pending::{Pending, Verdict, Waiting};
use super::resource::Allowed;
use super::rule::{Effect, Rule, Ruleset};
use super::wildcard::Pattern;
use crate::error::{Refusal, ToolError};
use crate::events::{Event, Events};
use crate::id::{CallId, GrantId, RequestId, SessionId};
use crate::recorder::{Recorder, StoreError};
use crate::sync::{Mutex, lock};
use crate::tool::ToolContext;

/// Proof that acting on a target was agreed to.
#[derive(Debug)]
#[must_use = "a permit that is not used approves nothing"]
pub struct Permit<A>(A);

impl<A> Permit<A> {
    /// What was approved.
    pub fn target(&self) -> &A {
        &self.0
    }

    /// Uses the permit up.
    pub fn into_target(self) -> A {
        self.0
    }
}

/// Proof that acting on a target was agreed to, which is not on record yet. It is enough to make something ready that
/// nobody notices and that is gone with the process; to act needs a permit.
#[derive(Debug)]
pub struct Consent<'a, A>(&'a A);

impl<'a, A> Consent<'a, A> {
    /// What was agreed to.
    pub fn target(&self) -> &'a A {
        self.0
    }
}

/// There is no such request, or somebody else has answered it.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// There is no such request, or it was answered.
    #[error("there is no pending request {0}")]
    NotFound(RequestId),
    /// The call has changed something already, so it cannot begin anew.
    #[error("the input of the call behind {0} can no longer be changed, because it has begun to act")]
    TooLate(RequestId),
    /// The reply took effect, but could not be kept for later.
    #[error("the reply took effect once, but could not be saved")]
    NotSaved(#[source] StoreError),
}

/// What a rehearsal took down instead of acting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsed {
    /// The question.
    pub question: Question,
    /// What would be decided about each resource.
    pub decisions: Vec<Decision>,
    /// What a person would be shown.
    pub showing: Showing,
}

/// Decides, asks, and hands out permits.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

struct Shared {
    policy: Box<dyn Policy>,
    grants: Arc<dyn GrantBook>,
    asker: Arc<dyn Asker>,
    recorder: Arc<dyn Recorder>,
    events: Events,
    waiting: Waiting,
    /// The calls under way that have changed nothing yet, with their input.
    unbegun: Mutex<HashMap<CallId, Value>>,
    rehearsal: Option<Mutex<Vec<Rehearsed>>>,
}

/// What a gate is made of.
pub struct GateParts {
    /// The rules.
    pub policy: Box<dyn Policy>,
    /// The saved grants.
    pub grants: Arc<dyn GrantBook>,
    /// Whom to ask.
    pub asker: Arc<dyn Asker>,
    /// Where effects are recorded before they begin.
    pub recorder: Arc<dyn Recorder>,
    /// Where questions and answers are announced.
    pub events: Events,
}

impl Gate {
    /// A gate that acts.
    pub fn new(parts: GateParts) -> Gate {
        Gate::with(parts, None)
    }

    /// A gate that takes down what it would decide and permits nothing.
    pub fn rehearsal(parts: GateParts) -> Gate {
        Gate::with(parts, Some(Mutex::default()))
    }

    /// A gate with these rules, nobody to ask and no memory.
    pub fn in_memory(rules: Ruleset, recorder: Arc<dyn Recorder>) -> Gate {
        let events = Events::new(recorder.clone());
        let asker = Arc::new(Nobody("no one is there to answer".to_owned()));
        let policy = Box::new(Arc::new(rules));
        Gate::new(GateParts { policy, grants: Arc::new(MemoryGrants::default()), asker, recorder, events })
    }

    fn with(parts: GateParts, rehearsal: Option<Mutex<Vec<Rehearsed>>>) -> Gate {
        let GateParts { policy, grants, asker, recorder, events } = parts;
        Gate(Arc::new(Shared {
            policy,
            grants,
            asker,
            recorder,
            events,
            waiting: Waiting::default(),
            unbegun: Mutex::default(),
            rehearsal,
        }))
    }

    /// Asks for consent to act on a target. What changes something is on the disk before the permit is handed out.
    pub async fn grant<A: Ask>(&self, context: &ToolContext, ask: A) -> Result<Permit<A>, ToolError> {
        let nothing = |_: Consent<'_, A>| std::future::ready(());
        self.grant_readying(context, ask, nothing).await.map(|(permit, ())| permit)
    }

    /// The same, and makes something ready as soon as consent is given, while that is being recorded.
    pub async fn grant_readying<A: Ask, F: Future>(
        &self,
        context: &ToolContext,
        ask: A,
        ready: impl FnOnce(Consent<'_, A>) -> F,
    ) -> Result<(Permit<A>, F::Output), ToolError> {
        self.consent(context, &ask).await?;
        let changes = match ask.reach() {
            Reach::Looks => None,
            Reach::Changes => {
                lock(&self.0.unbegun).remove(&context.call);
                Some(ask.changes())
            }
        };
        let recording = async {
            match &changes {
                Some(changes) => self.0.recorder.acting(context, changes).await,
                None => Ok(()),
            }
        };
        let (recorded, ready) = both(recording, ready(Consent(&ask))).await;
        recorded?;
        Ok((Permit(ask), ready))
    }

    /// Has everything agreed to that acting on a target raises.
    async fn consent<A: Ask>(&self, context: &ToolContext, ask: &A) -> Result<(), ToolError> {
        if let Some(notes) = &self.0.rehearsal {
            return Err(self.rehearse(context, ask, notes).await?.into());
        }
        for question in ask.questions() {
            self.settle_question(context, question, ask).await?;
        }
        for question in unknown(ask) {
            let decisions = decide_perhaps(&self.0.policy.rules(context), &question);
            if !decisions.is_empty() {
                self.put(context, question, decisions, ask).await?;
            }
        }
        Ok(())
    }

    /// Says which input a call runs with, so that whoever is asked may give it another. Dropping the guard ends that.
    pub(crate) fn begins(&self, call: &CallId, input: &Value) -> Begun<'_> {
        lock(&self.0.unbegun).insert(call.clone(), input.clone());
        Begun { gate: self, call: call.clone() }
    }

    /// What is decided about a question, before anybody is asked.
    pub async fn decisions(
        &self,
        context: &ToolContext,
        question: &Question,
    ) -> Result<Vec<Decision>, StoreError> {
        let rules = self.0.policy.rules(context);
        let grants = self.0.grants.grants(&context.session).await?;
        let one = |resource| decide(&rules, &grants, &question.action, resource);
        Ok(question.resources.iter().map(one).collect())
    }

    /// The rules that hold for a call.
    pub fn rules(&self, context: &ToolContext) -> Arc<Ruleset> {
        self.0.policy.rules(context)
    }

    /// The requests that wait for an answer, oldest first.
    pub fn pending(&self) -> Vec<Arc<Request>> {
        self.0.waiting.requests()
    }

    /// Answers a request. A rejection also declines the session's other requests; an "always" also answers those it
    /// covers.
    pub async fn reply(&self, id: &RequestId, reply: Reply) -> Result<(), ReplyError> {
        let claim = self.0.waiting.claim(id).ok_or_else(|| ReplyError::NotFound(id.clone()))?;
        let request = claim.request().clone();
        if matches!(reply, Reply::Edit(_)) && !lock(&self.0.unbegun).contains_key(&request.context.call) {
            return Err(ReplyError::TooLate(id.clone()));
        }
        let saved = match &reply {
            Reply::Once | Reply::Reject(_) | Reply::Edit(_) => Ok(()),
            Reply::Always(scope) => self.0.grants.keep(&grants_for(&request, *scope)).await,
        };
        claim.settle(match &reply {
            Reply::Once | Reply::Always(_) => Verdict::Allowed,
            Reply::Reject(None) => Verdict::Declined,
            Reply::Reject(Some(words)) => Verdict::Corrected(words.clone()),
            Reply::Edit(input) => Verdict::Edited(input.clone()),
        });
        self.replied(request.clone(), reply.clone()).await;
        match reply {
            Reply::Once | Reply::Edit(_) => {}
            Reply::Always(_) => self.answer_covered(&request.context.session).await,
            Reply::Reject(_) => self.decline_others(&request.context.session).await,
        }
        saved.map_err(ReplyError::NotSaved)
    }

    /// What was taken down by a gate that rehearses.
    pub fn rehearsed(&self) -> Vec<Rehearsed> {
        self.0.rehearsal.as_ref().map(|notes| lock(notes).clone()).unwrap_or_default()
    }

    async fn rehearse<A: Ask>(
        &self,
        context: &ToolContext,
        ask: &A,
        notes: &Mutex<Vec<Rehearsed>>,
    ) -> Result<Refusal, StoreError> {
        let mut effect = Effect::Allow;
        for question in ask.questions() {
            let decisions = self.decisions(context, &question).await?;
            effect = effect.max(strictest(&decisions));
            lock(notes).push(Rehearsed { question, decisions, showing: ask.show() });
        }
        for question in unknown(ask) {
            let decisions = decide_perhaps(&self.0.policy.rules(context), &question);
            if !decisions.is_empty() {
                effect = effect.max(strictest(&decisions));
                lock(notes).push(Rehearsed { question, decisions, showing: ask.show() });
            }
        }
        Ok(Refusal::Rehearsed { effect })
    }

    async fn settle_question<A: Ask>(
        &self,
        context: &ToolContext,
        question: Question,
        ask: &A,
    ) -> Result<(), ToolError> {
        let decisions = self.decisions(context, &question).await?;
        if let Some(rule) = decisions.iter().find_map(denying) {
            return Err(Refusal::Denied { wanted: told(&question), rule: Box::new(rule.clone()) }.into());
        }
        if strictest(&decisions) == Effect::Allow {
            return Ok(());
        }
        self.put(context, question, decisions, ask).await
    }

    /// Puts a question to whoever can answer it.
    async fn put<A: Ask>(
        &self,
        context: &ToolContext,
        question: Question,
        decisions: Vec<Decision>,
        ask: &A,
    ) -> Result<(), ToolError> {
        let request = Request {
            id: RequestId::mint(),
            context: context.clone(),
            question,
            decisions,
            showing: ask.show(),
            input: lock(&self.0.unbegun).get(&context.call).cloned(),
        };
        self.ask(Arc::new(request)).await
    }

    async fn ask(&self, request: Arc<Request>) -> Result<(), ToolError> {
        // From here on the request is visible; the guard takes it away again however this ends.
        let pending = self.0.waiting.push(request.clone());
        // A grant that was kept since the decision has not seen this request.
        if strictest(&self.decisions(&request.context, &request.question).await?) == Effect::Allow {
            return Ok(());
        }
        self.0.events.publish(Event::Asked(request.clone())).await?;
        match self.first_answer(&request, &pending).await {
            First::Verdict(verdict) => verdict.into_result(&request),
            First::Answer(Answer::Nobody(hint)) => {
                // Somebody may be answering elsewhere at this moment.
                if let Some(verdict) = pending.claimed().await {
                    return verdict.into_result(&request);
                }
                let rule = request.decisions.iter().find_map(asking).cloned().map(Box::new);
                Err(Refusal::Unanswered { wanted: told(&request.question), rule, hint }.into())
            }
            First::Answer(Answer::Reply(mut reply)) => {
                loop {
                    match self.reply(&request.id, reply.clone()).await {
                        // Somebody else was quicker, or the reply holds this time only: there is a verdict.
                        Ok(()) | Err(ReplyError::NotFound(_) | ReplyError::NotSaved(_)) => {}
                        // Whoever wanted something else has not agreed to this.
                        Err(ReplyError::TooLate(_)) => reply = Reply::Reject(None),
                    }
                    // None if the quicker one gave up.
                    if let Some(verdict) = pending.claimed().await {
                        return verdict.into_result(&request);
                    }
                }
            }
        }
    }

    /// Waits for whoever is first: the asker, or somebody who replies through the gate.
    async fn first_answer(&self, request: &Request, pending: &Pending) -> First {
        let mut verdict = pin!(pending.verdict());
        let mut answer = self.0.asker.ask(request);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(verdict) = verdict.as_mut().poll(cx) {
                return Poll::Ready(First::Verdict(verdict));
            }
            answer.as_mut().poll(cx).map(First::Answer)
        })
        .await
    }

    async fn decline_others(&self, session: &SessionId) {
        for claim in self.0.waiting.claim_all(session) {
            let request = claim.request().clone();
            claim.settle(Verdict::Declined);
            self.replied(request, Reply::Reject(None)).await;
        }
    }

    async fn answer_covered(&self, session: &SessionId) {
        for request in self.pending().into_iter().filter(|request| request.context.session == *session) {
            let Ok(decisions) = self.decisions(&request.context, &request.question).await else { return };
            if strictest(&decisions) != Effect::Allow {
                continue;
            }
            if let Some(claim) = self.0.waiting.claim(&request.id) {
                claim.settle(Verdict::Allowed);
                self.replied(request, Reply::Once).await;
            }
        }
    }

    /// The verdict has been given and holds; that its announcement cannot be recorded must not undo it.
    async fn replied(&self, request: Arc<Request>, reply: Reply) {
        let _unrecorded = self.0.events.publish(Event::Replied(request, reply)).await;
    }
}

/// A call that has changed nothing yet.
pub(crate) struct Begun<'g> {
    gate: &'g Gate,
    call: CallId,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        lock(&self.gate.0.unbegun).remove(&self.call);
    }
}

/// Waits for both.
async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (Poll::Pending, Poll::Pending);
    std::future::poll_fn(|cx| {
        if first.is_pending() {
            first = one.as_mut().poll(cx);
        }
        if second.is_pending() {
            second = other.as_mut().poll(cx);
        }
        match (std::mem::replace(&mut first, Poll::Pending), std::mem::replace(&mut second, Poll::Pending)) {
            (Poll::Ready(one), Poll::Ready(other)) => Poll::Ready((one, other)),
            unfinished => {
                (first, second) = unfinished;
                Poll::Pending
            }
        }
    })
    .await
}

enum First {
    Verdict(Verdict),
    Answer(Answer),
}

impl Verdict {
    fn into_result(self, request: &Request) -> Result<(), ToolError> {
        match self {
            Verdict::Allowed => Ok(()),
            Verdict::Declined => Err(ToolError::Declined),
            Verdict::Edited(input) => Err(ToolError::Edited(input)),
            Verdict::Corrected(words) => {
                Err(Refusal::Corrected { wanted: told(&request.question), words }.into())
            }
        }
    }
}

/// What acting on a target might do. No rule and no grant was meant for what nobody knows, so that none of them answers
/// while somebody is asked; and an "always" keeps nothing, since it could answer only questions that are not this one.
fn unknown<A: Ask>(ask: &A) -> impl Iterator<Item = Question> {
    ask.perhaps().into_iter().map(|mut question| {
        let resources = question.resources.into_iter();
        question.resources = resources.map(|resource| resource.allowed(Allowed::ByNothing)).collect();
        question.save.clear();
        question
    })
}

fn grants_for(request: &Request, scope: Scope) -> Vec<Grant> {
    let grant = |pattern: &String| Grant {
        id: GrantId::mint(),
        scope,
        session: request.context.session.clone(),
        action: request.question.action.clone(),
        resource: Pattern::new(pattern),
    };
    request.question.save.iter().map(grant).collect()
}

fn denying(decision: &Decision) -> Option<&Rule> {
    match &decision.reason {
        Reason::Rule(rule) if rule.effect == Effect::Deny => Some(rule),
        Reason::Rule(_) | Reason::Possibly(_) | Reason::Grant { .. } | Reason::Silence => None,
    }
}

fn asking(decision: &Decision) -> Option<&Rule> {
    match &decision.reason {
        Reason::Rule(rule) if rule.effect == Effect::Ask => Some(rule),
        Reason::Possibly(rule) => Some(rule),
        Reason::Rule(_) | Reason::Grant { .. } | Reason::Silence => None,
    }
}
