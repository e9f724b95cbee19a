//! Tests of operators and programs without a compiler: builders, and a harness that drives one
//! operator by hand.
//!
//! ```
//! use graph::PortIndex;
//! use thalweg_testkit::{OperatorBuilder, TextHarness, exprs};
//! use tuple::Type;
//! # use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
//! # static MODEL: graph::OperatorModel =
//! #     graph::OperatorModel { namespace: "t", name: "Nop", ..graph::OperatorModel::DEFAULT };
//! # fn lower(o: &graph::OperatorNode) -> Result<LoweredLogic, eval::Fault> {
//! #     Ok(LoweredLogic { on_tuple: vec![Default::default(); o.inputs.len()],
//! #                on_punct: vec![None; o.inputs.len()], ..LoweredLogic::default() })
//! # }
//! # const ENTRY: OperatorEntry =
//! #     OperatorEntry { model: &MODEL, constructor: OperatorConstructor::Lower(lower) };
//! let attribute = exprs::attribute(PortIndex(0), 0, Type::Int64);
//! let operator = OperatorBuilder::new("t::Nop", "N")
//!     .input("In", [("a", Type::Int64)])
//!     .output("Out", [("a", Type::Int64)])
//!     .param("filter", [exprs::lt(attribute, exprs::int64(3))]);
//! let mut harness = TextHarness::new(&operator, ENTRY);
//! harness.process_text(PortIndex(0), "{a=1}");
//! harness.final_marker(PortIndex(0));
//! assert_eq!(harness.take_submitted(), ["0 final"]);
//! ```

pub mod arbitrary;
pub mod exprs;
mod operator_builder;
mod program;
mod submission_recorder;
mod text_harness;
mod time_attribute;
mod window_key;

pub use operator_builder::OperatorBuilder;
pub use program::{SharedOutput, build_program, planned, run_program, stop_at_deadline};
pub use program::{test_operators, with_threads_and_timers};
pub use submission_recorder::SubmissionRecorder;
pub use text_harness::TextHarness;
pub use time_attribute::{TimeAttribute, input_clock};
pub use window_key::{WindowKey, WindowResult};

/// Number of random windows in a property test: that of the variable `THALWEG_WINDOWS`, or 200.
///
/// # Panics
/// The variable is no number.
pub fn window_case_count() -> u32 {
    let asked = std::env::var("THALWEG_WINDOWS").ok();
    asked.map_or(200, |count| count.parse().expect("a number of windows"))
}
