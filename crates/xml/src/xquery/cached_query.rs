//! The queries that a thread has read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::failure::QueryResult;
use super::parse;
use super::query::XQuery;

/// Number of queries that a thread keeps at most; one more clears them all. A program has a few
/// queries and evaluates them on every tuple; a bound is needed for those that tuples bring.
const QUERIES_MAX: usize = 128;

/// The query of a text, read once by each thread.
pub(super) fn cached_query(text: &str) -> QueryResult<Rc<XQuery>> {
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
