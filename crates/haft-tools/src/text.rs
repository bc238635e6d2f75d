//! What tools that change texts share: texts as lines, and the region that comes nearest to what was looked for.

pub(crate) mod lines;
pub(crate) mod nearest;

/// The byte order mark that a text may begin with. It belongs to the file, not to its first line.
pub(crate) const BOM: char = '\u{feff}';
