//! The links of panes, or of their slices: from one to its neighbours in time, and to its parts in
//! the order of their first tuples.

use graph::{BinaryOp, Expr, Stmt, TableId};
use tuple::{Type, Value};

use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then};

/// The table of panes or slices, and its ends in time.
pub(super) struct PaneLinks {
    pub(super) table: TableId,
    /// Ids of the earliest and the latest pane.
    pub(super) earliest: Expr,
    latest: Expr,
    /// Number of a pane or slice.
    pub(super) number: Expr,
    /// Ids of the panes before and behind it.
    earlier: Expr,
    pub(super) later: Expr,
    /// Ids of its first and its last part.
    pub(super) first_part: Expr,
    last_part: Expr,
}

/// The table of the parts of all panes.
pub(super) struct PartLinks {
    pub(super) table: TableId,
    /// Number of tuples in a part.
    pub(super) size: Expr,
    /// Id of the next part of the pane.
    pub(super) next: Expr,
    /// Whether a tuple has come since the part fired, if parts fire by themselves.
    pub(super) has_new_tuples: Option<Expr>,
}

impl PaneLinks {
    /// A table with this name.
    pub(super) fn new(name: &str, code: &mut StatefulLowering) -> PaneLinks {
        let earliest = code.variable(None, "earliest", Type::Uint32);
        let latest = code.variable(None, "latest", Type::Uint32);
        let table = code.add_table(name, Some(&[any_number(code)]));
        let mut variable = |name, ty| code.variable(Some(table), name, ty);
        PaneLinks {
            table,
            earliest,
            latest,
            number: variable("number", Type::Int64),
            earlier: variable("earlier", Type::Uint32),
            later: variable("later", Type::Uint32),
            first_part: variable("firstPart", Type::Uint32),
            last_part: variable("lastPart", Type::Uint32),
        }
    }

    /// A statement that makes the pane with a number current. A new one is linked to its
    /// neighbours, which are looked for from the latest pane on.
    fn find(&self, number: &Expr, code: &mut StatefulLowering) -> Stmt {
        let none = code.constant(Value::Uint32(0));
        let (pane_id, pane) = code.local("pane", Type::Uint32);
        let (before_id, before) = code.local("before", Type::Uint32);
        let (behind_id, behind) = code.local("behind", Type::Uint32);
        let is_before = code.compare(BinaryOp::Lt, &self.number, number);
        let walk = vec![
            Stmt::SelectEntry(self.table, before.clone()),
            if_then(is_before, vec![Stmt::Break]),
            code.set(&before, self.earlier.clone()),
        ];
        let is_first = code.compare(BinaryOp::Eq, &before, &none);
        let is_last = code.compare(BinaryOp::Eq, &behind, &none);
        let as_first = vec![
            code.set(&behind, self.earliest.clone()),
            code.set(&self.earliest, pane.clone()),
        ];
        let not_first = vec![
            code.set(&behind, self.later.clone()),
            code.set(&self.later, pane.clone()),
        ];
        let as_last = vec![code.set(&self.latest, pane.clone())];
        let not_last = vec![
            Stmt::SelectEntry(self.table, behind.clone()),
            code.set(&self.earlier, pane.clone()),
        ];
        let added = vec![
            code.set(&self.number, number.clone()),
            Stmt::EntryId(pane_id, self.table),
            Stmt::Let(before_id, Some(self.latest.clone())),
            Stmt::Let(behind_id, None),
            Stmt::While(code.is_entry(&before), walk),
            Stmt::If(is_first, as_first, not_first),
            Stmt::If(is_last, as_last, not_last),
            Stmt::SelectEntry(self.table, pane),
            code.set(&self.earlier, before),
            code.set(&self.later, behind),
        ];
        code.find_or_add_entry(self.table, vec![number.clone()], added)
    }

    /// Statements that end the links at the earliest pane, when those before it are gone.
    pub(super) fn end_links(&self, code: &StatefulLowering) -> Vec<Stmt> {
        let none = code.constant(Value::Uint32(0));
        let is_left = code.is_entry(&self.earliest);
        let first = vec![
            Stmt::SelectEntry(self.table, self.earliest.clone()),
            code.set(&self.earlier, none.clone()),
        ];
        let empty = vec![code.set(&self.latest, none)];
        vec![Stmt::If(is_left, first, empty)]
    }
}

impl PartLinks {
    /// The table of parts with a key; `fires_alone` says whether parts fire by themselves.
    pub(super) fn new(code: &mut StatefulLowering, key: &[Expr], fires_alone: bool) -> PartLinks {
        let key = [vec![any_number(code)], key.to_vec()].concat();
        let table = code.add_table("parts", Some(&key));
        let mut variable = |name, ty| code.variable(Some(table), name, ty);
        PartLinks {
            table,
            size: variable("size", Type::Uint32),
            next: variable("next", Type::Uint32),
            has_new_tuples: fires_alone.then(|| variable("isNew", Type::Boolean)),
        }
    }

    /// Statements that link the current part, which is new, to the last one of the pane with a
    /// number. That pane is current then.
    pub(super) fn link_new(
        &self,
        panes: &PaneLinks,
        number: &Expr,
        code: &mut StatefulLowering,
    ) -> Vec<Stmt> {
        let (part_id, part) = code.local("id", Type::Uint32);
        let is_first = code.equals(&panes.first_part, Value::Uint32(0));
        let as_first = vec![code.set(&panes.first_part, part.clone())];
        let behind_last = vec![
            Stmt::SelectEntry(self.table, panes.last_part.clone()),
            code.set(&self.next, part.clone()),
            Stmt::SelectEntry(self.table, part.clone()),
        ];
        vec![
            Stmt::EntryId(part_id, self.table),
            panes.find(number, code),
            Stmt::If(is_first, as_first, behind_last),
            code.set(&panes.last_part, part),
        ]
    }
}

/// An expression of the type of a pane's number.
fn any_number(code: &StatefulLowering) -> Expr {
    lower::constant(Value::Int64(0), Type::Int64, code.pos)
}
