//! Where instructions for the system prompt are looked for, besides the project's own.

use haft_tools::InstructionPlaces;

use crate::setting::Setting;

/// The person's own files and what the configuration names.
pub(crate) fn places(setting: &Setting) -> InstructionPlaces {
    let home = setting.paths.home.clone();
    let of_claude = home.iter().map(|home| home.join(".claude").join("CLAUDE.md"));
    let own = [Some(&setting.paths.config), setting.paths.opencode.as_ref()];
    let own = own.into_iter().flatten().map(|directory| directory.join("AGENTS.md"));
    InstructionPlaces {
        global: own.chain(of_claude).collect(),
        configured: setting.config.instructions(),
        home,
    }
}
