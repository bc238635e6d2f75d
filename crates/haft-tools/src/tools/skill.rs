//! The tool `skill`: gives the model the text of a skill.

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::{Ask, Effect, Gate, Question, Reach, Resource, Ruleset, Showing, strictest};
use haft::{
    Action, Encoded, Executor, Factory, InitContext, Presented, Tool, ToolContext, ToolError, visible,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::services::ToolServices;
use crate::skills::{FoundSkills, Skill, Skills};

const ACTION: &str = "skill";
/// As much of the list of skills as a model is told with the tool.
const LISTED_BYTES_MAX: usize = 20 << 10;
/// So many skills are named to a model that asked for one that is not there.
const NAMED_MAX: usize = 50;

/// Loads a skill.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The name of the skill.
    name: String,
}

/// What a skill says.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// Its name.
    name: String,
    /// The directory its files are in.
    dir: String,
    /// What it says.
    body: String,
    /// Some of its files, as absolute paths.
    files: Vec<String>,
}

/// Makes the tool for each agent, which is told of the skills it may use.
pub(crate) fn factory(services: &ToolServices) -> Factory {
    let (gate, skills) = (services.gate.clone(), services.skills.clone());
    Arc::new(move |init: InitContext| {
        let (gate, skills) = (gate.clone(), skills.clone());
        Box::pin(async move {
            let looked = skills.clone();
            let found = blocking(move |_| looked.find()).await;
            let listed = listed(&found, &init.rules);
            Ok(Tool::new(SkillTool { gate, skills, listed }))
        })
    })
}

struct SkillTool {
    gate: Gate,
    skills: Arc<Skills>,
    /// The skills that the model is told of.
    listed: String,
}

impl Executor for SkillTool {
    type Input = Input;
    type Output = Output;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("skill.txt").replace("{skills}", &self.listed).into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let skills = self.skills.clone();
        let mut found = blocking(move |_| skills.find()).await;
        let Some(skill) = found.skills.remove(input.name.trim()) else {
            return Err(self.missing(&input.name, &found, context).await?);
        };
        drop(self.gate.grant(context, Loading(skill.name.clone())).await?);
        let (skills, wanted) = (self.skills.clone(), skill.clone());
        let text = blocking(move |_| skills.load(&wanted)).await.map_err(ToolError::Failure)?;
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        Ok(Output {
            name: skill.name,
            dir: path(&skill.directory),
            body: text.body,
            files: text.files.iter().map(|file| path(file)).collect(),
        })
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let Output { name, dir, body, files } = &**output;
        let files: String = files.iter().map(|file| format!("<file>{file}</file>\n")).collect();
        let text = format!(
            "<skill_content name=\"{name}\">\n# Skill: {name}\n\n{body}\n\n\
             Base directory for this skill: {dir}\n\
             Relative paths in this skill (such as scripts/ or references/) start from this directory.\n\
             Note: file list is sampled.\n\n\
             <skill_files>\n{files}</skill_files>\n</skill_content>"
        );
        Presented::text(text)
            .titled(format!("Loaded skill: {name}"))
            .with("name", name.as_str())
            .with("dir", dir.as_str())
    }
}

impl SkillTool {
    /// Says which skills there are. Those that may not be used are not told of.
    async fn missing(
        &self,
        name: &str,
        found: &FoundSkills,
        context: &ToolContext,
    ) -> Result<ToolError, ToolError> {
        let mut names = Vec::new();
        for known in found.skills.keys() {
            let decisions = self.gate.decisions(context, &question(known)).await?;
            if strictest(&decisions) != Effect::Deny {
                names.push(known.as_str());
            }
            if names.len() == NAMED_MAX {
                break;
            }
        }
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let name = visible(&name.chars().take(80).collect::<String>());
        Ok(ToolError::Failure(format!("Skill \"{name}\" not found. Available skills: {names}")))
    }
}

