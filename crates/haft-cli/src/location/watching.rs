//! What looks at files that were changed: formatters and language servers.

use std::sync::Arc;

use haft_tools::{
    AfterChange, Diagnosing, Formatters, LanguageServers, Languages, LspLimits, Processes, Workspace,
};

use crate::config::LanguageWords;
use crate::setting::Setting;

/// What is done after files were changed, in this order. Formatters read configuration of the project that can make them
/// run anything, so there are none until the person trusts it, wherever they are configured.
pub(super) fn after_change(
    setting: &Setting,
    workspace: &Workspace,
    processes: &Arc<Processes>,
    languages: &Languages,
) -> Arc<[Arc<dyn AfterChange>]> {
    let entries = setting.config.formatters().filter(|_| setting.is_trusted());
    let formatters = entries.map(|entries| {
        let (workspace, processes) = (workspace.clone(), processes.clone());
        let formatters = Formatters::new(workspace, processes, &entries, setting.config.formatting_time());
        Arc::new(formatters) as Arc<dyn AfterChange>
    });
    let diagnosing = match (languages, setting.config.languages()) {
        (Languages::On(servers), LanguageWords::On(_)) => {
            let diagnosing = Diagnosing::new(servers.clone(), setting.config.diagnosing_time());
            Some(Arc::new(diagnosing) as Arc<dyn AfterChange>)
        }
        (Languages::On(_) | Languages::Off | Languages::Untrusted, _) => None,
    };
    formatters.into_iter().chain(diagnosing).collect()
}

/// The language servers. They too do what the project's configuration says, so there are none where nobody trusts it.
pub(super) fn languages(setting: &Setting, workspace: &Workspace, processes: &Arc<Processes>) -> Languages {
    let entries = match setting.config.languages() {
        LanguageWords::Off => return Languages::Off,
        LanguageWords::On(_) | LanguageWords::Silence if !setting.is_trusted() => {
            return Languages::Untrusted;
        }
        LanguageWords::On(entries) => entries,
        LanguageWords::Silence => Vec::new(),
    };
    let (workspace, processes) = (workspace.clone(), processes.clone());
    Languages::On(Arc::new(LanguageServers::new(workspace, processes, &entries, LspLimits::default())))
}
