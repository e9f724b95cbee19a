//! A sliding window of a number of tuples as statements. The window's items, the arguments of its
//! functions, are entries of a table without keys, linked by their ids.
//!
//! ```text
//!   entry of windows[{k = k}];                      // if there are partitions
//!   if (count == size) {
//!       <the entry oldest of items>; total -= v'; slot = oldest; oldest = next;
//!   } else {
//!       add entry to items; slot = id of items; ++count;
//!   }
//!   if (count == 1) { oldest = slot; } else { <the entry newest>; next = slot; }
//!   <the entry slot>; v' = v; newest = slot; total += v;
//!   if (++sinceTrigger == every) {
//!       sinceTrigger = 0;
//!       if (count == size) {                         // or always: aggregateIncompleteWindows
//!           submit({total = total, price = price}, 0);
//!           submit(Sys.WindowMarker, 0);
//!       }
//!   }
//! ```
//! Sums of integers are retracted. Other functions are merged from the aggregates of blocks, as
//! [`blocks`] says. In a full window the oldest item's entry becomes that of the newest.

mod accumulator;
mod blocks;
mod functions;

use graph::{BinaryOp, Expr, OperatorNode, OutputCall, PortIndex, StateTable, Stmt, TableId};
use tuple::{Type, Value};

use self::accumulator::Accumulator;
use self::blocks::BlockVariables;
use super::count_window::{CountWindow, Slide};
use super::{AggregateLowering, WINDOWS};
use crate::lower;

/// Whether a call can be lowered.
pub(super) fn can_lower(call: &OutputCall) -> bool {
    &*call.function != "CountByGroup" && super::calls::can_lower(call, false)
}

/// Lowering of one sliding window.
struct SlidingLowering<'l, 'a> {
    base: &'l mut AggregateLowering<'a>,
    slide: Slide,
    /// Index of the table of windows, if there are partitions.
    home: Option<usize>,
    /// Index of the table of items.
    items: usize,
    /// Number of items in the window, a uint32.
    count: Expr,
    /// Ids of the oldest and the newest item.
    oldest: Expr,
    newest: Expr,
    /// Id of the item that came next.
    next: Expr,
    fields: Vec<ItemField>,
    sums: Vec<RetractedSum>,
    accumulators: Vec<Accumulator>,
    /// Number of items in all windows, if a function asks for it.
    all: Option<Expr>,
}

/// A value that items keep.
struct ItemField {
    /// The value of the tuple that is here.
    arriving: Expr,
    /// The value of the current item.
    kept: Expr,
}

/// A sum that follows the window by additions and subtractions.
struct RetractedSum {
    sum: Expr,
    field: usize,
}

impl AggregateLowering<'_> {
    /// The statements of a sliding window.
    pub(super) fn lower_sliding(
        &mut self,
        operator: &OperatorNode,
        slide: Slide,
        count: &Expr,
        partition: Option<Vec<Expr>>,
    ) {
        let home = partition.is_some().then_some(WINDOWS.0 as usize);
        let mut lowering = SlidingLowering::new(self, slide, home, count.clone());
        let calls = operator.outputs[0].calls.iter();
        let results: Vec<Expr> = calls.map(|call| lowering.call(call)).collect();
        lowering.base.pos = operator.pos;
        let blocks = BlockVariables::new(&mut lowering);

        // Whatever can fault for a tuple comes before it changes a window.
        if let Some(partition) = partition {
            lowering.base.find_entry(WINDOWS, partition);
        }
        let mut stmts = lowering.declare_locals();
        if let Some(blocks) = &blocks {
            stmts.extend(lowering.reserve_block(blocks));
        }
        lowering.exchange(blocks.as_ref(), &mut stmts);
        lowering.accumulate(blocks.as_ref(), &mut stmts);
        lowering.trigger(operator, &results, &mut stmts);
        self.body.stmts.extend(stmts);
    }
}

impl<'l, 'a> SlidingLowering<'l, 'a> {
    fn new(
        base: &'l mut AggregateLowering<'a>,
        slide: Slide,
        home: Option<usize>,
        count: Expr,
    ) -> SlidingLowering<'l, 'a> {
        let oldest = base.variable_in(home, "oldest", Type::Uint32);
        let newest = base.variable_in(home, "newest", Type::Uint32);
        let items = base.tables.len();
        base.tables.push(StateTable {
            name: "items".into(),
            key: None,
            variables: Vec::new(),
        });
        let next = base.variable_in(Some(items), "next", Type::Uint32);
        SlidingLowering {
            base,
            slide,
            home,
            items,
            count,
            oldest,
            newest,
            next,
            fields: Vec::new(),
            sums: Vec::new(),
            accumulators: Vec::new(),
            all: None,
        }
    }

