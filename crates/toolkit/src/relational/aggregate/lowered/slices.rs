//! Panes of event time that overlap, as statements: a tuple is added once, to the slice that it
//! lies in, and a pane that fires is merged from its slices.
//!
//! ```text
//!   panes    |----- 0 -----|            three slices each; slice 2 is the last one of pane 0,
//!                |----- 1 -----|        whose number is that of its first slice
//!   slices   | 0 | 1 | 2 | 3 |
//!
//!   onTuple : {
//!       if (at < earliest) { ++late; }             // it is too late
//!       else {
//!           int64 number = <number of the slice>; arrived = arrived + 1;
//!           entry of parts[{number = number, k = k}];
//!           if (size == 0) {                       // the part is new
//!               entry of keys[{k = k}];
//!               entry of slices[{number = number}] added { <link it to its neighbours> }
//!               <link the part to the last one of the slice>
//!               ++partCount; firstArrival = arrived; size = 1; sum = v;
//!           } else { ++size; sum += v; }
//!       }
//!   }
//!   onWatermark : {                                // sets earliest and complete
//!       while (earliestSlice != 0) {
//!           <the entry earliestSlice of slices>
//!           if (number < nextPane) { <remove it, its parts, and keys without parts> }
//!           else {
//!               int64 pane = <the first that is not below nextPane and has the slice>;
//!               if (pane >= complete) { break; }
//!               nextPane = pane + 1; ++fired;
//!               <for the parts of its slices, in the order of their first tuples>
//!                   <the entry of the part's key>
//!                   if (firedWith != fired) { firedWith = fired; paneSize = size; paneSum = sum;
//!                                             <link the key to the one before> }
//!                   else { paneSize += size; paneSum += sum; }
//!               <submit the results of the keys>
//!           }
//!       }
//!   }
//! ```
//! No tuple comes to a slice after one of its panes has fired: it would be too late, for these are
//! windows without `discardAge`. So a pane fires once, and its slices stay as they are meanwhile.
//! Each slice has its parts in the order of their first tuples; [`SliceMerge`] merges these orders
//! into that of the pane.

use graph::{
    BinaryOp, EventTimeUnits, Expr, ExprKind, NumberedPanes, OperatorNode, PortIndex, Stmt,
    TableId, TimeInterval,
};
use runtime::{CountedSlices, WatermarkLogic};
use tuple::{Type, Value};

use super::merged_calls::{self, MergedCalls, MergedTables};
use super::output::output;
use super::pane_links::{PaneLinks, PartLinks};
use super::panes::{self, PANES_OF_A_TUPLE_MAX};
use super::slice_merge::SliceMerge;
use crate::lower;
use crate::relational::pane_window::INCOMPLETE_PANES_HELP;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Number of slices of a pane, if the panes of an operator are merged from slices.
pub(super) fn slice_count(operator: &OperatorNode, interval: &TimeInterval) -> Option<usize> {
    let slices = interval.duration_ns / interval.period_ns;
    let is_sliced = interval.duration_ns % interval.period_ns == 0
        && (2..=PANES_OF_A_TUPLE_MAX).contains(&slices)
        && interval.discard_ns == 0
        && operator.outputs[0]
            .calls
            .iter()
            .all(merged_calls::can_merge);
    is_sliced.then_some(slices as usize)
}

/// Lowering of the slices of one operator.
pub(super) struct SliceLowering<'l> {
    operator: &'l OperatorNode,
    interval: TimeInterval,
    slice_count: usize,
    /// Statements before those for a tuple: the logic clause.
    clause: Vec<Stmt>,
    /// The event time of a tuple, and the least one that is not too late.
    time: Expr,
    earliest: Expr,
    /// Number of tuples that were too late.
    late: Expr,
    /// Number of the first pane whose end the watermark has not passed, and of the first that has
    /// not fired.
    complete: Expr,
    next_pane: Expr,
    /// Number of tuples that have come, and of panes that have fired.
    arrived: Expr,
    fired: Expr,
    slices: PaneLinks,
    parts: PartLinks,
    /// Arrival of a part's first tuple, and id of its key.
    first_arrival: Expr,
    key_id: Expr,
    keys: KeyResults,
    is_partitioned: bool,
    /// The key of a part, without the number of the slice.
    key: Vec<Expr>,
    calls: MergedCalls<'l>,
}

/// The table of keys that some slice has, with their results in the pane that fires.
struct KeyResults {
    table: TableId,
    /// Number of the key's parts.
    part_count: Expr,
    /// Which pane the results are of, by the number of panes that had fired.
    fired_with: Expr,
    /// Number of the key's tuples.
    size: Expr,
    /// Id of the key that comes next in the pane.
    next: Expr,
}

