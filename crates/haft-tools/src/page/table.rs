//! Tables: what is a table of facts becomes one, what only arranges a page becomes its parts.

/// No row is taken to have more cells.
const COLUMNS_MAX: usize = 100;

/// A table that is being read.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// Whether something stands in it that no cell of a table can hold.
    arranges: bool,
}

#[derive(Debug, Default)]
struct Row {
    cells: Vec<String>,
    headings: usize,
}

impl Table {
    pub(super) fn row(&mut self) {
        if self.rows.last().is_none_or(|row| !row.cells.is_empty()) {
            self.rows.push(Row::default());
        }
    }

    pub(super) fn cell(&mut self, text: String, is_heading: bool, columns: usize) {
        if self.rows.is_empty() {
            self.rows.push(Row::default());
        }
        let Some(row) = self.rows.last_mut() else { return };
        if row.cells.len() >= COLUMNS_MAX {
            return;
        }
        self.arranges |= text.contains("```") || text.contains("\n| ") || text.starts_with("| ");
        row.headings += usize::from(is_heading);
        row.cells.push(text);
        let more = columns.saturating_sub(1).min(COLUMNS_MAX - row.cells.len());
        row.cells.extend(std::iter::repeat_n(String::new(), more));
    }

    /// The table in Markdown.
    pub(super) fn markdown(mut self) -> String {
        self.rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        if self.arranges || columns <= 1 {
            let cells = self.rows.into_iter().flat_map(|row| row.cells).filter(|cell| !cell.is_empty());
            return cells.collect::<Vec<_>>().join("\n\n");
        }
        let has_head = self.rows.first().is_some_and(|row| {
            row.headings > 0 && row.headings >= row.cells.iter().filter(|cell| !cell.is_empty()).count()
        });
        let mut lines = String::new();
        if !has_head {
            line(&mut lines, &[], columns);
            rule(&mut lines, columns);
        }
        for (number, row) in self.rows.iter().enumerate() {
            line(&mut lines, &row.cells, columns);
            if number == 0 && has_head {
                rule(&mut lines, columns);
            }
        }
        lines.truncate(lines.trim_end().len());
        lines
    }
}

fn line(lines: &mut String, cells: &[String], columns: usize) {
    lines.push('|');
    for column in 0..columns {
        lines.push(' ');
        if let Some(cell) = cells.get(column) {
            flat(lines, cell);
        }
        lines.push_str(" |");
    }
    lines.push('\n');
}

fn rule(lines: &mut String, columns: usize) {
    lines.push('|');
    lines.push_str(&" --- |".repeat(columns));
    lines.push('\n');
}

/// What a cell holds in one line.
fn flat(lines: &mut String, cell: &str) {
    let parts = cell.lines().map(str::trim).filter(|part| !part.is_empty());
    for (number, part) in parts.enumerate() {
        if number > 0 {
            lines.push_str("<br>");
        }
        for (number, piece) in part.split('|').enumerate() {
            if number > 0 {
                lines.push_str(if lines.ends_with('\\') { "|" } else { "\\|" });
            }
            lines.push_str(piece);
        }
    }
}
