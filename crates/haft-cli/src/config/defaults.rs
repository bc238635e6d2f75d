//! The rules that haft ships: ordinary work in a workspace asks nothing, and leaving it asks.

use std::path::Path;

use haft::permission::{Effect, Layer, Origin, Rule};

use Effect::{Allow, Ask, Deny};

/// Actions that are asked about whatever `*` allows: writing to what other programs execute, commands that nothing
/// confines, the network for commands, what they may change outside the workspace, hosts that only this machine or its
/// network reaches, and files that plugins want beyond what they have.
pub(crate) const GUARDED: [&str; 6] = [
    "protected_path",
    "unconfined",
    "network",
    "sandbox_write",
    haft_tools::web::PRIVATE_ADDRESS,
    haft_tools::hosting::PLUGIN_FILE,
];

/// Actions to which no code of others may agree, whatever else it answers: those, and leaving the workspace.
pub(crate) const PERSONS: [&str; 7] =
    [GUARDED[0], GUARDED[1], GUARDED[2], GUARDED[3], GUARDED[4], GUARDED[5], "external_directory"];

/// One shipped rule: what is done, to what, and whether it may be.
type Row = (&'static str, &'static str, Effect);

/// Secrets are often kept in these files.
#[rustfmt::skip]
const READING: [Row; 4] = [
    ("read", "*",             Allow),
    ("read", "*.env",         Ask),
    ("read", "*.env.*",       Ask),
    ("read", "*.env.example", Allow),
];

#[rustfmt::skip]
const FOR_ALL: [Row; 12] = [
    ("*",                  "*", Allow),
    ("doom_loop",          "*", Ask),
    ("external_directory", "*", Ask),
    (GUARDED[0],           "*", Ask),
    (GUARDED[1],           "*", Ask),
    (GUARDED[2],           "*", Ask),
    (GUARDED[3],           "*", Ask),
    (GUARDED[4],           "*", Ask),
    (GUARDED[5],           "*", Ask),
    ("question",           "*", Deny),
    ("plan_enter",         "*", Deny),
    ("plan_exit",          "*", Deny),
];

/// A shipped agent: its name and what it may do more or less than others.
#[rustfmt::skip]
const AGENTS: [(&str, &[Row]); 7] = [
    ("build", &[
        ("question",   "*", Allow),
        ("plan_enter", "*", Allow),
    ]),
    ("plan", &[
        ("question",  "*",                   Allow),
        ("plan_exit", "*",                   Allow),
        ("task",      "general",             Deny),
        ("edit",      "*",                   Deny),
        ("edit",      ".opencode/plans/*.md", Allow),
        ("edit",      ".haft/plans/*.md",     Allow),
        (GUARDED[0],  ".opencode/plans/*.md", Allow),
        (GUARDED[0],  ".haft/plans/*.md",     Allow),
    ]),
    ("general", &[
        ("todowrite", "*", Deny),
    ]),
    ("explore", &[
        ("*",                  "*", Deny),
        // Said by name, so that its commands change nothing either.
        ("edit",               "*", Deny),
        ("grep",               "*", Allow),
        ("glob",               "*", Allow),
        ("list",               "*", Allow),
        ("bash",               "*", Allow),
        ("webfetch",           "*", Allow),
        ("websearch",          "*", Allow),
        ("codesearch",         "*", Allow),
        // What it may do is still subject to these questions.
        READING[0], READING[1], READING[2], READING[3],
        ("doom_loop",          "*", Ask),
        ("external_directory", "*", Ask),
    ]),
    // These only write.
    ("compaction", &[("*", "*", Deny)]),
    ("summary",    &[("*", "*", Deny)]),
    ("title",      &[("*", "*", Deny)]),
];

/// The agent whose plans are kept with haft's data.
const PLANNER: &str = "plan";

/// The names of the shipped agents.
pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|(name, _)| *name)
}

/// The shipped rules for an agent: those for all, then its own. Configured rules come after them.
pub(crate) fn rules(agent: &str, data: &Path) -> Vec<Rule> {
    let shipped = Origin::named(Layer::Defaults, "shipped defaults");
    let own = Origin::named(Layer::Defaults, &format!("shipped defaults of the agent {agent}"));
    let to_rule = |origin: &Origin| {
        let origin = origin.clone();
        move |(action, pattern, effect): &Row| Rule::new(action, pattern, *effect, origin.clone())
    };
    let mut rules: Vec<Rule> = FOR_ALL.iter().chain(&READING).map(to_rule(&shipped)).collect();
    let rows = AGENTS.iter().find(|(name, _)| *name == agent).map(|(_, rows)| *rows);
    rules.extend(rows.unwrap_or_default().iter().map(to_rule(&own)));
    if agent == PLANNER {
        let plans = data.join("plans");
        let plans = plans.to_string_lossy();
        rules.push(Rule::new("edit", &format!("{plans}/*.md"), Allow, own.clone()));
        rules.push(Rule::new("external_directory", &format!("{plans}/*"), Allow, own));
    }
    rules
}
