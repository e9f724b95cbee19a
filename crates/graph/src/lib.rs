//! A typed SPL program as plain data: expressions, statements, operators, streams, and their models.
//!
//! Floor 1. The compiler produces these values, the reference interpreter ([`interp`]) evaluates
//! them and so defines what they mean, the JIT translates them, the run time wires them. Everything
//! here is resolved and typed: no name is looked up, no type is inferred, no overload is chosen after
//! this room.

#[cfg(feature = "testing")]
pub mod arbitrary;
mod build;
mod condition;
pub mod drawing;
mod eval;
mod events;
mod expr;
mod fault;
pub mod interp;
mod logical;
mod model;
mod native;
mod nearest;
pub mod ops;
mod plan;
pub mod print;
mod services;
mod state;
mod stmt;
mod unsupported;
mod visit;
pub mod xml;

pub use condition::{BadCondition, Flaw, Reader};
pub use eval::{Evaluation, Inputs, Submit};
pub use events::{Events, Pane, PaneTiming};
pub use expr::{
    Arg, BinaryOp, Callee, Expr, ExprKind, FunctionId, LocalId, MappedForm, NativeId, Place, Pos,
    Root, StateId, Step, UnaryOp,
};
pub use fault::{Fault, FaultKind};
pub use interp::Interpreter;
pub use logical::{
    Annotation, ConfigEntry, Edge, EventClock, InPort, Interval, Logic, Operator, OperatorId,
    OutPort, OutputCall, Param, ParamValue, Partition, PartitionEviction, Policy, Program,
    StateVar, Window, WindowKind,
};
pub use model::{
    Assignment, Cardinality, InPortModel, Misuse, NoMarkers, OperatorModel, OutPortModel,
    ParamMode, ParamModel, Part, PolicyKind, PunctuationIn, PunctuationOut, Role, Verify,
    WindowForm, Windowing,
};
pub use native::{Call, CheckArguments, NativeFn, WrongArgument};
pub use nearest::nearest;
pub use plan::{
    AUTO, Codec, Congestion, Consumer, Crossing, DisjointSets, Flow, Homes, Medium, Merge,
    MergeInput, Order, Origin, Pe, Pin, PinnedThread, Plan, PlanFault, PlanTextError, Receiver,
    Region, Route, Subject, ThreadedPort, inserted,
};
pub use services::{NoServices, Services, TraceLevel};
pub use state::State;
pub use stmt::{Body, Function, LocalVar, Stmt};
pub use unsupported::Unsupported;
