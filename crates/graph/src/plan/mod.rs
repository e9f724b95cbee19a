//! The physical plan: which process, which thread and which medium each part of a program gets.
//!
//! A plan refers to a [`Program`](crate::Program) by operator number and holds nothing of it, so
//! one program can have many plans. This module holds the plan as data, and prints and reads its
//! text; the `planner` crate chooses plans, derives what follows from the choices, and checks them.
//!
//! ```text
//!   PE 0                                            PE 1
//!     region 0: begins at the source 0, runs 0 1      region 0: begins at a receiver, runs 4 5
//!     region 1: begins at a threaded port, runs 3
//!                        1 -> 4 crosses: medium shm
//! ```
//!
//! # Invariants
//! Every operator is in exactly one PE. A region's first operator is where it begins. An operator
//! that no source reaches (only its own loop feeds it) is in no region. An edge between two PEs
//! belongs to exactly one crossing; an edge within a PE to none. The operators of a loop are in one
//! PE. `planner::check` tests all of this; `planner::derive` works out receivers, merges, regions,
//! shared operators and edges from the other fields.

mod crossing;
mod in_port_id;
mod inserted_names;
pub mod inserted_operators;
mod merge;
mod pe_assignment;
mod pe_plan;
mod pe_threads;
mod pin;
mod plan_part;
mod receiver;
mod text;
mod threaded_port;

pub use crossing::{AUTO_MEDIUM, Crossing, CrossingCodec};
pub use in_port_id::InPortId;
pub use merge::{Merge, MergeInput, OriginId};
pub use pe_assignment::PeAssignment;
pub use pe_plan::{EdgeMedium, PePlan, Plan, PlanEdge, Region};
pub use pe_threads::{PeThreads, PlannedThread, ThreadStartPoint};
pub use pin::{Pin, PinnedThread};
pub use plan_part::PlanPart;
pub use receiver::ReceiverPlan;
pub use text::{PlanDraft, PlanTextError};
pub use threaded_port::{CongestionPolicy, ThreadedPort};
