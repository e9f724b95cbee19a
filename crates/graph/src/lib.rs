//! A typed SPL program as plain data: expressions, statements, operators, streams, and their
//! models.
//!
//! Floor 1. The compiler produces these values, the reference interpreter ([`interp`]) evaluates
//! them and so defines what they mean, the JIT translates them, the run time wires them. Everything
//! here is resolved and typed: no name is looked up, no type is inferred, no overload is chosen
//! after this room.

#[cfg(feature = "testing")]
pub mod arbitrary;
mod condition_error;
mod constructors;
pub mod drawing;
mod evaluation;
mod event_time;
mod expr;
mod fault;
pub mod interp;
mod native;
mod nearest;
mod operator_model;
pub mod ops;
mod plan;
pub mod print;
mod program;
mod services;
mod state;
mod stmt;
mod unsupported;
mod visit;
pub mod xml;

pub use condition_error::{ConditionError, ConditionErrorKind, EvaluateCondition};
pub use evaluation::{Evaluation, InputTuples, Submit};
pub use event_time::{OperatorEventTime, Pane, PaneTiming};
pub use expr::{
    Arg, BinaryOp, Callee, Expr, ExprKind, FunctionId, LocalId, MappedForm, NativeId, Place,
    PlaceRoot, PlaceStep, Pos, StateId, UnaryOp,
};
pub use fault::{Fault, FaultKind};
pub use interp::Interpreter;
pub use native::{CheckArguments, NativeCall, NativeFn, WrongArgument};
pub use nearest::nearest;
pub use operator_model::{
    AssignmentMode, Cardinality, InPortModel, InvocationError, InvocationPart, NoMarkersReason,
    OperatorModel, OperatorRole, OutPortModel, ParamMode, ParamModel, PolicyKind,
    PunctuationInputMode, PunctuationOutputMode, VerifyInvocation, WindowForm, WindowingMode,
};
pub use plan::{
    AUTO_MEDIUM, CongestionPolicy, Crossing, CrossingCodec, DisjointSets, EdgeMedium, InPortId,
    Merge, MergeInput, OriginId, PeAssignment, PePlan, Pin, PinnedThread, Plan, PlanEdge,
    PlanFault, PlanOrder, PlanPart, PlanTextError, ReceiverPlan, Region, StreamConsumers,
    ThreadedPort, inserted_operators,
};
pub use program::{
    Annotation, ConfigEntry, EventClock, InPort, Logic, OperatorId, OperatorNode, OutPort,
    OutPortId, OutputCall, Param, ParamValue, Partition, PartitionEviction, Policy, Program,
    StateVar, TimeInterval, Window, WindowKind,
};
pub use services::{NoServices, Services, TraceLevel};
pub use state::State;
pub use stmt::{Body, Function, LocalVar, Stmt};
pub use unsupported::Unsupported;
