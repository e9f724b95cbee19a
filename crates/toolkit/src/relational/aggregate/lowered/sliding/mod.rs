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

mod blocks;
mod functions;
mod part_aggregates;

use std::collections::BTreeMap;

use graph::{BinaryOp, Expr, OperatorNode, PortIndex, Stmt, TableId};
use runtime::CountedWindow;
use tuple::{Type, Value};

use self::blocks::BlockVariables;
use self::part_aggregates::PartAggregates;
use super::lowered_window::Slide;
use super::output::output;
use super::wide_mean::SummedPart;
use crate::lower;
use crate::relational::aggregate::incomplete_help::incomplete_help;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Lowering of one sliding window.
struct SlidingLowering<'l> {
    code: &'l mut StatefulLowering,
    /// Number of tuples of a full window.
    size: u32,
    slide: Slide,
    /// The table of windows, if there are partitions.
    home: Option<TableId>,
    /// The table of items.
    items: TableId,
    /// Number of items in the window, a uint32.
    count: Expr,
    /// Ids of the oldest and the newest item.
    oldest: Expr,
    newest: Expr,
    /// Id of the item that came next.
    next: Expr,
    fields: Vec<ItemField>,
    sums: Vec<RetractedSum>,
    aggregates: Vec<PartAggregates>,
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
    part: SummedPart,
}

/// Adds the statements of a sliding window of so many tuples to the body. Returns what the run time
/// counts of it.
pub(super) fn lower_sliding(
    operator: &OperatorNode,
    (size, slide): (u32, Slide),
    code: &mut StatefulLowering,
) -> CountedWindow {
    let partition = code.key(operator, "partitionBy");
    let home = partition
        .as_ref()
        .map(|partition| code.add_table("windows", Some(partition)));
    let count = code.variable(home, "count", Type::Uint32);
    let window = operator.inputs[0].window.as_ref();
    let counted = CountedWindow {
        count: state_id(&count),
        table: home,
        size: if slide.fires_incomplete {
            0
        } else {
            size.into()
        },
        help: window.map_or("", incomplete_help),
    };
    let items = code.add_table("items", None);
    let mut lowering = SlidingLowering {
        size,
        slide,
        home,
        items,
        count,
        oldest: code.variable(home, "oldest", Type::Uint32),
        newest: code.variable(home, "newest", Type::Uint32),
        next: code.variable(Some(items), "next", Type::Uint32),
        fields: Vec::new(),
        sums: Vec::new(),
        aggregates: Vec::new(),
        all: None,
        code,
    };
    let calls = operator.outputs[0].calls.iter();
    let results: Vec<Expr> = calls.map(|call| lowering.call(call)).collect();
    lowering.code.pos = operator.pos;
    let blocks = BlockVariables::new(&mut lowering);

    // Whatever can fault for a tuple comes before it changes a window.
    let mut stmts = lowering.declare_locals();
    if let Some((windows, partition)) = home.zip(partition) {
        stmts.push(lowering.code.find_entry(windows, partition));
    }
    if let Some(blocks) = &blocks {
        stmts.extend(lowering.reserve_block(blocks));
    }
    lowering.exchange(blocks.as_ref(), &mut stmts);
    lowering.accumulate(blocks.as_ref(), &mut stmts);
    lowering.trigger(operator, &results, &mut stmts);
    lowering.code.body.stmts.extend(stmts);
    counted
}

impl SlidingLowering<'_> {
    fn select_item(&self, id: &Expr) -> Stmt {
        Stmt::SelectEntry(self.items, id.clone())
    }

    /// Puts the tuple's item at the end of the window; from a full one, the oldest item leaves.
    fn exchange(&mut self, blocks: Option<&BlockVariables>, stmts: &mut Vec<Stmt>) {
        let (slot_id, slot) = self.code.local("slot", Type::Uint32);
        let mut leave = vec![
            self.select_item(&self.oldest),
            self.code.set(&slot, self.oldest.clone()),
            self.code.set(&self.oldest, self.next.clone()),
        ];
        for RetractedSum { sum, field, part } in &self.sums {
            let value = part.of(self.code, &self.fields[*field].kept, &sum.ty);
            let less = self.code.binary(BinaryOp::Sub, sum, &value);
            leave.push(self.code.set(sum, less));
        }
        if let Some(blocks) = blocks {
            leave.extend(self.remove_oldest(blocks));
        }
        let mut join = vec![
            Stmt::AddEntry(self.items, self.code.pos),
            Stmt::EntryId(slot_id, self.items),
            self.code.increment(&self.count),
        ];
        join.extend(self.all.iter().map(|all| self.code.increment(all)));
        let is_full = self.code.equals(&self.count, Value::Uint32(self.size));
        stmts.push(Stmt::Let(slot_id, None));
        stmts.push(Stmt::If(is_full, leave, join));

        let is_only = self.code.equals(&self.count, Value::Uint32(1));
        let mut begin = vec![self.code.set(&self.oldest, slot.clone())];
        begin.extend(self.set_parts_to_none(|aggregate| &aggregate.rest));
        begin.extend(self.set_parts_to_none(|aggregate| &aggregate.filled));
        begin.extend(self.set_parts_to_none(|aggregate| &aggregate.filling));
        let link = vec![
            self.select_item(&self.newest),
            self.code.set(&self.next, slot.clone()),
        ];
        stmts.push(Stmt::If(is_only, begin, link));
        stmts.push(self.select_item(&slot));
        for ItemField { arriving, kept } in &self.fields {
            stmts.push(self.code.set(kept, arriving.clone()));
        }
        if let Some(blocks) = blocks {
            stmts.push(self.code.set(blocks.previous_item(), self.newest.clone()));
            // It is not in F yet.
            stmts.extend(self.set_parts_to_none(|aggregate| &aggregate.suffix));
        }
        stmts.push(self.code.set(&self.newest, slot));
    }

    /// Adds the newest item to what functions have of the window.
    fn accumulate(&mut self, blocks: Option<&BlockVariables>, stmts: &mut Vec<Stmt>) {
        for RetractedSum { sum, field, part } in &self.sums {
            let value = part.of(self.code, &self.fields[*field].arriving, &sum.ty);
            let more = self.code.binary(BinaryOp::Add, sum, &value);
            stmts.push(self.code.set(sum, more));
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
        let tuple = output(operator, operator.pos, results, &BTreeMap::new());
        fire.push(lower::submit(PortIndex(0), tuple));
        fire.push(lower::submit_window(PortIndex(0), self.code.pos));
        if !self.slide.fires_incomplete {
            let is_full = self.code.equals(&self.count, Value::Uint32(self.size));
            fire = vec![if_then(is_full, fire)];
        }
        if self.slide.every > 1 {
            let since = self.code.variable(self.home, "sinceTrigger", Type::Uint32);
            stmts.push(self.code.increment(&since));
            fire.insert(
                0,
                self.code.set(&since, self.code.constant(Value::Uint32(0))),
            );
            let triggers = self.code.equals(&since, Value::Uint32(self.slide.every));
            fire = vec![if_then(triggers, fire)];
        }
        stmts.extend(fire);
    }
}
