//! Runs the behaviour cases of `tests/cases/*.json` against the built `haft`, each in a directory of its own.
//!
//! The language of the cases is that of `run_cases.py`: a call or a probe goes in on the command line,
//! one JSON document comes out, and the case says what must be in it.
//! More directories of cases can be named in `HAFT_CASES`, another binary in `HAFT_BIN`.

use std::env;
use std::process::ExitCode;

use self::drive::Haft;
use self::inventory::Inventory;
use self::options::Options;
use self::report::{Report, say};

mod case;
mod content;
mod drive;
mod expect;
mod files;
mod inventory;
mod load;
mod matching;
mod options;
mod outcome;
mod pattern;
mod report;
mod run;
mod scenario;
mod selfcheck;
mod server;
mod workspace;

fn main() -> ExitCode {
    match cases(&Options::parse(env::args().skip(1))) {
        Ok(code) => code,
        Err(error) => {
            let mut report = Report::default();
            report.fail("cases", &format!("{error:#}"));
            report.close()
        }
    }
}

fn cases(options: &Options) -> anyhow::Result<ExitCode> {
    let mut loaded = load::load()?;
    let known = loaded.ids();
    loaded.cases.retain(|case| options.selects(&case.id));
    if options.list {
        for case in &loaded.cases {
            say(format_args!("{}: test", case.id));
        }
        return Ok(ExitCode::SUCCESS);
    }

    selfcheck::run();
    let mut report = Report::default();
    for (what, why) in &loaded.troubles {
        report.fail(what, why);
    }
    for (case, trouble) in pattern::troubles(&loaded.cases) {
        report.fail(case, &trouble);
    }
    for id in loaded.superseded.keys().filter(|id| !known.contains(*id)) {
        report.note(&format!("superseded.json names {id}, which no loaded case has"));
    }

    // A filter meant for another test binary selects nothing here, and then there is nothing to ask.
    if !options.filtered() || !loaded.cases.is_empty() {
        let haft = Haft::from_env()?;
        let inventory = Inventory::ask(&haft, &mut report);
        inventory.require_core(&mut report);
        let outcomes = run::all(&loaded, &haft, &inventory, options.threads);
        if !options.filtered() {
            inventory.require_core_ran(&loaded.cases, &outcomes, &mut report);
        }
        for (case, outcome) in loaded.cases.iter().zip(&outcomes) {
            report.add(&case.id, outcome);
        }
    }
    Ok(report.close())
}
