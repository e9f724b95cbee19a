//! Reading of queries from their text, by recursive descent without tokens in between: what a
//! character means depends on where it stands.
//!
//! Chains of operators are read in a loop. Only nested expressions cost stack, and their depth is
//! bounded.

mod constructor;
mod expression;
mod namespace_scope;
mod path;
mod prolog;
mod query_cursor;
mod query_parser;
mod types;

use query_parser::QueryParser;

use super::failure::QueryResult;
use super::query::XQuery;

/// Parses the text of a query.
///
/// # Errors
/// [`QueryFailure::Query`](super::QueryFailure::Query) with what is wrong and where.
pub(super) fn query(text: &str) -> QueryResult<XQuery> {
    let mut parser = QueryParser::new(text);
    let variables = parser.prolog()?;
    let body = parser.expression()?;
    parser.cursor.skip_blanks()?;
    match parser.cursor.is_at_end() {
        true => Ok(XQuery { variables, body }),
        false => Err(parser.cursor.failure_at("nothing more is expected here")),
    }
}
