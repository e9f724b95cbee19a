//! A window of a number of tuples as statements. Running results are state variables, so
//! the operator is compiled into the code of its fused chain. With partitions they are variables of
//! a table whose keys are those of the partitions; with groups, of a table of groups.
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
//! These are the statements of a tumbling window; [`groups`] has those of one with groups,
//! [`sliding`] those of one that slides. Each function takes the steps of
//! [`super::running_function`] in the same order, so that results agree to the bit.
//! [`super::operator`] evaluates all other windows.

mod builders;
mod calls;
mod count_window;
mod groups;
mod sliding;

use std::collections::BTreeMap;
use std::sync::Arc;

use eval::Fault;
use graph::{
    Body, Expr, ExprKind, OperatorNode, ParamValue, PortIndex, Pos, StateId, StateTable, StateVar,
    Stmt, TableId,
};
use runtime::{CountedWindow, LoweredLogic};
use tuple::{TupleType, Type, Value};

use self::count_window::CountWindow;
use super::incomplete_help::incomplete_help;
use crate::lower;

/// Whether an Aggregate can be lowered.
pub fn can_lower(operator: &OperatorNode) -> bool {
    let Some(window) = CountWindow::of(operator) else {
        return false;
    };
    let has_groups = operator.param("groupBy").is_some();
    let out = &operator.outputs[0];
    let mut calls = out.calls.iter();
    if window.slide.is_some() {
        return !has_groups && calls.all(sliding::can_lower);
    }
    calls.all(|call| calls::can_lower(call, has_groups)) && (!has_groups || groups::can_lower(out))
}

/// Lowers an Aggregate to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let window = CountWindow::of(operator).ok_or_else(|| lower::missing_param("window"))?;
    let logic_state_count = operator.logic.state.len();
    let (mut added, mut tables) = (Vec::new(), Vec::new());
    let mut logic = lower::after_logic(operator, |_, body| {
        let mut lowering = AggregateLowering::new(operator, window, body);
        lowering.lower(operator);
        added = lowering.state;
        tables = lowering.tables;
        Ok(())
    })?;
    logic.state.extend(added);
    logic.tables = tables;
    let has_partitions = operator.param("partitionBy").is_some();
    let fires_incomplete = window.slide.is_some_and(|slide| slide.fires_incomplete);
    logic.window = Some(CountedWindow {
        // The count is the first state variable that is added.
        count: StateId(logic_state_count as u32),
        table: has_partitions.then_some(WINDOWS),
        size: if fires_incomplete { 0 } else { window.size },
        help: operator.inputs[0]
            .window
            .as_ref()
            .map_or("", incomplete_help),
    });
    Ok(logic)
}

/// The table of the partitions' windows.
const WINDOWS: TableId = TableId(0);

struct AggregateLowering<'a> {
    window: CountWindow,
    /// Position of the part of the invocation that is being lowered.
    pos: Pos,
    body: &'a mut Body,
    /// Number of state variables of the logic clause.
    logic_state_count: usize,
    /// State variables of windows and groups, behind those of the logic clause.
    state: Vec<StateVar>,
    tables: Vec<StateTable>,
    /// Index of the table that further variables belong to.
    table: Option<usize>,
    has_groups: bool,
    /// Number of tuples that a result is of, a uint32.
    tuples: Expr,
    /// Number of groups in the window, an int32.
    group_count: Expr,
    /// The last values of attributes in a group, by attribute.
    last_values: BTreeMap<u32, Expr>,
    /// Statements for the first tuple of a window or group.
    first: Vec<Stmt>,
    later: Vec<Stmt>,
}

impl<'a> AggregateLowering<'a> {
    fn new(
        operator: &OperatorNode,
        window: CountWindow,
        body: &'a mut Body,
    ) -> AggregateLowering<'a> {
        let number = |value, ty| lower::constant(value, ty, operator.pos);
        AggregateLowering {
            window,
            pos: operator.pos,
            body,
            logic_state_count: operator.logic.state.len(),
            state: Vec::new(),
            tables: Vec::new(),
            table: None,
            has_groups: operator.param("groupBy").is_some(),
            tuples: number(Value::Uint32(window.size), Type::Uint32),
            group_count: number(Value::Int32(1), Type::Int32),
            last_values: BTreeMap::new(),
            first: Vec::new(),
            later: Vec::new(),
        }
    }
}

