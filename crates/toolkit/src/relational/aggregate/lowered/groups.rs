//! A window with groups: a table has the groups of all windows.
//!
//! ```text
//!   ++count;
//!   entry of groups[{g = g}] added { <link it to those that are kept> }
//!   if (of != serial) {                            // it is new in this window
//!       of = serial; size = 1; next = 0;
//!       uint32 id = id of groups;
//!       if (first == 0) { first = id; } else { <the entry last>; next = id; <the entry id> }
//!       last = id; ++groupCount;
//!       sum = v;
//!   } else { ++size; sum += v; }
//!   if (count == size of the window) {
//!       flushedGroups = groupCount; uint32 at = first;
//!       <remove the groups that have not come in this window>
//!       boolean isMany = groupCount > 1024;        // if so, none is kept
//!       count = 0; ++serial; first = 0; groupCount = 0;
//!       while (at != 0) {
//!           <the entry at>; T total = sum; at = next; if (isMany) { remove entry of groups; }
//!           submit({total = total}, 0);
//!       }
//!       submit(Sys.WindowMarker, 0);
//!   }
//! ```
//! With partitions each window has such variables of its own, and its groups a key that begins with
//! that of the partition. A window gets its serial number with its first tuple, and its groups are
//! removed when it is flushed, for the partition may never come again:
//! ```text
//!   if (count == 1) { serial = ++opened; first = 0; groupCount = 0; }    // in place of ++serial
//!   <the entry at>; T total = sum; at = next; remove entry of groups;
//! ```
//! Groups that a faulting output leaves behind belong to a window that is over: the serial says so.

use graph::{BinaryOp, Expr, ExprKind, OperatorNode, OutPort, PortIndex, Stmt, TableId};
use tuple::{Type, Value};

use super::calls::RunningCalls;
use super::kept_groups::KeptGroups;
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
    /// Serial number of the window among those of the operator.
    serial: Expr,
    lifetime: GroupLifetime,
    /// Number of the tuples of a group, id of the next group, and serial number of the window that
    /// the group belongs to.
    size: Expr,
    next: Expr,
    of: Expr,
    /// Number of groups in the window that is flushed.
    flushed_groups: Expr,
}

/// How long the table has groups.
enum GroupLifetime {
    /// Until their window is flushed, one of a partition. The variable has the serial number of the
    /// window that was opened last.
    OneWindow { opened: Expr },
    /// Until a window without them is flushed, if there are no partitions.
    WhileRecurring(Box<KeptGroups>),
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
        let first = code.variable(windows, "first", Type::Uint32);
        let last = code.variable(windows, "last", Type::Uint32);
        let group_count = code.variable(windows, "groupCount", Type::Int32);
        let (serial, lifetime) = match windows {
            Some(_) => {
                let opened = code.variable(None, "opened", Type::Uint64);
                let serial = code.variable(windows, "serial", Type::Uint64);
                (serial, GroupLifetime::OneWindow { opened })
            }
            // A group that was added is of window 0.
            None => {
                let one = code.constant(Value::Uint64(1));
                let serial = code.initialized_variable("serial", &one);
                let kept = KeptGroups::new(groups, code);
                (serial, GroupLifetime::WhileRecurring(Box::new(kept)))
            }
        };
        GroupLinks {
            groups,
            key,
            first,
            last,
            group_count,
            serial,
            lifetime,
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
        let (mut first, mut later) = calls.take_steps();
        let code = &mut *calls.code;
        let mut added = Vec::new();
        match &self.lifetime {
            GroupLifetime::OneWindow { opened } => {
                let mut opening = vec![
                    code.increment(opened),
                    code.set(&self.serial, opened.clone()),
                ];
                opening.extend(self.without_groups(code));
                let is_first = code.is_one(count);
                code.body.stmts.push(if_then(is_first, opening));
            }
            GroupLifetime::WhileRecurring(kept) => added = kept.link_added(code),
        }
        first.splice(..0, self.add_group(code));
        later.insert(0, code.increment(&self.size));
        let is_new = code.compare(BinaryOp::Ne, &self.of, &self.serial);
        let stmts = [
            code.find_or_add_entry(self.groups, self.key.clone(), added),
            Stmt::If(is_new, first, later),
        ];
        code.body.stmts.extend(stmts);
    }

    /// Statements after which the window has no groups.
    fn without_groups(&self, code: &StatefulLowering) -> [Stmt; 2] {
        [
            code.set(&self.first, code.constant(Value::Uint32(0))),
            code.set(&self.group_count, code.constant(Value::Int32(0))),
        ]
    }

    /// Statements by which the current group, with its first tuple, becomes the last of the window.
    fn add_group(&self, code: &mut StatefulLowering) -> [Stmt; 7] {
        let none = code.constant(Value::Uint32(0));
        let (id_local, id) = code.local("id", Type::Uint32);
        let link = vec![
            Stmt::SelectEntry(self.groups, self.last.clone()),
            code.set(&self.next, id.clone()),
            Stmt::SelectEntry(self.groups, id.clone()),
        ];
        let begin = vec![code.set(&self.first, id.clone())];
        let is_only = code.compare(BinaryOp::Eq, &self.first, &none);
        let one_tuple = code.cast(&code.constant(Value::Uint32(1)), &self.size.ty);
        [
            code.set(&self.of, self.serial.clone()),
            code.set(&self.size, one_tuple),
            code.set(&self.next, none),
            Stmt::EntryId(id_local, self.groups),
            Stmt::If(is_only, begin, link),
            code.set(&self.last, id),
            code.increment(&self.group_count),
        ]
    }

    /// The statements that submit the results of the current window's groups; `empty` ends the
    /// window before.
    pub(super) fn flush(
        &self,
        operator: &OperatorNode,
        results: Vec<Expr>,
        empty: Vec<Stmt>,
        calls: &mut RunningCalls<'_>,
    ) -> Vec<Stmt> {
        let code = &mut *calls.code;
        let (at_id, at) = code.local("at", Type::Uint32);
        let mut stmts = vec![
            code.set(&self.flushed_groups, self.group_count.clone()),
            Stmt::Let(at_id, Some(self.first.clone())),
        ];
        let remove = Stmt::RemoveEntry(self.groups);
        let removed = match &self.lifetime {
            GroupLifetime::OneWindow { .. } => remove,
            GroupLifetime::WhileRecurring(kept) => {
                let has_come = code.compare(BinaryOp::Eq, &self.of, &self.serial);
                stmts.push(kept.remove_absent(&self.group_count, has_come, code));
                let (give_up, is_many) = kept.give_up_many(&self.group_count, code);
                stmts.extend(give_up);
                stmts.push(code.increment(&self.serial));
                stmts.extend(self.without_groups(code));
                if_then(is_many, vec![remove])
            }
        };
        stmts.extend(empty);
        let mut turn = vec![Stmt::SelectEntry(self.groups, at.clone())];
        let results = calls.keep_results(results, &mut turn);
        turn.push(calls.code.set(&at, self.next.clone()));
        turn.push(removed);
        let tuple = output(operator, operator.pos, &results, &calls.last_values);
        turn.push(lower::submit(PortIndex(0), tuple));
        stmts.push(Stmt::While(calls.code.is_entry(&at), turn));
        stmts
    }
}
