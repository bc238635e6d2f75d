//! Telling those who look after commands that a protected file is written because a person agreed: what a command of
//! this haft or another one puts there meanwhile is taken away, and this is not to be.

use std::path::PathBuf;

use haft_sandbox::Content;

use super::Workspace;
use super::change::FileChange;
use super::error::WorkspaceError;

/// The protected files of a change, which are about to be written.
pub(super) struct Vouching(Option<(haft_sandbox::Vouching, Vec<(PathBuf, Content)>)>);

impl Vouching {
    /// Says that they are about to be written.
    pub(super) fn of(workspace: &Workspace, files: &[FileChange]) -> Result<Vouching, WorkspaceError> {
        let files: Vec<&FileChange> = files.iter().filter(|file| file.is_protected()).collect();
        let (Some(custody), Some(first)) = (&workspace.0.guarding.custody, files.first()) else {
            return Ok(Vouching(None));
        };
        let paths = files.iter().map(|file| file.place().real().to_owned()).collect();
        let begun = haft_sandbox::Vouching::begin(custody, paths);
        let begun = begun.map_err(|source| WorkspaceError::Write { path: first.place().shown(), source })?;
        let held = |file: &&FileChange| {
            let after = file.after()?;
            let content = Content { bytes: after.bytes, digest: blake3::Hash::from_hex(&after.digest).ok()? };
            Some((file.place().real().to_owned(), content))
        };
        Ok(Vouching(Some((begun, files.iter().filter_map(held).collect()))))
    }

    /// Says that they are written. Where that cannot be said, they stand and may not last.
    pub(super) fn finish(self) -> Result<(), WorkspaceError> {
        let Some((begun, files)) = self.0 else { return Ok(()) };
        let shown = files.iter().map(|(path, _)| path.to_string_lossy()).collect::<Vec<_>>().join(", ");
        begun.finish(&files).map_err(|source| WorkspaceError::NotDurable { path: shown, source })
    }
}
