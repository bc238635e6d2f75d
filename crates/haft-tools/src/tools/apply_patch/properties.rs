//! Laws of patches over random texts and random changes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::apply::apply;
use super::locate::Fuzz;
use super::parse::parse;
use super::patch::{Chunk, ChunkLine, FilePatch, Mark, Patch};

/// The text of a patch, which is given the line numbers that it has there.
fn render(patch: &mut Patch) -> String {
    let mut lines = vec!["*** Begin Patch".to_owned()];
    for file in &mut patch.files {
        let here = lines.len() + 1;
        match file {
            FilePatch::Add { path, text, line } => {
                *line = here;
                lines.push(format!("*** Add File: {path}"));
                lines.extend(text.split_terminator('\n').map(|added| format!("+{added}")));
            }
            FilePatch::Delete { path, line } => {
                *line = here;
                lines.push(format!("*** Delete File: {path}"));
            }
            FilePatch::Update { path, move_to, chunks, line } => {
                *line = here;
                lines.push(format!("*** Update File: {path}"));
                lines.extend(move_to.iter().map(|target| format!("*** Move to: {target}")));
                chunks.iter_mut().for_each(|chunk| render_chunk(chunk, &mut lines));
            }
        }
    }
    lines.push("*** End Patch\n".to_owned());
    lines.join("\n")
}

fn render_chunk(chunk: &mut Chunk, lines: &mut Vec<String>) {
    chunk.line = lines.len() + 1;
    match &*chunk.context {
        [] => lines.push("@@".to_owned()),
        context => lines.extend(context.iter().map(|line| format!("@@ {line}"))),
    }
    lines.extend(chunk.lines.iter().map(|line| match line.mark {
        Mark::Keep => format!(" {}", line.text),
        Mark::Remove => format!("-{}", line.text),
        Mark::Add => format!("+{}", line.text),
    }));
    lines.extend(chunk.is_end_of_file.then(|| "*** End of File".to_owned()));
}

fn marks() -> impl Strategy<Value = Mark> {
    prop_oneof![3 => Just(Mark::Keep), 1 => Just(Mark::Remove), 1 => Just(Mark::Add)]
}

fn chunk_line() -> impl Strategy<Value = ChunkLine> {
    (marks(), "[ -~éß“…]{0,5}").prop_map(|(mark, text)| ChunkLine { mark, text })
}

fn chunks() -> impl Strategy<Value = Chunk> {
    (vec("[ ]{0,2}[a-z@*][a-z @]{0,3}[a-z]", 0..3), vec(chunk_line(), 1..6), any::<bool>())
        .prop_map(|(context, lines, is_end_of_file)| Chunk { context, lines, is_end_of_file, line: 0 })
}

fn paths() -> impl Strategy<Value = String> {
    "[a-z./+@*-][a-z .:]{0,6}[a-z]"
}

fn file_patches() -> impl Strategy<Value = FilePatch> {
    prop_oneof![
        (paths(), "([ -~é]{0,4}(\r)?\n){0,4}").prop_map(|(path, text)| FilePatch::Add {
            path,
            text,
            line: 0
        }),
        paths().prop_map(|path| FilePatch::Delete { path, line: 0 }),
        (paths(), proptest::option::of(paths()), vec(chunks(), 1..4))
            .prop_map(|(path, move_to, chunks)| FilePatch::Update { path, move_to, chunks, line: 0 }),
    ]
}

/// The chunks of a change, which is what happens to each line, with so many unchanged lines around each change.
fn chunks_of(change: &[ChunkLine], around: usize) -> Vec<Chunk> {
    let is_near = |at: usize| {
        let near = at.saturating_sub(around)..(at + around + 1).min(change.len());
        change[near].iter().any(|line| line.mark != Mark::Keep)
    };
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut was_near = false;
    for (at, line) in change.iter().enumerate() {
        let near = is_near(at);
        if near && !was_near {
            chunks.push(Chunk { context: Vec::new(), lines: Vec::new(), is_end_of_file: false, line: 0 });
        }
        if let Some(chunk) = chunks.last_mut().filter(|_| near) {
            chunk.lines.push(line.clone());
        }
        was_near = near;
    }
    chunks
}

