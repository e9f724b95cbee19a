//! Text in aligned columns, for results on a terminal.
//!
//! The `thalweg` command has a table like it for `thalweg top`. The two share no code, since no
//! crate lies below both commands and thirty lines are not worth one.

/// Rows under a head, aligned when they are printed. A column whose head begins with a space holds
/// numbers and is flush right.
pub struct TextColumns {
    /// The head, then the rows, each with one cell per column.
    rows: Vec<Vec<String>>,
}

impl TextColumns {
    /// An empty table with its head.
    pub fn new(head: &[&str]) -> TextColumns {
        let head = head.iter().map(|&name| name.to_owned()).collect();
        TextColumns { rows: vec![head] }
    }

    /// Adds a row, with as many cells as the head has.
    pub fn add_row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    /// The lines of head and rows; the empty text if there are no rows.
    pub fn to_text(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let columns = 0..self.rows[0].len();
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]);
            let widths = cells.map(|cell| cell.trim().chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = columns.map(width).collect();
        self.rows
            .iter()
            .map(|row| self.line(row, &widths))
            .collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, head), width) in row.iter().zip(&self.rows[0]).zip(widths) {
            let cell = cell.trim();
            line += &match head.starts_with(' ') {
                true => format!("{cell:>width$}  "),
                false => format!("{cell:<width$}  "),
            };
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::TextColumns;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = TextColumns::new(&["PATH", " BYTES", "NOTE"]);
        assert_eq!(table.to_text(), "");
        table.add_row(["fused", "4", ""].map(str::to_owned).into());
        table.add_row(["t", "16384", "x"].map(str::to_owned).into());
        let text = "PATH   BYTES  NOTE\nfused      4\nt      16384  x\n";
        assert_eq!(table.to_text(), text);
    }
}
