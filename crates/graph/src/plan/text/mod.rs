//! A plan as text: what `dump --stage plan` prints, what people write, what a PE process reads.
//!
//! ```text
//! plan Main                               # of this program; may be left out
//! pe 0
//!   operators Trades Quotes               # by their names
//!   host near                             # where its process runs
//!   cores 0 1                             # that its threads may run on
//!   source Trades core 1                  # one thread alone
//! pe 1
//!   operators Inner.* Sink                # all operators of the composite Inner
//!   queue Inner.Filter.0 wait 1000 core 2 # a threaded port
//!   receiver Trades.0 core 3              # the thread that brings in a stream
//! pe 2
//!   operators *                           # all that no other pe names
//! crossing Trades.0 -> pe 1 2 on shm codec normal ring 65536 batch 25 50 4096
//! ```
//!
//! A line is a word and what it needs, parted by blanks or commas; `#` begins a comment.
//!
//! * `pe N`: the lines below are about this PE. They are numbered from 0.
//! * `operators NAME...`: a name with a star at its end means all operators whose names begin so.
//!   An operator that several names mean belongs to the longest one.
//! * `host NAME`: a host that whoever launches the job describes.
//! * `queue OPERATOR.PORT [wait|dropFirst|dropLast] [TUPLES] [core N]`: a queue with a thread,
//!   which waits and holds 1000 tuples unless it says otherwise.
//! * `source OPERATOR core N`, `receiver OPERATOR.PORT core N`: the core of a source's thread, or
//!   of the thread that brings in a stream. Streams that share a receiver share its core.
//! * `crossing OPERATOR.PORT -> pe N... [on MEDIUM] [codec facade|normal] [ring BYTES]
//!   [batch MIN_US MAX_US BYTES]`: how a stream gets to other PEs. Streams that are not mentioned
//!   cross as the job's defaults say, and so do those without a medium.
//!
//! The number of a port may be left out where there is only one. Regions, shared operators, edges,
//! senders and receivers follow from the rest; they are printed as comments.

mod line;
mod operator_lookup;
mod operator_patterns;
mod plan_draft;
mod print;

use std::fmt;

use super::check::PlanPart;
use super::{Plan, Program};
use plan_draft::PlanDraft;

/// What is wrong with the text of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTextError {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Plan {
    /// Reads the plan of a program. Streams that it leaves out have no crossing yet, and media may
    /// have any name.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str, program: &Program) -> Result<Plan, PlanTextError> {
        Plan::parse_with_media(text, program, &|_| Ok(()))
    }

    /// The same where media are known: `known_medium` says why there is no such medium, if so.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse_with_media(
        text: &str,
        program: &Program,
        known_medium: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Plan, PlanTextError> {
        let draft = PlanDraft::parse(text, program, known_medium)?;
        let mut plan = draft.plan();
        match plan.check_partial(program) {
            Ok(()) => {
                plan.derive(program);
                Ok(plan)
            }
            Err(fault) => Err(draft.pos_of(fault.part).error(fault.message)),
        }
    }

    /// The plan as text, with the operators' names.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        print::PlanText {
            plan: self,
            program,
        }
    }
}

impl fmt::Display for PlanTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for PlanTextError {}

/// A place in the text.
#[derive(Clone, Copy, Debug, Default)]
struct PlanTextPos {
    line: u32,
    column: u32,
}

impl PlanTextPos {
    fn error(self, message: impl Into<String>) -> PlanTextError {
        PlanTextError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}

/// Adds the name that was probably meant.
fn did_you_mean<'n>(
    message: String,
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> String {
    match syntax::nearest(name, candidates) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}
