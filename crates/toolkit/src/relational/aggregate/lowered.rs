//! A tumbling window of a number of tuples, without groups, as statements. Running results are
//! state variables, so the operator is compiled into the code of its fused chain. With partitions
//! they are variables of a table whose keys are those of the partitions.
//!
//! ```text
//!   onTuple : {
//!       K k = <partitionBy>;                       // each, if there are partitions
//!       T v = <argument>;                          // each, whether or not the window is full
//!       entry of windows[{k = k}];                 // if there are partitions
//!       ++count;
//!       if (count == 1) { sum = v; } else { sum += v; }
//!       if (count == size) {
//!           count = 0;                             // or: T total = sum; remove entry of windows
//!           submit({total = sum, price = price}, 0);   // the last tuple is the one that is here
//!           submit(Sys.WindowMarker, 0);
//!       }
//!   }
//! ```
//! Each function takes the steps of [`super::running_function`] in the same order, so that
//! results agree to the bit. [`super::operator`] evaluates all other windows.

use std::sync::Arc;

use eval::{Fault, State};
use graph::{
    BinaryOp, Body, Expr, ExprKind, OperatorNode, OutputCall, ParamValue, Place, PlaceRoot, Policy,
    PortIndex, Pos, StateId, StateTable, StateVar, Stmt, TableId, Window, WindowKind,
};
use runtime::{CountedWindow, LoweredLogic};
use tuple::{List, TupleType, Type, Value};

use super::incomplete_help::incomplete_help;
use crate::lower;

/// Whether an Aggregate can be lowered.
pub fn can_lower(operator: &OperatorNode) -> bool {
    let is_counted = operator.inputs[0].window.as_ref().and_then(size).is_some();
    let mut calls = operator.outputs[0].calls.iter();
    is_counted && operator.param("groupBy").is_none() && calls.all(can_lower_call)
}

/// Number of tuples of a window, if nothing else flushes it.
fn size(window: &Window) -> Option<u32> {
    let evicts_partitions = window.partition.as_ref().is_some_and(|p| p.evict.is_some());
    match window.evict {
        Policy::Count(size)
            if size > 0 && window.kind == WindowKind::Tumbling && !evicts_partitions =>
        {
            Some(size)
        }
        _ => None,
    }
}

/// The table of the partitions' windows.
const WINDOWS: TableId = TableId(0);

fn can_lower_call(call: &OutputCall) -> bool {
    let is_real = |ty: &Type| ty.is_integral() || ty.is_float();
    let argument = call.args.first().map(|arg| &arg.ty);
    match &*call.function {
        "Count" | "CountAll" | "CountGroups" | "CountByGroup" | "Last" | "Any" => true,
        "First" => argument.is_some_and(State::is_scalar),
        "Max" | "Min" | "Sum" => argument.is_some_and(is_real),
        "ArgMax" | "ArgMin" => argument.is_some_and(is_real) && State::is_scalar(&call.ty),
        "Average" => argument.is_some_and(|ty| ty.is_float() || sum_type(ty).is_some()),
        _ => false,
    }
}

/// The SPL type in which the sum of a window of integers cannot overflow, if there is one.
fn sum_type(ty: &Type) -> Option<Type> {
    match ty {
        Type::Int8 | Type::Int16 | Type::Int32 => Some(Type::Int64),
        Type::Uint8 | Type::Uint16 | Type::Uint32 => Some(Type::Uint64),
        _ => None,
    }
}

/// Lowers an Aggregate to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let window = operator.inputs[0].window.as_ref();
    let size = window
        .and_then(size)
        .ok_or_else(|| lower::missing_param("window"))?;
    let mut added = Vec::new();
    let mut logic = lower::after_logic(operator, |_, body| {
        let mut fold = AggregateLowering {
            size,
            pos: operator.pos,
            body,
            logic_state_count: operator.logic.state.len(),
            state: Vec::new(),
            first: Vec::new(),
            later: Vec::new(),
        };
        let key = partition_key(operator);
        fold.lower(operator, key.as_ref());
        added = fold.state;
        Ok(())
    })?;
    let logic_state_count = logic.state.len();
    logic.state.extend(added);
    let variables = logic_state_count..logic.state.len();
    if let Some(key) = partition_key(operator)
        && let Type::Tuple(key) = key.ty
    {
        logic.tables.push(StateTable {
            name: "windows".into(),
            key,
            variables: variables.map(|at| StateId(at as u32)).collect(),
        });
    }
    logic.window = window.map(|window| CountedWindow {
        // The count is the first state variable that is added.
        count: StateId(logic_state_count as u32),
        table: (!logic.tables.is_empty()).then_some(WINDOWS),
        help: incomplete_help(window),
    });
    Ok(logic)
}

