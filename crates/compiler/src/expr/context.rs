//! Typing context: the inputs, state, functions and statements that a place of the program may use.

use std::rc::Rc;

use graph::PortIndex;
use tuple::Type;

use crate::tables::OutputFunctions;

/// Rights of an expression at the place where it stands, given by the caller of [`super::Typer`].
#[derive(Clone, Debug, Default)]
pub struct TypingContext {
    /// Which input tuples it may read.
    pub inputs: ReadableInputs,
    /// Whether `In[n]` may look back.
    pub history: bool,
    /// Whether state variables may be read.
    pub state: bool,
    /// Output functions of the operator's model, if it stands in an `output` clause.
    pub output_functions: Option<Rc<OutputFunctions>>,
    /// Whether `submit` may be called (logic of an operator that submits).
    pub submits: bool,
    /// Whether `currentPunct()` may be called (`onPunct`).
    pub punctuation: bool,
    /// Whether the value has to be known when compiling.
    pub constant: bool,
    /// Form of `return` statement that is allowed.
    pub returns: AllowedReturn,
    /// Whether stateful functions may be called.
    pub stateful: StatefulCalls,
    /// Whether functions that ask for the pane that fires may be called: in an output clause behind
    /// a window over event time, and in functions, whose callers are not known.
    pub panes: bool,
    /// Whether numbers without a suffix are of the type of what they stand beside, and numbers of
    /// different types may stand side by side.
    pub open_numbers: bool,
}

/// Which input tuples an expression may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadableInputs {
    /// None; the text says what stands here: "a parameter that is evaluated once".
    #[default]
    None,
    /// None, and this is why: the words complete "attributes cannot be used in ...".
    Refused(&'static str),
    /// Tuples of the input port with this number.
    Port(PortIndex),
    /// Tuples of all input ports.
    All,
}

/// Form of `return` statement that a body may contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AllowedReturn {
    /// No `return` is allowed.
    #[default]
    Nowhere,
    /// `return;` (an on-clause, a void function).
    WithoutValue,
    /// `return e;`. `None`: the type is broken, which was reported.
    Value(Option<Type>),
}

/// Whether stateful functions may be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatefulCalls {
    /// Stateful functions may be called.
    #[default]
    Allowed,
    /// Not in a function that is not declared `stateful`.
    NotDeclared,
    /// Not in a condition that is text until the program runs.
    InCondition,
}

impl TypingContext {
    /// A compile-time constant: no attributes, no variables.
    pub fn constant() -> TypingContext {
        TypingContext {
            constant: true,
            ..TypingContext::default()
        }
    }

    /// An expression that is evaluated once, at start-up: no attributes.
    pub fn attribute_free() -> TypingContext {
        TypingContext {
            state: false,
            ..TypingContext::default()
        }
    }

    /// An expression over input tuples and state, with tuple history: `param` of mode expression.
    pub fn expression() -> TypingContext {
        TypingContext {
            inputs: ReadableInputs::All,
            history: true,
            state: true,
            ..TypingContext::default()
        }
    }

    /// The right side of an output assignment.
    pub fn output(functions: Option<Rc<OutputFunctions>>) -> TypingContext {
        TypingContext {
            output_functions: functions,
            ..TypingContext::expression()
        }
    }

    /// A logic clause: `submits` as the operator's model says, `punctuation` in `onPunct`.
    pub fn logic(submits: bool, punctuation: bool) -> TypingContext {
        TypingContext {
            inputs: ReadableInputs::All,
            state: true,
            submits,
            punctuation,
            returns: AllowedReturn::WithoutValue,
            ..TypingContext::default()
        }
    }
}
