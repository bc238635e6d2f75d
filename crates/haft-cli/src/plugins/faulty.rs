//! Files whose code was not loaded, as the person at the terminal is told of them.

use haft_plugin::{Fault, Outcome, Plugins, Report};

use crate::setting::Setting;

/// So many files are named; the check names all of them.
const NAMED_MAX: usize = 3;

/// Warns of files that could not be loaded: their tools are missing, and nothing else would say so.
pub(crate) fn warn_of_faulty(setting: &Setting, plugins: &Plugins) {
    let reports = plugins.reports();
    let faulty: Vec<&Report> = reports.iter().filter(|report| fault(report).is_some()).collect();
    if faulty.is_empty() {
        return;
    }
    let named: Vec<String> =
        faulty.iter().take(NAMED_MAX).map(|report| shown(setting, &report.source)).collect();
    let others = match faulty.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    setting.terminal.note(&format!(
        "{} could not load {}{others}; `haft tools check` says why, and tries again",
        setting.terminal.err().yellow("warning:"),
        named.join(", ")
    ));
}

/// Why there is no tool of a name, if the file that would bring it could not be loaded, or is not run.
pub(crate) fn why_missing(setting: &Setting, plugins: &Plugins, tool: &str) -> Option<String> {
    plugins.reports().iter().find_map(|report| {
        let why = match &report.outcome {
            Outcome::Faulty(fault) => {
                let why = haft::visible(&setting.config.without_secrets(&fault.message));
                format!("could not be loaded: {why}; `haft tools check` says more")
            }
            Outcome::Untrusted => {
                "is not run, since its directory is not trusted; look into it, then `haft trust`".to_owned()
            }
            Outcome::Served { .. } => return None,
        };
        let stem = report.source.file_stem()?.to_str()?;
        let rest = tool.strip_prefix(stem)?;
        let is_its = rest.is_empty() || rest.starts_with('_');
        is_its.then(|| format!("{} {why}", shown(setting, &report.source)))
    })
}

fn fault(report: &Report) -> Option<&Fault> {
    match &report.outcome {
        Outcome::Faulty(fault) => Some(fault),
        Outcome::Served { .. } | Outcome::Untrusted => None,
    }
}

fn shown(setting: &Setting, path: &std::path::Path) -> String {
    let path = path.strip_prefix(&setting.directory).unwrap_or(path).to_string_lossy();
    haft::visible(&setting.config.without_secrets(&path))
}
