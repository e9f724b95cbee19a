//! XQuery: what the library's `xquery` finds in a document.
//!
//! ```text
//! text of a query ──parse──> Query ──eval──> items ──serialize──> list of strings
//!                  document ──tree──> Tree ──┘
//! ```
//! XPath with all axes, predicates, the functions of `function`, variables, FLWOR (`for`, `let`,
//! `where`, `order by`, `return`), quantified expressions, `if`, arithmetic, comparisons, sets of
//! nodes, casts, and constructors of elements, attributes and text, with a prolog that declares
//! namespaces and variables. Documents have no schema: their values are untyped.
//!
//! What is not here is refused with a sentence when the query is read: functions of the query's
//! own, modules, `typeswitch`, `group by`, windows, dates, durations, maps and arrays.

mod atomic_value;
mod eval;
mod function;
mod item;
mod parse;
mod query;
mod serialize;
#[cfg(test)]
mod tests;
mod xml_tree;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use item::XmlNode;
use query::XQuery;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFailure {
    /// The query cannot be read.
    Query(String),
    /// It fails on this document, or with these variables.
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

type QueryResult<T> = Result<T, QueryFailure>;

/// What the query of a text gives on a document: a string for each item. `variable` gives the
/// values of external variables by their names.
pub fn run(
    document: &[u8],
    query: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> QueryResult<Vec<String>> {
    let query = cached_query(query)?;
    let tree = xml_tree::parse_document(document).map_err(QueryFailure::Value)?;
    let items = eval::run(&query, XmlNode::root(tree), variable)?;
    Ok(items.iter().map(serialize::serialize_item).collect())
}

/// Whether the query of a text can be read.
pub fn check(query: &str) -> QueryResult<()> {
    cached_query(query).map(drop)
}

/// How many queries a thread keeps.
const QUERIES_MAX: usize = 128;

/// The query of a text, from what the thread keeps if it is there: programs have few, one after the
/// other on every tuple.
fn cached_query(text: &str) -> QueryResult<Rc<XQuery>> {
    thread_local! {
        static QUERIES: RefCell<HashMap<String, Rc<XQuery>>> = RefCell::default();
    }
    QUERIES.with_borrow_mut(|queries| {
        if let Some(query) = queries.get(text) {
            return Ok(Rc::clone(query));
        }
        let query = Rc::new(parse::query(text)?);
        if queries.len() >= QUERIES_MAX {
            queries.clear();
        }
        queries.insert(text.to_owned(), Rc::clone(&query));
        Ok(query)
    })
}
