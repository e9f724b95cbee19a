//! The error of a query.

use std::fmt;

/// Why a query has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFailure {
    /// The query cannot be read.
    Query(String),
    /// The query fails on this document, or with these variables.
    Value(String),
}

impl fmt::Display for QueryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryFailure::Query(why) => write!(f, "the query is wrong: {why}"),
            QueryFailure::Value(why) => write!(f, "the query fails: {why}"),
        }
    }
}

impl std::error::Error for QueryFailure {}

/// Result of a step of reading or evaluating a query.
pub(super) type QueryResult<T> = Result<T, QueryFailure>;

/// The failure of an evaluation.
pub(super) fn failure(why: impl Into<String>) -> QueryFailure {
    QueryFailure::Value(why.into())
}
