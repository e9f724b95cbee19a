//! Blocks of lines, whole or cut to the size of a terminal.
//!
//! ```text
//!   whole                 on 9 lines (the last one is the cursor's)
//!     Main   job 7          Main   job 7
//!
//!     PE  OPERATOR          PE  OPERATOR
//!     0   A                 0   A
//!     0   B                 +3 more
//!     0   C
//!     0   D                 pe 0 waits for pe 1
//!                           pe 1 holds up pe 0
//!     pe 0 waits for pe 1
//!     pe 1 holds up pe 0
//! ```
//! The blocks with the most rows are cut first, all to an equal number, so that a short block after
//! a long one stays visible.

use crate::terminal::{TerminalSize, truncate};

/// A block: lines that belong together.
#[derive(Clone, Debug, Default)]
pub struct TextBlock {
    /// Line above the rows, which is never cut.
    pub head: Option<String>,
    /// Lines that may be cut.
    pub rows: Vec<String>,
}

impl TextBlock {
    /// A block of one line.
    pub fn single_line(line: String) -> TextBlock {
        TextBlock {
            head: Some(line),
            rows: Vec::new(),
        }
    }

    /// A block of a text's lines, the first of which may be the head; `None` if it has no rows.
    pub fn from_text(text: &str, has_head: bool) -> Option<TextBlock> {
        let mut lines = text.lines().map(str::to_owned);
        let head = if has_head { lines.next() } else { None };
        let rows: Vec<String> = lines.collect();
        (!rows.is_empty()).then_some(TextBlock { head, rows })
    }

    /// The lines of the block cut to `rows_max` rows.
    fn lines(&self, rows_max: usize) -> impl Iterator<Item = String> {
        let rows = if self.rows.len() > rows_max {
            rows_max.saturating_sub(1)
        } else {
            self.rows.len()
        };
        let left = self.rows.len() - rows;
        let more = (left > 0).then(|| more_line(left));
        let shown = self.rows[..rows].iter().cloned();
        self.head.clone().into_iter().chain(shown).chain(more)
    }
}

fn more_line(count: usize) -> String {
    format!("+{count} more")
}

/// Renders all lines, with an empty line between blocks.
pub fn render_all(blocks: &[TextBlock]) -> String {
    let rows = vec![usize::MAX; blocks.len()];
    text(&lines(blocks, &rows))
}

/// Renders as many lines as fit on a terminal.
pub fn render_fitting(blocks: &[TextBlock], size: TerminalSize) -> String {
    // The last line is the cursor's.
    let most = size.lines.saturating_sub(1).max(1);
    let mut shown = lines(blocks, &rows_per_block(blocks, most));
    if shown.len() > most {
        let cut = shown.split_off(most - 1);
        let left = cut.iter().filter(|line| !line.is_empty()).count();
        shown.push(more_line(left));
    }
    let fitted = shown.iter().map(|line| truncate(line, size.columns));
    text(&fitted.collect::<Vec<_>>())
}

/// Renders the lines from number `first` on, as many as fit on a terminal; at the end the last
/// ones. Returns the number of the first line shown, too.
pub fn render_from(blocks: &[TextBlock], size: TerminalSize, first: usize) -> (String, usize) {
    let most = size.lines.saturating_sub(1).max(1);
    let all = lines(blocks, &vec![usize::MAX; blocks.len()]);
    let first = first.min(all.len().saturating_sub(most));
    let shown = all[first..].iter().take(most);
    let fitted: Vec<_> = shown.map(|line| truncate(line, size.columns)).collect();
    (text(&fitted), first)
}

