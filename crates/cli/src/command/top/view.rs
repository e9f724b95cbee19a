//! The part of the tables that a terminal shows, and the order of operators: keys change both.

use clap::ValueEnum;

use super::layout::{TextBlock, render_fitting, render_from};
use crate::terminal::TerminalSize;
use crate::terminal_events::TerminalKey;

/// The order in which operators are listed: the values of `--sort`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OperatorOrder {
    /// By process, as in the program
    #[default]
    Plan,
    /// In the order of their names
    Name,
    /// By the tuples that they take a second, most first
    In,
    /// By the tuples that they submit a second, most first
    Out,
}

impl OperatorOrder {
    fn next(self) -> OperatorOrder {
        let all = OperatorOrder::value_variants();
        let at = all.iter().position(|order| *order == self).unwrap_or(0);
        all[(at + 1) % all.len()]
    }

    /// The order's value of `--sort`.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Part and order of the tables that a terminal shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopView {
    /// The order of operators.
    pub order: OperatorOrder,
    /// Number of the first line shown; at 0 tables are cut instead, so that each has lines.
    first: usize,
}

impl TopView {
    /// A view of the first lines.
    pub fn new(order: OperatorOrder) -> TopView {
        TopView { order, first: 0 }
    }

    /// Changes the view as a key asks.
    pub fn press(&mut self, key: TerminalKey, size: TerminalSize) {
        use TerminalKey::{Character, Down, End, Home, PageDown, PageUp, Up};
        let page = size.lines.saturating_sub(2).max(1);
        self.first = match key {
            Up | Character(b'k') => self.first.saturating_sub(1),
            Down | Character(b'j') => self.first.saturating_add(1),
            PageUp => self.first.saturating_sub(page),
            PageDown | Character(b' ') => self.first.saturating_add(page),
            Home | Character(b'g') => 0,
            End | Character(b'G') => usize::MAX,
            Character(b's') => {
                self.order = self.order.next();
                self.first
            }
            Character(_) => self.first,
        };
    }

    /// The text of one drawing, with a line about keys if they are read.
    pub fn text(&mut self, blocks: &[TextBlock], size: TerminalSize, has_keys: bool) -> String {
        let mut text = match self.first {
            0 => render_fitting(blocks, size),
            first => {
                let (text, first) = render_from(blocks, size, first);
                self.first = first;
                text
            }
        };
        if has_keys {
            let order = self.order.name();
            let keys = format!("q quit   s sort: {order}   arrows, space, g, G scroll");
            text += &crate::terminal::truncate(&keys, size.columns.saturating_sub(1));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize {
        columns: 80,
        lines: 4,
    };

    fn shown(view: &mut TopView) -> String {
        let text: String = (0..9).map(|line| format!("{line}\n")).collect();
        let block = TextBlock::from_text(&text, false).unwrap();
        view.text(&[block], SIZE, false)
    }

    #[test]
    fn keys_scroll_and_stop_at_both_ends() {
        use TerminalKey::{Character, Down, End, Home, PageDown, PageUp, Up};
        let mut view = TopView::default();
        let mut after = |key| {
            view.press(key, SIZE);
            shown(&mut view)
        };
        let cut = "0\n1\n+7 more\n";
        assert_eq!(after(Up), cut);
        assert_eq!(after(Down), "1\n2\n3\n");
        assert_eq!(after(PageDown), "3\n4\n5\n");
        assert_eq!(after(PageUp), "1\n2\n3\n");
        assert_eq!(after(End), "6\n7\n8\n");
        assert_eq!(after(Down), "6\n7\n8\n");
        assert_eq!(after(Character(b'k')), "5\n6\n7\n");
        assert_eq!(after(Home), cut);
    }

    #[test]
    fn a_key_changes_the_order_and_the_last_line_says_which() {
        let mut view = TopView::default();
        let orders = [(); 4].map(|()| {
            view.press(TerminalKey::Character(b's'), SIZE);
            view.order
        });
        use OperatorOrder::{In, Name, Out, Plan};
        assert_eq!(orders, [Name, In, Out, Plan]);
        let text = view.text(&[], SIZE, true);
        assert!(
            text.ends_with("s sort: plan   arrows, space, g, G scroll"),
            "{text}"
        );
    }
}
