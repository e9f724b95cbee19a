//! Tests of operators and programs without a compiler: builders, and a harness that drives one
//! operator by hand.
//!
//! ```
//! use thalweg_testkit::{Harness, Invoke, x};
//! use tuple::Type;
//! # use runtime::{Logic, Make, OperatorEntry};
//! # static MODEL: graph::OperatorModel =
//! #     graph::OperatorModel { namespace: "t", name: "Nop", ..graph::OperatorModel::DEFAULT };
//! # fn lower(o: &graph::Operator) -> Result<Logic, graph::Fault> {
//! #     Ok(Logic { on_tuple: vec![Default::default(); o.inputs.len()],
//! #                on_punct: vec![None; o.inputs.len()], ..Logic::default() })
//! # }
//! # const ENTRY: OperatorEntry = OperatorEntry { model: &MODEL, make: Make::Lower(lower) };
//! let operator = Invoke::new("t::Nop", "N")
//!     .input("In", [("a", Type::Int64)])
//!     .output("Out", [("a", Type::Int64)])
//!     .param("filter", [x::lt(x::attribute(0, 0, Type::Int64), x::int64(3))]);
//! let mut harness = Harness::new(&operator, ENTRY);
//! harness.text(0, "{a=1}");
//! harness.ends(0);
//! assert_eq!(harness.sent(), ["0 final"]);
//! ```

mod harness;
mod invoke;
mod program;
pub mod x;

pub use harness::Harness;
pub use invoke::Invoke;
pub use program::{Shared, program, run, sinks};
