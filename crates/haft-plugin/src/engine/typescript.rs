//! TypeScript by oxc: types are taken away, enums, namespaces and parameter properties become JavaScript, and
//! imports that only served as types vanish. What does not parse is told with its place and one sentence.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

/// Why a source text cannot be used, and where; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) help: Option<String>,
}

/// A TypeScript file as JavaScript.
#[derive(Debug)]
pub(super) struct Stripped {
    pub(super) code: String,
    /// Whether it has imports or exports; what has neither may be CommonJS.
    pub(super) is_module: bool,
}

/// Turns TypeScript into JavaScript.
pub(super) fn strip(path: &Path, source: &str) -> Result<Stripped, Problem> {
    transform(path, source, None).map(|(stripped, _)| stripped)
}

/// Finds the place in the TypeScript file that a place in its JavaScript came from.
pub(super) fn original(path: &Path, source: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
    transform(path, source, Some(wanted)).ok()?.1
}

/// Finds what is wrong with a JavaScript file that the engine does not accept.
pub(super) fn diagnose(source: &str, kind: SourceType) -> Option<Problem> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    let found = parsed.diagnostics.iter().next().map(|diagnostic| problem(source, diagnostic));
    found.or_else(|| {
        let checked = SemanticBuilder::new().with_check_syntax_error(true).build(&parsed.program);
        checked.diagnostics.iter().next().map(|diagnostic| problem(source, diagnostic))
    })
}

/// Whether a JavaScript file without a declared format has imports or exports.
pub(super) fn has_module_syntax(source: &str) -> bool {
    // Most files are told apart without parsing them.
    if !source.contains("import") && !source.contains("export") {
        return false;
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::unambiguous()).parse();
    parsed.module_record.has_module_syntax
}

/// Transforms a file. With `wanted`, a place in the result, it also finds where that came from.
fn transform(
    path: &Path,
    source: &str,
    wanted: Option<(u32, u32)>,
) -> Result<(Stripped, Option<(u32, u32)>), Problem> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts()).parse();
    if let Some(diagnostic) = parsed.diagnostics.iter().next() {
        return Err(problem(source, diagnostic));
    }
    let is_module = parsed.module_record.has_module_syntax;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    if let Some(diagnostic) = semantic.diagnostics.iter().next() {
        return Err(problem(source, diagnostic));
    }
    let scoping = semantic.semantic.into_scoping();
    let transformed = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    if let Some(diagnostic) = transformed.diagnostics.iter().next() {
        return Err(problem(source, diagnostic));
    }
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: wanted.map(|_| path.to_path_buf()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let found = wanted.zip(printed.map.as_ref()).and_then(|((line, column), map)| {
        let token = map.lookup_token_approx(&map.generate_lookup_table(), line, column)?;
        Some((token.get_src_line() + 1, token.get_src_col() + 1))
    });
    Ok((Stripped { code: printed.code, is_module }, found))
}

fn problem(source: &str, diagnostic: &oxc_diagnostics::OxcDiagnostic) -> Problem {
    let offset = diagnostic.labels.first().map_or(0, |label| label.offset() as usize);
    let (line, column) = place(source, offset);
    let message = diagnostic.message.trim_end_matches('.').to_string();
    let help = diagnostic.help.as_ref().map(ToString::to_string);
    Problem { message, line, column, help }
}

/// The line and column of a byte, both from 1; columns count characters.
fn place(source: &str, offset: usize) -> (u32, u32) {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}
