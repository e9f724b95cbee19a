//! Uses that a body makes of its variables, found before it is lowered: they decide where each
//! lives.

use std::collections::HashSet;

use graph::{
    Arg, BinaryOp, Body, Callee, Clock, Expr, ExprKind, FunctionId, LocalId, NativeId, Place,
    PlaceRoot, PlaceStep, StateId, Stmt,
};
use tuple::{Type, Value};

use crate::type_parts;

/// Number of tuples from which on what happens once in so many of them seldom happens: a call then
/// costs each of them less than the registers that it saves.
const OFTEN_BELOW: i128 = 16;

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
    /// State variables that it changes elsewhere than in arms that seldom run.
    pub often_changed_state: HashSet<StateId>,
    /// Output ports to which it submits elsewhere than in arms that seldom run.
    often_submitted_ports: HashSet<u32>,
    /// Whether it submits to a port that is not a constant.
    submits_to_any_port: bool,
    /// Output port to which it submits each tuple at once, if nothing can fail or block before.
    pub passes_on_to: Option<u32>,
    /// Whether it reads an input tuple.
    pub reads_input: bool,
    /// Whether it advances the watermark.
    pub advances_watermark: bool,
    /// Whether it reads the clock of ticks.
    pub reads_ticks: bool,
    /// User functions that it calls, as often as it names them.
    pub calls: Vec<FunctionId>,
    /// Functions of the library that it calls, as often as it names them.
    pub native_calls: Vec<NativeId>,
    /// Whether it has a statement that lets the thread sleep.
    pub sleeps: bool,
    /// How many nodes it has.
    pub nodes: u32,
    loop_depth: u32,
    /// How many arms that seldom run are around.
    seldom_depth: u32,
}

impl BodyUsage {
    /// Counts the uses of all variables of a body.
    pub fn from_body(body: &Body) -> BodyUsage {
        let locals = vec![LocalUsage::default(); body.locals.len()];
        let mut uses = BodyUsage {
            locals,
            passes_on_to: passes_on_to(body),
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

    /// Whether it submits to an output port elsewhere than in arms that seldom run.
    pub fn often_submits_to(&self, port: u32) -> bool {
        self.submits_to_any_port || self.often_submitted_ports.contains(&port)
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Statements that seldom run.
    fn seldom_stmts(&mut self, stmts: &[Stmt]) {
        self.seldom_depth += 1;
        self.stmts(stmts);
        self.seldom_depth -= 1;
    }

    fn yes_arm(&mut self, condition: &Expr, stmts: &[Stmt]) {
        match seldom_holds(condition) {
            true => self.seldom_stmts(stmts),
            false => self.stmts(stmts),
        }
    }

    fn sleep(&mut self, seconds: &Expr) {
        self.sleeps = true;
        self.expr(seconds);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.nodes += 1;
        match stmt {
            Stmt::Let(local, init) => {
                init.iter().for_each(|init| self.expr(init));
                self.note_initialization(*local);
            }
            Stmt::Expr(e) | Stmt::Return(Some(e)) => self.expr(e),
            Stmt::Sleep(e) => self.sleep(e),
            Stmt::If(condition, yes, no) => {
                self.expr(condition);
                self.yes_arm(condition, yes);
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
            Stmt::Submit { port, tuple, .. } => {
                self.expr(tuple);
                self.submission(port);
            }
            Stmt::SubmitPunct { port, mark, .. } => {
                self.expr(port);
                self.expr(mark);
            }
            Stmt::FindEntry { key, added, .. } => {
                self.expr(key);
                self.seldom_stmts(added);
            }
            Stmt::EntryId(local, _) => self.note_initialization(*local),
            Stmt::SelectEntry(_, id) => self.expr(id),
            Stmt::InsertElement(variable, element) => {
                self.expr(element);
                self.note_state_change(*variable);
            }
            Stmt::ClearElements(variable) => self.note_state_change(*variable),
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

    fn note_state_change(&mut self, state: StateId) {
        self.changed_state.insert(state);
        if self.seldom_depth == 0 {
            self.often_changed_state.insert(state);
        }
    }

    /// Uses of a submission to a port, but for those of the tuple.
    fn submission(&mut self, port: &Expr) {
        self.expr(port);
        match port.kind {
            ExprKind::Const(Value::Uint32(port)) if self.seldom_depth == 0 => {
                self.often_submitted_ports.insert(port);
            }
            ExprKind::Const(Value::Uint32(_)) => {}
            _ => self.submits_to_any_port = true,
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
            ExprKind::ClockSeconds(Clock::Ticks) => self.reads_ticks = true,
            ExprKind::Input { .. } | ExprKind::Attribute { .. } | ExprKind::OutputCall(_) => {
                self.reads_input = true;
            }
            ExprKind::Call(callee, args) => {
                match callee {
                    Callee::User(function) => self.calls.push(*function),
                    Callee::Native(native) => self.native_calls.push(*native),
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
                self.note_state_change(state);
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

/// Whether a condition seldom holds: an integer equals another, or does not, and both are of the
/// state alone, as in `if (count == 1000)`. What the state has come to is seldom just that, and a
/// state that differs from another one becomes it. Small numbers come again too soon.
pub fn seldom_holds(condition: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) = &condition.kind else {
        return false;
    };
    let (mut has_state, mut has_other) = (false, false);
    condition.for_each_ref(&mut |part| match &part.kind {
        ExprKind::State(_) => has_state = true,
        ExprKind::Const(value) => has_other |= value.as_integer().is_some_and(is_small_count),
        ExprKind::Cast(_) | ExprKind::Binary(..) | ExprKind::Unary(..) => {}
        _ => has_other = true,
    });
    a.ty.is_integral() && b.ty.is_integral() && has_state && !has_other
}

/// Whether a count has come to a number again after few tuples. The first tuple is one of many.
fn is_small_count(number: i128) -> bool {
    (2..OFTEN_BELOW).contains(&number)
}

/// The output port of a body that submits one tuple to it, of parts that cannot fail, before it
/// does anything else.
fn passes_on_to(body: &Body) -> Option<u32> {
    let (first, rest) = body.stmts.split_first()?;
    let Stmt::Submit { port, tuple, .. } = first else {
        return None;
    };
    let ExprKind::Const(Value::Uint32(port)) = port.kind else {
        return None;
    };
    let ends = rest
        .iter()
        .all(|stmt| matches!(stmt, Stmt::AdvanceWatermark(_)));
    (ends && cannot_fail(tuple)).then_some(port)
}

/// Whether an expression is taken from the input tuple and constants by instructions alone.
fn cannot_fail(e: &Expr) -> bool {
    use BinaryOp::{Add, Mul, Sub};
    match &e.kind {
        ExprKind::Const(_)
        | ExprKind::Input { history: 0, .. }
        | ExprKind::Attribute { history: 0, .. } => true,
        ExprKind::Tuple(parts) => parts.iter().all(cannot_fail),
        ExprKind::Binary(op, a, b) => {
            let is_number = a.ty.is_integral() || matches!(a.ty, Type::Float32 | Type::Float64);
            let is_plain = matches!(op, Add | Sub | Mul) || op.is_comparison();
            is_number && is_plain && cannot_fail(a) && cannot_fail(b)
        }
        _ => false,
    }
}
