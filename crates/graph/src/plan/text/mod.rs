//! The text of a plan, which `dump --stage plan` prints, people write, and each PE's process reads.
//!
//! ```text
//! plan Main                               # the program's name; may be left out
//! pe 0
//!   operators Trades Quotes               # names of operators
//!   host near                             # the host of its process
//!   cores 0 1                             # the cores of its threads
//!   source Trades core 1                  # a core for one thread
//! pe 1
//!   operators Inner.* Sink                # all operators of the composite Inner
//!   queue Inner.Filter.0 wait 1000 core 2 # a threaded port
//!   receiver Trades.0 core 3              # the thread that brings in a stream
//! pe 2
//!   operators *                           # all operators that no other pe names
//! crossing Trades.0 -> pe 1 2 on shm codec normal ring 65536 batch 25 50 4096
//! ```
//!
//! A line is a word and its arguments, separated by blanks or commas; `#` begins a comment.
//!
//! * `pe N`: the lines below are about this PE. PEs are numbered from 0, in order.
//! * `operators NAME...`: a name with a star at its end means all operators whose names begin with
//!   the part before the star. An operator that several names mean belongs to the longest one.
//! * `host NAME`: a host that the launcher's user describes.
//! * `queue OPERATOR.PORT [wait|dropFirst|dropLast] [TUPLES] [core N]`: a queue with a thread. By
//!   default the submitting thread waits when the queue is full, and the queue holds 1000 tuples.
//! * `source OPERATOR core N`, `receiver OPERATOR.PORT core N`: the core of a source's thread, or
//!   of the thread that brings in a stream. Streams that share a receiver share its core.
//! * `crossing OPERATOR.PORT -> pe N... [on MEDIUM [KEY=VALUE...]] [codec facade|normal]
//!   [ring BYTES] [batch MIN_US MAX_US BYTES] [rails ADDRESS ADDRESS...|mptcp]`: the way of a
//!   stream to other PEs. Streams without a crossing, and crossings without a medium, follow the
//!   job's defaults.
//!
//! The number of a port may be left out where there is only one. Edges, senders, receivers and
//! merges follow from the lines; they are printed as comments.

mod line;
mod operator_lookup;
mod operator_patterns;
mod pe_draft;
mod plan_draft;
mod plan_text_error;
mod print;

use std::fmt;

pub use plan_draft::PlanDraft;
pub use plan_text_error::PlanTextError;

use super::Plan;
use crate::Program;

impl Plan {
    /// The plan as text, with the names of the program's operators. Edges, receivers and
    /// merges, which follow from the plan's choices, are comments; `planner::derive` fills them in.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        print::PlanText {
            plan: self,
            program,
        }
    }
}
