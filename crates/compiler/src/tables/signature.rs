//! Signature of a function: its formals, its result, and its origin.

use std::fmt;
use std::sync::Arc;

use graph::NativeId;
use syntax::Span;

use super::type_constraint::TypeConstraint;
use super::type_pattern::TypePattern;

/// Something that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub name: Arc<str>,
    /// Type formals: names and constraints.
    pub type_names: Vec<Arc<str>>,
    pub constraints: Vec<TypeConstraint>,
    pub formals: Vec<SignatureFormal>,
    pub result: TypePattern,
    pub stateful: bool,
    pub owner: FunctionOwner,
    /// Where it is defined; `None` for the library.
    pub span: Option<Span>,
}

/// Formal parameter of a function.
#[derive(Clone, Debug)]
pub(crate) struct SignatureFormal {
    pub name: Arc<str>,
    pub ty: TypePattern,
    pub mutable: bool,
}

/// Number of a user function in the function table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UserFunctionId(pub u32);

/// Origin of a function: program, library, operator model or compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionOwner {
    User(UserFunctionId),
    Native(NativeId),
    /// An output function of the operator's model.
    Output {
        /// Whether its arguments are evaluated each at a time of its own.
        is_stepwise: bool,
    },
    /// Known to the compiler alone.
    Intrinsic,
}

impl Signature {
    /// Whether bounded types are taken for unbounded ones, as the library does.
    pub fn is_lenient(&self) -> bool {
        !matches!(self.owner, FunctionOwner::User(_))
    }

    /// Whether its arguments are evaluated each at a time of its own, in the order in which they
    /// stand, so that one may change what another reads.
    pub fn is_stepwise(&self) -> bool {
        self.owner == FunctionOwner::Output { is_stepwise: true }
    }
}

/// As SPL writes a prototype.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.type_names.is_empty() {
            f.write_str("<")?;
            for (at, (name, constraint)) in
                self.type_names.iter().zip(&self.constraints).enumerate()
            {
                let comma = if at > 0 { ", " } else { "" };
                let word = format!("{constraint:?}").to_lowercase();
                write!(f, "{comma}{word} {name}")?;
            }
            f.write_str("> ")?;
        }
        write!(
            f,
            "{} {}(",
            self.result.display(&self.type_names),
            self.name
        )?;
        for (at, formal) in self.formals.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let mutable = if formal.mutable { "mutable " } else { "" };
            let ty = formal.ty.display(&self.type_names);
            write!(f, "{comma}{mutable}{ty} {}", formal.name)?;
        }
        f.write_str(")")
    }
}
