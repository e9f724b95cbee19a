//! Library functions as data: prototype, documentation, implementation.

use graph::{Pos, Unsupported};
use tuple::{Type, Value};

use crate::{Fault, Services};

/// One prototype of a library function. The toolkit declares a static list of these; the compiler
/// parses the prototypes for overload resolution, the interpreter and compiled code call `eval`.
#[derive(Clone, Copy, Debug)]
pub struct NativeFn {
    /// Namespace in SPL, such as `spl.math`.
    pub namespace: &'static str,
    /// Prototype as SPL writes it: `<numeric T> T sqrt(T f)`. Where the library also has bounded
    /// forms, the unbounded prototype stands for them: a bounded list matches `list<T>`.
    pub prototype: &'static str,
    /// One or two sentences: what it gives, units, errors.
    pub doc: &'static str,
    /// Function that computes the result from the arguments.
    pub eval: fn(&mut NativeCall<'_>) -> Result<Value, Fault>,
    /// Whether the result is the numbers of a [range](crate::ops::IntegerRange), as a list. A loop
    /// over a call takes the numbers one after the other and makes no list.
    pub is_range: bool,
    /// Whether a call lets its thread sleep, or reads what is counted of the operator: the tuples
    /// up to this one are counted before it.
    pub needs_counts: bool,
    /// Whether it asks for the pane that fires: a call where none fires fails.
    pub needs_pane: bool,
    /// Whether its first argument is the number of a port of the operator, and on which side.
    pub port: Option<PortSide>,
    /// Why it cannot be called: it is known by name only.
    pub unsupported: Option<Unsupported>,
    /// Finds constant arguments with which every call would fail.
    pub check: Option<CheckArguments>,
}

/// Ports of an operator that a function knows by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortSide {
    /// Ports that tuples come in by.
    Input,
    /// Ports that tuples leave by.
    Output,
}

/// Looks at the arguments of a call: the value of each that is known when compiling.
///
/// # Errors
/// The first argument with which the call must fail.
pub type CheckArguments = fn(&[Option<Value>]) -> Result<(), WrongArgument>;

/// An argument with which a call must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongArgument {
    /// Which one, counted from 0.
    pub argument: usize,
    /// Why: a sentence without a full stop.
    pub message: String,
    /// Remedy for the user; may be empty.
    pub help: &'static str,
}

impl NativeFn {
    /// Adds a check of constant arguments to the function.
    #[must_use]
    pub const fn with_check(mut self, check: CheckArguments) -> NativeFn {
        self.check = Some(check);
        self
    }

    /// Says that a call needs the tuples so far counted.
    #[must_use]
    pub const fn with_counts(mut self) -> NativeFn {
        self.needs_counts = true;
        self
    }

    /// Says that the first argument is the number of a port.
    #[must_use]
    pub const fn with_port(mut self, side: PortSide) -> NativeFn {
        self.port = Some(side);
        self
    }

    /// Says that a call needs a pane that fires.
    #[must_use]
    pub const fn with_pane(mut self) -> NativeFn {
        self.needs_pane = true;
        self
    }
}

/// One call of a library function. A void function returns any value; it is ignored. The caller
/// cuts the result and the argument of a `mutable` formal to the bound of their types afterwards
/// ([`crate::ops::truncate_to_bound`]).
pub struct NativeCall<'a> {
    /// The arguments. The one of a `mutable` formal is changed in place; the others must not be.
    pub args: &'a mut [&'a mut Value],
    /// The static types of the arguments.
    pub types: &'a [Type],
    /// The static type of the result.
    pub result: &'a Type,
    /// Services of the PE that the function may use.
    pub services: &'a mut dyn Services,
    /// Position of the call in the program's text.
    pub pos: Pos,
}
