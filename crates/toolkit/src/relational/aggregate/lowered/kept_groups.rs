//! The groups of a window without partitions, which are kept from one window to the next: most of
//! them come again, and a group that is removed and added anew costs two calls.
//!
//! ```text
//!   if (keptCount != groupCount) {                 // at a flush: some group did not come again
//!       uint32 before = 0; uint32 kept = firstKept;
//!       while (kept != 0) {
//!           <the entry kept>; uint32 behind = nextKept;
//!           if (of == serial) { before = kept; }
//!           else {
//!               remove entry of groups; --keptCount;
//!               if (before == 0) { firstKept = behind; }
//!               else { <the entry before>; nextKept = behind; }
//!           }
//!           kept = behind;
//!       }
//!   }
//! ```
//! So a table has the groups of at most two windows, and of one that has many none is kept: else
//! the state of a window could take the memory that the next one needs.

use graph::{BinaryOp, Expr, Stmt, TableId};
use tuple::{Type, Value};

use crate::stateful_lowering::{StatefulLowering, if_then};

/// Most groups of a window that are kept. With more of them, memory counts more than calls.
const KEPT_MAX: i32 = 1024;

/// The links of all groups that a table has, the youngest first.
pub(super) struct KeptGroups {
    groups: TableId,
    /// Id of the youngest group, and number of groups.
    first: Expr,
    count: Expr,
    /// Id of the group that was added before.
    next: Expr,
}

impl KeptGroups {
    pub(super) fn new(groups: TableId, code: &mut StatefulLowering) -> KeptGroups {
        KeptGroups {
            groups,
            first: code.variable(None, "firstKept", Type::Uint32),
            count: code.variable(None, "keptCount", Type::Int32),
            next: code.variable(Some(groups), "nextKept", Type::Uint32),
        }
    }

    /// Statements that link the current group, which was added.
    pub(super) fn link_added(&self, code: &mut StatefulLowering) -> Vec<Stmt> {
        let (added_id, added) = code.local("added", Type::Uint32);
        vec![
            Stmt::EntryId(added_id, self.groups),
            code.set(&self.next, self.first.clone()),
            code.set(&self.first, added),
            code.increment(&self.count),
        ]
    }

    /// Statements that set a new local to whether the window that is flushed has too many groups to
    /// keep them, which are not linked any more then. Returns the local.
    pub(super) fn give_up_many(
        &self,
        group_count: &Expr,
        code: &mut StatefulLowering,
    ) -> ([Stmt; 2], Expr) {
        let (many_id, is_many) = code.local("isMany", Type::Boolean);
        let most = code.constant(Value::Int32(KEPT_MAX));
        let exceeds = code.compare(BinaryOp::Gt, group_count, &most);
        let unlink = vec![
            code.set(&self.first, code.constant(Value::Uint32(0))),
            code.set(&self.count, code.constant(Value::Int32(0))),
        ];
        let stmts = [
            Stmt::Let(many_id, Some(exceeds)),
            if_then(is_many.clone(), unlink),
        ];
        (stmts, is_many)
    }

    /// A statement that removes the groups that have come in an earlier window only, given how many
    /// have come in the current one, and whether the current group has.
    pub(super) fn remove_absent(
        &self,
        group_count: &Expr,
        has_come: Expr,
        code: &mut StatefulLowering,
    ) -> Stmt {
        let (before_id, before) = code.local("before", Type::Uint32);
        let (kept_id, kept) = code.local("kept", Type::Uint32);
        let (behind_id, behind) = code.local("behind", Type::Uint32);
        let one = code.constant(Value::Int32(1));
        let fewer = code.binary(BinaryOp::Sub, &self.count, &one);
        let unlink = vec![
            Stmt::SelectEntry(self.groups, before.clone()),
            code.set(&self.next, behind.clone()),
        ];
        let unlink_first = vec![code.set(&self.first, behind.clone())];
        let remove = vec![
            Stmt::RemoveEntry(self.groups),
            code.set(&self.count, fewer),
            Stmt::If(code.is_entry(&before), unlink, unlink_first),
        ];
        let turn = vec![
            Stmt::SelectEntry(self.groups, kept.clone()),
            Stmt::Let(behind_id, Some(self.next.clone())),
            Stmt::If(has_come, vec![code.set(&before, kept.clone())], remove),
            code.set(&kept, behind),
        ];
        let walk = vec![
            Stmt::Let(before_id, None),
            Stmt::Let(kept_id, Some(self.first.clone())),
            Stmt::While(code.is_entry(&kept), turn),
        ];
        if_then(code.compare(BinaryOp::Ne, &self.count, group_count), walk)
    }
}
