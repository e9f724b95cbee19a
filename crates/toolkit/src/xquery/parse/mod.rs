//! Queries are read from their text by recursive descent, without tokens in between: what a character
//! means depends on where it stands.
//!
//! Chains of operators are read in a loop; only what is nested costs stack, and that is bounded.

mod constructor;
mod cursor;
mod expression;
mod names;
mod path;
mod prolog;
mod types;

use super::query::Query;
use super::{Failure, Outcome};
use cursor::Cursor;
use names::Names;

/// Expressions nest so deep at most: their evaluation does as well.
const DEPTH_MAX: usize = 64;

/// A query has so many clauses and bindings at most, since each is evaluated within the one before it.
const CLAUSES_MAX: usize = 1000;

/// The query of a text.
pub fn query(text: &str) -> Outcome<Query> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        names: Names::default(),
        scope: Vec::new(),
        depth: 0,
        clauses: 0,
        keeps_blanks: false,
    };
    let variables = parser.prolog()?;
    let body = parser.expression()?;
    parser.cursor.blanks()?;
    match parser.cursor.is_at_end() {
        true => Ok(Query { variables, body }),
        false => Err(parser.cursor.wrong("nothing more is expected here")),
    }
}

/// Reads a query.
struct Parser<'t> {
    cursor: Cursor<'t>,
    names: Names,
    /// The variables that are bound, outermost first.
    scope: Vec<String>,
    /// How deep expressions are nested where we are.
    depth: usize,
    /// Clauses and bindings so far.
    clauses: usize,
    /// `declare boundary-space preserve`
    keeps_blanks: bool,
}

impl Parser<'_> {
    /// Reads something that may nest.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth == DEPTH_MAX {
            let why = format!("expressions nest deeper than {DEPTH_MAX}");
            return Err(self.cursor.wrong(&why));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Counts a clause or a binding.
    fn clause(&mut self) -> Outcome<()> {
        self.clauses += 1;
        match self.clauses > CLAUSES_MAX {
            true => Err(wrong(format!("it has more than {CLAUSES_MAX} clauses"))),
            false => Ok(()),
        }
    }

    /// What is known to be XQuery and not read here.
    fn refused<T>(&self, what: &str) -> Outcome<T> {
        Err(self.cursor.wrong(&format!("{what} is not supported")))
    }
}

fn wrong(why: String) -> Failure {
    Failure::Query(why)
}
