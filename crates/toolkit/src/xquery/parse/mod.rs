//! Queries are read from their text by recursive descent, without tokens in between: what a
//! character means depends on where it stands.
//!
//! Chains of operators are read in a loop; only what is nested costs stack, and that is bounded.

mod constructor;
mod expression;
mod namespace_scope;
mod path;
mod prolog;
mod query_cursor;
mod types;

use super::query::XQuery;
use super::{QueryFailure, QueryResult};
use namespace_scope::NamespaceScope;
use query_cursor::QueryCursor;

/// Expressions nest so deep at most: their evaluation does as well.
const DEPTH_MAX: usize = 64;

/// A query has so many clauses and bindings at most, since each is evaluated within the one before
/// it.
const CLAUSES_MAX: usize = 1000;

/// The query of a text.
pub fn query(text: &str) -> QueryResult<XQuery> {
    let mut parser = QueryParser {
        cursor: QueryCursor::new(text),
        namespaces: NamespaceScope::default(),
        scope: Vec::new(),
        depth: 0,
        clauses: 0,
        keeps_blanks: false,
    };
    let variables = parser.prolog()?;
    let body = parser.expression()?;
    parser.cursor.skip_blanks()?;
    match parser.cursor.is_at_end() {
        true => Ok(XQuery { variables, body }),
        false => Err(parser.cursor.failure_at("nothing more is expected here")),
    }
}

/// Reads a query.
struct QueryParser<'t> {
    cursor: QueryCursor<'t>,
    namespaces: NamespaceScope,
    /// The variables that are bound, outermost first.
    scope: Vec<String>,
    /// How deep expressions are nested where we are.
    depth: usize,
    /// Clauses and bindings so far.
    clauses: usize,
    /// `declare boundary-space preserve`
    keeps_blanks: bool,
}

impl QueryParser<'_> {
    /// Reads something that may nest.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> QueryResult<T>) -> QueryResult<T> {
        if self.depth == DEPTH_MAX {
            let why = format!("expressions nest deeper than {DEPTH_MAX}");
            return Err(self.cursor.failure_at(&why));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Counts a clause or a binding.
    fn clause(&mut self) -> QueryResult<()> {
        self.clauses += 1;
        match self.clauses > CLAUSES_MAX {
            true => Err(query_failure(format!(
                "it has more than {CLAUSES_MAX} clauses"
            ))),
            false => Ok(()),
        }
    }

    /// What is known to be XQuery and not read here.
    fn unsupported<T>(&self, what: &str) -> QueryResult<T> {
        Err(self.cursor.failure_at(&format!("{what} is not supported")))
    }
}

fn query_failure(why: String) -> QueryFailure {
    QueryFailure::Query(why)
}
