//! The providers that haft knows without being told, and what is known of models by their names.

use crate::provider::ModelInfo;
use crate::wire::Format;

/// A provider that is known.
pub(crate) struct Known {
    pub(crate) id: &'static str,
    pub(crate) format: Format,
    pub(crate) base_url: &'static str,
    /// Where its key may be; the first is the one to recommend. None if it needs no key.
    pub(crate) variables: &'static [&'static str],
    /// The model to begin with; none if it serves whatever was put on it.
    pub(crate) model: Option<&'static str>,
}

impl Known {
    /// Whether it is a server on this machine, which needs no key.
    pub(crate) fn is_local(&self) -> bool {
        self.variables.is_empty()
    }
}

const fn known(
    id: &'static str,
    format: Format,
    base_url: &'static str,
    variables: &'static [&'static str],
    model: Option<&'static str>,
) -> Known {
    Known { id, format, base_url, variables, model }
}

/// In the order in which they are chosen when nobody names one.
#[rustfmt::skip]
pub(crate) const KNOWN: &[Known] = &[
    known("anthropic", Format::Anthropic, "https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"], Some("claude-sonnet-5-5")),
    known("openai", Format::Responses, "https://api.openai.com/v1", &["OPENAI_API_KEY"], Some("gpt-5.5")),
    known("google", Format::Gemini, "https://generativelanguage.googleapis.com/v1beta", &["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"], Some("gemini-3.8-flash")),
    known("openrouter", Format::Chat, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"], Some("openrouter/auto")),
    known("xai", Format::Chat, "https://api.x.ai/v1", &["XAI_API_KEY"], Some("grok-4")),
    known("deepseek", Format::Chat, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], Some("deepseek-chat")),
    known("mistral", Format::Chat, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], Some("mistral-large-latest")),
    known("groq", Format::Chat, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], Some("openai/gpt-oss-120b")),
    known("cerebras", Format::Chat, "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"], Some("gpt-oss-120b")),
    known("togetherai", Format::Chat, "https://api.together.xyz/v1", &["TOGETHER_API_KEY"], None),
    known("fireworks-ai", Format::Chat, "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"], None),
    known("moonshotai", Format::Chat, "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"], None),
    known("zai", Format::Chat, "https://api.z.ai/api/paas/v4", &["ZHIPU_API_KEY", "ZAI_API_KEY"], None),
    known("ollama", Format::Chat, "http://127.0.0.1:11434/v1", &[], None),
    known("lmstudio", Format::Chat, "http://127.0.0.1:1234/v1", &[], None),
    known("llamacpp", Format::Chat, "http://127.0.0.1:8080/v1", &[], None),
    known("vllm", Format::Chat, "http://127.0.0.1:8000/v1", &[], None),
];

/// The packages by which opencode's configuration names formats.
const PACKAGES: &[(&str, Format)] = &[
    ("@ai-sdk/anthropic", Format::Anthropic),
    ("@ai-sdk/cerebras", Format::Chat),
    ("@ai-sdk/deepinfra", Format::Chat),
    ("@ai-sdk/deepseek", Format::Chat),
    ("@ai-sdk/fireworks", Format::Chat),
    ("@ai-sdk/google", Format::Gemini),
    ("@ai-sdk/groq", Format::Chat),
    ("@ai-sdk/mistral", Format::Chat),
    ("@ai-sdk/openai", Format::Responses),
    ("@ai-sdk/openai-compatible", Format::Chat),
    ("@ai-sdk/togetherai", Format::Chat),
    ("@ai-sdk/xai", Format::Chat),
    ("@openrouter/ai-sdk-provider", Format::Chat),
];

/// The format that a package speaks.
pub fn format_of_package(package: &str) -> Option<Format> {
    // Packages may be written with a version.
    let name = package.rfind('@').filter(|at| *at > 0).map_or(package, |at| &package[..at]);
    PACKAGES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
}

/// The packages whose formats are known.
pub fn packages() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().map(|(package, _)| *package)
}

/// A provider that is known by its id.
pub(crate) fn by_id(id: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.id == id)
}

/// How much models read and write at once, by the beginning of their names; the first that fits holds.
const LIMITS: &[(&str, u64, u64)] = &[
    ("claude-3-5-haiku", 200_000, 8_192),
    ("claude-3", 200_000, 4_096),
    ("claude-haiku-4", 200_000, 64_000),
    ("claude-opus-4-1", 200_000, 32_000),
    ("claude-opus-4-2", 200_000, 32_000),
    ("claude-opus-4-5", 200_000, 64_000),
    ("claude-opus-4-6", 200_000, 128_000),
    ("claude-sonnet-4", 200_000, 64_000),
    ("claude-opus-4", 200_000, 32_000),
    ("claude-", 1_000_000, 128_000),
    ("gpt-5.4-mini", 400_000, 128_000),
    ("gpt-5.4-nano", 400_000, 128_000),
    ("gpt-5.4", 1_050_000, 128_000),
    ("gpt-5.5", 1_050_000, 128_000),
    ("gpt-5", 400_000, 128_000),
    ("gpt-4.1", 1_047_576, 32_768),
    ("gpt-4o", 128_000, 16_384),
    ("gpt-oss", 131_072, 32_768),
    ("o3", 200_000, 100_000),
    ("o4", 200_000, 100_000),
    ("gemini-", 1_048_576, 65_536),
    ("grok-4", 256_000, 64_000),
    ("deepseek", 128_000, 8_192),
    ("mistral-large", 128_000, 32_000),
];

/// What is known of a model by its name alone. Names may begin with whose model it is.
pub(crate) fn limits(model: &str) -> ModelInfo {
    let name = model.rsplit('/').next().unwrap_or(model);
    let row = LIMITS.iter().find(|(beginning, ..)| name.starts_with(beginning));
    ModelInfo {
        id: model.to_owned(),
        name: None,
        context: row.map(|(_, context, _)| *context),
        output: row.map(|(.., output)| *output),
        ..ModelInfo::default()
    }
}

/// Who probably serves a model that was named without its provider.
pub(crate) fn guess(model: &str) -> Option<&'static str> {
    let families = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "google"),
        ("grok", "xai"),
        ("deepseek", "deepseek"),
        ("mistral", "mistral"),
    ];
    families.iter().find(|(family, _)| model.starts_with(family)).map(|(_, provider)| *provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_provider_can_be_reached_by_its_row_alone() {
        for known in KNOWN {
            assert!(known.base_url.starts_with("https://") != known.is_local(), "{}", known.id);
            assert!(!known.base_url.ends_with('/') && !known.id.contains('/'), "{}", known.id);
            assert!(!known.is_local() || known.model.is_none(), "{}", known.id);
        }
    }

    #[test]
    fn a_rule_for_a_family_does_not_hide_one_for_a_member() {
        for (at, (beginning, ..)) in LIMITS.iter().enumerate() {
            let earlier = LIMITS[..at].iter().find(|(first, ..)| beginning.starts_with(first));
            assert!(earlier.is_none(), "{beginning} is never reached");
        }
        assert_eq!(limits("anthropic/claude-opus-5-5").output, Some(128_000));
        assert_eq!(limits("unheard-of").context, None);
    }

    #[test]
    fn packages_are_known_with_and_without_a_version() {
        assert_eq!(format_of_package("@ai-sdk/google@1.2.3"), Some(Format::Gemini));
        assert_eq!(format_of_package("@ai-sdk/openai-compatible"), Some(Format::Chat));
        assert_eq!(format_of_package("left-pad"), None);
    }
}
