//! Tables of text in aligned columns.

/// A table with a head. A column whose head begins with a space has numbers, and is aligned right.
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with a head and no rows.
    pub fn new(head: &[&str]) -> TextTable {
        let head = head.iter().map(|&name| name.to_owned()).collect();
        TextTable { rows: vec![head] }
    }

    /// Adds a row, with as many cells as the head has.
    pub fn add_row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    /// The table as lines of text; empty if it has no rows.
    pub fn to_text(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let columns = 0..self.rows[0].len();
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .map(|row| row[column].trim().chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = columns.map(width).collect();
        let lines = self.rows.iter().map(|row| self.line(row, &widths));
        lines.collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, head), width) in row.iter().zip(&self.rows[0]).zip(widths) {
            let cell = cell.trim();
            let padded = if head.starts_with(' ') {
                format!("{cell:>width$}  ")
            } else {
                format!("{cell:<width$}  ")
            };
            line += &padded;
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::TextTable;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = TextTable::new(&["NAME", " COUNT", "NOTE"]);
        assert_eq!(table.to_text(), "");
        table.add_row(["Trades", "5", ""].map(str::to_owned).into());
        table.add_row(["Q", "12345", "x"].map(str::to_owned).into());
        let text = "NAME    COUNT  NOTE\nTrades      5\nQ       12345  x\n";
        assert_eq!(table.to_text(), text);
    }
}
