//! The tool `question`: lets the model ask the person something.

use std::borrow::Cow;

use haft::permission::{Ask, Choice, Gate, Inquired, Question, Reach, Resource, Showing};
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::services::ToolServices;

const ACTION: &str = "question";

/// Asks the person.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The questions to ask.
    #[schemars(length(min = 1))]
    questions: Vec<Asked>,
}

#[derive(Deserialize, JsonSchema)]
struct Asked {
    /// The whole question.
    question: String,
    /// A very short label for it, of at most 30 characters.
    header: String,
    /// What can be chosen.
    options: Vec<Offered>,
    /// Whether several can be chosen.
    multiple: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Offered {
    /// What is shown, in one to five words.
    label: String,
    /// What choosing it means.
    description: String,
}

/// What was chosen or said, question by question.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// For each question what was chosen or said; nothing where it was left open.
    answers: Vec<Vec<String>>,
}

pub(crate) struct QuestionTool {
    gate: Gate,
    asking: Asking,
}

impl QuestionTool {
    pub(crate) fn new(services: &ToolServices) -> QuestionTool {
        QuestionTool { gate: services.gate.clone(), asking: Asking::new(services) }
    }
}

impl Executor for QuestionTool {
    type Input = Input;
    type Output = Output;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("question.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        drop(self.gate.grant(context, Person).await?);
        let questions = input.questions.iter().map(Asked::to_inquired).collect();
        Ok(Output { answers: self.asking.ask(context, questions).await? })
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let pair = |(asked, chosen): (&Asked, &Vec<String>)| {
            let answer = if chosen.is_empty() { "Unanswered".to_owned() } else { chosen.join(", ") };
            format!("\"{}\"=\"{answer}\"", asked.question)
        };
        let pairs: Vec<String> = input.questions.iter().zip(&output.answers).map(pair).collect();
        let text = format!(
            "User has answered your questions: {}. You can now continue with the user's answers in mind.",
            pairs.join(", ")
        );
        let count = input.questions.len();
        let title = format!("Asked {count} question{}", if count == 1 { "" } else { "s" });
        let answers = output.json()["answers"].clone();
        Presented::text(text).titled(title).with("answers", answers)
    }
}

impl Asked {
    fn to_inquired(&self) -> Inquired {
        let choice = |option: &Offered| Choice {
            label: option.label.clone(),
            description: option.description.clone(),
        };
        Inquired {
            question: self.question.clone(),
            header: self.header.clone(),
            options: self.options.iter().map(choice).collect(),
            is_multiple: self.multiple == Some(true),
            takes_words: true,
        }
    }
}

/// The person's attention, as something that consent is needed for.
struct Person;

impl Ask for Person {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(Action::new(ACTION), Resource::new("*"))]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: "ask you something".to_owned(), detail: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use haft::SettleError;
    use haft::permission::Told;
    use serde_json::json;

    use crate::testing::{Answering, Bench};

    fn two() -> serde_json::Value {
        let option = |label: &str| json!({"label": label, "description": "d"});
        json!({"questions": [
            {"question": "Which?", "header": "Which", "options": [option("a"), option("b")], "multiple": true},
            {"question": "And?", "header": "And", "options": []},
        ]})
    }

    #[test]
    fn answers_are_told_question_by_question() {
        let told = Told::Answers(vec![vec!["a".to_owned(), "my own words".to_owned()]]);
        let bench = Bench::new().answered_by(Arc::new(Answering(told)));
        bench.check(
            "question",
            two(),
            expect![[r#"
                title: Asked 2 questions
                User has answered your questions: "Which?"="a, my own words", "And?"="Unanswered". You can now continue with the user's answers in mind."#]],
        );
        assert_eq!(bench.reported(), ["question.asked", "question.replied"]);
        let done = bench.completed("question", two());
        assert_eq!(done.metadata["answers"], json!([["a", "my own words"], []]));
    }

    #[test]
    fn whoever_dismisses_a_question_ends_the_turn() {
        let bench = Bench::new().answered_by(Arc::new(Answering(Told::Dismissed)));
        assert!(matches!(bench.attempt("question", two()), Err(SettleError::Declined)));
        assert_eq!(bench.reported(), ["question.asked", "question.rejected"]);
    }

    #[test]
    fn without_anybody_the_model_is_told_so() {
        let text = Bench::new().rejected("question", two());
        assert!(text.contains("nobody is there"), "{text}");
        let denied = Bench::new().denying(&[("question", "*")]).rejected("question", two());
        assert!(denied.contains("permission denied"), "{denied}");
        let empty = Bench::new().rejected("question", json!({"questions": []}));
        assert!(empty.contains("questions"), "{empty}");
    }
}
