//! Library functions as data: prototype, documentation, implementation.

use tuple::{Type, Value};

use crate::{Fault, Services};
use graph::{Pos, Unsupported};

/// One prototype of a library function. The toolkit declares a static list of these; the compiler
/// parses the prototypes for overload resolution, the interpreter and compiled code call `eval`.
#[derive(Clone, Copy, Debug)]
pub struct NativeFn {
    /// `spl.math`
    pub namespace: &'static str,
    /// As SPL writes it: `<numeric T> T sqrt(T f)`. Where the library also has bounded forms, the
    /// unbounded prototype stands for them: a bounded list matches `list<T>`.
    pub prototype: &'static str,
    /// One or two sentences: what it gives, units, errors.
    pub doc: &'static str,
    /// The implementation.
    pub eval: fn(&mut NativeCall<'_>) -> Result<Value, Fault>,
    /// It gives the numbers of a [`Range`](crate::ops::Range), as a list: a loop over a call takes
    /// them one after the other and makes no list.
    pub is_range: bool,
    /// Why it cannot be called: it is known by name only.
    pub unsupported: Option<Unsupported>,
    /// Finds constant arguments with which every call would fail.
    pub check: Option<CheckArguments>,
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
    /// What would be right; may be empty.
    pub help: &'static str,
}

impl NativeFn {
    /// The same function with a check of its constant arguments.
    #[must_use]
    pub const fn with_check(mut self, check: CheckArguments) -> NativeFn {
        self.check = Some(check);
        self
    }
}

/// One call of a library function. A void function returns any value; it is ignored. The caller
/// cuts the result and the argument of a `mutable` formal to the bound of their types afterwards
/// ([`crate::ops::fit`]).
pub struct NativeCall<'a> {
    /// The arguments. The one of a `mutable` formal is changed in place; the others must not be.
    pub args: &'a mut [&'a mut Value],
    /// The static types of the arguments.
    pub types: &'a [Type],
    /// The static type of the result.
    pub result: &'a Type,
    /// What a function may ask of its surroundings.
    pub services: &'a mut dyn Services,
    /// Where the call stands.
    pub pos: Pos,
}
