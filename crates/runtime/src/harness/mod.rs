//! The test harness: one operator by itself, driven by hand. Its input is given by calls, its
//! output is recorded.
//!
//! All duties of the run time are done as in a PE: markers are counted and forwarded, logic clauses
//! run. There are no threads: timers fire and sources run when the caller says so.
//!
//! ```
//! # extern crate thalweg_runtime as runtime;
//! use std::sync::Arc;
//!
//! use eval::Fault;
//! use graph::{InPortModel, OperatorModel, OutPortModel, PortIndex};
//! use runtime::abi::interpreter_backend::InterpreterBackend;
//! use runtime::harness::HarnessOutput;
//! use runtime::{BuildContext, Operator, OperatorEntry, Outlet, PeOptions, TestHarness};
//! use tuple::{Layout, TupleBuf, TupleRef, TupleType, Type};
//!
//! struct Twice;
//!
//! impl Operator for Twice {
//!     fn process(
//!         &mut self,
//!         _port: PortIndex,
//!         tuple: TupleRef<'_>,
//!         out: &mut dyn Outlet,
//!     ) -> Result<(), Fault> {
//!         out.submit(PortIndex(0), tuple)?;
//!         out.submit(PortIndex(0), tuple)
//!     }
//! }
//!
//! fn build(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
//!     Ok(Box::new(Twice))
//! }
//!
//! static MODEL: OperatorModel = OperatorModel {
//!     namespace: "my.operators",
//!     name: "Twice",
//!     doc: "Submits each tuple twice.",
//!     inputs: &[InPortModel::ANY],
//!     outputs: &[OutPortModel::ANY],
//!     ..OperatorModel::DEFAULT
//! };
//!
//! let schema = Arc::new(TupleType::new([("n".to_owned(), Type::Int64)]));
//! let operator = testkit::OperatorBuilder::new("my.operators::Twice", "Twice")
//!     .input("In", [("n", Type::Int64)])
//!     .output("Out", [("n", Type::Int64)])
//!     .build();
//! let mut backend = InterpreterBackend::new(&[], &[]);
//! let entry = OperatorEntry::built(&MODEL, build);
//! let options = PeOptions::default();
//! let mut twice = TestHarness::new(&operator, entry, &mut backend, options).unwrap();
//!
//! let mut tuple = TupleBuf::default();
//! tuple.begin(&Layout::new(&schema));
//! twice.process(PortIndex(0), tuple.as_ref()).unwrap();
//! let outputs = twice.take_outputs();
//! let is_tuple = |output: &HarnessOutput| matches!(output, HarnessOutput::Tuple(PortIndex(0), _));
//! assert!(outputs.len() == 2 && outputs.iter().all(is_tuple));
//! twice.close().unwrap();
//! ```

mod output_recorder;
mod test_harness;

pub use output_recorder::HarnessOutput;
pub use test_harness::TestHarness;
