//! The table of built-in tools. A new one is one file, and one row here.

use haft::{Action, Offer, Tool, When};

use crate::patches::uses_patches;
use crate::services::ToolServices;
use crate::tools::{
    apply_patch::ApplyPatch, bash::Bash, edit::Edit, glob::Glob, grep::Grep, invalid::Invalid,
    jobs::JobsTool, list::List, read::Read, todoread::TodoRead, todowrite::TodoWrite, undo::Undo,
    write::Write,
};

/// One row: the name, what makes the tool, the action its rules are filed under, and to whom it is shown.
struct Row {
    name: &'static str,
    make: fn(&ToolServices) -> Tool,
    action: &'static str,
    when: fn(&ToolServices) -> When,
}

/// In the order in which models are told of them.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { name: "invalid",   make: |_| Tool::new(Invalid),         action: "invalid",   when: |_| When::Never },
    Row { name: "bash",      make: |s| Tool::new(Bash::new(s)),      action: "bash",      when: |_| When::Always },
    Row { name: "jobs",      make: |s| Tool::new(JobsTool::new(s)),  action: "bash",      when: with_jobs },
    Row { name: "read",      make: |s| Tool::new(Read::new(s)),      action: "read",      when: |_| When::Always },
    Row { name: "glob",      make: |s| Tool::new(Glob::new(s)),      action: "glob",      when: |_| When::Always },
    Row { name: "grep",      make: |s| Tool::new(Grep::new(s)),      action: "grep",      when: |_| When::Always },
    Row { name: "edit",      make: |s| Tool::new(Edit::new(s)),      action: "edit",      when: |_| without_patches() },
    Row { name: "write",     make: |s| Tool::new(Write::new(s)),     action: "edit",      when: |_| without_patches() },
    Row { name: "list",      make: |s| Tool::new(List::new(s)),      action: "list",      when: |_| When::Always },
    Row { name: "todowrite", make: |s| Tool::new(TodoWrite::new(s)), action: "todowrite", when: |_| When::Always },
    Row { name: "todoread",  make: |s| Tool::new(TodoRead::new(s)),  action: "todoread",  when: |_| When::Always },
    Row { name: "apply_patch", make: |s| Tool::new(ApplyPatch::new(s)), action: "edit",   when: |_| with_patches() },
    Row { name: "patch",     make: |s| Tool::new(ApplyPatch::new(s)), action: "edit",     when: |_| When::Never },
    Row { name: "undo",      make: |s| Tool::new(Undo::new(s)),      action: "edit",      when: |_| When::Never },
];

/// The built-in tools, made for one location.
pub fn builtins(services: &ToolServices) -> Vec<(&'static str, Offer)> {
    let offer = |row: &Row| {
        let tool = (row.make)(services);
        (row.name, Offer::new(tool).under(Action::new(row.action)).when((row.when)(services)))
    };
    TABLE.iter().map(offer).collect()
}

/// Nothing goes on where the process ends with the call.
fn with_jobs(services: &ToolServices) -> When {
    if services.jobs.is_some() { When::Always } else { When::Never }
}

fn with_patches() -> When {
    When::Model(uses_patches)
}

fn without_patches() -> When {
    When::Model(|model| !uses_patches(model))
}

#[cfg(test)]
mod tests;