impl AggregateLowering<'_> {
    fn lower(&mut self, operator: &OperatorNode) {
        let partition = self.key(operator, "partitionBy");
        let group = self.key(operator, "groupBy");
        if let Some(partition) = &partition {
            self.add_table("windows", partition);
        }
        let count = self.variable("count", Type::Uint32);
        match (group, self.window.slide) {
            (Some(group), _) => self.lower_groups(operator, &count, partition, group),
            (None, Some(slide)) => self.lower_sliding(operator, slide, &count, partition),
            (None, None) => self.lower_window(operator, &count, partition),
        }
    }

    /// The statements of a window without groups.
    fn lower_window(
        &mut self,
        operator: &OperatorNode,
        count: &Expr,
        partition: Option<Vec<Expr>>,
    ) {
        let calls = operator.outputs[0].calls.iter();
        let mut results: Vec<Expr> = calls.map(|call| self.call(call)).collect();
        let mut fire = Vec::new();
        if let Some(partition) = partition {
            // Whatever can fault comes before it, so that a tuple with a fault opens no window.
            self.find_entry(WINDOWS, partition);
            let kept = results
                .into_iter()
                .map(|result| self.result(result, &mut fire));
            results = kept.collect();
            fire.push(Stmt::RemoveEntry(WINDOWS));
        } else {
            fire.push(self.set(count, self.constant(Value::Uint32(0))));
        }
        self.pos = operator.pos;
        let tuple = self.output(operator, &results);
        fire.push(lower::submit(PortIndex(0), tuple));
        fire.push(lower::submit_window(PortIndex(0), self.pos));
        self.count_and_accumulate(count);
        self.fire_if_full(count, fire);
    }

    /// Counts a tuple, and runs the statements of all functions for it.
    fn count_and_accumulate(&mut self, count: &Expr) {
        let is_first = self.equals(count, Value::Uint32(1));
        let (first, later) = (self.first.split_off(0), self.later.split_off(0));
        let stmts = [self.increment(count), Stmt::If(is_first, first, later)];
        self.body.stmts.extend(stmts);
    }

    fn fire_if_full(&mut self, count: &Expr, fire: Vec<Stmt>) {
        let is_full = self.equals(count, Value::Uint32(self.window.size));
        self.body.stmts.push(Stmt::If(is_full, fire, Vec::new()));
    }

    /// The output tuple, given the results of the calls.
    fn output(&mut self, operator: &OperatorNode, results: &[Expr]) -> Expr {
        let last_values = &self.last_values;
        lower::output(&operator.outputs[0], self.pos, |assigned| {
            let mut expr = assigned.clone();
            expr.for_each(&mut |part| match part.kind {
                ExprKind::OutputCall(call) => *part = results[call as usize].clone(),
                ExprKind::Attribute { index, .. } => {
                    if let Some(last) = last_values.get(&index) {
                        *part = last.clone();
                    }
                }
                _ => {}
            });
            expr
        })
    }

    /// The parts of a key that a parameter gives, each computed.
    fn key(&mut self, operator: &OperatorNode, param: &str) -> Option<Vec<Expr>> {
        let ParamValue::Exprs(parts) = &operator.param(param)?.value else {
            return None;
        };
        Some(parts.iter().map(|part| self.argument(part)).collect())
    }

    /// Adds a table with a key of these parts, which further variables belong to.
    fn add_table(&mut self, name: &str, key: &[Expr]) {
        self.table = Some(self.tables.len());
        self.tables.push(StateTable {
            name: name.into(),
            key: Some(key_type(key)),
            variables: Vec::new(),
        });
    }

    /// Adds the statement that makes the entry of a key current.
    fn find_entry(&mut self, table: TableId, key: Vec<Expr>) {
        let pos = self.pos;
        let schema = key_type(&key);
        self.body.stmts.push(Stmt::FindEntry {
            table,
            key: lower::tuple(key, &schema, pos),
            added: Vec::new(),
            pos,
        });
    }

    /// A result that is still there when the entry has been removed.
    fn result(&mut self, result: Expr, fire: &mut Vec<Stmt>) -> Expr {
        let is_kept = |kind: &ExprKind| {
            matches!(
                kind,
                ExprKind::Attribute { .. } | ExprKind::Const(_) | ExprKind::Local(_)
            )
        };
        if is_kept(&result.kind) {
            return result;
        }
        let (local, kept) = self.local("result", result.ty.clone());
        fire.push(Stmt::Let(local, Some(result)));
        kept
    }

    /// A new state variable of a table or of the operator, as an expression that reads it.
    fn variable_in(&mut self, table: Option<usize>, name: &str, ty: Type) -> Expr {
        self.table = table;
        self.variable(name, ty)
    }

    /// A new state variable, as an expression that reads it.
    fn variable(&mut self, name: &str, ty: Type) -> Expr {
        let id = StateId((self.logic_state_count + self.state.len()) as u32);
        self.state.push(StateVar {
            name: name.into(),
            ty: ty.clone(),
            init: None,
        });
        if let Some(table) = self.table {
            self.tables[table].variables.push(id);
        }
        lower::expr(ExprKind::State(id), ty, self.pos)
    }
}

/// The type of a key of these parts.
fn key_type(parts: &[Expr]) -> Arc<TupleType> {
    let types = parts.iter().enumerate();
    Arc::new(TupleType::new(
        types.map(|(at, part)| (format!("k{at}"), part.ty.clone())),
    ))
}
