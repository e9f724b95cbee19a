//! Typed statements, function bodies, and the bodies of operator logic.

use std::sync::Arc;

use tuple::Type;

use crate::{EventTimeUnits, Expr, LocalId, NumberedPanes, Pos, StateId, TableId};

/// A typed statement of a body.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Sets a local to its initial value; `None` is the default of its type.
    Let(LocalId, Option<Expr>),
    /// An expression for its effect.
    Expr(Expr),
    /// `if (condition)` with the statements of both branches.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while (condition)` with the statements of a turn.
    While(Expr, Vec<Stmt>),
    /// `for (T x in collection)`: list or set elements, map keys, string characters. The collection
    /// is evaluated once; its root is immutable within the body.
    For(LocalId, Expr, Vec<Stmt>),
    /// `break`, which ends the innermost loop.
    Break,
    /// `continue`, which begins the innermost loop's next turn.
    Continue,
    /// `return`: leaves the function, or the innermost [`Stmt::Clause`].
    Return(Option<Expr>),
    /// The body of one logic clause within a larger body: `return` inside leaves only it.
    Clause(Vec<Stmt>),
    /// Sleeps for a number of seconds (float64), but not beyond a shutdown: the pace of a source.
    Sleep(Expr),
    /// `submit(tuple, port)`. The tuple has the port's schema. A port that is out of range faults.
    Submit {
        /// Number of the output port, of type uint32.
        port: Expr,
        /// Tuple that is submitted.
        tuple: Expr,
        /// Position in the program's text.
        pos: Pos,
    },
    /// The statement `submit(punctuation, port)`.
    SubmitPunct {
        /// Number of the output port, of type uint32.
        port: Expr,
        /// The marker, of type `enum{WindowMarker,FinalMarker}`.
        mark: Expr,
        /// Position in the program's text.
        pos: Pos,
    },
    /// Adds an entry to a table without keys, in which all variables are zero, and makes it the
    /// current one. No program can write it.
    AddEntry(TableId, Pos),
    /// Makes the entry of a key the current one of a table. If there is none, one is added, in
    /// which all variables are zero. No program can write it.
    FindEntry {
        /// Table that is searched.
        table: TableId,
        /// The key: a tuple of the table's key type.
        key: Expr,
        /// Statements that run if the entry was added.
        added: Vec<Stmt>,
        /// Position in the program's text.
        pos: Pos,
    },
    /// Sets a local of type uint32 to the id of the current entry of a table, which is not 0, or to
    /// 0 for the entry of no key. No program can write it.
    EntryId(LocalId, TableId),
    /// Makes the entry with an id, of type uint32, the current one of a table. The id is that of an
    /// entry that is there, or 0. No program can write it.
    SelectEntry(TableId, Expr),
    /// Removes the current entry of a table. From then on an entry of no key is the current one, in
    /// which all variables are zero. No program can write it.
    RemoveEntry(TableId),
    /// Puts the current entry, which is not in it yet, into its table's queue. Until it is taken
    /// out, it is not removed. No program can write it.
    EnqueueEntry(TableId, Pos),
    /// Takes the first entry in order out of a table's queue and makes it the current one; of
    /// entries with equal keys, the one that was put in first. If the queue is empty, the entry of
    /// no key becomes current. No program can write it.
    DequeueEntry(TableId),
    /// Notes that the current entry of a table by use is used. No program can write it.
    UseEntry(TableId),
    /// Makes the entry current that was not used for the longest time, in a table by use; without
    /// entries, that of no key. No program can write it.
    SelectLeastUsed(TableId),
    /// Adds a value at the end of a state variable that is a list, or to one that is a set, where
    /// it counts once. No program can write it.
    InsertElement(StateId, Expr),
    /// Removes all elements of a state variable that is a list or a set. No program can write it.
    ClearElements(StateId),
    /// Advances the operator's watermark by an event time that has passed: to that time less the
    /// lag of the operator's clock, unless it is there already. Sends the watermark at the clock's
    /// output ports if it has advanced by the clock's gap since one was sent. The expression is a
    /// timestamp, or an int64 or uint64 of ticks. No program can write it.
    AdvanceWatermark(Expr),
    /// Sets a local of type int64 to the number of the unit that an event time lies in. The
    /// expression is as for [`Stmt::AdvanceWatermark`]. No program can write it.
    CountUnits(LocalId, Box<EventTimeUnits>, Expr),
    /// Makes a pane the one that functions of the output clause tell of. No program can write it.
    BeginPane {
        /// Number of the pane, an int64: that of the interval's offset is 0.
        number: Expr,
        /// Number of times that the pane has fired before, a uint64.
        fire_count: Expr,
        /// The panes of the window.
        panes: Box<NumberedPanes>,
    },
}

/// A local variable or formal.
#[derive(Clone, Debug)]
pub struct LocalVar {
    /// Name of the variable, for printing.
    pub name: Arc<str>,
    /// Type of the variable.
    pub ty: Type,
    /// Whether the local is a `mutable` formal, so that the caller's location is changed.
    pub by_reference: bool,
}

/// Statements with the variables they use.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// All variables, formals first.
    pub locals: Vec<LocalVar>,
    /// Statements of the body, in order.
    pub stmts: Vec<Stmt>,
}

/// A user function, after overload resolution.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name of the function with its namespace.
    pub name: Arc<str>,
    /// Number of the body's locals that are formals.
    pub formals: u32,
    /// Type of the result, `Type::Void` for none.
    pub result: Type,
    /// Whether the function is declared `stateful`.
    pub is_stateful: bool,
    /// Statements and local variables of the function.
    pub body: Body,
    /// Position of the definition.
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
