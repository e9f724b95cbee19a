//! XQuery: what the library's `xquery` finds in a document.
//!
//! ```text
//! text of a query ──parse──> Query ──eval──> items ──serialize──> list of strings
//!                  document ──tree──> Tree ──┘
//! ```
//! XPath with all axes, predicates, the functions of `function`, variables, FLWOR (`for`, `let`,
//! `where`, `order by`, `return`), quantified expressions, `if`, arithmetic, comparisons, sets of nodes,
//! casts, and constructors of elements, attributes and text, with a prolog that declares namespaces and
//! variables. Documents have no schema: their values are untyped.
//!
//! What is not here is refused with a sentence when the query is read: functions of the query's own,
//! modules, `typeswitch`, `group by`, windows, dates, durations, maps and arrays.

mod atomic;
mod eval;
mod function;
mod item;
mod parse;
mod query;
mod serialize;
#[cfg(test)]
mod tests;
mod tree;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use item::Node;
use query::Query;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The query cannot be read.
    Query(String),
    /// It fails on this document, or with these variables.
    Value(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Query(why) => write!(f, "the query is wrong: {why}"),
            Failure::Value(why) => write!(f, "the query fails: {why}"),
        }
    }
}

type Outcome<T> = Result<T, Failure>;

/// What the query of a text gives on a document: a string for each item. `variable` gives the values of
/// external variables by their names.
pub fn run(
    document: &[u8],
    query: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Outcome<Vec<String>> {
    let query = read(query)?;
    let tree = tree::read(document).map_err(Failure::Value)?;
    let items = eval::run(&query, Node::root(tree), variable)?;
    Ok(items.iter().map(serialize::item).collect())
}

/// Whether the query of a text can be read.
pub fn check(query: &str) -> Outcome<()> {
    read(query).map(drop)
}

/// How many queries a thread keeps.
const QUERIES_MAX: usize = 128;

/// The query of a text, from what the thread keeps if it is there: programs have few, one after the other
/// on every tuple.
fn read(text: &str) -> Outcome<Rc<Query>> {
    thread_local! {
        static QUERIES: RefCell<HashMap<String, Rc<Query>>> = RefCell::default();
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
