//! Which models change files by patches, and so are shown the patch tool instead of the other editing tools.

use haft::Model;

/// Whether a model was trained to change files by patches.
pub fn uses_patches(model: &Model) -> bool {
    model.id.contains("gpt-") && !model.id.contains("oss") && !model.id.contains("gpt-4")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_gpt_models_use_patches() {
        let fits = |id: &str| uses_patches(&Model { provider: "any".to_owned(), id: id.to_owned() });
        assert!(fits("gpt-5.2-codex"));
        assert!(fits("openai/gpt-5"));
        for other in ["gpt-4.1", "gpt-oss-120b", "claude-sonnet-4-5", "o3"] {
            assert!(!fits(other), "{other}");
        }
    }
}