impl KeyResults {
    fn new(key: &[Expr], code: &mut StatefulLowering) -> KeyResults {
        // Without partitions and groups all tuples have one key.
        let only = [code.constant(Value::Uint32(0))];
        let key = if key.is_empty() { &only } else { key };
        let table = code.add_table("keys", Some(key));
        let mut variable = |name, ty| code.variable(Some(table), name, ty);
        KeyResults {
            table,
            part_count: variable("partCount", Type::Uint32),
            fired_with: variable("firedWith", Type::Uint64),
            size: variable("paneSize", Type::Uint32),
            next: variable("nextKey", Type::Uint32),
        }
    }
}

impl<'l> SliceLowering<'l> {
    pub(super) fn new(
        operator: &'l OperatorNode,
        (interval, slice_count): (TimeInterval, usize),
        code: &'l mut StatefulLowering,
    ) -> SliceLowering<'l> {
        let clause = std::mem::take(&mut code.body.stmts);
        let number = Value::Int64(i64::MIN);
        let time = panes::event_time(operator, &interval);
        let earliest = panes::earliest_time(&interval, &time.ty, code);
        let partition = code.key(operator, "partitionBy");
        let is_partitioned = partition.is_some();
        let key = partition.or_else(|| code.key(operator, "groupBy"));
        let key = key.unwrap_or_default();
        let late = code.variable(None, "late", Type::Uint64);
        let complete = panes::variable_from(code, "complete", Type::Int64, number.clone());
        let next_pane = panes::variable_from(code, "nextPane", Type::Int64, number);
        let arrived = code.variable(None, "arrived", Type::Uint64);
        let fired = code.variable(None, "fired", Type::Uint64);
        let slices = PaneLinks::new("slices", code);
        let parts = PartLinks::new(code, &key, false);
        let first_arrival = code.variable(Some(parts.table), "firstArrival", Type::Uint64);
        let key_id = code.variable(Some(parts.table), "keyId", Type::Uint32);
        let keys = KeyResults::new(&key, code);
        let tables = MergedTables {
            parts: parts.table,
            keys: keys.table,
        };
        let calls = MergedCalls::new(code, tables, &key, keys.size.clone());
        SliceLowering {
            operator,
            interval,
            slice_count,
            clause,
            time,
            earliest,
            late,
            complete,
            next_pane,
            arrived,
            fired,
            slices,
            parts,
            first_arrival,
            key_id,
            keys,
            is_partitioned,
            key,
            calls,
        }
    }

    /// The statements for a tuple become those of the body. Returns those for a watermark, and what
    /// the run time counts.
    pub(super) fn lower(mut self) -> (WatermarkLogic, CountedSlices) {
        let results = self.calls.calls(self.operator);
        self.add_to_slice();
        let code = &mut *self.calls.code;
        let stmts = std::mem::take(&mut code.body.stmts);
        let is_late = code.compare(BinaryOp::Lt, &self.time, &self.earliest);
        let count_late = vec![code.increment(&self.late)];
        self.clause.push(Stmt::If(is_late, count_late, stmts));
        code.body.stmts = std::mem::take(&mut self.clause);
        let on_tuple = std::mem::take(&mut code.body);
        let fire = self.fire_panes(results);
        self.calls.code.body.stmts.push(fire);
        let body = std::mem::replace(&mut self.calls.code.body, on_tuple);
        let complete = panes::units_from_end(&self.interval, self.interval.duration_ns);
        let watermark = WatermarkLogic {
            body,
            counts: vec![(state_id(&self.complete), complete)],
            earliest: state_id(&self.earliest),
            late: state_id(&self.late),
            discard_ns: 0,
            resolution: self.interval.resolution,
        };
        (watermark, self.counted())
    }

    fn counted(&self) -> CountedSlices {
        CountedSlices {
            number: state_id(&self.slices.number),
            first: state_id(&self.slices.first_part),
            parts: self.parts.table,
            next: state_id(&self.parts.next),
            tuples: state_id(&self.parts.size),
            key: state_id(&self.key_id),
            next_pane: state_id(&self.next_pane),
            slice_count: self.slice_count as u64,
            partitions: self.is_partitioned.then_some(self.keys.table),
            help: INCOMPLETE_PANES_HELP,
        }
    }

    /// Adds a tuple to its slice.
    fn add_to_slice(&mut self) {
        let code = &mut *self.calls.code;
        let (number_id, number) = code.local("number", Type::Int64);
        let units = EventTimeUnits {
            origin_ns: self.interval.offset_ns,
            unit_ns: self.interval.period_ns,
            resolution: self.interval.resolution,
        };
        let count = Stmt::CountUnits(number_id, Box::new(units), self.time.clone());
        code.body.stmts.push(count);
        let key = [vec![number.clone()], self.key.clone()].concat();
        let is_new = code.equals(&self.parts.size, Value::Uint32(0));
        let mut stmts = vec![
            code.increment(&self.arrived),
            code.find_entry(self.parts.table, key),
        ];
        let mut of_new = self.link_part(&number);
        let code = &mut *self.calls.code;
        let mut of_known = vec![code.increment(&self.parts.size)];
        of_new.append(&mut self.calls.steps.first);
        of_known.append(&mut self.calls.steps.later);
        stmts.push(Stmt::If(is_new, of_new, of_known));
        if let Some([arrival, _]) = &self.calls.last_arrivals {
            stmts.push(code.set(arrival, self.arrived.clone()));
        }
        let stmts = match self.time.ty {
            Type::Timestamp => vec![if_then(self.has_panes(&number), stmts)],
            _ => stmts,
        };
        self.calls.code.body.stmts.extend(stmts);
    }

    /// Whether an int64 holds the numbers of the panes that a slice is of, and of one more. The
    /// number of a timestamp beyond is the nearest one.
    fn has_panes(&self, number: &Expr) -> Expr {
        let code = &*self.calls.code;
        let constant = |number| lower::constant(Value::Int64(number), Type::Int64, code.pos);
        let least = constant(i64::MIN + self.slice_count as i64);
        let is_above = code.compare(BinaryOp::Gt, number, &least);
        let is_below = code.compare(BinaryOp::Lt, number, &constant(i64::MAX));
        let both = ExprKind::And(Box::new(is_above), Box::new(is_below));
        lower::expr(both, Type::Boolean, code.pos)
    }

    /// Statements by which the current part, which is new, is one of its slice and its key, with
    /// its first tuple. Those that can fault come first: the next tuple does the same again.
    fn link_part(&mut self, number: &Expr) -> Vec<Stmt> {
        let code = &mut *self.calls.code;
        let (key_local, key_id) = code.local("keyId", Type::Uint32);
        let added = std::mem::take(&mut self.calls.steps.added);
        let key = match self.key.is_empty() {
            true => vec![code.constant(Value::Uint32(0))],
            false => self.key.clone(),
        };
        let mut stmts = vec![
            code.find_or_add_entry(self.keys.table, key, added),
            Stmt::EntryId(key_local, self.keys.table),
        ];
        stmts.extend(self.parts.link_new(&self.slices, number, code));
        stmts.extend([
            code.increment(&self.keys.part_count),
            code.set(&self.key_id, key_id),
            code.set(&self.first_arrival, self.arrived.clone()),
            code.set(&self.parts.size, code.constant(Value::Uint32(1))),
        ]);
        stmts
    }

    /// A statement that fires the panes that are complete, and removes the slices of none.
    fn fire_panes(&mut self, results: Vec<Expr>) -> Stmt {
        let remove = self.remove_slice();
        let code = &mut *self.calls.code;
        let (pane_id, pane) = code.local("pane", Type::Int64);
        let number = &self.slices.number;
        let constant = |number| lower::constant(Value::Int64(number), Type::Int64, code.pos);
        let before = constant(self.slice_count as i64 - 1);
        let first = code.binary(BinaryOp::Sub, number, &before);
        let has_fired = code.compare(BinaryOp::Lt, &pane, &self.next_pane);
        let is_open = code.compare(BinaryOp::Ge, &pane, &self.complete);
        let behind = code.binary(BinaryOp::Add, &pane, &constant(1));
        let last = code.binary(BinaryOp::Add, &pane, &before);
        let is_over = code.compare(BinaryOp::Lt, number, &self.next_pane);
        let mut fire = vec![
            Stmt::Let(pane_id, Some(first)),
            if_then(has_fired, vec![code.set(&pane, self.next_pane.clone())]),
            if_then(is_open, vec![Stmt::Break]),
            code.set(&self.next_pane, behind),
            code.increment(&self.fired),
        ];
        fire.extend(self.submit_pane(&pane, &last, results));
        let turn = vec![
            Stmt::SelectEntry(self.slices.table, self.slices.earliest.clone()),
            Stmt::If(is_over, remove, fire),
        ];
        Stmt::While(self.calls.code.is_entry(&self.slices.earliest), turn)
    }

    /// Statements that merge a pane from its slices, up to the last one, and submit its results.
    fn submit_pane(&mut self, pane: &Expr, last: &Expr, results: Vec<Expr>) -> Vec<Stmt> {
        let code = &mut *self.calls.code;
        let (first_id, first) = code.local("firstKey", Type::Uint32);
        let (last_id, last_key) = code.local("lastKey", Type::Uint32);
        let mut stmts = vec![Stmt::Let(first_id, None), Stmt::Let(last_id, None)];
        let merge = self.merge_part([&first, &last_key]);
        let slices = SliceMerge {
            slices: &self.slices,
            parts: &self.parts,
            first_arrival: &self.first_arrival,
        };
        let code = &mut *self.calls.code;
        stmts.extend(slices.lower((last, self.slice_count), merge, code));
        stmts.push(Stmt::BeginPane {
            number: pane.clone(),
            fire_count: code.constant(Value::Uint64(0)),
            panes: Box::new(NumberedPanes {
                starts: panes::units_from_end(&self.interval, self.interval.period_ns),
                duration_ns: self.interval.duration_ns,
            }),
        });
        let mut turn = vec![Stmt::SelectEntry(self.keys.table, first.clone())];
        let mut attributes = std::mem::take(&mut self.calls.last_values);
        for kept in attributes.values_mut() {
            *kept = code.keep_result(kept.clone(), &mut turn);
        }
        let results: Vec<Expr> = results
            .into_iter()
            .map(|result| code.keep_result(result, &mut turn))
            .collect();
        let pos = self.operator.pos;
        let tuple = output(self.operator, pos, &results, &attributes);
        turn.push(code.set(&first, self.keys.next.clone()));
        turn.push(lower::submit(PortIndex(0), tuple));
        let marker = lower::submit_window(PortIndex(0), pos);
        let each = code.is_entry(&first);
        match self.is_partitioned {
            true => {
                turn.push(marker);
                stmts.push(Stmt::While(each, turn));
            }
            false => stmts.extend([Stmt::While(each, turn), marker]),
        }
        stmts
    }

    /// Statements that merge the current part into the results of its key, given the locals of the
    /// first and the last key of the pane.
    fn merge_part(&mut self, [first, last]: [&Expr; 2]) -> Vec<Stmt> {
        let code = &*self.calls.code;
        let keys = &self.keys;
        let none = code.constant(Value::Uint32(0));
        let behind_last = vec![
            Stmt::SelectEntry(keys.table, last.clone()),
            code.set(&keys.next, self.key_id.clone()),
            Stmt::SelectEntry(keys.table, self.key_id.clone()),
        ];
        let as_first = vec![code.set(first, self.key_id.clone())];
        let mut of_new = vec![
            Stmt::If(code.is_entry(last), behind_last, as_first),
            code.set(last, self.key_id.clone()),
            code.set(&keys.next, none),
            code.set(&keys.fired_with, self.fired.clone()),
            code.set(&keys.size, self.parts.size.clone()),
        ];
        let more = code.binary(BinaryOp::Add, &keys.size, &self.parts.size);
        let mut of_known = vec![code.set(&keys.size, more)];
        let is_new = code.compare(BinaryOp::Ne, &keys.fired_with, &self.fired);
        let steps = &mut self.calls.steps;
        of_new.append(&mut steps.merge_first);
        of_known.append(&mut steps.merge_later);
        vec![
            Stmt::SelectEntry(keys.table, self.key_id.clone()),
            Stmt::If(is_new, of_new, of_known),
        ]
    }

    /// Statements that remove the current slice, which is the earliest, its parts, and keys that
    /// have no other part.
    fn remove_slice(&mut self) -> Vec<Stmt> {
        let (slices, parts, keys) = (&self.slices, &self.parts, &self.keys);
        let code = &mut *self.calls.code;
        let (part_id, part) = code.local("left", Type::Uint32);
        let one = code.constant(Value::Uint32(1));
        let fewer = code.binary(BinaryOp::Sub, &keys.part_count, &one);
        let has_no_part = code.equals(&keys.part_count, Value::Uint32(0));
        let turn = vec![
            Stmt::SelectEntry(parts.table, part.clone()),
            Stmt::SelectEntry(keys.table, self.key_id.clone()),
            code.set(&keys.part_count, fewer),
            if_then(has_no_part, vec![Stmt::RemoveEntry(keys.table)]),
            code.set(&part, parts.next.clone()),
            Stmt::RemoveEntry(parts.table),
        ];
        let mut stmts = vec![
            Stmt::Let(part_id, Some(slices.first_part.clone())),
            code.set(&slices.earliest, slices.later.clone()),
            Stmt::RemoveEntry(slices.table),
            Stmt::While(code.is_entry(&part), turn),
        ];
        stmts.extend(slices.end_links(code));
        stmts
    }
}
