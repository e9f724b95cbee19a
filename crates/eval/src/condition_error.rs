//! Errors of conditions that are text until the program runs.
//!
//! Library functions evaluate such conditions through [`crate::Services::evaluate_condition`]. The
//! implementation of the services is handed an [`crate::EvaluateCondition`] by the crate that owns
//! both the front end and the run time: neither the library nor the run time knows how text becomes
//! an expression.

/// Why a condition has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionErrorKind {
    /// The text is no expression.
    Syntax,
    /// The text names an attribute, a function or a type that does not exist.
    UnknownName,
    /// The text is an expression of another type than boolean.
    NotBoolean,
    /// The text breaks another rule of expressions: types that do not go together, an assignment, a
    /// function with side effects.
    RuleViolation,
    /// The condition is right, but faults for this tuple.
    EvaluationFault,
}

/// A condition that has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// Kind of the error, for programs.
    pub kind: ConditionErrorKind,
    /// Sentence without a full stop: the error, its place, and a remedy.
    pub message: String,
}

impl ConditionError {
    /// An error of a kind, described by a sentence.
    pub fn new(flaw: ConditionErrorKind, sentence: impl Into<String>) -> ConditionError {
        let sentence = sentence.into();
        ConditionError {
            kind: flaw,
            message: sentence,
        }
    }
}
