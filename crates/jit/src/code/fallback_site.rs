//! A place in the program where compiled code leaves the work to a function on [`tuple::Value`]s:
//! what is to be done, and how its operands are passed.

use eval::NativeFn;
use graph::{BinaryOp, MappedForm, Pos, UnaryOp};
use tuple::Type;

/// An operation that compiled code leaves to a function on values, with its operands' types.
#[derive(Debug)]
pub struct FallbackSite {
    /// Number of the site in its pool, by which [`super::scratch`] keeps its operands.
    pub id: u32,
    /// The operation or library function.
    pub op: FallbackOp,
    /// Way in which each operand is passed.
    pub operands: Vec<OperandPassing>,
    /// The types of the operands.
    pub types: Vec<Type>,
    /// The type of the result.
    pub result: Type,
    /// Position of the expression, for faults.
    pub pos: Pos,
}

/// Operation of a site. Its operands are in the order of the expression's.
#[derive(Clone, Debug)]
pub enum FallbackOp {
    /// A call of a library function.
    Native(NativeFn),
    /// A prefix operator on one operand.
    Unary(UnaryOp),
    /// An infix operator on two operands.
    Binary(BinaryOp),
    /// An infix operator over collections.
    Mapped(BinaryOp, MappedForm),
    /// A conversion from the operand's type to the result's.
    Cast,
    /// A subscript of a collection or string, `base[index]`.
    Index,
    /// A slice `[lower:upper]`, with whether each of the two is given.
    Slice(bool, bool),
    /// The membership test `element in collection`.
    In,
    /// A list of the operands.
    List,
    /// A set of the operands.
    Set,
    /// A map of the operands, key and value by turns.
    Map,
    /// The value itself, made of its parts.
    Identity,
    /// The operator `!` on a null value, which is a fault.
    UnwrapNull,
    /// A submission to a port number that is not below this number of ports.
    PortRange(u32),
    /// A string or list, as the noun says, that would be longer than any may be, which is a fault.
    TooLong(&'static str),
    /// Strings that are too long together, which is a fault at the position of the first that makes
    /// them so. The operands are the length of what is known to fit, then those of the strings that
    /// are appended, each at a position.
    JoinTooLong(Vec<Pos>),
    /// A call nested too deeply, which is a fault.
    Recursion,
    /// The characters of a ustring, as a list of strings.
    CodePoints,
}

/// Way in which an operand is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandPassing {
    /// Words, one for each part of the operand's type.
    Parts,
    /// The address of a value that is not changed.
    Boxed,
    /// The address of a value that is changed in place.
    Place,
    /// A scalar by the address of its flat slot, changed in place.
    Slot,
}