/// The text of the lines that fit.
fn text_of(change: &[ChunkLine], fits: fn(Mark) -> bool, ending: &str) -> String {
    change.iter().filter(|line| fits(line.mark)).map(|line| format!("{}{ending}", line.text)).collect()
}

fn roundtrip(chunks: Vec<Chunk>) -> Vec<Chunk> {
    let file = FilePatch::Update { path: "f".to_owned(), move_to: Some("g".to_owned()), chunks, line: 0 };
    let mut patch = Patch { files: vec![file] };
    let text = render(&mut patch);
    match parse(&text).unwrap().files.remove(0) {
        FilePatch::Update { chunks, .. } => chunks,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_patch_says_what_was_written(files in vec(file_patches(), 1..5)) {
        let mut patch = Patch { files };
        let text = render(&mut patch);
        prop_assert_eq!(parse(&text).unwrap(), patch);
    }

    #[test]
    fn a_whole_change_makes_the_new_text(
        change in vec((marks(), "[ab]{0,1}").prop_map(|(mark, text)| ChunkLine { mark, text }), 1..12),
        ending in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let (old, new) = (text_of(&change, Mark::is_old, ending), text_of(&change, Mark::is_new, ending));
        let chunk = Chunk { context: Vec::new(), lines: change, is_end_of_file: false, line: 0 };
        let applied = apply("f", &old, &roundtrip(vec![chunk])).unwrap();
        // A file that was empty has no endings to follow.
        let new = if old.is_empty() { new.replace("\r\n", "\n") } else { new };
        prop_assert_eq!((applied.text, applied.fuzz), (new, Fuzz::Exact));
    }

    #[test]
    fn a_change_in_pieces_makes_the_new_text(
        marks in vec(marks(), 1..40),
        around in 1_usize..4,
        (bom, is_ended) in any::<(bool, bool)>(),
        endings in vec(prop_oneof![Just("\n"), Just("\r\n")], 40),
        blanks in vec(prop_oneof![Just(""), Just(" "), Just("\t ")], 40),
    ) {
        // Lines differ, so that the first place is the right one.
        let line = |(at, mark): (usize, &Mark)| ChunkLine { mark: *mark, text: format!("line {at}") };
        let change: Vec<ChunkLine> = marks.iter().enumerate().map(line).collect();
        let old: Vec<(&ChunkLine, &str)> =
            change.iter().zip(&endings).filter(|(line, _)| line.mark.is_old()).map(|(line, ending)| (line, *ending)).collect();
        prop_assume!(!old.is_empty());
        let mut text: String = old.iter().map(|(line, ending)| format!("{}{ending}", line.text)).collect();
        if !is_ended {
            text.truncate(text.trim_end().len());
        }
        if bom {
            text.insert(0, '\u{feff}');
        }
        let mut chunks = chunks_of(&change, around);
        prop_assume!(!chunks.is_empty());
        prop_assume!(chunks.iter().all(|chunk| chunk.lines.iter().any(|line| line.mark.is_old())));
        // The patch spells blanks otherwise than the file, in lines that it only has to find.
        let spelled = chunks.iter_mut().flat_map(|chunk| &mut chunk.lines).filter(|line| line.mark.is_old());
        spelled.zip(&blanks).for_each(|(line, blank)| line.text.push_str(blank));
        let applied = apply("f", &text, &roundtrip(chunks)).unwrap();

        prop_assert_eq!(applied.text.starts_with('\u{feff}'), bom);
        let bare = applied.text.trim_start_matches('\u{feff}');
        let lines: Vec<&str> = bare.lines().collect();
        let expected: Vec<&str> = change.iter().filter(|line| line.mark.is_new()).map(|line| &*line.text).collect();
        prop_assert_eq!(lines, expected);
        prop_assert!(bare.is_empty() || bare.ends_with('\n'));
        for (at, (line, ending)) in old.iter().enumerate() {
            let is_last = at + 1 == old.len();
            if line.mark == Mark::Keep && (is_ended || !is_last) {
                let whole = format!("{}{ending}", line.text);
                prop_assert!(bare.split_inclusive('\n').any(|kept| kept == whole), "{whole:?}");
            }
        }
    }
}
