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
//!       flushedGroups = groupCount; uint32 at = first;
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

use super::calls::RunningCalls;
use super::output::output;
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then};

/// Whether an output can be lowered that is given when the last tuple is not here any more: it
/// reads nothing but attributes, whose values can be kept.
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

/// The groups of all windows, and the variables by which a window finds its own.
pub(super) struct GroupLinks {
    groups: TableId,
    /// The key of a group, that of its partition first.
    key: Vec<Expr>,
    /// Ids of the first and the last group of a window, and the number of its groups.
    first: Expr,
    last: Expr,
    group_count: Expr,
    /// Serial number of the window among those of the operator, and the last one that was given.
    serial: Expr,
    opened: Expr,
    /// Number of the tuples of a group, id of the next group, and serial number of the window that
    /// the group belongs to.
    size: Expr,
    next: Expr,
    of: Expr,
    /// Number of groups in the window that is flushed.
    flushed_groups: Expr,
}

impl GroupLinks {
    /// The groups of windows in a table, or of one window; tuples are counted in a type.
    pub(super) fn new(
        windows: Option<TableId>,
        key: Vec<Expr>,
        count_type: Type,
        code: &mut StatefulLowering,
    ) -> GroupLinks {
        let groups = code.add_table("groups", Some(&key));
        GroupLinks {
            groups,
            key,
            first: code.variable(windows, "first", Type::Uint32),
            last: code.variable(windows, "last", Type::Uint32),
            group_count: code.variable(windows, "groupCount", Type::Int32),
            serial: code.variable(windows, "serial", Type::Uint64),
            opened: code.variable(None, "opened", Type::Uint64),
            size: code.variable(Some(groups), "size", count_type),
            next: code.variable(Some(groups), "next", Type::Uint32),
            of: code.variable(Some(groups), "of", Type::Uint64),
            flushed_groups: code.variable(None, "flushedGroups", Type::Int32),
        }
    }

    /// Makes results those of a group.
    pub(super) fn own(&self, calls: &mut RunningCalls<'_>) {
        calls.table = Some(self.groups);
        calls.tuples = self.size.clone();
        calls.group_count = self.flushed_groups.clone();
    }

    /// Adds the statements for a tuple of a window that has this many tuples with it.
    pub(super) fn accumulate(&self, count: &Expr, calls: &mut RunningCalls<'_>) {
        let code = &mut *calls.code;
        let opening = vec![
            code.increment(&self.opened),
            code.set(&self.serial, self.opened.clone()),
            code.set(&self.first, code.constant(Value::Uint32(0))),
            code.set(&self.group_count, code.constant(Value::Int32(0))),
        ];
        let stmts = [
            if_then(code.is_one(count), opening),
            code.find_entry(self.groups, self.key.clone()),
            self.add_group(code),
        ];
        code.body.stmts.extend(stmts);
        calls.count_and_accumulate(&self.size);
    }

    /// A statement by which the current group becomes the last of the window, if it is new there.
    fn add_group(&self, code: &mut StatefulLowering) -> Stmt {
        let none = code.constant(Value::Uint32(0));
        let (id_local, id) = code.local("id", Type::Uint32);
        let link = vec![
            Stmt::SelectEntry(self.groups, self.last.clone()),
            code.set(&self.next, id.clone()),
            Stmt::SelectEntry(self.groups, id.clone()),
        ];
        let begin = vec![code.set(&self.first, id.clone())];
        let is_only = code.compare(BinaryOp::Eq, &self.first, &none);
        let no_tuple = lower::default_value(&self.size.ty, code.pos);
        let add = vec![
            code.set(&self.of, self.serial.clone()),
            code.set(&self.size, no_tuple),
            code.set(&self.next, none),
            Stmt::EntryId(id_local, self.groups),
            Stmt::If(is_only, begin, link),
            code.set(&self.last, id),
            code.increment(&self.group_count),
        ];
        if_then(code.compare(BinaryOp::Ne, &self.of, &self.serial), add)
    }

    /// The statements that submit the results of the current window's groups, which are removed;
    /// `empty` ends the window before.
    pub(super) fn flush(
        &self,
        operator: &OperatorNode,
        results: Vec<Expr>,
        empty: Vec<Stmt>,
        calls: &mut RunningCalls<'_>,
    ) -> Vec<Stmt> {
        let (at_id, at) = calls.code.local("at", Type::Uint32);
        let mut stmts = vec![
            calls
                .code
                .set(&self.flushed_groups, self.group_count.clone()),
            Stmt::Let(at_id, Some(self.first.clone())),
        ];
        stmts.extend(empty);
        let mut turn = vec![Stmt::SelectEntry(self.groups, at.clone())];
        let results = calls.keep_results(results, &mut turn);
        turn.push(calls.code.set(&at, self.next.clone()));
        turn.push(Stmt::RemoveEntry(self.groups));
        let tuple = output(operator, operator.pos, &results, &calls.last_values);
        turn.push(lower::submit(PortIndex(0), tuple));
        stmts.push(Stmt::While(calls.code.is_entry(&at), turn));
        stmts
    }
}
