//! Reports of a PE's end: what failed where, and counts of every operator.

use std::fmt;
use std::sync::Arc;

use eval::Fault;

use crate::counters::punctuation_counters::PunctuationCounts;

/// A failure of one operator.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Name of the operator instance.
    pub operator: Arc<str>,
    /// Kind of the operator: `spl.relational::Functor`.
    pub kind: Arc<str>,
    /// The fault, with its position in the program.
    pub fault: Fault,
    /// Whether the failure is a mistake in the engine, not in the program or its surroundings.
    pub is_bug: bool,
}

/// Why a PE failed: at least one failure, the first one first.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// Failures in the order in which they happened.
    pub failures: Vec<Failure>,
    /// Whether the reader of standard output has closed it: then nothing is reported.
    pub is_stdout_closed: bool,
}

/// Counts of an operator: tuples, markers and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCounts {
    /// Name of the operator instance.
    pub operator: Arc<str>,
    /// By input port: tuples that came in.
    pub processed: Vec<u64>,
    /// By output port: tuples that were submitted.
    pub submitted: Vec<u64>,
    /// By input port: markers that came in.
    pub punctuation_in: Vec<PunctuationCounts>,
    /// By output port: markers that were submitted.
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
    /// A failure of no operator.
    pub(crate) fn for_program(what: &str, fault: Fault, is_bug: bool) -> Failure {
        Failure {
            operator: "(program)".into(),
            kind: what.into(),
            fault,
            is_bug,
        }
    }

    /// A failure of an operator, at the operator's head if the fault has no position.
    pub(crate) fn for_operator(operator: &graph::OperatorNode, fault: Fault) -> Failure {
        Failure {
            operator: operator.name.clone(),
            kind: operator.kind.clone(),
            fault: fault.with_pos(operator.pos),
            is_bug: false,
        }
    }
}
