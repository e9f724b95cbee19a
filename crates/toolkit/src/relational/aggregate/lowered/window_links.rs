//! The links of the windows of partitions, in the order in which they began: those of windows that
//! are flushed together.

use graph::{Expr, Stmt, TableId};
use tuple::Type;

use crate::stateful_lowering::StatefulLowering;

/// The windows in order.
pub(super) struct WindowLinks {
    windows: TableId,
    /// Ids of the first and the last window.
    pub(super) first: Expr,
    last: Expr,
    /// Id of the window behind the current one.
    next: Expr,
}

impl WindowLinks {
    pub(super) fn new(windows: TableId, code: &mut StatefulLowering) -> WindowLinks {
        WindowLinks {
            windows,
            first: code.variable(None, "firstWindow", Type::Uint32),
            last: code.variable(None, "lastWindow", Type::Uint32),
            next: code.variable(Some(windows), "nextWindow", Type::Uint32),
        }
    }

    /// Statements that put the current window, which is new, behind the last one.
    pub(super) fn append(&self, code: &mut StatefulLowering) -> Vec<Stmt> {
        let (id_local, id) = code.local("id", Type::Uint32);
        let as_first = vec![code.set(&self.first, id.clone())];
        let behind_last = vec![
            Stmt::SelectEntry(self.windows, self.last.clone()),
            code.set(&self.next, id.clone()),
            Stmt::SelectEntry(self.windows, id.clone()),
        ];
        vec![
            Stmt::EntryId(id_local, self.windows),
            Stmt::If(code.is_entry(&self.first), behind_last, as_first),
            code.set(&self.last, id),
        ]
    }

    /// A statement that makes the first window current.
    pub(super) fn select_first(&self) -> Stmt {
        Stmt::SelectEntry(self.windows, self.first.clone())
    }

    /// Statements that remove the current window, which is the first.
    pub(super) fn remove_first(&self, code: &StatefulLowering) -> Vec<Stmt> {
        vec![
            code.set(&self.first, self.next.clone()),
            Stmt::RemoveEntry(self.windows),
        ]
    }
}
