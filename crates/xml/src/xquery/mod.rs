//! XQuery: what the library's `xquery` finds in a document.
//!
//! ```text
//! text of a query ──parse──> XQuery ──eval──> items ──serialize──> list of strings
//!              document ──tree──> XmlTree ──┘
//! ```
//! XPath with all axes, predicates, the functions of `function`, variables, FLWOR (`for`, `let`,
//! `where`, `order by`, `return`), quantified expressions, `if`, arithmetic, comparisons, sets of
//! nodes, casts, and constructors of elements, attributes and text, with a prolog that declares
//! namespaces and variables. Documents have no schema: their values are untyped.
//!
//! The rest of XQuery is refused with a sentence when the query is read: functions that the query
//! declares, modules, `typeswitch`, `group by`, windows, dates, durations, maps and arrays.

mod atomic_value;
mod cached_query;
mod eval;
mod failure;
mod focus;
mod function;
mod item;
mod parse;
mod query;
mod serialize;
#[cfg(test)]
mod tests;
mod xml_node;

pub use failure::QueryFailure;
use xml_node::XmlNode;

use crate::tree::XmlTree;

/// Evaluates a query on a document: the result has a string for each item. `variable` gives the
/// values of external variables by their names.
///
/// # Errors
/// A query that cannot be read, a text that is not a well-formed document, or an evaluation that
/// fails.
///
/// # Example
/// ```
/// let document = b"<books><book year='1999'/><book year='2020'/></books>";
/// let found = thalweg_xml::xquery::run(document, "//book[@year > 2000]", &|_| None)?;
/// assert_eq!(found, ["<book year=\"2020\"/>"]);
/// # Ok::<(), thalweg_xml::xquery::QueryFailure>(())
/// ```
pub fn run(
    document: &[u8],
    query: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<String>, QueryFailure> {
    let query = cached_query::cached_query(query)?;
    if document.is_empty() {
        return Err(failure::failure("the value was never assigned a document"));
    }
    let tree = XmlTree::parse_with_namespaces(document).map_err(QueryFailure::Value)?;
    let items = eval::evaluate(&query, XmlNode::root(tree), variable)?;
    Ok(items.iter().map(serialize::serialize_item).collect())
}

/// Checks that a query can be read.
///
/// # Errors
/// [`QueryFailure::Query`] with what is wrong and where.
pub fn check(query: &str) -> Result<(), QueryFailure> {
    cached_query::cached_query(query).map(drop)
}
