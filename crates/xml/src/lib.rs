//! XML: one scanner, one tree and one path engine under casts, XMLParse and `xquery`.
//!
//! ```text
//! bytes ──scan──> tokens ──tree──> nodes in one array ──step──> nodes along an axis
//!                                                         ▲
//!                            path (triggers and paths of XMLParse), xquery (queries)
//! ```
//! | folder | defines |
//! | --- | --- |
//! | `scan` | [`Scanner`]: tokens of documents that come whole or in pieces |
//! | `tree` | [`XmlTree`]: the nodes of a document, and how they are added |
//! | `step` | one step of a path: an axis, a test, predicates that count positions |
//! | `path` | [`XmlPath`]: the paths of XMLParse, and the elements that its triggers keep |
//! | [`xquery`] | queries: parser, functions, evaluation |
//!
//! Each folder uses only those above it. Nothing here knows tuples, operators or faults: errors are
//! sentences, and the caller says what they mean to the program. `tuple` is used for the decimal
//! numbers of queries alone.
//!
//! # Well-formedness
//! The scanner checks what XML 1.0 calls well-formedness, except for declarations inside a DOCTYPE,
//! which it skips: entities that they declare are unknown. Prefixes of names are only resolved to
//! namespaces where a query reads the document ([`XmlTree::parse_with_namespaces`]).

mod path;
mod scan;
mod step;
mod tree;
pub mod xquery;

pub use path::{
    NameMatching, OpenElements, PathFault, PathTarget, SelectedNode, TriggerElement, XmlPath,
};
pub use scan::{Scanner, ScannerLimits, XmlToken};
pub use tree::{XmlNodeKind, XmlNodeRef, XmlTree, check_document};
