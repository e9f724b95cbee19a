//! The generator's state: what is in scope, what may be read and what may be changed.

use graph::{Body, Expr, ExprKind, Function, LocalId, LocalVar, PlaceRoot, Pos, StateId, Stmt};
use tuple::{TupleType, Type};

use super::choices::Choices;
use super::environment;

/// How deep expressions nest.
pub(super) const EXPR_DEPTH: u32 = 4;

pub(super) struct ProgramGenerator<'c> {
    pub(super) choices: Choices<'c>,
    /// The types of variables; the n-th is that of attribute n of port 0 and of state variable n.
    pub(super) types: Vec<Type>,
    /// Functions that are finished and can be called.
    pub(super) functions: Vec<Function>,
    /// The variables of the body.
    pub(super) locals: Vec<LocalVar>,
    /// Variables that are in scope and set.
    pub(super) visible: Vec<LocalId>,
    /// Variables that must not be changed.
    pub(super) frozen: Vec<PlaceRoot>,
    /// Variables that must not be read either: arguments by reference of the same call.
    pub(super) hidden: Vec<PlaceRoot>,
    /// Type that a function's `return` needs; `None` outside of functions.
    pub(super) result: Option<Type>,
    /// Loops around the statement.
    pub(super) loop_depth: u32,
    node_count: u32,
}

impl<'c> ProgramGenerator<'c> {
    pub(super) fn new(choices: Choices<'c>) -> ProgramGenerator<'c> {
        ProgramGenerator {
            choices,
            types: environment::types(),
            functions: Vec::new(),
            locals: Vec::new(),
            visible: Vec::new(),
            frozen: Vec::new(),
            hidden: Vec::new(),
            result: None,
            loop_depth: 0,
            node_count: 0,
        }
    }

    /// An expression for some attributes of a schema.
    pub(super) fn projection(&mut self, schema: &TupleType) -> Vec<Option<Expr>> {
        let attributes = schema.attributes.iter().map(|attribute| {
            let is_given = self.choices.percent(70);
            is_given.then(|| self.expr(&attribute.ty, EXPR_DEPTH))
        });
        attributes.collect()
    }

    pub(super) fn condition(&mut self) -> Expr {
        self.expr(&Type::Boolean, EXPR_DEPTH)
    }

    /// A body of clauses.
    pub(super) fn body(&mut self) -> Body {
        let mut stmts = Vec::new();
        while !self.choices.are_spent() {
            let inner = self.block(3);
            stmts.push(Stmt::Clause(inner));
        }
        Body {
            locals: std::mem::take(&mut self.locals),
            stmts,
        }
    }

    /// An expression at a position of its own, so that faults can be told apart.
    pub(super) fn node(&mut self, kind: ExprKind, ty: Type) -> Expr {
        let pos = self.pos();
        Expr::new(kind, ty).with_pos(pos)
    }

    pub(super) fn pos(&mut self) -> Pos {
        self.node_count += 1;
        Pos {
            file: 0,
            line: self.node_count,
            column: 1,
        }
    }

    /// A type of a variable.
    pub(super) fn any_type(&mut self) -> Type {
        self.choices.one_of(&self.types).clone()
    }

    /// A new local, not yet visible.
    pub(super) fn local(&mut self, ty: Type) -> LocalId {
        let at = self.locals.len();
        self.locals.push(LocalVar::new(&format!("v{at}"), ty));
        LocalId(at as u32)
    }

    pub(super) fn type_of(&self, root: PlaceRoot) -> &Type {
        match root {
            PlaceRoot::Local(id) => &self.locals[id.0 as usize].ty,
            PlaceRoot::State(id) => &self.types[id.0 as usize],
        }
    }

    /// The variables that can be read: locals first, they are the rarest.
    pub(super) fn readable_roots(&self) -> Vec<PlaceRoot> {
        let mut roots: Vec<PlaceRoot> = self
            .visible
            .iter()
            .map(|&id| PlaceRoot::Local(id))
            .collect();
        if self.result.is_none() {
            roots.extend((0..self.types.len()).map(|at| PlaceRoot::State(StateId(at as u32))));
        }
        roots.retain(|root| !self.hidden.contains(root));
        roots
    }

    /// The variables that can be changed.
    pub(super) fn changeable_roots(&self) -> Vec<PlaceRoot> {
        let mut roots = self.readable_roots();
        roots.retain(|root| !self.frozen.contains(root));
        roots
    }

    /// Runs a step with something more in force, and takes it back.
    pub(super) fn scoped<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let (visible, frozen) = (self.visible.len(), self.frozen.len());
        let hidden = self.hidden.len();
        let result = work(self);
        self.visible.truncate(visible);
        self.frozen.truncate(frozen);
        self.hidden.truncate(hidden);
        result
    }
}
