//! Why a model cannot be asked, and what to do about it.

use crate::scripted::ScriptError;

/// Why a model cannot be asked. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// No provider was named.
    #[error("{model:?} names no provider; write PROVIDER/MODEL{}", example(.nearest))]
    NoProvider {
        /// What was written.
        model: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// Nobody knows the provider.
    #[error("there is no provider {provider:?}{}; known are {known}, and others can be configured (provider.{provider}.options.baseURL)", meant(.nearest))]
    UnknownProvider {
        /// What was written.
        provider: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// Those that there are.
        known: String,
    },
    /// The configuration switched it off.
    #[error(
        "the provider {provider} is switched off by the configuration (enabled_providers, disabled_providers)"
    )]
    Disabled {
        /// The provider.
        provider: String,
    },
    /// It needs a key.
    #[error("{provider} needs a key: run `haft auth login {provider}`{}", or_set(.variable))]
    NoKey {
        /// The provider.
        provider: String,
        /// The variable that could hold it.
        variable: Option<String>,
    },
    /// Nobody knows where it is.
    #[error("nobody says where {provider} is: set provider.{provider}.options.baseURL")]
    NoAddress {
        /// The provider.
        provider: String,
    },
    /// A script cannot be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Nothing is set up.
    #[error("{}", FIRST_RUN)]
    NothingSetUp,
}

/// What a person is told who has no model yet.
const FIRST_RUN: &str = "\
no model can be reached yet. Any one of these is enough:
  a key of a provider   haft auth login anthropic   (or openai, google, openrouter, …)
  or in a variable      export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, …)
  a server of your own  start Ollama, LM Studio, llama.cpp or vLLM on its usual port, or set HAFT_LLM_BASE_URL
Then `haft models` lists what there is, and -m PROVIDER/MODEL or \"model\" in the configuration chooses";

fn example(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(", such as {nearest}")).unwrap_or_default()
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default()
}

fn or_set(variable: &Option<String>) -> String {
    variable.as_ref().map(|variable| format!(" or set {variable}")).unwrap_or_default()
}
