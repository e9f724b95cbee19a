//! Typed expressions.
//!
//! What the front end infers is all spelt out here: every node has its type, every implicit
//! conversion is a node (`Wrap`, `Cast`), every attribute is a port and an index.

use tuple::{Type, Value};

use crate::PortIndex;

/// Position in the program's text, for messages: file as an index into [`crate::Program::files`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pos {
    /// Index of the file.
    pub file: u32,
    /// Number of the line, from 1; 0 if unknown.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A local variable of a [`crate::Body`]: formals first, then locals and loop variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A state variable of an operator's logic clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// Index of a table among those of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableId(pub u32);

/// A user function of [`crate::Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A library function: its index in the table that the compiler was handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NativeId(pub u32);

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Form of the expression.
    pub kind: ExprKind,
    /// The type of its value; `Type::Void` for assignments and void calls.
    pub ty: Type,
    /// Position of the expression in the program's text.
    pub pos: Pos,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal or a folded constant.
    Const(Value),
    /// A local variable's value.
    Local(LocalId),
    /// A state variable's value.
    State(StateId),
    /// A whole input tuple; `history` 0 is the current one.
    Input {
        /// Number of the input port.
        port: PortIndex,
        /// Number of tuples that the expression looks back.
        history: u32,
    },
    /// One attribute of an input tuple.
    Attribute {
        /// Number of the input port.
        port: PortIndex,
        /// Number of tuples that the expression looks back.
        history: u32,
        /// Index in the port's schema.
        index: u32,
    },
    /// The result of the n-th output function call of this output port ([`crate::OutPort::calls`]).
    OutputCall(u32),
    /// `currentPunct()`: an enum{WindowMarker,FinalMarker}; only in `onPunct` bodies.
    CurrentPunct,
    /// Whether a shutdown was asked for, as boolean: what the loop of a source looks at before each
    /// tuple, so it should cost no more than a load.
    IsShutdown,
    /// Seconds on a clock that never goes back, as float64; since some moment before the program
    /// began. No program can write it.
    ClockSeconds(Clock),
    /// A tuple from its attributes, in order of the type.
    Tuple(Vec<Expr>),
    /// A list from its elements.
    List(Vec<Expr>),
    /// A set from its elements; a repeated element counts once.
    Set(Vec<Expr>),
    /// A map from its entries; a later entry with an equal key wins.
    Map(Vec<(Expr, Expr)>),
    /// An attribute of a tuple value, by index.
    Field(Box<Expr>, u32),
    /// `list[i]`, `map[k]`, `string[i]` (a one-character string), `blob[i]` (uint8).
    Index(Box<Expr>, Box<Expr>),
    /// `c[l:u]` of a list, string or blob; upper end exclusive.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// A prefix operator on a scalar, or mapped over a collection if the operand is one.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator on two values of one type (shifts: two integral types); comparison of two
    /// collections, tuples or optionals included. Result: operand type, or boolean for comparisons.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// An infix operator mapped over collections; comparisons give `list<boolean>` or
    /// `map<K,boolean>`.
    Mapped(BinaryOp, MappedForm, Box<Expr>, Box<Expr>),
    /// `a && b`, short circuit.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`, short circuit.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `e in c`: element of list or set, key of map.
    In(Box<Expr>, Box<Expr>),
    /// Conversion to this node's type by the rules of casts; may fault.
    Cast(Box<Expr>),
    /// A present `optional<T>` of a value of type T.
    Wrap(Box<Expr>),
    /// `o!`: faults on null.
    Unwrap(Box<Expr>),
    /// The operator `o ?: e`: the content of `o`, or `e` if `o` is null.
    UnwrapOr(Box<Expr>, Box<Expr>),
    /// The operator `o??`: whether `o` is not null.
    IsPresent(Box<Expr>),
    /// A call of a function.
    Call(Callee, Vec<Arg>),
    /// `place = e`. A plain `m[k] = v` inserts.
    Assign(Place, Box<Expr>),
    /// An assignment with an operator, `place op= e`.
    AssignOp(BinaryOp, Place, Box<Expr>),
    /// `++p`, `--p`, `p++`, `p--`.
    Increment {
        /// Place that is changed.
        place: Place,
        /// Whether 1 is subtracted, `--`.
        is_decrement: bool,
        /// The value is that after the change.
        is_prefix: bool,
    },
}

/// A clock that never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Exact to a part of a microsecond.
    Exact,
    /// The time of the kernel's last tick: at most 10 ms behind. A look at it takes a fraction of
    /// the time, and does not hold up what the processor does beside it.
    Ticks,
}

/// Function that a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the program.
    User(FunctionId),
    /// A function of the library.
    Native(NativeId),
}

/// An actual argument of a call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// An argument passed by value.
    Value(Expr),
    /// An argument for a `mutable` formal: the callee changes it in place. No other argument of the
    /// call overlaps.
    Place(Place),
}

impl Arg {
    /// The type of the argument.
    pub fn ty(&self) -> &Type {
        match self {
            Arg::Value(expr) => &expr.ty,
            Arg::Place(place) => &place.ty,
        }
    }

    /// Position of the argument in the program's text.
    pub fn pos(&self) -> Pos {
        match self {
            Arg::Value(expr) => expr.pos,
            Arg::Place(place) => place.pos,
        }
    }
}

/// Location that can be assigned: a variable, and the path to a part of it.
#[derive(Clone, Debug)]
pub struct Place {
    /// Variable that the place is a part of.
    pub root: PlaceRoot,
    /// Steps from the variable inwards.
    pub steps: Vec<PlaceStep>,
    /// The type of the location.
    pub ty: Type,
    /// Position of the place in the program's text.
    pub pos: Pos,
}

/// The variable of a place. A mutable input tuple is first copied into a local by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceRoot {
    /// A local variable of the body.
    Local(LocalId),
    /// A state variable of the operator.
    State(StateId),
}

/// One step into a place.
#[derive(Clone, Debug)]
pub enum PlaceStep {
    /// An attribute of a tuple.
    Field(u32),
    /// An element of a list or blob, or the value of a map's key.
    Index(Expr),
}

/// Way in which an infix operator is mapped over collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MappedForm {
    /// A collection on the left, a scalar on the right.
    CollectionScalar,
    /// A scalar on the left, a collection on the right.
    ScalarCollection,
    /// Dotted: element by element; faults on lists of different length or a key missing on the
    /// right.
    Elementwise,
}

/// Operators that stand before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum UnaryOp {
    Not,
    Negate,
    Complement,
}

/// Infix operators that compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitXor,
    BitOr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl BinaryOp {
    /// Whether the result is a boolean.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne)
    }
}
