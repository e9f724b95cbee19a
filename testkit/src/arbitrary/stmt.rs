//! Random statements, and blocks of them.

use std::sync::Arc;

use graph::{
    Arg, BinaryOp, Callee, Expr, ExprKind, FunctionId, LocalId, Place, PlaceRoot, StateId, Stmt,
    TableId,
};
use tuple::{TupleType, Type, Value};

use super::environment;
use super::expr::root_expr_kind;
use super::generator::{EXPR_DEPTH, ProgramGenerator};
use super::native;

/// Loops nest no deeper: what they do to strings and lists must not explode.
const LOOPS_MAX: u32 = 2;

impl ProgramGenerator<'_> {
    /// Up to six statements; what they declare is gone afterwards.
    pub(super) fn block(&mut self, depth: u32) -> Vec<Stmt> {
        self.scoped(|g| {
            let len = 1 + g.choices.below(6);
            let mut stmts = Vec::new();
            for _ in 0..len {
                g.stmt(depth, &mut stmts);
            }
            stmts
        })
    }

    fn stmt(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        match self.choices.below(26) {
            0..=2 => self.definition(out),
            3..=6 => self.assignment(out),
            7 | 8 => self.compound_assignment(out),
            9 => self.step_stmt(out),
            10 | 11 if depth > 0 => self.branches(depth - 1, out),
            12 if depth > 0 => self.while_loop(depth - 1, out),
            13 if depth > 0 => self.for_loop(depth - 1, out),
            14 | 15 => self.native_stmt(out),
            16 => self.user_stmt(out),
            17 => self.jump_stmt(out),
            18 => self.submit(out),
            19..=21 => self.copy_and_change(out),
            22 | 23 if depth > 0 && self.result.is_none() => self.table_stmt(depth - 1, out),
            24 if self.result.is_none() => self.element_stmt(out),
            _ if depth > 0 && self.result.is_none() => {
                let inner = self.block(depth - 1);
                out.push(Stmt::Clause(inner));
            }
            _ => self.assignment(out),
        }
    }

    /// Another entry of a table.
    fn table_stmt(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        let tables = environment::tables();
        let at = self.choices.below(tables.len());
        let table = TableId(at as u32);
        let removes = self.choices.percent(20);
        let Some(key) = &tables[at].key else {
            if removes {
                out.push(Stmt::DequeueEntry(table));
                self.assignment(out);
                return out.push(Stmt::RemoveEntry(table));
            }
            return self.entry_without_key(table, out);
        };
        if tables[at].by_use && self.choices.percent(20) {
            out.push(Stmt::UseEntry(table));
            out.push(Stmt::SelectLeastUsed(table));
        }
        if removes {
            return out.push(Stmt::RemoveEntry(table));
        }
        let key = self.tuple_literal(key, 2);
        let added = match self.choices.percent(50) {
            true => self.block(depth),
            false => Vec::new(),
        };
        let pos = self.pos();
        out.push(Stmt::FindEntry {
            table,
            key,
            added,
            pos,
        });
    }

    /// A further entry of a table without keys, which goes into the queue when it has values; some
    /// time later another, then the first again.
    fn entry_without_key(&mut self, table: TableId, out: &mut Vec<Stmt>) {
        let pos = self.pos();
        out.push(Stmt::AddEntry(table, pos));
        if self.choices.percent(50) {
            self.assignment(out);
            return out.push(Stmt::EnqueueEntry(table, pos));
        }
        let first = self.local(Type::Uint32);
        out.push(Stmt::EntryId(first, table));
        self.assignment(out);
        out.push(Stmt::AddEntry(table, pos));
        self.assignment(out);
        let first = self.node(ExprKind::Local(first), Type::Uint32);
        out.push(Stmt::SelectEntry(table, first));
    }

    /// An element of a state variable that is a list or a set.
    fn element_stmt(&mut self, out: &mut Vec<Stmt>) {
        let place = self.place_of(|ty| matches!(ty, Type::List(..) | Type::Set(..)));
        let Some(PlaceRoot::State(variable)) = place.as_ref().map(|place| place.root) else {
            return self.assignment(out);
        };
        let element = match place.map(|place| place.ty) {
            Some(Type::List(element, _) | Type::Set(element, _)) => element,
            _ => return,
        };
        if self.choices.percent(20) {
            out.push(Stmt::ClearElements(variable));
        }
        let element = self.expr(&element, EXPR_DEPTH);
        out.push(Stmt::InsertElement(variable, element));
    }

    fn definition(&mut self, out: &mut Vec<Stmt>) {
        let mut ty = self.any_type();
        if self.result.is_none() && self.choices.percent(8) {
            ty = environment::small_input();
        }
        let init = self.choices.percent(80).then(|| self.expr(&ty, EXPR_DEPTH));
        let local = self.local(ty);
        self.visible.push(local);
        out.push(Stmt::Let(local, init));
    }

    fn assignment(&mut self, out: &mut Vec<Stmt>) {
        if let Some(place) = self.place() {
            let value = self.expr(&place.ty, EXPR_DEPTH);
            let kind = ExprKind::Assign(place, Box::new(value));
            out.push(Stmt::Expr(self.node(kind, Type::Void)));
        }
    }

    /// Generates an assignment with an operator, `place op= e`.
    fn compound_assignment(&mut self, out: &mut Vec<Stmt>) {
        use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
        let Some(place) = self.place() else { return };
        let ty = place.ty.clone();
        let ops: &[BinaryOp] = match &ty {
            _ if ty.is_integral() => &[Add, Sub, Mul, BitXor, BitAnd, BitOr, Shl, Shr, Div, Rem],
            _ if ty.is_numeric() => &[Add, Sub, Mul, Div],
            Type::Timestamp => &[Add, Sub],
            Type::Boolean => &[BitAnd, BitOr],
            Type::List(element, _) if element.is_integral() => {
                &[Add, Sub, Mul, BitXor, BitAnd, BitOr, Shl, Shr, Div, Rem]
            }
            Type::Map(entry, _) if entry.1.is_integral() => &[Add, Sub, Mul, BitXor, Shl, Div],
            Type::List(element, _) if element.is_numeric() => &[Add, Sub, Mul, Div],
            Type::List(element, _) if **element == Type::Timestamp => &[Add, Sub],
            Type::List(element, _) if **element == Type::Boolean => &[BitAnd, BitOr],
            _ if ty.is_string() => &[Add],
            _ => return,
        };
        let op = *self.choices.one_of(ops);
        let value = match &ty {
            Type::List(element, _) => self.expr(element, EXPR_DEPTH),
            Type::Map(entry, _) => self.expr(&entry.1, EXPR_DEPTH),
            _ if ty.is_string() && self.loop_depth > 0 => self.constant(&ty),
            _ if matches!(op, Shl | Shr) => self.expr(&Type::Int32, 2),
            _ => self.expr(&ty, EXPR_DEPTH),
        };
        let kind = ExprKind::AssignOp(op, place, Box::new(value));
        out.push(Stmt::Expr(self.node(kind, Type::Void)));
    }

    /// `p++` by itself, or with its value kept.
    fn step_stmt(&mut self, out: &mut Vec<Stmt>) {
        let Some(place) = self.place() else { return };
        if !place.ty.is_numeric() {
            return;
        }
        let ty = place.ty.clone();
        let (down, prefix) = (self.choices.percent(50), self.choices.percent(50));
        let step = self.node(
            ExprKind::Increment {
                place,
                is_decrement: down,
                is_prefix: prefix,
            },
            ty.clone(),
        );
        if self.choices.percent(50) {
            let local = self.local(ty);
            self.visible.push(local);
            out.push(Stmt::Let(local, Some(step)));
        } else {
            out.push(Stmt::Expr(step));
        }
    }

    fn branches(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        if self.result.is_none() && self.choices.percent(30) {
            return self.periodic_branch(depth, out);
        }
        let condition = self.expr(&Type::Boolean, EXPR_DEPTH);
        let yes = self.block(depth);
        let no = if self.choices.percent(50) {
            self.block(depth)
        } else {
            Vec::new()
        };
        out.push(Stmt::If(condition, yes, no));
    }

    /// `s++; if (s % 2 == 0) { ... }`, s a state variable.
    fn periodic_branch(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        let types = environment::types();
        let at = types
            .iter()
            .position(|ty| *ty == Type::Int32)
            .expect("one of them");
        let state = StateId(at as u32);
        if self.frozen.contains(&PlaceRoot::State(state)) {
            return self.assignment(out);
        }
        let place = Place {
            root: PlaceRoot::State(state),
            steps: Vec::new(),
            ty: Type::Int32,
            pos: self.pos(),
        };
        let step = ExprKind::Increment {
            place,
            is_decrement: false,
            is_prefix: true,
        };
        out.push(Stmt::Expr(self.node(step, Type::Int32)));
        let number = |g: &mut Self, n| g.node(ExprKind::Const(Value::Int32(n)), Type::Int32);
        let (one, zero) = (number(self, 1), number(self, 0));
        let count = self.node(ExprKind::State(state), Type::Int32);
        let parity = self.infix(BinaryOp::BitAnd, count, one);
        let condition = self.infix(BinaryOp::Eq, parity, zero);
        let arm = self.block(depth);
        out.push(Stmt::If(condition, arm, Vec::new()));
    }

    /// `n = 0; while (n < k && e) { n++; ... }`
    fn while_loop(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        if self.loop_depth == LOOPS_MAX {
            return self.assignment(out);
        }
        let n = self.local(Type::Int32);
        let zero = self.node(ExprKind::Const(Value::Int32(0)), Type::Int32);
        out.push(Stmt::Let(n, Some(zero)));
        self.visible.push(n);
        let stmt = self.scoped(|g| {
            g.frozen.push(PlaceRoot::Local(n));
            let end = g.small_number(4);
            let here = g.node(ExprKind::Local(n), Type::Int32);
            let bound = g.infix(BinaryOp::Lt, here, end);
            let more = g.expr(&Type::Boolean, 2);
            let condition = g.node(
                ExprKind::And(Box::new(bound), Box::new(more)),
                Type::Boolean,
            );
            let step = ExprKind::Increment {
                place: Place::local(n, Type::Int32),
                is_decrement: false,
                is_prefix: false,
            };
            let mut body = vec![Stmt::Expr(g.node(step, Type::Int32))];
            body.extend(g.loop_body(depth));
            Stmt::While(condition, body)
        });
        self.frozen.push(PlaceRoot::Local(n));
        out.push(stmt);
    }

    fn loop_body(&mut self, depth: u32) -> Vec<Stmt> {
        self.loop_depth += 1;
        let body = self.block(depth);
        self.loop_depth -= 1;
        body
    }

    /// `for (x in e) { ... }`
    fn for_loop(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        if self.loop_depth == LOOPS_MAX {
            return self.assignment(out);
        }
        let is_looped = |ty: &&Type| {
            ty.is_collection() || matches!(ty, Type::RString | Type::UString | Type::Blob)
        };
        let types: Vec<Type> = self.types.iter().filter(is_looped).cloned().collect();
        let ty = self.choices.one_of(&types).clone();
        let (ty, collection) = match self.choices.percent(25) {
            true => (Type::List(Type::Int32.into(), None), self.range()),
            false => (ty.clone(), self.expr(&ty, 2)),
        };
        let item = match &ty {
            Type::Blob => Type::Uint8,
            Type::List(element, _) | Type::Set(element, _) => (**element).clone(),
            Type::Map(entry, _) => entry.0.clone(),
            _ => ty.clone(),
        };
        let local = self.local(item);
        let stmt = self.scoped(|g| {
            g.frozen.extend(root_of(&collection));
            g.frozen.push(PlaceRoot::Local(local));
            g.visible.push(local);
            let body = g.loop_body(depth);
            Stmt::For(local, collection, body)
        });
        out.push(stmt);
    }

    /// A call that changes a variable.
    fn native_stmt(&mut self, out: &mut Vec<Stmt>) {
        let is_kept = |ty: &Type| matches!(ty, Type::List(..) | Type::Map(..));
        let Some(place) = self.place_of(is_kept) else {
            return;
        };
        let ty = place.ty.clone();
        let (id, others) = match &ty {
            Type::List(..) if self.choices.percent(20) => (native::CLEAR, vec![]),
            Type::List(element, _) => (native::APPEND, vec![(**element).clone()]),
            Type::Map(entry, _) => (native::INSERT, vec![entry.0.clone(), entry.1.clone()]),
            _ => return,
        };
        let args = self.arguments(vec![place], &others);
        let call = self.native(id, args, Type::Void);
        out.push(Stmt::Expr(call));
    }

    /// A call of a generated function, with the places that its formals by reference need.
    fn user_stmt(&mut self, out: &mut Vec<Stmt>) {
        if self.functions.is_empty() {
            return;
        }
        let id = self.choices.below(self.functions.len());
        let function = &self.functions[id];
        let result = function.result.clone();
        let formals = function.body.locals[..function.formals as usize].to_vec();
        let Some(args) = self.scoped(|g| g.arguments_for(&formals)) else {
            return;
        };
        let callee = Callee::User(FunctionId(id as u32));
        let call = self.node(ExprKind::Call(callee, args), result.clone());
        if result != Type::Void && self.choices.percent(60) {
            let local = self.local(result);
            self.visible.push(local);
            out.push(Stmt::Let(local, Some(call)));
        } else {
            out.push(Stmt::Expr(call));
        }
    }

    /// Places first, so that the other arguments can keep off their variables.
    fn arguments_for(&mut self, formals: &[graph::LocalVar]) -> Option<Vec<Arg>> {
        let mut places = Vec::new();
        for formal in formals.iter().filter(|formal| formal.by_reference) {
            let place = self.place_of(|ty| *ty == formal.ty)?;
            self.hidden.push(place.root);
            places.push(place);
        }
        let mut places = places.into_iter();
        let args = formals.iter().map(|formal| {
            if formal.by_reference {
                return places.next().map(Arg::Place);
            }
            Some(Arg::Value(self.expr(&formal.ty, 2)))
        });
        args.collect()
    }

    fn arguments(&mut self, places: Vec<Place>, others: &[Type]) -> Vec<Arg> {
        self.scoped(|g| {
            g.hidden.extend(places.iter().map(|place| place.root));
            let mut args: Vec<Arg> = places.into_iter().map(Arg::Place).collect();
            args.extend(others.iter().map(|ty| Arg::Value(g.expr(ty, 2))));
            args
        })
    }

    /// `break`, `continue` or `return` on a condition.
    fn jump_stmt(&mut self, out: &mut Vec<Stmt>) {
        let condition = self.expr(&Type::Boolean, 2);
        let how = match self.choices.below(3) {
            0 if self.loop_depth > 0 => Stmt::Break,
            1 if self.loop_depth > 0 => Stmt::Continue,
            _ => self.return_stmt(),
        };
        out.push(Stmt::If(condition, vec![how], vec![]));
    }

    /// `return`, with a value if there has to be one.
    pub(super) fn return_stmt(&mut self) -> Stmt {
        match self.result.clone() {
            None | Some(Type::Void) => Stmt::Return(None),
            Some(ty) => Stmt::Return(Some(self.expr(&ty, EXPR_DEPTH))),
        }
    }

    fn submit(&mut self, out: &mut Vec<Stmt>) {
        if self.result.is_some() {
            return;
        }
        let pos = self.pos();
        if self.choices.percent(5) {
            let seconds = self.expr(&Type::Float64, 2);
            return out.push(Stmt::Sleep(seconds));
        }
        if self.choices.percent(20) {
            let mark = self.constant(&environment::punctuation_type());
            let port = match self.choices.percent(30) {
                true => self.computed_port(3),
                false => self.port_number(),
            };
            out.push(Stmt::SubmitPunct { port, mark, pos });
            return;
        }
        let outputs = environment::outputs();
        let at = self.choices.below(outputs.len());
        let ty = Type::Tuple(outputs[at].clone());
        let port = match at {
            1 => self.node(ExprKind::Const(Value::Uint32(1)), Type::Uint32),
            _ => self.even_port(),
        };
        // Any expression of the type: an input tuple, a variable, a choice.
        let tuple = match (at, self.choices.percent(40)) {
            (1, _) | (_, false) => self.tuple_literal(&outputs[at], if at == 1 { 1 } else { 3 }),
            (_, true) => self.expr(&ty, 2),
        };
        out.push(Stmt::Submit { port, tuple, pos });
    }

    fn tuple_literal(&mut self, schema: &Arc<TupleType>, depth: u32) -> Expr {
        let attributes = schema.attributes.iter();
        let parts = attributes.map(|a| self.expr(&a.ty, depth)).collect();
        self.node(ExprKind::Tuple(parts), Type::Tuple(schema.clone()))
    }

    /// The number of an output port, now and then of one that does not exist.
    fn port_number(&mut self) -> Expr {
        let at = match self.choices.percent(5) {
            true => 3,
            false => self.choices.below(3) as u32,
        };
        self.node(ExprKind::Const(Value::Uint32(at)), Type::Uint32)
    }

    /// A port number that is computed, `e & mask`.
    fn computed_port(&mut self, mask: u32) -> Expr {
        let any = self.expr(&Type::Uint32, 2);
        let mask = self.node(ExprKind::Const(Value::Uint32(mask)), Type::Uint32);
        self.infix(BinaryOp::BitAnd, any, mask)
    }

    /// One of the ports 0 and 2, which have the same schema, or 4, which does not exist.
    fn even_port(&mut self) -> Expr {
        match self.choices.below(10) {
            0..=5 => self.node(ExprKind::Const(Value::Uint32(0)), Type::Uint32),
            6 | 7 => self.node(ExprKind::Const(Value::Uint32(2)), Type::Uint32),
            8 => self.computed_port(2),
            _ => self.computed_port(4),
        }
    }

    /// The value of a local variable.
    pub(super) fn read(&mut self, id: LocalId) -> Expr {
        let ty = self.locals[id.0 as usize].ty.clone();
        self.node(root_expr_kind(PlaceRoot::Local(id)), ty)
    }
}

/// The variable that a collection is a part of.
fn root_of(expr: &Expr) -> Option<PlaceRoot> {
    match &expr.kind {
        ExprKind::Local(id) => Some(PlaceRoot::Local(*id)),
        ExprKind::State(id) => Some(PlaceRoot::State(*id)),
        ExprKind::Field(base, _) | ExprKind::Index(base, _) | ExprKind::Unwrap(base) => {
            root_of(base)
        }
        _ => None,
    }
}
