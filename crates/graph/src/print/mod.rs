//! Programs as text, SPL-like and fully typed: what `dump` shows and golden tests compare.
//!
//! The text is made for reading and for comparing, not for compiling: conversions that SPL leaves
//! implicit are written out, every variable is declared where it is set, literals carry their type.
//! The same program always gives the same text.
//!
//! `Display` prints a node by itself, where variables are called by number. [`PrintNames`] knows
//! more:
//! ```text
//! state0 + in0.1            by itself
//! total + In.price          with the names of its operator
//! ```

mod brief_value;
mod expr;
mod literal;
mod operator;
mod print_names;
mod stmt;
mod window;

use std::fmt;

pub use brief_value::BriefValue;
pub use print_names::PrintNames;

use crate::{Body, Expr, Function, OperatorNode, Place, Program, Stmt};

/// A node with the names of its variables, to be printed by `Display`.
pub struct PrintedNode<'a, T> {
    names: PrintNames<'a>,
    node: &'a T,
}

impl<'a> PrintNames<'a> {
    /// Binds these names to a node, for printing.
    pub fn print<T>(self, node: &'a T) -> PrintedNode<'a, T>
    where
        PrintedNode<'a, T>: fmt::Display,
    {
        PrintedNode { names: self, node }
    }
}

impl Program {
    /// The program with the names of library functions.
    pub fn display_with_natives<'a>(&'a self, natives: &'a [&'a str]) -> impl fmt::Display + 'a {
        PrintNames::from_program(self, natives).print(self)
    }
}

/// Implements `Display` for a node with and without names, by a method of [`PrintNames`] that
/// writes it.
macro_rules! display {
    ($($node:ty: |$names:ident, $it:ident, $out:ident| $write:expr;)+) => { $(
        impl fmt::Display for PrintedNode<'_, $node> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let ($names, $it) = (self.names, self.node);
                let mut text = String::new();
                let $out = &mut text;
                $write;
                f.write_str(&text)
            }
        }

        impl fmt::Display for $node {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", PrintNames::default().print(self))
            }
        }
    )+ };
}

display! {
    Expr: |names, it, out| names.expr(it, out);
    Place: |names, it, out| names.place(it, out);
    Stmt: |names, it, out| names.stmt(it, 0, out);
    Body: |names, it, out| names.body(it, 0, out);
    Function: |names, it, out| names.function(it, out);
    OperatorNode: |names, it, out| names.operator(it, out);
    Program: |names, it, out| names.program(it, out);
}

/// Starts a line with its indentation.
fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes items with commas between.
fn separated<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
}