/// The skills that say when to use them and that no rule denies, as a model is told of them.
fn listed(found: &FoundSkills, rules: &Ruleset) -> String {
    let action = Action::new(ACTION);
    let is_usable =
        |skill: &&Skill| rules.effect(&action, &Resource::new(skill.name.as_str())) != Effect::Deny;
    let mut list = String::new();
    let mut left_out = 0;
    for skill in found.skills.values().filter(is_usable) {
        let Some(description) = &skill.description else { continue };
        let entry = format!(
            "  <skill>\n    <name>{}</name>\n    <description>{}</description>\n  </skill>\n",
            skill.name,
            escaped(description)
        );
        if list.len() + entry.len() > LISTED_BYTES_MAX {
            left_out += 1;
        } else {
            list.push_str(&entry);
        }
    }
    match (list.is_empty(), left_out) {
        (true, _) => "No skills are available at the moment.".to_owned(),
        (false, 0) => format!("<available_skills>\n{list}</available_skills>"),
        (false, more) => {
            format!(
                "<available_skills>\n{list}</available_skills>\n{more} further skills are not listed here."
            )
        }
    }
}

/// A description on one line, that cannot end the list it stands in.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&line).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn question(name: &str) -> Question {
    Question::new(Action::new(ACTION), Resource::new(name)).saving(name)
}

/// A skill that is to be loaded.
struct Loading(String);

impl Ask for Loading {
    fn questions(&self) -> Vec<Question> {
        vec![question(&self.0)]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: format!("load the skill {}", self.0), detail: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use crate::skills::{Owner, SkillPlace};
    use crate::testing::Bench;

    fn bench() -> Bench {
        let bench = Bench::new();
        bench.file(
            "skills/brew/SKILL.md",
            "---\nname: brew\ndescription: How to <brew>.\n---\n\n# Brew\n\nHot.\n",
        );
        bench.file("skills/brew/scripts/demo.txt", "d");
        bench.file("skills/manual/SKILL.md", "---\nname: manual\n---\nBy hand.\n");
        let place = places(&bench);
        bench.with_skills(place)
    }

    fn places(bench: &Bench) -> Vec<SkillPlace> {
        let owner = Owner::Project { root: bench.path(""), is_trusted: true };
        vec![SkillPlace { directory: bench.path("skills"), owner }]
    }

    fn description(bench: &Bench) -> String {
        let all = bench.all_definitions();
        all.into_iter().find(|tool| tool.name.as_str() == "skill").unwrap().description
    }

    #[test]
    fn a_skill_is_shown_with_its_directory_and_files() {
        let bench = bench();
        bench.check(
            "skill",
            json!({"name": "brew"}),
            expect![[r##"
                title: Loaded skill: brew
                <skill_content name="brew">
                # Skill: brew

                # Brew

                Hot.

                Base directory for this skill: $ws/skills/brew
                Relative paths in this skill (such as scripts/ or references/) start from this directory.
                Note: file list is sampled.

                <skill_files>
                <file>$ws/skills/brew/scripts/demo.txt</file>
                </skill_files>
                </skill_content>"##]],
        );
        assert_eq!(bench.completed("skill", json!({"name": "manual"})).metadata["name"], "manual");
    }

    #[test]
    fn only_skills_that_may_be_used_are_told_of() {
        let bench = bench();
        let text = description(&bench);
        assert!(text.contains("<name>brew</name>") && text.contains("How to &lt;brew&gt;."), "{text}");
        assert!(!text.contains("manual"), "{text}");
        let denied = bench.denying(&[("skill", "br*")]);
        let denied = denied.with_skills(places(&bench));
        assert!(!description(&denied).contains("brew"));
        assert!(denied.rejected("skill", json!({"name": "brew"})).contains("permission denied"));
        let missing = denied.rejected("skill", json!({"name": "x"}));
        assert_eq!(missing, "Skill \"x\" not found. Available skills: manual");
        let none = Bench::new().rejected("skill", json!({"name": "x"}));
        assert_eq!(none, "Skill \"x\" not found. Available skills: none");
    }
}
