//! Commands for text with breakable places, and the printer that decides which of them break.
//!
//! A group is laid out on one line if it fits, with what follows it up to the next place where the
//! line may end; otherwise every breakable place directly in it ends the line, but a fill only if
//! what stands up to the next one does not fit. A group that holds a forced line end never fits.
//! This is the scheme of Oppen's pretty printer.

use crate::step_count::count_steps;

/// No line is longer if it can be broken.
const LINE_WIDTH_MAX: usize = 100;
/// A step of indentation.
const INDENT_STEP: usize = 4;

/// One step of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayoutCommand<'a> {
    /// Text of one token.
    Text(&'a str),
    /// A comment; one of several lines is indented anew if it is drawn with stars.
    Comment(&'a str),
    /// A blank between two tokens.
    Space,
    /// A blank, or the end of the line if the group is broken.
    Line,
    /// Nothing, or the end of the line if the group is broken.
    SoftLine,
    /// A blank, or the end of the line if what follows up to the next fill does not fit.
    Fill,
    /// The end of the line; with an empty line after it or not.
    Newline { blank: bool },
    /// Begin of a group, which breaks as a whole or not at all.
    Open,
    /// The group that began last ends.
    Close,
    /// One step of indentation more from the next line on.
    Indent,
    /// End of an `Indent`: one step less of indentation.
    Dedent,
}

impl LayoutCommand<'_> {
    /// Something that separates tokens.
    pub(super) fn is_separator(self) -> bool {
        matches!(
            self,
            LayoutCommand::Space
                | LayoutCommand::Line
                | LayoutCommand::SoftLine
                | LayoutCommand::Fill
                | LayoutCommand::Newline { .. }
        )
    }

    /// The width on one line. What ends a line anyway counts nothing.
    fn width(self) -> usize {
        match self {
            LayoutCommand::Text(text) => first_line(text).chars().count(),
            LayoutCommand::Comment(text) if text.starts_with("//") => 0,
            LayoutCommand::Comment(text) => first_line(text).chars().count(),
            LayoutCommand::Space | LayoutCommand::Line | LayoutCommand::Fill => 1,
            _ => 0,
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or(text)
}

/// Prints commands as text.
pub(super) fn print(commands: &[LayoutCommand]) -> String {
    let measures = GroupWidths::measure(commands);
    let mut printer = LayoutPrinter::default();
    for (index, command) in commands.iter().enumerate() {
        printer.step(*command, index, &measures);
    }
    let mut out = printer.out;
    count_steps(out.len());
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Widths that the printer needs ahead, by index of the command.
struct GroupWidths {
    /// Widths by command. For an `Open`, the width of its group on one line with the text behind
    /// it; `MAX` if a line end is forced in it. For a `Fill`, the width up to the next one or to
    /// the group's end.
    widths: Vec<usize>,
}

/// Width of the text behind a place, measured from the end of the text.
#[derive(Clone, Copy, Default)]
struct FollowingWidth {
    /// The width of everything.
    total: usize,
    /// The width up to the next place where the line may end.
    tail: usize,
    /// How many line ends are forced.
    forced: usize,
}

impl GroupWidths {
    fn measure(commands: &[LayoutCommand]) -> GroupWidths {
        let mut widths = vec![0; commands.len()];
        let mut behind = FollowingWidth::default();
        // For each group that is open, seen from its end: what stands behind it, and behind the
        // part of it that began last, which is up to the next fill or to the group's end.
        let mut open = vec![(behind, behind)];
        for (index, command) in commands.iter().enumerate().rev() {
            match command {
                LayoutCommand::Close => open.push((behind, behind)),
                LayoutCommand::Open if open.len() > 1 => {
                    let (end, _) = open.pop().unwrap_or_default();
                    widths[index] = behind.width_up_to(end);
                }
                LayoutCommand::Fill => {
                    if let Some((_, next)) = open.last_mut() {
                        widths[index] = behind.width_up_to(*next);
                        *next = behind.before_command(*command);
                    }
                }
                LayoutCommand::Newline { .. } => {
                    if let Some((_, next)) = open.last_mut() {
                        *next = behind.before_command(*command);
                    }
                }
                _ => {}
            }
            behind = behind.before_command(*command);
        }
        GroupWidths { widths }
    }
}

impl FollowingWidth {
    /// The width from here to a later place, and on to where the line may end after it; `MAX` if it
    /// must end before.
    fn width_up_to(self, later: FollowingWidth) -> usize {
        match self.forced == later.forced {
            true => self.total - later.total + later.tail,
            false => usize::MAX,
        }
    }

    /// Width of the text from `command` on, given the width behind it.
    fn before_command(self, command: LayoutCommand) -> FollowingWidth {
        let width = command.width();
        let is_break = command.is_separator() && command != LayoutCommand::Space;
        FollowingWidth {
            total: self.total + width,
            tail: if is_break { 0 } else { self.tail + width },
            forced: self.forced + usize::from(matches!(command, LayoutCommand::Newline { .. })),
        }
    }
}

#[derive(Default)]
struct LayoutPrinter {
    out: String,
    column: usize,
    indent: usize,
    /// Whether each open group is broken.
    broken: Vec<bool>,
    /// Line ends that were not written yet.
    newlines: usize,
    /// The indentation of the line after them.
    margin: usize,
}

impl LayoutPrinter {
    fn step(&mut self, command: LayoutCommand, index: usize, measures: &GroupWidths) {
        let is_broken = self.broken.last().copied().unwrap_or(true);
        match command {
            LayoutCommand::Text(text) => self.text(text),
            LayoutCommand::Comment(text) => self.comment(text),
            LayoutCommand::Space => self.space(),
            LayoutCommand::Line if !is_broken => self.space(),
            LayoutCommand::SoftLine if !is_broken => {}
            LayoutCommand::Line | LayoutCommand::SoftLine => self.newline(1),
            LayoutCommand::Fill => {
                match is_broken && !self.fits(measures.widths[index].saturating_add(1)) {
                    true => self.newline(1),
                    false => self.space(),
                }
            }
            LayoutCommand::Newline { blank } => self.newline(1 + usize::from(blank)),
            LayoutCommand::Open => {
                let fits = self.fits(measures.widths[index]);
                self.broken.push(is_broken && !fits);
            }
            LayoutCommand::Close => drop(self.broken.pop()),
            LayoutCommand::Indent => self.indent += 1,
            LayoutCommand::Dedent => self.indent = self.indent.saturating_sub(1),
        }
    }

    /// Whether `width` more columns of text fit on the line.
    fn fits(&self, width: usize) -> bool {
        let column = match self.newlines {
            0 => self.column,
            _ => self.margin,
        };
        column.saturating_add(width) <= LINE_WIDTH_MAX
    }

    fn space(&mut self) {
        if self.newlines == 0 && !self.out.is_empty() {
            self.out.push(' ');
            self.column += 1;
        }
    }

    fn newline(&mut self, count: usize) {
        if !self.out.is_empty() {
            self.newlines = self.newlines.max(count);
            self.margin = self.indent * INDENT_STEP;
        }
    }

    /// Writes the line ends that are due, and the indentation.
    fn begin_line(&mut self) {
        if self.newlines > 0 {
            let kept = self.out.trim_end_matches(' ').len();
            self.out.truncate(kept);
            self.out.extend(std::iter::repeat_n('\n', self.newlines));
            self.column = self.margin;
            self.out.extend(std::iter::repeat_n(' ', self.column));
            self.newlines = 0;
        }
    }

    fn text(&mut self, text: &str) {
        self.begin_line();
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn comment(&mut self, text: &str) {
        self.begin_line();
        let is_starred = text
            .lines()
            .skip(1)
            .all(|line| line.trim_start().starts_with('*'));
        if !text.contains('\n') || !is_starred {
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            return self.text(&lines.join("\n"));
        }
        // Behind a long line the lines of a comment would be as long.
        let column = match self.column > LINE_WIDTH_MAX {
            true => self.indent * INDENT_STEP,
            false => self.column,
        };
        let margin = " ".repeat(column + 1);
        let mut lines = text.lines().map(str::trim);
        let mut aligned = lines.next().unwrap_or("").to_owned();
        for line in lines {
            aligned.push('\n');
            aligned.push_str(&margin);
            aligned.push_str(line);
        }
        self.text(&aligned);
    }
}

#[cfg(test)]
mod tests {
    use super::{LayoutCommand::*, print};

    #[test]
    fn a_group_breaks_when_it_does_not_fit() {
        let long = "x".repeat(60);
        let commands = [
            Text("f("),
            Open,
            Indent,
            SoftLine,
            Text(&long),
            Text(","),
            Line,
            Text(&long),
            Dedent,
            SoftLine,
            Close,
            Text(");"),
        ];
        assert_eq!(
            print(&commands),
            format!("f(\n    {long},\n    {long}\n);\n")
        );
        let short = [
            Text("f("),
            Open,
            SoftLine,
            Text("a,"),
            Line,
            Text("b"),
            SoftLine,
            Close,
            Text(")"),
        ];
        assert_eq!(print(&short), "f(a, b)\n");
    }

    #[test]
    fn what_follows_a_group_counts() {
        let text = "y".repeat(98);
        let commands = [
            Open,
            Text("a"),
            Line,
            Close,
            Text(&text),
            Newline { blank: false },
        ];
        assert_eq!(print(&commands), format!("a {text}\n"));
        let text = "y".repeat(99);
        let commands = [Open, Text("a"), Line, Close, Text(&text)];
        assert_eq!(print(&commands), format!("a\n{text}\n"));
    }

    #[test]
    fn a_forced_line_end_breaks_the_groups_around_it() {
        let commands = [
            Open,
            Text("a"),
            Line,
            Open,
            Text("b"),
            Newline { blank: true },
            Text("c"),
            Close,
            Close,
        ];
        assert_eq!(print(&commands), "a\nb\n\nc\n");
    }
}