    fn items_table(&self) -> TableId {
        TableId(self.items as u32)
    }

    fn select_item(&self, id: &Expr) -> Stmt {
        Stmt::SelectEntry(self.items_table(), id.clone())
    }

    /// Puts the tuple's item at the end of the window; from a full one, the oldest item leaves.
    fn exchange(&mut self, blocks: Option<&BlockVariables>, stmts: &mut Vec<Stmt>) {
        let (slot_id, slot) = self.base.local("slot", Type::Uint32);
        let mut leave = vec![
            self.select_item(&self.oldest),
            self.base.set(&slot, self.oldest.clone()),
            self.base.set(&self.oldest, self.next.clone()),
        ];
        for RetractedSum { sum, field } in &self.sums {
            let value = self.base.cast(&self.fields[*field].kept, &sum.ty);
            let less = self.base.binary(BinaryOp::Sub, sum, &value);
            leave.push(self.base.set(sum, less));
        }
        if let Some(blocks) = blocks {
            leave.extend(self.remove_oldest(blocks));
        }
        let mut join = vec![
            Stmt::AddEntry(self.items_table(), self.base.pos),
            Stmt::EntryId(slot_id, self.items_table()),
            self.base.increment(&self.count),
        ];
        join.extend(self.all.iter().map(|all| self.base.increment(all)));
        let is_full = self.base.equals(&self.count, Value::Uint32(self.size()));
        stmts.push(Stmt::Let(slot_id, None));
        stmts.push(Stmt::If(is_full, leave, join));

        let is_only = self.base.equals(&self.count, Value::Uint32(1));
        let mut begin = vec![self.base.set(&self.oldest, slot.clone())];
        begin.extend(self.set_parts_to_none(|accumulator| &accumulator.rest));
        begin.extend(self.set_parts_to_none(|accumulator| &accumulator.filled));
        begin.extend(self.set_parts_to_none(|accumulator| &accumulator.filling));
        let link = vec![
            self.select_item(&self.newest),
            self.base.set(&self.next, slot.clone()),
        ];
        stmts.push(Stmt::If(is_only, begin, link));
        stmts.push(self.select_item(&slot));
        for ItemField { arriving, kept } in &self.fields {
            stmts.push(self.base.set(kept, arriving.clone()));
        }
        if let Some(blocks) = blocks {
            stmts.push(self.base.set(blocks.previous_item(), self.newest.clone()));
            // It is not in F yet.
            stmts.extend(self.set_parts_to_none(|accumulator| &accumulator.suffix));
        }
        stmts.push(self.base.set(&self.newest, slot));
    }

    /// Adds the newest item to what functions have of the window.
    fn accumulate(&mut self, blocks: Option<&BlockVariables>, stmts: &mut Vec<Stmt>) {
        for RetractedSum { sum, field } in &self.sums {
            let value = self.base.cast(&self.fields[*field].arriving, &sum.ty);
            let more = self.base.binary(BinaryOp::Add, sum, &value);
            stmts.push(self.base.set(sum, more));
        }
        if let Some(blocks) = blocks {
            stmts.extend(self.push_newest(blocks));
        }
    }

    /// Submits the results if the tuple triggers, and the window is full or need not be.
    fn trigger(&mut self, operator: &OperatorNode, results: &[Expr], stmts: &mut Vec<Stmt>) {
        let mut fire = Vec::new();
        fire.push(self.select_item(&self.oldest));
        self.merge_results(&mut fire);
        let tuple = self.base.output(operator, results);
        fire.push(lower::submit(PortIndex(0), tuple));
        fire.push(lower::submit_window(PortIndex(0), self.base.pos));
        if !self.slide.fires_incomplete {
            let is_full = self.base.equals(&self.count, Value::Uint32(self.size()));
            fire = vec![Stmt::If(is_full, fire, Vec::new())];
        }
        if self.slide.every > 1 {
            let since = self
                .base
                .variable_in(self.home, "sinceTrigger", Type::Uint32);
            stmts.push(self.base.increment(&since));
            fire.insert(
                0,
                self.base.set(&since, self.base.constant(Value::Uint32(0))),
            );
            let triggers = self.base.equals(&since, Value::Uint32(self.slide.every));
            fire = vec![Stmt::If(triggers, fire, Vec::new())];
        }
        stmts.extend(fire);
    }

    /// Number of tuples of a full window.
    fn size(&self) -> u32 {
        let CountWindow { size, .. } = self.base.window;
        size
    }
}
