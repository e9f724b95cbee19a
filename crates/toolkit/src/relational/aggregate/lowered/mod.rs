//! A window of a number of tuples, or panes of event time, as statements. Running results are state
//! variables, so the operator is compiled into the code of its fused chain. With partitions they
//! are variables of a table whose keys are those of the partitions; with groups, of a table of
//! groups.
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
//! [`sliding`] those of one that slides, [`panes`] those of panes. Each function takes the steps
//! of [`super::running_function`] in the same order, so that results agree to the bit.
//! [`super::operator`] evaluates all other windows.

mod calls;
mod count_window;
mod functions;
mod groups;
mod output;
mod pane_links;
mod panes;
mod sliding;
mod wide_mean;

use std::collections::BTreeMap;

use eval::Fault;
use graph::{Expr, ExprKind, OperatorNode, PortIndex, Stmt, TableId};
use runtime::{CountedWindow, LoweredLogic};
use tuple::{Type, Value};

use self::count_window::CountWindow;
use self::output::{PartitionKey, output};
use super::incomplete_help::incomplete_help;
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Whether an Aggregate can be lowered.
pub fn can_lower(operator: &OperatorNode) -> bool {
    if panes::interval(operator).is_some() {
        return true;
    }
    let Some(window) = CountWindow::of(operator) else {
        return false;
    };
    let has_groups = operator.param("groupBy").is_some();
    let out = &operator.outputs[0];
    let mut calls = out.calls.iter();
    if window.slide.is_some() {
        return !has_groups && calls.all(functions::is_lowered_in_sliding);
    }
    calls.all(|call| functions::is_lowered_in_tumbling(call, has_groups))
        && (!has_groups || groups::can_lower(out))
}

/// Lowers an Aggregate to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    if let Some(interval) = panes::interval(operator) {
        return panes::lower(operator, interval);
    }
    let window = CountWindow::of(operator).ok_or_else(|| lower::missing_param("window"))?;
    let mut code = StatefulLowering::new(operator);
    let mut counted = None;
    let mut logic = lower::after_logic(operator, |_, body| {
        code.body = std::mem::take(body);
        counted = Some(lower_window(operator, window, &mut code));
        *body = std::mem::take(&mut code.body);
        Ok(())
    })?;
    logic.state.extend(code.state);
    logic.tables = code.tables;
    logic.window = counted;
    Ok(logic)
}

/// Adds the statements of a window to the body. Returns what the run time counts of it.
fn lower_window(
    operator: &OperatorNode,
    window: CountWindow,
    code: &mut StatefulLowering,
) -> CountedWindow {
    let partition = code.key(operator, "partitionBy");
    let group = code.key(operator, "groupBy");
    let home = partition
        .as_ref()
        .map(|partition| code.add_table("windows", Some(partition)));
    let count = code.variable(home, "count", Type::Uint32);
    let counted = CountedWindow {
        count: state_id(&count),
        table: home,
        size: match window.slide {
            Some(slide) if slide.fires_incomplete => 0,
            _ => window.size,
        },
        help: operator.inputs[0]
            .window
            .as_ref()
            .map_or("", incomplete_help),
    };
    let partition = home.zip(partition);
    if let Some(slide) = window.slide {
        let window = (window.size, slide);
        sliding::lower_sliding(operator, window, count, partition, code);
        return counted;
    }
    let mut lowering = TumblingLowering::new(operator, window.size, count, home, code);
    match group {
        Some(group) => lowering.lower_groups(operator, partition, group),
        None => lowering.lower_window(operator, partition),
    }
    counted
}

/// Lowering of a tumbling window.
struct TumblingLowering<'l> {
    code: &'l mut StatefulLowering,
    /// Number of tuples of a full window.
    size: u32,
    /// Number of tuples in the window.
    count: Expr,
    /// The table that variables of functions belong to.
    table: Option<TableId>,
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

impl<'l> TumblingLowering<'l> {
    fn new(
        operator: &OperatorNode,
        size: u32,
        count: Expr,
        table: Option<TableId>,
        code: &'l mut StatefulLowering,
    ) -> TumblingLowering<'l> {
        TumblingLowering {
            size,
            count,
            table,
            has_groups: operator.param("groupBy").is_some(),
            tuples: code.constant(Value::Uint32(size)),
            group_count: code.constant(Value::Int32(1)),
            last_values: BTreeMap::new(),
            first: Vec::new(),
            later: Vec::new(),
            code,
        }
    }

    /// The statements of a window without groups.
    fn lower_window(&mut self, operator: &OperatorNode, partition: Option<PartitionKey>) {
        let calls = operator.outputs[0].calls.iter();
        let mut results: Vec<Expr> = calls.map(|call| self.call(call)).collect();
        let mut fire = Vec::new();
        if let Some((windows, partition)) = partition {
            // Whatever can fault comes before it, so that a tuple with a fault opens no window.
            let find = self.code.find_entry(windows, partition);
            self.code.body.stmts.push(find);
            let kept = results
                .into_iter()
                .map(|result| self.result(result, &mut fire));
            results = kept.collect();
            fire.push(Stmt::RemoveEntry(windows));
        } else {
            let none = self.code.constant(Value::Uint32(0));
            fire.push(self.code.set(&self.count, none));
        }
        self.code.pos = operator.pos;
        let tuple = output(operator, operator.pos, &results, &self.last_values);
        fire.push(lower::submit(PortIndex(0), tuple));
        fire.push(lower::submit_window(PortIndex(0), self.code.pos));
        self.count_and_accumulate(&self.count.clone());
        self.fire_if_full(fire);
    }

    /// Counts a tuple, and runs the statements of all functions for it.
    fn count_and_accumulate(&mut self, count: &Expr) {
        let is_first = self.code.equals(count, Value::Uint32(1));
        let (first, later) = (self.first.split_off(0), self.later.split_off(0));
        let stmts = [self.code.increment(count), Stmt::If(is_first, first, later)];
        self.code.body.stmts.extend(stmts);
    }

    fn fire_if_full(&mut self, fire: Vec<Stmt>) {
        let is_full = self.code.equals(&self.count, Value::Uint32(self.size));
        self.code.body.stmts.push(if_then(is_full, fire));
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
        let (local, kept) = self.code.local("result", result.ty.clone());
        fire.push(Stmt::Let(local, Some(result)));
        kept
    }

    /// A new state variable of the window or the group, as an expression that reads it.
    fn variable(&mut self, name: &str, ty: Type) -> Expr {
        self.code.variable(self.table, name, ty)
    }
}
