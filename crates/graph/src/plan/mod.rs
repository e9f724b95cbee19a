//! The physical plan: which process, which thread and which medium each part of a program gets.
//!
//! A plan refers to a [`Program`](crate::Program) by operator number and holds nothing of it, so
//! one program can have many plans. This module holds the plan as data, and prints and reads its
//! text; the `planner` crate chooses plans, derives what follows from the choices, and checks them.
//!
//! ```text
//!   PE 0: operators 0 1 3                           PE 1: operators 4 5
//!     3 has a threaded port                           a receiver brings in the stream of 1
//!                        1 -> 4 crosses: medium shm
//! ```
//!
//! # Invariants
//! Every operator is in exactly one PE. An edge between two PEs belongs to exactly one crossing; an
//! edge within a PE to none. The operators of a loop are in one PE. `planner::check` tests all of
//! this; `planner::derive` works out receivers, merges and edges from the other fields.
//!
//! The threads of a PE are not part of its plan: they follow from the PE's own program, which has
//! the inserted operators too, and are a value of their own ([`PeThreads`]).

mod crossing;
mod in_port_id;
mod inserted_names;
pub mod inserted_operators;
mod merge;
mod pe_assignment;
mod pe_plan;
mod pe_threads;
mod pin;
mod plan_comment;
mod plan_ids;
mod plan_part;
mod receiver;
mod text;
mod thread_pool;
mod threaded_port;

pub use crossing::{AUTO_MEDIUM, Crossing, CrossingCodec, CrossingRails};
pub use in_port_id::InPortId;
pub use merge::{Merge, MergeInput};
pub use pe_assignment::PeAssignment;
pub use pe_plan::{EdgeMedium, PePlan, Plan, PlanEdge};
pub use pe_threads::{PeThreads, PlannedThread, ThreadStartPoint};
pub use pin::{Pin, PinnedThread};
pub use plan_comment::PlanComment;
pub use plan_ids::{CrossingId, OriginId, PeId, PeThreadId};
pub use plan_part::PlanPart;
pub use receiver::ReceiverPlan;
pub use text::{PlanDraft, PlanTextError};
pub use thread_pool::ThreadPool;
pub use threaded_port::{CongestionPolicy, ThreadedPort};