/// The key of a tuple's partition, as a tuple.
fn partition_key(operator: &OperatorNode) -> Option<Expr> {
    let ParamValue::Exprs(parts) = &operator.param("partitionBy")?.value else {
        return None;
    };
    let types = parts.iter().enumerate();
    let types = types.map(|(at, part)| (format!("k{at}"), part.ty.clone()));
    let schema = Arc::new(TupleType::new(types));
    Some(lower::tuple(parts.clone(), &schema, operator.pos))
}

struct AggregateLowering<'a> {
    size: u32,
    /// Position of the part of the invocation that is being lowered.
    pos: Pos,
    body: &'a mut Body,
    /// Number of state variables of the logic clause.
    logic_state_count: usize,
    /// State variables of the window, behind those of the logic clause.
    state: Vec<StateVar>,
    /// Statements for the first tuple of a window.
    first: Vec<Stmt>,
    later: Vec<Stmt>,
}

impl AggregateLowering<'_> {
    fn lower(&mut self, operator: &OperatorNode, key: Option<&Expr>) {
        let out = &operator.outputs[0];
        let key = key.map(|key| self.key(key));
        let count = self.variable("count", Type::Uint32);
        let calls = out.calls.iter();
        let mut results: Vec<Expr> = calls.map(|call| self.call(call)).collect();
        let mut fire = Vec::new();
        if let Some(key) = key {
            // Whatever can fault comes before it, so that a tuple with a fault opens no window.
            self.body.stmts.push(Stmt::FindEntry {
                table: WINDOWS,
                pos: key.pos,
                key,
                added: Vec::new(),
            });
            results = results
                .into_iter()
                .map(|result| self.result(result, &mut fire))
                .collect();
            fire.push(Stmt::RemoveEntry(WINDOWS));
        } else {
            fire.push(self.set(&count, self.constant(Value::Uint32(0))));
        }
        self.pos = operator.pos;
        let tuple = lower::output(out, self.pos, |assigned| {
            let mut expr = assigned.clone();
            expr.for_each(&mut |part| {
                if let ExprKind::OutputCall(call) = part.kind {
                    *part = results[call as usize].clone();
                }
            });
            expr
        });
        let one = self.constant(Value::Uint32(1));
        let more = self.binary(BinaryOp::Add, &count, &one);
        let is_first = self.compare(BinaryOp::Eq, &count, &one);
        let (first, later) = (self.first.split_off(0), self.later.split_off(0));
        let is_full = self.compare(
            BinaryOp::Eq,
            &count,
            &self.constant(Value::Uint32(self.size)),
        );
        fire.push(lower::submit(PortIndex(0), tuple));
        fire.push(lower::submit_window(PortIndex(0), self.pos));
        let stmts = [
            self.set(&count, more),
            Stmt::If(is_first, first, later),
            Stmt::If(is_full, fire, Vec::new()),
        ];
        self.body.stmts.extend(stmts);
    }

    /// The key, each part of it computed.
    fn key(&mut self, key: &Expr) -> Expr {
        let mut key = key.clone();
        if let ExprKind::Tuple(parts) = &mut key.kind {
            parts
                .iter_mut()
                .for_each(|part| *part = self.argument(part));
        }
        key
    }

    /// A result that is still there when the window's entry has been removed.
    fn result(&mut self, result: Expr, fire: &mut Vec<Stmt>) -> Expr {
        if matches!(result.kind, ExprKind::Attribute { .. } | ExprKind::Const(_)) {
            return result;
        }
        let (ty, pos) = (result.ty.clone(), result.pos);
        let local = self.body.local("result", ty.clone());
        fire.push(Stmt::Let(local, Some(result)));
        lower::expr(ExprKind::Local(local), ty, pos)
    }

    /// Adds the statements of a call for each tuple, and returns the expression of its result once
    /// the window is full.
    fn call(&mut self, call: &OutputCall) -> Expr {
        self.pos = call.pos;
        let args: Vec<Expr> = call.args.iter().map(|arg| self.argument(arg)).collect();
        let size = self.size as i32;
        match (&*call.function, &args[..]) {
            ("Count" | "CountAll", _) => self.constant(Value::Int32(size)),
            ("CountGroups", _) => self.constant(Value::Int32(1)),
            ("CountByGroup", _) => self.constant(Value::List(List::Int32(vec![size]))),
            ("First", [value]) => self.kept_value(value),
            ("Max", [value]) => self.extreme(BinaryOp::Gt, value, None),
            ("Min", [value]) => self.extreme(BinaryOp::Lt, value, None),
            ("ArgMax", [value, other]) => self.extreme(BinaryOp::Gt, value, Some(other)),
            ("ArgMin", [value, other]) => self.extreme(BinaryOp::Lt, value, Some(other)),
            ("Sum", [value]) => self.sum(value),
            ("Average", [value]) => {
                let wide = sum_type(&value.ty).unwrap_or_else(|| value.ty.clone());
                self.quotient(value, &wide)
            }
            (_, [value, ..]) => value.clone(),
            (name, []) => unreachable!("{name} is no function without an argument"),
        }
    }

    /// An argument's value for this tuple.
    fn argument(&mut self, arg: &Expr) -> Expr {
        if let ExprKind::Attribute { .. } = arg.kind {
            return arg.clone();
        }
        let local = self.body.local("argument", arg.ty.clone());
        self.body.stmts.push(Stmt::Let(local, Some(arg.clone())));
        lower::expr(ExprKind::Local(local), arg.ty.clone(), arg.pos)
    }

    /// The first tuple's value, in a variable that may be set later.
    fn kept_value(&mut self, value: &Expr) -> Expr {
        let chosen = self.variable("chosen", value.ty.clone());
        self.first.push(self.set(&chosen, value.clone()));
        chosen
    }

    /// The first value that no other surpasses, or what came with it.
    fn extreme(&mut self, surpasses: BinaryOp, value: &Expr, other: Option<&Expr>) -> Expr {
        let best = self.kept_value(value);
        let mut changes = vec![self.set(&best, value.clone())];
        let is_better = self.compare(surpasses, value, &best);
        let result = match other {
            Some(other) => {
                let beside = self.kept_value(other);
                changes.push(self.set(&beside, other.clone()));
                beside
            }
            None => best,
        };
        self.later.push(Stmt::If(is_better, changes, Vec::new()));
        result
    }

    fn sum(&mut self, value: &Expr) -> Expr {
        let sum = self.kept_value(value);
        let more = self.binary(BinaryOp::Add, &sum, value);
        self.later.push(self.set(&sum, more));
        sum
    }

    /// The sum divided by the count.
    fn quotient(&mut self, value: &Expr, wide: &Type) -> Expr {
        let sum = self.sum(&self.cast(value, wide));
        let size = self.cast(&self.constant(Value::Uint32(self.size)), wide);
        let quotient = self.binary(BinaryOp::Div, &sum, &size);
        self.cast(&quotient, &value.ty)
    }

    /// A new state variable, as an expression that reads it.
    fn variable(&mut self, name: &str, ty: Type) -> Expr {
        let id = StateId((self.logic_state_count + self.state.len()) as u32);
        self.state.push(StateVar {
            name: name.into(),
            ty: ty.clone(),
            init: None,
        });
        lower::expr(ExprKind::State(id), ty, self.pos)
    }

    fn set(&self, variable: &Expr, value: Expr) -> Stmt {
        let ExprKind::State(id) = variable.kind else {
            unreachable!("only state variables are set");
        };
        let place = Place {
            root: PlaceRoot::State(id),
            steps: Vec::new(),
            ty: variable.ty.clone(),
            pos: self.pos,
        };
        let kind = ExprKind::Assign(place, Box::new(value));
        Stmt::Expr(lower::expr(kind, Type::Void, self.pos))
    }

    fn constant(&self, value: Value) -> Expr {
        let ty = match value {
            Value::Uint32(_) => Type::Uint32,
            Value::List(_) => Type::List(Type::Int32.into(), None),
            _ => Type::Int32,
        };
        lower::constant(value, ty, self.pos)
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        lower::expr(kind, a.ty.clone(), self.pos)
    }

    fn compare(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        lower::expr(self.binary(op, a, b).kind, Type::Boolean, self.pos)
    }

    fn cast(&self, value: &Expr, ty: &Type) -> Expr {
        if value.ty == *ty {
            return value.clone();
        }
        lower::expr(
            ExprKind::Cast(Box::new(value.clone())),
            ty.clone(),
            self.pos,
        )
    }
}
