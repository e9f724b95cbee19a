//! Data about one invocation while it becomes an instance in the graph.
//!
//! `annotation`, `config`, `invoke` and `expand` hand these values to each other.

mod actual;
mod inherited_clauses;
mod input_feed;
mod invocation_context;
mod invocation_ports;
mod operator_site;
mod output_stream;

pub(crate) use actual::{actual_span, exprs, single};
pub(crate) use inherited_clauses::{CheckedAnnotation, InheritedClauses, LocatedConfigEntry};
pub(crate) use input_feed::InputFeed;
pub(crate) use invocation_context::InvocationContext;
pub(crate) use invocation_ports::{COMMA_HELP, count_phrase, first_merging_port, input_names};
pub(crate) use operator_site::{InPortSite, OperatorSite, OutPortSite};
pub(crate) use output_stream::OutputStream;
