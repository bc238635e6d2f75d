//! The project's own commands, run as `cargo xtask COMMAND`.
//! Each command is one module; `cargo.rs` is what they share.
#![allow(clippy::print_stdout, reason = "printing is what these commands are for")]

mod bench;
mod cargo;
mod check;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check          fmt, clippy, tidy
  tidy           the house rules that no compiler checks
  test [--fast]  everything that must pass; --fast leaves out check, doc tests and shuttle
  bench          how fast and how large; asserts nothing
  bench files    searching, reading and editing against ripgrep, fd, sed and bare writing; asserts nothing
  bench edits    only editing against bare writing; asserts nothing
  bench shell    starting, confining and hearing commands; asserts nothing
  bench sessions a call in a session against opencode and Codex; long and many sessions; asserts nothing
  bench web      pages to Markdown against turndown; asserts nothing
  bench lsp      what haft adds to a language server's answers and findings; asserts nothing
  bench plugins  a tool in TypeScript against opencode and bun, warm and with many of them; asserts nothing";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["check"] => check::run(),
        ["tidy"] => tidy::run(),
        ["test"] => test::run(test::Extent::Full),
        ["test", "--fast"] => test::run(test::Extent::Fast),
        ["bench"] => bench::run(bench::Part::Core),
        ["bench", "shell"] => bench::run(bench::Part::Shell),
        ["bench", "sessions"] => bench::run(bench::Part::Sessions),
        ["bench", "web"] => bench::run(bench::Part::Web),
        ["bench", "lsp"] => bench::run(bench::Part::Lsp),
        ["bench", "plugins"] => bench::run(bench::Part::Plugins),
        ["bench", "files"] => bench::run(bench::Part::Files),
        ["bench", "edits"] => bench::run(bench::Part::Edits),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
