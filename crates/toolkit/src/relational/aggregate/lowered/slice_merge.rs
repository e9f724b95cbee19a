//! The parts of a pane's slices, merged into the order of their first tuples.
//!
//! ```text
//!   <part0, arrival0: first part of the pane's first slice, and its first tuple's arrival; ...>
//!   while (true) {
//!       uint64 least = arrival0; uint32 part = part0;
//!       if (arrival1 < least) { least = arrival1; part = part1; }  ...
//!       if (part == 0) { break; }
//!       <the entry part>; <what is to be done with it>
//!       uint32 behind = next; uint64 arrival = <that of behind>
//!       if (part0 == part) { part0 = behind; arrival0 = arrival; }  ...
//!   }
//! ```
//! A slice without further parts has the arrival of none, which is greater than any.

use graph::{BinaryOp, Expr, LocalId, Stmt};
use tuple::{Type, Value};

use super::pane_links::{PaneLinks, PartLinks};
use crate::stateful_lowering::{StatefulLowering, if_then};

/// The slices of panes, their parts, and the arrival of a part's first tuple.
pub(super) struct SliceMerge<'m> {
    pub(super) slices: &'m PaneLinks,
    pub(super) parts: &'m PartLinks,
    pub(super) first_arrival: &'m Expr,
}

/// The locals of one slice: its first part that is not merged yet, and the arrival of that.
struct SliceFront {
    part: (LocalId, Expr),
    arrival: (LocalId, Expr),
}

impl SliceMerge<'_> {
    /// The statements that do something with each part of a number of slices, of which the first is
    /// the earliest one and the last has a number.
    pub(super) fn lower(
        &self,
        (last, slice_count): (&Expr, usize),
        with_part: Vec<Stmt>,
        code: &mut StatefulLowering,
    ) -> Vec<Stmt> {
        let fronts: Vec<SliceFront> = (0..slice_count)
            .map(|_| SliceFront {
                part: code.local("front", Type::Uint32),
                arrival: code.local("frontArrival", Type::Uint64),
            })
            .collect();
        let mut stmts = self.begin(&fronts, last, code);
        let (part_id, part) = code.local("part", Type::Uint32);
        let (least_id, least) = code.local("least", Type::Uint64);
        let mut turn = vec![
            Stmt::Let(part_id, Some(fronts[0].part.1.clone())),
            Stmt::Let(least_id, Some(fronts[0].arrival.1.clone())),
        ];
        for front in &fronts[1..] {
            let is_earlier = code.compare(BinaryOp::Lt, &front.arrival.1, &least);
            let choose = vec![
                code.set(&least, front.arrival.1.clone()),
                code.set(&part, front.part.1.clone()),
            ];
            turn.push(if_then(is_earlier, choose));
        }
        let is_done = code.equals(&part, Value::Uint32(0));
        turn.push(if_then(is_done, vec![Stmt::Break]));
        turn.push(Stmt::SelectEntry(self.parts.table, part.clone()));
        turn.extend(with_part);
        turn.extend(self.advance(&fronts, &part, code));
        stmts.push(Stmt::While(code.constant(Value::Boolean(true)), turn));
        stmts
    }

    /// Statements that begin each slice with its first part.
    fn begin(&self, fronts: &[SliceFront], last: &Expr, code: &mut StatefulLowering) -> Vec<Stmt> {
        let (slice_id, slice) = code.local("slice", Type::Uint32);
        let none = code.constant(Value::Uint32(0));
        let earliest = self.slices.earliest.clone();
        let mut stmts = vec![Stmt::Let(slice_id, Some(earliest))];
        for front in fronts {
            let is_of_pane = code.compare(BinaryOp::Le, &self.slices.number, last);
            let take = vec![
                code.set(&front.part.1, self.slices.first_part.clone()),
                code.set(&slice, self.slices.later.clone()),
            ];
            let select = vec![
                Stmt::SelectEntry(self.slices.table, slice.clone()),
                Stmt::If(is_of_pane, take, vec![code.set(&slice, none.clone())]),
            ];
            stmts.extend([
                Stmt::Let(front.part.0, None),
                Stmt::Let(front.arrival.0, Some(arrival_of_none(code))),
                if_then(code.is_entry(&slice), select),
                self.arrival_of(&front.part.1, &front.arrival.1, code),
            ]);
        }
        stmts
    }

    /// Statements that go on behind the current part, which was first of one of the slices.
    fn advance(
        &self,
        fronts: &[SliceFront],
        part: &Expr,
        code: &mut StatefulLowering,
    ) -> Vec<Stmt> {
        let (behind_id, behind) = code.local("behind", Type::Uint32);
        let (arrival_id, arrival) = code.local("arrival", Type::Uint64);
        let mut stmts = vec![
            Stmt::Let(behind_id, Some(self.parts.next.clone())),
            Stmt::Let(arrival_id, Some(arrival_of_none(code))),
            self.arrival_of(&behind, &arrival, code),
        ];
        for front in fronts {
            let was_first = code.compare(BinaryOp::Eq, &front.part.1, part);
            let go_on = vec![
                code.set(&front.part.1, behind.clone()),
                code.set(&front.arrival.1, arrival.clone()),
            ];
            stmts.push(if_then(was_first, go_on));
        }
        stmts
    }

    /// A statement that sets a local to the arrival of a part's first tuple, if it is one.
    fn arrival_of(&self, part: &Expr, arrival: &Expr, code: &StatefulLowering) -> Stmt {
        let select = vec![
            Stmt::SelectEntry(self.parts.table, part.clone()),
            code.set(arrival, self.first_arrival.clone()),
        ];
        if_then(code.is_entry(part), select)
    }
}

fn arrival_of_none(code: &StatefulLowering) -> Expr {
    code.constant(Value::Uint64(u64::MAX))
}
