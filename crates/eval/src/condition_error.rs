//! Conditions that are text until the program runs: what can be wrong with one.
//!
//! Library functions ask for them through [`crate::Services::holds`]. Who implements the services
//! is handed a reader ([`EvaluateCondition`]) by whoever owns both the front end and the run time:
//! neither the library nor the run time knows how text becomes an expression.

/// Why a condition has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionErrorKind {
    /// The text is no expression.
    Syntax,
    /// It names what there is not: an attribute, a function, a type.
    UnknownName,
    /// It is an expression of another type than boolean.
    NotBoolean,
    /// It breaks another rule of expressions: types that do not go together, an assignment, a
    /// function with side effects.
    RuleViolation,
    /// It is right, but faults for this tuple.
    EvaluationFault,
}

/// A condition that has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// Why, in short.
    pub kind: ConditionErrorKind,
    /// What is wrong, where, and what would be right; a sentence without a full stop.
    pub message: String,
}

impl ConditionError {
    /// With its sentence.
    pub fn new(flaw: ConditionErrorKind, sentence: impl Into<String>) -> ConditionError {
        let sentence = sentence.into();
        ConditionError {
            kind: flaw,
            message: sentence,
        }
    }
}
