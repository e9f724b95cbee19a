//! The parser's state, and what bounds the queries that it reads.

use super::super::failure::{QueryFailure, QueryResult};
use super::namespace_scope::NamespaceScope;
use super::query_cursor::QueryCursor;

/// Depth to which expressions nest at most. Parser and evaluation recurse as deep, on the stack of
/// the thread that calls `xquery`.
const DEPTH_MAX: usize = 64;

/// Number of clauses and bindings that a query has at most: each is evaluated within the one before
/// it, on the stack.
const CLAUSES_MAX: usize = 1000;

/// The parser of a query: position, and names that are bound there.
pub(super) struct QueryParser<'t> {
    pub(super) cursor: QueryCursor<'t>,
    pub(super) namespaces: NamespaceScope,
    /// Names of the bound variables, outermost first.
    pub(super) scope: Vec<String>,
    /// Depth of the expression that is being read.
    depth: usize,
    /// Number of clauses and bindings read.
    clauses: usize,
    /// Whether blanks between tags count: `declare boundary-space preserve`.
    pub(super) keeps_blanks: bool,
}

impl<'t> QueryParser<'t> {
    /// A parser at the beginning of a text.
    pub(super) fn new(text: &'t str) -> QueryParser<'t> {
        QueryParser {
            cursor: QueryCursor::new(text),
            namespaces: NamespaceScope::default(),
            scope: Vec::new(),
            depth: 0,
            clauses: 0,
            keeps_blanks: false,
        }
    }

    /// Reads a part that may nest.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> QueryResult<T>,
    ) -> QueryResult<T> {
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
    pub(super) fn clause(&mut self) -> QueryResult<()> {
        self.clauses += 1;
        match self.clauses > CLAUSES_MAX {
            true => Err(QueryFailure::Query(format!(
                "it has more than {CLAUSES_MAX} clauses"
            ))),
            false => Ok(()),
        }
    }

    /// The failure of a part of XQuery that is not supported.
    pub(super) fn unsupported<T>(&self, what: &str) -> QueryResult<T> {
        Err(self.cursor.failure_at(&format!("{what} is not supported")))
    }
}
