//! TypeScript by oxc: types are taken away, enums, namespaces and parameter properties become JavaScript, and
//! imports that only served as types vanish. What does not parse is told with its place and one sentence.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};
use serde_json::json;

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
    transform(path, source, Map::None).map(|(stripped, _)| stripped)
}

/// The same for another runtime, which finds places by the source map at the end: `{code, module}` or `{problem}`.
pub(super) fn told(path: &Path, source: &str) -> serde_json::Value {
    match transform(path, source, Map::Inline) {
        Ok((Stripped { code, is_module }, _)) => json!({ "code": code, "module": is_module }),
        Err(Problem { message, line, column, help }) => {
            json!({ "problem": { "message": message, "line": line, "column": column, "help": help } })
        }
    }
}

/// Finds the place in the TypeScript file that a place in its JavaScript came from.
pub(super) fn original(path: &Path, source: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
    transform(path, source, Map::Find(wanted)).ok()?.1
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

/// What is made of the places in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Map {
    None,
    /// One place, with line and column from 0, is looked up.
    Find((u32, u32)),
    /// The result ends with all of them.
    Inline,
}

/// Transforms a file, and finds where a place in the result came from.
fn transform(path: &Path, source: &str, wanted: Map) -> Result<(Stripped, Option<(u32, u32)>), Problem> {
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
        source_map_path: (wanted != Map::None).then(|| path.to_path_buf()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let mut code = printed.code;
    let found = match (wanted, printed.map) {
        (Map::Find((line, column)), Some(map)) => {
            let token = map.lookup_token_approx(&map.generate_lookup_table(), line, column);
            token.map(|token| (token.get_src_line() + 1, token.get_src_col() + 1))
        }
        (Map::Inline, Some(map)) => {
            code.push_str(&format!("\n//# sourceMappingURL={}", map.to_data_url()));
            None
        }
        (Map::None, _) | (_, None) => None,
    };
    Ok((Stripped { code, is_module }, found))
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
