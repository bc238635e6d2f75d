//! The table of built-in tools. A new one is one file, and one row here.

use haft::{Action, Offer, Source, Tool, When};

use crate::patches::uses_patches;
use crate::services::ToolServices;
use crate::tools::{
    apply_patch::ApplyPatch, bash::Bash, batch, batch::Batch, codesearch::CodeSearch, edit::Edit, glob::Glob,
    grep::Grep, invalid::Invalid, jobs::JobsTool, list::List, lsp::Lsp, plan_enter::PlanEnter,
    plan_exit::PlanExit, question::QuestionTool, read::Read, skill, task, todoread::TodoRead,
    todowrite::TodoWrite, undo::Undo, webfetch::WebFetch, websearch::WebSearch, write::Write,
};

/// One row: the name, what makes the tool, the action its rules are filed under, and to whom it is shown.
struct Row {
    name: &'static str,
    make: fn(&ToolServices) -> Source,
    action: &'static str,
    when: fn(&ToolServices) -> When,
}

/// In the order in which models are told of them.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { name: "invalid",   make: |_| made(Invalid),                action: "invalid",   when: never },
    Row { name: "question",  make: |s| made(QuestionTool::new(s)),   action: "question",  when: |_| When::Client(&["app", "cli", "desktop"]) },
    Row { name: "bash",      make: |s| made(Bash::new(s)),           action: "bash",      when: always },
    Row { name: "jobs",      make: |s| made(JobsTool::new(s)),       action: "bash",      when: with_jobs },
    Row { name: "read",      make: |s| made(Read::new(s)),           action: "read",      when: always },
    Row { name: "glob",      make: |s| made(Glob::new(s)),           action: "glob",      when: always },
    Row { name: "grep",      make: |s| made(Grep::new(s)),           action: "grep",      when: always },
    Row { name: "edit",      make: |s| made(Edit::new(s)),           action: "edit",      when: without_patches },
    Row { name: "write",     make: |s| made(Write::new(s)),          action: "edit",      when: without_patches },
    Row { name: "list",      make: |s| made(List::new(s)),           action: "list",      when: always },
    Row { name: "task",      make: |s| task::factory(s).into(),      action: "task",      when: with_agents },
    Row { name: "webfetch",  make: |s| made(WebFetch::new(s)),       action: "webfetch",  when: always },
    Row { name: "todowrite", make: |s| made(TodoWrite::new(s)),      action: "todowrite", when: always },
    Row { name: "todoread",  make: |s| made(TodoRead::new(s)),       action: "todoread",  when: always },
    Row { name: "websearch", make: |s| made(WebSearch::new(s)),      action: "websearch", when: |_| searching() },
    Row { name: "codesearch", make: |s| made(CodeSearch::new(s)),    action: "codesearch", when: searching_code },
    Row { name: "skill",     make: |s| skill::factory(s).into(),     action: "skill",     when: always },
    Row { name: "apply_patch", make: |s| made(ApplyPatch::new(s)),   action: "edit",      when: with_patches },
    Row { name: "patch",     make: |s| made(ApplyPatch::new(s)),     action: "edit",      when: never },
    Row { name: "lsp",       make: |s| made(Lsp::new(s)),            action: "lsp",       when: |_| When::Flag("lsp") },
    Row { name: batch::NAME, make: |s| made(Batch::new(s)),          action: batch::NAME, when: |_| When::Flag("batch") },
    Row { name: "plan_exit", make: |s| made(PlanExit::new(s)),       action: "plan_exit", when: planning },
    Row { name: "plan_enter", make: |s| made(PlanEnter::new(s)),     action: "plan_enter", when: planning },
    Row { name: "undo",      make: |s| made(Undo::new(s)),           action: "edit",      when: never },
];

/// Whether a built-in tool has this name.
pub fn is_builtin(name: &str) -> bool {
    TABLE.iter().any(|row| row.name == name)
}

/// The built-in tools, made for one location.
pub fn builtins(services: &ToolServices) -> Vec<(&'static str, Offer)> {
    let offer = |row: &Row| {
        let source = (row.make)(services);
        (row.name, Offer::new(source).under(Action::new(row.action)).when((row.when)(services)))
    };
    TABLE.iter().map(offer).collect()
}

/// Nothing goes on where the process ends with the call.
fn with_jobs(services: &ToolServices) -> When {
    if services.jobs.is_some() { When::Always } else { When::Never }
}

fn made(executor: impl haft::Executor) -> Source {
    Tool::new(executor).into()
}

fn always(_: &ToolServices) -> When {
    When::Always
}

fn never(_: &ToolServices) -> When {
    When::Never
}

fn with_patches(_: &ToolServices) -> When {
    When::Model(uses_patches)
}

fn without_patches(_: &ToolServices) -> When {
    When::Model(|model| !uses_patches(model))
}

/// The providers that pay for searches.
const SEARCHING_PROVIDERS: [&str; 2] = ["opencode", "opencode-go"];

/// Whoever wants local searches asked for the tool.
fn searching_code(services: &ToolServices) -> When {
    if services.code_search.is_local { When::Always } else { searching() }
}

fn searching() -> When {
    let providers = SEARCHING_PROVIDERS.map(str::to_owned).to_vec();
    When::Any(vec![When::Flag("exa"), When::Flag("parallel"), When::Provider(providers)])
}

/// Where there is no conversation, there is nobody to give tasks to.
fn with_agents(services: &ToolServices) -> When {
    if services.subagents.is_some() { When::Always } else { When::Never }
}

fn planning(_: &ToolServices) -> When {
    When::All(vec![When::Flag("plan"), When::Client(&["cli"])])
}

#[cfg(test)]
mod tests;
