//! A typed SPL program as plain data: expressions, statements, operators, streams, their models,
//! and the plan of a program.
//!
//! The compiler produces these values, `eval` interprets them and so defines what they mean, the
//! JIT translates them, the run time wires them. Everything here is resolved and typed: after this
//! crate no name is looked up, no type is inferred, no overload is chosen.

mod constructors;
mod event_time_units;
mod expr;
mod history_depths;
mod operator_model;
mod plan;
mod port_index;
pub mod print;
mod program;
mod state_table;
mod stmt;
mod unsupported;
mod visit;

pub use event_time_units::{EventTimeUnits, NumberedPanes};
pub use expr::{
    Arg, BinaryOp, Callee, Clock, Expr, ExprKind, FunctionId, LocalId, MappedForm, NativeId, Place,
    PlaceRoot, PlaceStep, Pos, StateId, TableId, UnaryOp,
};
pub use history_depths::HistoryDepths;
pub use operator_model::{
    AssignmentMode, Cardinality, InPortModel, InvocationError, InvocationPart, NoMarkersReason,
    OperatorModel, OperatorRole, OutPortModel, ParamMode, ParamModel, PolicyKind,
    PunctuationInputMode, PunctuationOutputMode, TuplePort, VerifyInvocation, WindowForm,
    WindowingMode,
};
pub use plan::{
    AUTO_MEDIUM, CongestionPolicy, Crossing, CrossingCodec, CrossingId, CrossingRails, EdgeMedium,
    InPortId, Merge, MergeInput, OriginId, PeAssignment, PeId, PePlan, PeThreadId, PeThreads, Pin,
    PinnedThread, Plan, PlanComment, PlanDraft, PlanEdge, PlanPart, PlanTextError, PlannedThread,
    ReceiverPlan, ThreadPool, ThreadStartPoint, ThreadedPort, inserted_operators,
};
pub use port_index::PortIndex;
pub use program::{
    Annotation, CaughtFaults, ConfigEntry, EventClock, InPort, Logic, OperatorId, OperatorNode,
    OperatorTimers, OutPort, OutPortId, OutputCall, Param, ParamValue, Partition,
    PartitionEviction, Policy, Program, SessionGap, StateVar, TimeInterval, Window, WindowKind,
};
pub use state_table::{SortKey, StateTable};
pub use stmt::{Body, Function, LocalVar, Stmt};
pub use unsupported::Unsupported;
