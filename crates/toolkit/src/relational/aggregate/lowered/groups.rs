//! A window with groups: a table has the groups of all windows.
//!
//! ```text
//!   ++count;
//!   if (count == 1) { serial = ++opened; first = 0; groupCount = 0; }
//!   entry of groups[{k = k, g = g}];               // the partition's key, the group's
//!   if (of != serial) {                            // it is new in this window
//!       of = serial; size = 0; next = 0;
//!       uint32 id = id of groups;
//!       if (first == 0) { first = id; } else { <the entry last>; next = id; <the entry id> }
//!       last = id; ++groupCount;
//!   }
//!   ++size;
//!   if (size == 1) { sum = v; } else { sum += v; }
//!   if (count == size of the window) {
//!       uint32 at = first; int32 all = groupCount;
//!       count = 0;                                 // or: remove entry of windows
//!       while (at != 0) {
//!           <the entry at>; T total = sum; at = next; remove entry of groups;
//!           submit({total = total}, 0);
//!       }
//!       submit(Sys.WindowMarker, 0);
//!   }
//! ```
//! Groups that a faulting output leaves behind belong to a window that is over: the serial says so.

use graph::{BinaryOp, Expr, ExprKind, OperatorNode, OutPort, PortIndex, Stmt, TableId};
use tuple::{Type, Value};

use super::TumblingLowering;
use super::output::{PartitionKey, output};
use crate::lower;

/// Whether an output of groups can be lowered: it reads nothing but attributes of the last tuple of
/// each, whose values can be kept.
pub(super) fn can_lower(out: &OutPort) -> bool {
    let mut can = true;
    for assigned in out.assign.iter().flatten() {
        assigned.for_each_ref(&mut |part| {
            can &= match part.kind {
                ExprKind::Attribute { history, .. } => history == 0,
                ExprKind::Input { .. } => false,
                _ => true,
            };
        });
    }
    can
}

/// Variables of a window with groups.
struct WindowVariables {
    /// Ids of the first and the last group.
    first: Expr,
    last: Expr,
    group_count: Expr,
    /// Serial number of the window among those of the operator.
    serial: Expr,
}

