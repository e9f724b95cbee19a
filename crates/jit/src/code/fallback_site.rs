//! A place in the program where compiled code leaves the work to a function on [`tuple::Value`]s:
//! what is to be done, and how its operands are passed.

use eval::NativeFn;
use graph::{BinaryOp, MappedForm, Pos, UnaryOp};
use tuple::Type;

/// What is done, and with what.
#[derive(Debug)]
pub struct FallbackSite {
    /// Its number, for [`super::operand_scratch`].
    pub id: u32,
    /// What is done.
    pub op: FallbackOp,
    /// How each operand comes.
    pub operands: Vec<OperandPassing>,
    /// The types of the operands.
    pub types: Vec<Type>,
    /// The type of the result.
    pub result: Type,
    /// Where it stands.
    pub pos: Pos,
}

/// What is done at a site. The operands are in the order of the expression's.
#[derive(Clone, Debug)]
pub enum FallbackOp {
    /// A library function is called.
    Native(NativeFn),
    /// A prefix operator.
    Unary(UnaryOp),
    /// An infix operator.
    Binary(BinaryOp),
    /// An infix operator over collections.
    Mapped(BinaryOp, MappedForm),
    /// A conversion from the operand's type to the result's.
    Cast,
    /// `[ ]`.
    Index,
    /// `[lower:upper]`: which of the two are given.
    Slice(bool, bool),
    /// Element `in` collection.
    In,
    /// A list of the operands.
    List,
    /// A set of the operands.
    Set,
    /// A map of the operands, key and value by turns.
    Map,
    /// The value itself: parts become one value.
    Identity,
    /// `!` on null.
    UnwrapNull,
    /// A submission to a port beyond so many.
    PortRange(u32),
    /// Too many calls within calls.
    Recursion,
    /// The characters of a ustring, one by one.
    CodePoints,
}

/// How an operand comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandPassing {
    /// By its parts.
    Parts,
    /// By the address of a value that is not changed.
    Boxed,
    /// By the address of a value that is changed in place.
    Place,
    /// A scalar by the address of its flat slot, changed in place.
    Slot,
}
