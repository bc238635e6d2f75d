//! Prints what it costs to analyse a script of 200 lines and to decide about it.
//!
//! Each figure is the best of several runs. Run it with `cargo run --release -p haft-cli --example bench_shell`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use haft::permission::{Ask, Effect, Layer, Origin, Rule, Ruleset, decide};
use haft_tools::Workspace;
use haft_tools::shell::{CommandTarget, Surroundings, analyse};

const LINES: usize = 200;
const RUNS: usize = 50;

fn main() -> std::io::Result<()> {
    let directory = std::env::current_dir()?;
    let workspace = Workspace::open(&directory, None)?;
    let patterns = ["*", "git *", "cargo *", "rm -rf *", "git push *", "sed *", "*secret*", "npm run *"];
    let effects = [Effect::Allow, Effect::Ask, Effect::Allow, Effect::Deny];
    let rules = patterns.iter().zip(effects.iter().cycle()).map(|(pattern, effect)| {
        Rule::new("bash", pattern, *effect, Origin::named(Layer::Session, "benchmark"))
    });
    let rules = Ruleset::new(rules);
    let surroundings = Surroundings { directory, home: None };

    for (name, line) in
        [("one command a line", simple as fn(usize) -> String), ("three commands a line", dense)]
    {
        let script: String = (0..LINES).map(line).collect();
        let analysed = best(|| drop(black_box(analyse(&script, &surroundings))));
        let decided = best(|| {
            let Ok(target) = CommandTarget::new(&workspace, &script, None, None) else { return };
            for question in target.questions() {
                for resource in &question.resources {
                    black_box(decide(&rules, &[], &question.action, resource));
                }
            }
        });
        let commands = analyse(&script, &surroundings).commands.len();
        println!("{name}: {LINES} lines, {} bytes, {commands} commands", script.len());
        println!("  analysed               {analysed:>10.2?}");
        println!("  analysed and decided   {decided:>10.2?}");
    }
    Ok(())
}

fn simple(at: usize) -> String {
    match at % 4 {
        0 => format!("git log --oneline -n {at}\n"),
        1 => format!("cargo test -p crate{at} -- name_{at}\n"),
        2 => format!("sed -i 's/a/b/' src/{at}.rs\n"),
        _ => format!("cp \"$x/{at}\" out/{at}.txt\n"),
    }
}

fn dense(at: usize) -> String {
    match at % 4 {
        0 => {
            format!("if [ -f src/{at}.rs ]; then sed -i 's/a/b/' src/{at}.rs; else echo \"no $x\" >&2; fi\n")
        }
        1 => format!(
            "git log --oneline -n {at} | grep \"fix {at}\" > out/{at}.txt && cargo test -p crate{at} -- name_{at}\n"
        ),
        2 => format!("X={at} timeout 60 npm run build -- --fast {at} 2>&1 | tail -n 20\n"),
        _ => format!("for f in crates/*/src; do wc -l \"$f/{at}\"; done; cat Cargo.toml | head -{at}\n"),
    }
}

fn best(mut run: impl FnMut()) -> Duration {
    let one = |_| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    (0..RUNS).map(one).min().unwrap_or_default()
}