impl TumblingLowering<'_> {
    /// The statements of a window with groups.
    pub(super) fn lower_groups(
        &mut self,
        operator: &OperatorNode,
        partition: Option<PartitionKey>,
        group: Vec<Expr>,
    ) {
        let window = self.window_variables();
        let count = self.count.clone();
        let windows = self.table;
        let partition = partition.map(|(_, key)| key);
        let key = [partition.clone().unwrap_or_default(), group].concat();
        let opened = self.code.variable(None, "opened", Type::Uint64);
        let groups = self.code.add_table("groups", Some(&key));
        self.table = Some(groups);
        let size = self.variable("size", Type::Uint32);
        let next = self.variable("next", Type::Uint32);
        let of = self.variable("of", Type::Uint64);
        let (group_count_id, group_count) = self.code.local("groupCount", Type::Int32);
        (self.tuples, self.group_count) = (size.clone(), group_count);
        self.keep_last_values(operator);
        let calls = operator.outputs[0].calls.iter();
        let results: Vec<Expr> = calls.map(|call| self.call(call)).collect();
        self.code.pos = operator.pos;

        if let Some((windows, partition)) = windows.zip(partition) {
            let find = self.code.find_entry(windows, partition);
            self.code.body.stmts.push(find);
        }
        self.code.body.stmts.push(self.code.increment(&count));
        self.open_window(&count, &window, &opened);
        let find = self.code.find_entry(groups, key);
        self.code.body.stmts.push(find);
        self.add_group(groups, &window, (&size, &next, &of));
        self.count_and_accumulate(&size);

        let mut fire = vec![Stmt::Let(group_count_id, Some(window.group_count.clone()))];
        let (at_id, at) = self.code.local("at", Type::Uint32);
        fire.push(Stmt::Let(at_id, Some(window.first.clone())));
        fire.push(match windows {
            Some(table) => Stmt::RemoveEntry(table),
            None => self.code.set(&count, self.code.constant(Value::Uint32(0))),
        });
        let turn = self.submit_group(operator, groups, (&at, &next), results);
        let none = self.code.constant(Value::Uint32(0));
        fire.push(Stmt::While(
            self.code.compare(BinaryOp::Ne, &at, &none),
            turn,
        ));
        fire.push(lower::submit_window(PortIndex(0), self.code.pos));
        self.fire_if_full(fire);
    }

    fn window_variables(&mut self) -> WindowVariables {
        WindowVariables {
            first: self.variable("first", Type::Uint32),
            last: self.variable("last", Type::Uint32),
            group_count: self.variable("groupCount", Type::Int32),
            serial: self.variable("serial", Type::Uint64),
        }
    }

    /// Keeps the last value of each attribute that the output reads.
    pub(super) fn keep_last_values(&mut self, operator: &OperatorNode) {
        let mut read = Vec::new();
        for assigned in operator.outputs[0].assign.iter().flatten() {
            assigned.for_each_ref(&mut |part| {
                if let ExprKind::Attribute { index, .. } = part.kind {
                    read.push((index, part.clone()));
                }
            });
        }
        for (index, attribute) in read {
            if !self.last_values.contains_key(&index) {
                let last = self.last(&attribute);
                self.last_values.insert(index, last);
            }
        }
    }

    /// A window begins with its first tuple.
    fn open_window(&mut self, count: &Expr, window: &WindowVariables, opened: &Expr) {
        let opening = vec![
            self.code.increment(opened),
            self.code.set(&window.serial, opened.clone()),
            self.code
                .set(&window.first, self.code.constant(Value::Uint32(0))),
            self.code
                .set(&window.group_count, self.code.constant(Value::Int32(0))),
        ];
        let is_first = self.code.equals(count, Value::Uint32(1));
        self.code
            .body
            .stmts
            .push(Stmt::If(is_first, opening, Vec::new()));
    }

    /// The current group becomes the last of the window, if it is new there.
    fn add_group(
        &mut self,
        groups: TableId,
        window: &WindowVariables,
        (size, next, of): (&Expr, &Expr, &Expr),
    ) {
        let none = self.code.constant(Value::Uint32(0));
        let (id_local, id) = self.code.local("id", Type::Uint32);
        let link = vec![
            Stmt::SelectEntry(groups, window.last.clone()),
            self.code.set(next, id.clone()),
            Stmt::SelectEntry(groups, id.clone()),
        ];
        let begin = vec![self.code.set(&window.first, id.clone())];
        let is_only = self.code.compare(BinaryOp::Eq, &window.first, &none);
        let add = vec![
            self.code.set(of, window.serial.clone()),
            self.code.set(size, none.clone()),
            self.code.set(next, none),
            Stmt::EntryId(id_local, groups),
            Stmt::If(is_only, begin, link),
            self.code.set(&window.last, id),
            self.code.increment(&window.group_count),
        ];
        let is_new = self.code.compare(BinaryOp::Ne, of, &window.serial);
        self.code.body.stmts.push(Stmt::If(is_new, add, Vec::new()));
    }

    /// Submits the results of a group, which is removed, and goes on to the next.
    fn submit_group(
        &mut self,
        operator: &OperatorNode,
        groups: TableId,
        (at, next): (&Expr, &Expr),
        results: Vec<Expr>,
    ) -> Vec<Stmt> {
        let mut turn = vec![Stmt::SelectEntry(groups, at.clone())];
        let kept = results
            .into_iter()
            .map(|result| self.result(result, &mut turn));
        let results: Vec<Expr> = kept.collect();
        for (index, last) in std::mem::take(&mut self.last_values) {
            let last = self.result(last, &mut turn);
            self.last_values.insert(index, last);
        }
        turn.push(self.code.set(at, next.clone()));
        turn.push(Stmt::RemoveEntry(groups));
        let tuple = output(operator, operator.pos, &results, &self.last_values);
        turn.push(lower::submit(PortIndex(0), tuple));
        turn
    }
}
