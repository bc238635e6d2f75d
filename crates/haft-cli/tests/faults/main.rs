//! Every system call of a change that touches a file is made to fail, or to be the last: whatever happens, each file is
//! old or new, all files of a call agree after the next start, success is never claimed for what did not happen, and
//! nothing is left behind.
//!
//! The faults come from `strace`. System calls that occur often are sampled unless `HAFT_SWEEP=all` is set.

#![allow(clippy::unwrap_used, reason = "in a test that fails, a panic is the message")]

mod scene;
mod sweep;

use scene::{Deed, State};

const TEXT: &str = "first\nsecond\nthird\n";
const EDITED: &str = "first\nzweite\nthird\n";
const FORMATTED: &str = "first\nZweite\nthird\n";

#[test]
fn an_edit_survives_every_fault() {
    sweep::sweep(&Deed {
        command: &["call", "edit", "filePath=a.txt", "oldString=second", "newString=zweite"],
        old: &[("a.txt", Some(TEXT))],
        new: &[("a.txt", Some(EDITED))],
        ..Deed::PLAIN
    });
}

#[test]
fn a_formatted_edit_survives_every_fault() {
    sweep::sweep(&Deed {
        command: &["call", "edit", "filePath=a.txt", "oldString=second", "newString=zweite"],
        old: &[("a.txt", Some(TEXT))],
        new: &[("a.txt", Some(FORMATTED))],
        // Half-way it leaves what is most harmful: an empty file.
        formatter: Some("read line < \"$1\"; : > \"$1\"; printf \"$line\\nZweite\\nthird\\n\" > \"$1\""),
        unformatted: &[("a.txt", Some(EDITED))],
        ..Deed::PLAIN
    });
}

#[test]
fn a_write_survives_every_fault() {
    sweep::sweep(&Deed {
        command: &["call", "write", "filePath=new/deep/b.txt", "content=b"],
        old: &[("a.txt", Some(TEXT)), ("new/deep/b.txt", None)],
        new: &[("a.txt", Some(TEXT)), ("new/deep/b.txt", Some("b"))],
        ..Deed::PLAIN
    });
}

const PATCH: &str = "patchText=\
*** Begin Patch
*** Update File: a.txt
@@
 first
-second
+zweite
*** Add File: new/b.txt
+b
*** Delete File: gone.txt
*** Update File: here.txt
*** Move to: there/moved.txt
@@
-second
+zweite
*** End Patch";

const UNPATCHED: State = &[
    ("a.txt", Some(TEXT)),
    ("new/b.txt", None),
    ("gone.txt", Some("gone\n")),
    ("here.txt", Some(TEXT)),
    ("there/moved.txt", None),
];

const PATCHED: State = &[
    ("a.txt", Some(EDITED)),
    ("new/b.txt", Some("b\n")),
    ("gone.txt", None),
    ("here.txt", None),
    ("there/moved.txt", Some(EDITED)),
];

#[test]
fn a_patch_of_several_files_survives_every_fault() {
    let command = &["call", "apply_patch", PATCH];
    sweep::sweep(&Deed { command, old: UNPATCHED, new: PATCHED, ..Deed::PLAIN });
}

#[test]
fn an_undo_of_several_files_survives_every_fault() {
    let prepare = &["call", "apply_patch", PATCH];
    sweep::sweep(&Deed { prepare, command: &["undo", "--yes"], old: PATCHED, new: UNPATCHED, ..Deed::PLAIN });
}