/// Distributes `lines_max` lines over the blocks: the number of rows of each, at least one.
fn rows_per_block(blocks: &[TextBlock], lines_max: usize) -> Vec<usize> {
    let heads = blocks.iter().filter(|block| block.head.is_some()).count();
    let between = blocks.len().saturating_sub(1);
    let rows_left = lines_max.saturating_sub(heads + between);
    let rows = |cap: usize| blocks.iter().map(move |block| block.rows.len().min(cap));
    let longest = rows(usize::MAX).max().unwrap_or(0);
    let cap = (1..=longest)
        .rev()
        .find(|&cap| rows(cap).sum::<usize>() <= rows_left);
    let cap = cap.unwrap_or(1);
    let mut left = rows_left.saturating_sub(rows(cap).sum());
    let mut shares = vec![cap; blocks.len()];
    // A further row is worth most where it completes a block.
    let is_last = |block: &TextBlock| block.rows.len() == cap + 1;
    let is_longer = |block: &TextBlock| block.rows.len() > cap + 1;
    for gets in [&is_last as &dyn Fn(&TextBlock) -> bool, &is_longer] {
        let wanting = blocks.iter().zip(&mut shares);
        for (_, share) in wanting.filter(|(block, _)| gets(block)).take(left) {
            *share += 1;
            left -= 1;
        }
    }
    shares
}

fn lines(blocks: &[TextBlock], rows_max: &[usize]) -> Vec<String> {
    let mut lines = Vec::new();
    for (block, &rows_max) in blocks.iter().zip(rows_max) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(block.lines(rows_max));
    }
    lines
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A title, a table with `rows` rows, and two lines without a head.
    fn blocks(rows: usize) -> Vec<TextBlock> {
        let rows = (0..rows).map(|row| format!("row {row}")).collect();
        let table = TextBlock {
            head: Some("HEAD".to_owned()),
            rows,
        };
        let waits = TextBlock::from_text("one\ntwo\n", false).unwrap();
        vec![TextBlock::single_line("title".to_owned()), table, waits]
    }

    fn fits(rows: usize, lines: usize) -> String {
        render_fitting(&blocks(rows), TerminalSize { columns: 20, lines })
    }

    #[test]
    fn what_fits_is_whole() {
        let all = "title\n\nHEAD\nrow 0\nrow 1\n\none\ntwo\n";
        assert_eq!(render_all(&blocks(2)), all);
        assert_eq!(fits(2, 9), all);
    }

    #[test]
    fn long_blocks_are_cut_first() {
        let cut = "title\n\nHEAD\nrow 0\n+5 more\n\none\ntwo\n";
        assert_eq!(fits(6, 9), cut);
        assert_eq!(fits(6, 8), "title\n\nHEAD\n+6 more\n\none\ntwo\n");
        assert_eq!(fits(6, 7), "title\n\nHEAD\n+6 more\n\n+2 more\n");
    }

    #[test]
    fn where_not_even_the_heads_fit_the_end_is_cut() {
        assert_eq!(fits(6, 4), "title\n\n+3 more\n");
        assert_eq!(fits(6, 2), "+4 more\n");
        assert_eq!(fits(6, 0), "+4 more\n");
    }

    #[test]
    fn lines_further_down_are_shown_up_to_the_last() {
        let size = TerminalSize {
            columns: 20,
            lines: 5,
        };
        let from = |first| render_from(&blocks(3), size, first);
        assert_eq!(from(1), ("\nHEAD\nrow 0\nrow 1\n".to_owned(), 1));
        assert_eq!(from(5), ("row 2\n\none\ntwo\n".to_owned(), 5));
        assert_eq!(from(70), from(5));
        assert_eq!(render_from(&[], size, 3), (String::new(), 0));
    }

    #[test]
    fn lines_are_cut_to_the_width() {
        let size = TerminalSize {
            columns: 4,
            lines: 9,
        };
        let cut = "tit\u{2026}\n\nHEAD\nrow\u{2026}\nrow\u{2026}\n\none\ntwo\n";
        assert_eq!(render_fitting(&blocks(2), size), cut);
    }

    #[test]
    fn no_terminal_is_too_small_or_too_large() {
        for lines in 0..30 {
            for rows in 0..20 {
                let shown = fits(rows, lines).lines().count();
                assert!(shown <= lines.saturating_sub(1).max(1), "{lines} {rows}");
            }
        }
        assert_eq!(
            render_fitting(
                &[],
                TerminalSize {
                    columns: 1,
                    lines: 1
                }
            ),
            ""
        );
    }
}
