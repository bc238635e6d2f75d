//! Tools: what an author writes, and the opaque value the registry holds.
//!
//! A [`Tool`] has no name and no public parts. It can do one thing, which is what its executor does; its types are
//! erased here and nowhere else.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BoxFuture;
use crate::codec::{self, InputError, Issue, OutputError};
use crate::content::Presented;
use crate::error::ToolError;
use crate::id::{AgentId, CallId, MessageId, SessionId};
use crate::schema::Schema;

/// Who calls, in what conversation: four ids and nothing else. They come whole from the runner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The agent on whose behalf the call is made.
    pub agent: AgentId,
    /// The assistant message that holds the call.
    pub message: MessageId,
    /// The call.
    pub call: CallId,
}

/// What a tool author writes. Services the tool needs are its fields.
///
/// ```
/// use haft::{Executor, Tool, ToolContext, ToolError};
///
/// /// Adds two numbers.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Sum {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// struct Adder;
///
/// impl Executor for Adder {
///     type Input = Sum;
///     type Output = i64;
///
///     async fn execute(&self, input: &Sum, _: &ToolContext) -> Result<i64, ToolError> {
///         input.a.checked_add(input.b).ok_or_else(|| ToolError::failure("the sum is too large"))
///     }
/// }
///
/// let tool = Tool::new(Adder);
/// assert_eq!(tool.description(), "Adds two numbers.");
/// ```
pub trait Executor: Send + Sync + 'static {
    /// What the model sends. Its doc comment is the description the model reads.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// What the tool returns, complete: never cut for the model's sake.
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// Spellings of fields that models use and the schema does not mention, each with the name it stands for.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    /// Whether the same input time and again is no sign of going in circles, as when something is waited for.
    const MAY_REPEAT: bool = false;

    /// A description in place of the input's doc comment, for those too long for one.
    fn description(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Words of its own for bad input, in place of the list of issues.
    fn explain(_issues: &[Issue]) -> Option<String> {
        None
    }

    /// Does the work. Dropping the future cancels it.
    fn execute(
        &self,
        input: &Self::Input,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// Shows the output. It has no `self`, so it can depend on nothing but the input and the encoded output; it must
    /// be total. Unless written otherwise, text is shown as text and everything else as the structured output.
    fn present(_input: &Self::Input, output: &Encoded<Self::Output>) -> Presented {
        match output.json() {
            Value::String(text) => Presented::text(text.as_str()),
            _ => Presented::default(),
        }
    }
}

/// An output as it survived encoding: the JSON, and the value read back from it.
pub struct Encoded<T> {
    json: Arc<Value>,
    value: T,
}

impl<T> Encoded<T> {
    /// The encoded output.
    pub fn json(&self) -> &Value {
        &self.json
    }
}

impl<T> Deref for Encoded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// An executable value without a name. Cloning it is cheap; nothing can be taken out of it.
#[derive(Clone)]
pub struct Tool(Arc<dyn Erased>);

impl Tool {
    /// Makes a tool of what its author wrote.
    pub fn new<E: Executor>(executor: E) -> Tool {
        let (input, output) = (Schema::of_input::<E::Input>(), Schema::of_output::<E::Output>());
        let description = executor.description().map(Cow::into_owned);
        let (input, output) = (Arc::new(input), Arc::new(output));
        Tool(Arc::new(Typed { executor: Arc::new(executor), description, input, output }))
    }

    /// Makes a tool whose types are only known while running, as those of MCP servers and scripts are.
    pub fn dynamic(parts: Dynamic) -> Tool {
        Tool::loose(parts, false)
    }

    /// The same, for a tool that judges its input itself: what does not fit the schema reaches it as it came, and what it
    /// says about that is in its own words.
    pub fn judging(parts: Dynamic) -> Tool {
        Tool::loose(parts, true)
    }

    fn loose(parts: Dynamic, judges: bool) -> Tool {
        let schemas = (Schema::given(parts.input.clone()), Schema::given(parts.output.clone()));
        Tool(Arc::new(Loose {
            parts: Arc::new(parts),
            input: Arc::new(schemas.0),
            output: Arc::new(schemas.1),
            judges,
        }))
    }

    /// What the model is told the tool does.
    pub fn description(&self) -> &str {
        self.0.description()
    }

    pub(crate) fn may_repeat(&self) -> bool {
        self.0.may_repeat()
    }

    pub(crate) fn input_schema(&self) -> &Arc<Schema> {
        self.0.input()
    }

    pub(crate) fn output_schema(&self) -> &Arc<Schema> {
        self.0.output()
    }

    /// Why the tool cannot be offered at all, if its schemas are unusable.
    pub fn unusable(&self) -> Option<&str> {
        self.0.input().validator().err().or_else(|| self.0.output().validator().err())
    }

    /// Decodes an input. `name` is what the tool is called in this turn, for the error's sake.
    pub(crate) fn decode(&self, name: &str, input: Value) -> Result<Box<dyn Invocation>, InputError> {
        self.0.decode(input).map_err(|(issues, own_words)| codec::message(name, &issues, own_words))
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tool")
    }
}

/// Does the work of a tool whose types are only known while running.
pub type Callback =
    Arc<dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync>;

/// The parts of a tool whose types are only known while running.
pub struct Dynamic {
    /// What the model is told the tool does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Value,
    /// The JSON Schema of its output; `true` if anything may come.
    pub output: Value,
    /// Does the work.
    pub execute: Callback,
    /// Shows the encoded output, from it and the input alone.
    pub present: fn(input: &Value, output: &Value) -> Presented,
}

/// What an executor returned, before it is encoded. Only the invocation it came from knows its type.
pub(crate) struct Produced(Box<dyn Any + Send>);

/// An output as it was encoded, beside its typed form.
pub(crate) struct Encoding {
    json: Arc<Value>,
    typed: Box<dyn Any + Send>,
}

impl Encoding {
    pub(crate) fn structured(&self) -> &Value {
        &self.json
    }

    pub(crate) fn into_structured(self) -> Value {
        drop(self.typed);
        Arc::unwrap_or_clone(self.json)
    }
}

/// A tool with its decoded input: the steps of a call that need to know the types.
pub(crate) trait Invocation: Send + Sync {
    fn execute<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<Produced, ToolError>>;
    fn encode(&self, produced: Produced) -> Result<Encoding, OutputError>;
    fn present(&self, encoding: &Encoding) -> Presented;
}

type Undecoded = (Vec<Issue>, Option<String>);

trait Erased: Send + Sync {
    fn description(&self) -> &str;
    fn may_repeat(&self) -> bool {
        false
    }
    fn input(&self) -> &Arc<Schema>;
    fn output(&self) -> &Arc<Schema>;
    fn decode(&self, input: Value) -> Result<Box<dyn Invocation>, Undecoded>;
}

struct Typed<E> {
    executor: Arc<E>,
    /// Its own, where the doc comment of its input is not the one.
    description: Option<String>,
    input: Arc<Schema>,
    output: Arc<Schema>,
}

impl<E: Executor> Erased for Typed<E> {
    fn description(&self) -> &str {
        self.description.as_deref().or_else(|| self.input.doc_comment()).unwrap_or_default()
    }

    fn may_repeat(&self) -> bool {
        E::MAY_REPEAT
    }

    fn input(&self) -> &Arc<Schema> {
        &self.input
    }

    fn output(&self) -> &Arc<Schema> {
        &self.output
    }

    fn decode(&self, input: Value) -> Result<Box<dyn Invocation>, Undecoded> {
        let decoded = codec::check(&self.input, E::ALIASES, input).and_then(codec::decode::<E::Input>);
        match decoded {
            Ok(input) => {
                let (executor, output) = (self.executor.clone(), self.output.clone());
                Ok(Box::new(TypedInvocation { executor, output, input }))
            }
            Err(issues) => {
                let own_words = E::explain(&issues);
                Err((issues, own_words))
            }
        }
    }
}

struct TypedInvocation<E: Executor> {
    executor: Arc<E>,
    output: Arc<Schema>,
    input: E::Input,
}

const FOREIGN: &str = "an invocation is given only what it produced";

impl<E: Executor> Invocation for TypedInvocation<E> {
    fn execute<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<Produced, ToolError>> {
        Box::pin(async move {
            let output = self.executor.execute(&self.input, context).await?;
            Ok(Produced(Box::new(output)))
        })
    }

    fn encode(&self, produced: Produced) -> Result<Encoding, OutputError> {
        let output = produced.0.downcast::<E::Output>().expect(FOREIGN);
        let json = serde_json::to_value(&*output).map_err(|error| OutputError::new(&error))?;
        codec::check_output(&self.output, &json)?;
        let value = E::Output::deserialize(&json).map_err(|error| OutputError::new(&error))?;
        let json = Arc::new(json);
        Ok(Encoding { json: json.clone(), typed: Box::new(Encoded { json, value }) })
    }

    fn present(&self, encoding: &Encoding) -> Presented {
        E::present(&self.input, encoding.typed.downcast_ref::<Encoded<E::Output>>().expect(FOREIGN))
    }
}

struct Loose {
    parts: Arc<Dynamic>,
    input: Arc<Schema>,
    output: Arc<Schema>,
    /// Whether it has the last word on its input.
    judges: bool,
}

impl Erased for Loose {
    fn description(&self) -> &str {
        &self.parts.description
    }

    fn input(&self) -> &Arc<Schema> {
        &self.input
    }

    fn output(&self) -> &Arc<Schema> {
        &self.output
    }

    fn decode(&self, input: Value) -> Result<Box<dyn Invocation>, Undecoded> {
        let as_it_came = self.judges.then(|| input.clone());
        let checked = codec::check(&self.input, &[], input);
        let input = checked.or_else(|issues| as_it_came.ok_or((issues, None)))?;
        Ok(Box::new(LooseInvocation { parts: self.parts.clone(), output: self.output.clone(), input }))
    }
}

struct LooseInvocation {
    parts: Arc<Dynamic>,
    output: Arc<Schema>,
    input: Value,
}

impl Invocation for LooseInvocation {
    fn execute<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<Produced, ToolError>> {
        let work = (self.parts.execute)(self.input.clone(), context.clone());
        Box::pin(async move { Ok(Produced(Box::new(work.await?))) })
    }

    fn encode(&self, produced: Produced) -> Result<Encoding, OutputError> {
        let json = *produced.0.downcast::<Value>().expect(FOREIGN);
        codec::check_output(&self.output, &json)?;
        Ok(Encoding { json: Arc::new(json), typed: Box::new(()) })
    }

    fn present(&self, encoding: &Encoding) -> Presented {
        (self.parts.present)(&self.input, &encoding.json)
    }
}
