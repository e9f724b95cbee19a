//! Typed statements, function bodies, and the bodies of operator logic.

use std::sync::Arc;

use tuple::Type;

use crate::{Expr, LocalId, Pos};

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Sets a local to its initial value; `None` is the default of its type.
    Let(LocalId, Option<Expr>),
    /// An expression for its effect.
    Expr(Expr),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while`
    While(Expr, Vec<Stmt>),
    /// `for (T x in collection)`: list or set elements, map keys, string characters. The collection
    /// is evaluated once; its root is immutable within the body.
    For(LocalId, Expr, Vec<Stmt>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`: leaves the function, or the innermost [`Stmt::Clause`].
    Return(Option<Expr>),
    /// The body of one logic clause within a larger body: `return` inside leaves only it.
    Clause(Vec<Stmt>),
    /// Sleeps so many seconds (float64), but not beyond a shutdown: the pace of a source.
    Sleep(Expr),
    /// `submit(tuple, port)`. The tuple has the port's schema. A port that is out of range faults.
    Submit {
        /// uint32
        port: Expr,
        /// The tuple.
        tuple: Expr,
        /// Where.
        pos: Pos,
    },
    /// `submit(punctuation, port)`.
    SubmitPunct {
        /// uint32
        port: Expr,
        /// enum{WindowMarker,FinalMarker}
        mark: Expr,
        /// Where.
        pos: Pos,
    },
}

/// A local variable or formal.
#[derive(Clone, Debug)]
pub struct LocalVar {
    /// Its name, for printing.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Whether it is a `mutable` formal: the caller's location is changed.
    pub by_reference: bool,
}

/// Statements with the variables they use.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// All variables, formals first.
    pub locals: Vec<LocalVar>,
    /// The statements.
    pub stmts: Vec<Stmt>,
}

/// A user function, after overload resolution.
#[derive(Clone, Debug)]
pub struct Function {
    /// Qualified name.
    pub name: Arc<str>,
    /// How many of the body's locals are formals.
    pub formals: u32,
    /// `Type::Void` for none.
    pub result: Type,
    /// `stateful`.
    pub is_stateful: bool,
    /// The body.
    pub body: Body,
    /// Where it is defined.
    pub pos: Pos,
}

impl Body {
    /// Adds a variable and returns its id.
    pub fn local(&mut self, name: impl Into<Arc<str>>, ty: Type) -> LocalId {
        self.locals.push(LocalVar {
            name: name.into(),
            ty,
            by_reference: false,
        });
        LocalId(self.locals.len() as u32 - 1)
    }
}
