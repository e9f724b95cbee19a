//! The contract of the operators that a plan inserts and that take part in what crosses threads and
//! processes: Send, Receive, Queue and OrderedCall ([`crate::crossing`]).
//!
//! ```text
//!   authors' operators     Operator          Source          Outlet
//!   inserted operators     InsertedOperator  InsertedSource  InsertedOutlet: Outlet
//!   compiled code                                            CodeOutlet: Outlet
//! ```
//! An inserted operator is called like others ([`crate::contract::operator`] has the rules). Its
//! outlet also has the order of the thread that calls, and takes batches of frames. It may offer
//! room for frames, and is asked to tell how far its thread has come. The traits are private to the
//! crate, so no author implements them by accident. Operators for watermarks are inserted too, but
//! need none of it, and keep the contract of authors.

pub(crate) mod inserted_operator;
pub(crate) mod inserted_outlet;
pub(crate) mod inserted_requests;
