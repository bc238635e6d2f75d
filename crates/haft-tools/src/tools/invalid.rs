//! The tool `invalid`: how a call that could not be understood appears in the transcript. It is never offered.

use haft::{Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Do not use
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The name of the tool that was called.
    #[expect(dead_code, reason = "it is part of the transcript")]
    tool: String,
    /// What was wrong with the call.
    error: String,
}

pub(crate) struct Invalid;

impl Executor for Invalid {
    type Input = Input;
    type Output = String;

    async fn execute(&self, input: &Input, _: &ToolContext) -> Result<String, ToolError> {
        Ok(format!("The arguments provided to the tool are invalid: {}", input.error))
    }

    fn present(_: &Input, output: &Encoded<String>) -> Presented {
        Presented::text(output.as_str()).titled("Invalid Tool")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn says_what_was_wrong() {
        let bench = Bench::new();
        bench.check(
            "invalid",
            json!({"tool": "raed", "error": "no such tool"}),
            expect![[r#"
                title: Invalid Tool
                The arguments provided to the tool are invalid: no such tool"#]],
        );
    }
}
