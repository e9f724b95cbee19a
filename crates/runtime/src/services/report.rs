//! How a PE ended: what failed where, and what every operator has done.

use std::fmt;
use std::sync::Arc;

use eval::Fault;

use crate::counters::punctuation_counters::PunctuationCounts;

/// What went wrong in one operator.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The operator instance.
    pub operator: Arc<str>,
    /// What sort of operator: `spl.relational::Functor`.
    pub kind: Arc<str>,
    /// What happened, and where in the program.
    pub fault: Fault,
    /// It is a mistake in the engine and not in the program or its surroundings.
    pub is_bug: bool,
}

/// Why a PE did not end well: at least one failure, the first one first.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// What went wrong.
    pub failures: Vec<Failure>,
    /// Standard output was closed by its reader: no reason to say anything.
    pub is_stdout_closed: bool,
}

/// What an operator has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCounts {
    /// The operator instance.
    pub operator: Arc<str>,
    /// Tuples that came in, by input port.
    pub processed: Vec<u64>,
    /// Tuples that went out, by output port.
    pub submitted: Vec<u64>,
    /// Markers that came in, by input port.
    pub punctuation_in: Vec<PunctuationCounts>,
    /// Markers that went out, by output port.
    pub punctuation_out: Vec<PunctuationCounts>,
    /// Custom metrics, in order of creation.
    pub metrics: Vec<(String, i64)>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            operator,
            kind,
            fault,
            is_bug,
        } = self;
        let bug = if *is_bug { "internal error: " } else { "" };
        write!(f, "{operator} ({kind}): {bug}{fault}")
    }
}

impl fmt::Display for FailureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, failure) in self.failures.iter().enumerate() {
            let line = if at > 0 { "\n" } else { "" };
            write!(f, "{line}{failure}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FailureReport {}

impl Failure {
    /// A fault of no operator.
    pub(crate) fn for_program(what: &str, fault: Fault, is_bug: bool) -> Failure {
        Failure {
            operator: "(program)".into(),
            kind: what.into(),
            fault,
            is_bug,
        }
    }

    /// A fault of an operator, at its head if it has no better place.
    pub(crate) fn for_operator(operator: &graph::OperatorNode, fault: Fault) -> Failure {
        Failure {
            operator: operator.name.clone(),
            kind: operator.kind.clone(),
            fault: fault.with_pos(operator.pos),
            is_bug: false,
        }
    }
}
