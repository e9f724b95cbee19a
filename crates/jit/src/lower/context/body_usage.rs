//! Uses that a body makes of its variables, found before it is lowered: they decide where each
//! lives.

use std::collections::HashSet;

use graph::{
    Arg, Body, Callee, Expr, ExprKind, FunctionId, LocalId, Place, PlaceRoot, PlaceStep, StateId,
    Stmt,
};

use crate::type_parts;

/// How a body uses one variable.
#[derive(Clone, Debug, Default)]
pub struct LocalUsage {
    /// Whether it is read.
    pub is_read: bool,
    /// How often it is set to an initial value.
    pub initializations: u32,
    /// How often it is assigned as a whole, or to be changed as a whole by a callee.
    pub assignments: u32,
    /// Attributes of the variable that are assigned one by one.
    pub fields: HashSet<u32>,
    /// Whether the variable is changed within: an element of it is assigned, or a callee may change
    /// it in place.
    pub in_place: bool,
    /// Whether the variable is assigned in a loop that lies within the loop of its initial value.
    pub is_loop_carried: bool,
    /// How many loops are around its initial value.
    loop_depth: u32,
}

/// How a body uses its variables.
#[derive(Clone, Debug, Default)]
pub struct BodyUsage {
    /// Usage of each local variable, by number.
    pub locals: Vec<LocalUsage>,
    /// State variables that it changes.
    pub changed_state: HashSet<StateId>,
    /// Whether it reads an input tuple.
    pub reads_input: bool,
    /// Whether it advances the watermark.
    pub advances_watermark: bool,
    /// User functions that it calls, as often as it names them.
    pub calls: Vec<FunctionId>,
    /// How many nodes it has.
    pub nodes: u32,
    loop_depth: u32,
}

impl BodyUsage {
    /// Counts the uses of all variables of a body.
    pub fn from_body(body: &Body) -> BodyUsage {
        let locals = vec![LocalUsage::default(); body.locals.len()];
        let mut uses = BodyUsage {
            locals,
            ..BodyUsage::default()
        };
        uses.stmts(&body.stmts);
        uses
    }

    /// Counts the uses of variables in an expression on its own.
    pub fn from_expr(expr: &Expr) -> BodyUsage {
        let mut uses = BodyUsage::default();
        uses.expr(expr);
        uses
    }

    /// Counts the uses of variables in some statements of a body.
    pub fn from_stmts(stmts: &[Stmt]) -> BodyUsage {
        let mut uses = BodyUsage::default();
        uses.stmts(stmts);
        uses
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.nodes += 1;
        match stmt {
            Stmt::Let(local, init) => {
                init.iter().for_each(|init| self.expr(init));
                self.note_initialization(*local);
            }
            Stmt::Expr(e) | Stmt::Sleep(e) | Stmt::Return(Some(e)) => self.expr(e),
            Stmt::If(condition, yes, no) => {
                self.expr(condition);
                self.stmts(yes);
                self.stmts(no);
            }
            Stmt::While(condition, body) => {
                self.loop_depth += 1;
                self.expr(condition);
                self.stmts(body);
                self.loop_depth -= 1;
            }
            Stmt::For(local, collection, body) => {
                self.expr(collection);
                self.loop_depth += 1;
                self.note_initialization(*local);
                self.stmts(body);
                self.loop_depth -= 1;
            }
            Stmt::Break | Stmt::Continue | Stmt::Return(None) => {}
            Stmt::Clause(body) => self.stmts(body),
            Stmt::Submit { port, tuple: e, .. } | Stmt::SubmitPunct { port, mark: e, .. } => {
                self.expr(port);
                self.expr(e);
            }
            Stmt::FindEntry { key, added, .. } => {
                self.expr(key);
                self.stmts(added);
            }
            Stmt::EntryId(local, _) => self.note_initialization(*local),
            Stmt::SelectEntry(_, id) => self.expr(id),
            Stmt::InsertElement(variable, element) => {
                self.expr(element);
                self.changed_state.insert(*variable);
            }
            Stmt::ClearElements(variable) => {
                self.changed_state.insert(*variable);
            }
            Stmt::AdvanceWatermark(time) => {
                self.expr(time);
                self.advances_watermark = true;
            }
            Stmt::CountUnits(local, _, time) => {
                self.expr(time);
                self.note_initialization(*local);
            }
            Stmt::BeginPane {
                number, fire_count, ..
            } => {
                self.expr(number);
                self.expr(fire_count);
            }
            Stmt::AddEntry(..)
            | Stmt::RemoveEntry(_)
            | Stmt::EnqueueEntry(..)
            | Stmt::DequeueEntry(_)
            | Stmt::UseEntry(_)
            | Stmt::SelectLeastUsed(_) => {}
        }
    }

    fn note_initialization(&mut self, local: LocalId) {
        let depth = self.loop_depth;
        let used = self.local_usage(local);
        used.initializations += 1;
        used.loop_depth = depth;
    }

    fn local_usage(&mut self, local: LocalId) -> &mut LocalUsage {
        let at = local.0 as usize;
        if self.locals.len() <= at {
            self.locals.resize(at + 1, LocalUsage::default());
        }
        &mut self.locals[at]
    }

    fn expr(&mut self, expr: &Expr) {
        self.nodes += 1;
        match &expr.kind {
            ExprKind::Assign(place, _) | ExprKind::AssignOp(_, place, _) => {
                self.note_change(place, false);
            }
            ExprKind::Increment { place, .. } => self.note_change(place, false),
            ExprKind::Local(local) => self.local_usage(*local).is_read = true,
            ExprKind::Input { .. } | ExprKind::Attribute { .. } | ExprKind::OutputCall(_) => {
                self.reads_input = true;
            }
            ExprKind::Call(callee, args) => {
                if let Callee::User(function) = callee {
                    self.calls.push(*function);
                }
                for arg in args {
                    if let Arg::Place(place) = arg {
                        self.note_change(place, true);
                    }
                }
            }
            _ => {}
        }
        expr.for_each_child_ref(&mut |child| self.expr(child));
    }

    /// Notes that a place is assigned, or changed by a callee.
    fn note_change(&mut self, place: &Place, by_callee: bool) {
        let PlaceRoot::Local(local) = place.root else {
            if let PlaceRoot::State(state) = place.root {
                self.changed_state.insert(state);
            }
            return;
        };
        let depth = self.loop_depth;
        let used = self.local_usage(local);
        used.is_loop_carried |= depth > used.loop_depth;
        let indexed = place
            .steps
            .iter()
            .any(|step| !matches!(step, PlaceStep::Field(_)));
        used.in_place |= indexed || by_callee && !type_parts::is_scalar(&place.ty);
        match place.steps.first() {
            Some(PlaceStep::Field(index)) => {
                used.fields.insert(*index);
            }
            _ => used.assignments += 1,
        }
    }
}
