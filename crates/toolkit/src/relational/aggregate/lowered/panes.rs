//! Panes of event time as statements: a table has the panes, linked from the earliest to the
//! latest, another the parts of all panes, which are their partitions or groups. Panes that overlap
//! are merged from [`super::slices`] instead, if all their functions can be.
//!
//! ```text
//!   onTuple : {
//!       if (at < earliest) { ++late; }                 // it is too late
//!       else {
//!           K k = <partitionBy or groupBy>; T v = <argument>;
//!           int64 last = <number of the pane that began last>;
//!           int64 number = <number of the last pane that has ended>;
//!           while (number < last) {
//!               number = number + 1;
//!               entry of parts[{number = number, k = k}];
//!               if (size == 0) {                       // the part is new
//!                   entry of panes[{number = number}] added { <link it to its neighbours> }
//!                   <link the part to the last one of the pane>
//!                   hasNewTuples = true;
//!               } else if (number < complete) {        // the pane has fired
//!                   entry of panes[{number = number}]; hasNewTuples = true;
//!               }
//!               ++size;
//!               if (size == 1) { sum = v; } else { sum += v; }
//!           }
//!       }
//!   }
//!   onWatermark : {                                    // sets earliest, complete and discarded
//!       <for each pane from the first one on whose number is below complete>
//!           if (hasNewTuples) { <submit the results of its parts> }
//!       <remove the panes whose number is below discarded, and their parts>
//!   }
//! ```
//! Results, and the order of both results and additions, are those of `runtime::window::Panes` with
//! running results. All panes have numbers that an int64 holds, but for timestamps more than 292
//! million years from the epoch, whose panes have the nearest number and never fire.

use eval::State;
use graph::{
    BinaryOp, Body, EventTimeUnits, Expr, NumberedPanes, OperatorNode, Policy, PortIndex, Stmt,
    TimeInterval,
};
use runtime::{CountedPanes, LoweredLogic, WatermarkLogic};
use tuple::{EventTime, Type, Value};

use super::calls::RunningCalls;
use super::output::output;
use super::pane_links::{PaneLinks, PartLinks};
use super::slices::{self, SliceLowering};
use super::{functions, groups};
use crate::lower;
use crate::relational::pane_window::INCOMPLETE_PANES_HELP;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Most panes of a tuple that are lowered: each has results of its own, to which the tuple is
/// added.
pub(super) const PANES_OF_A_TUPLE_MAX: i128 = 8;

/// Least period of panes over timestamps that are lowered: a millisecond.
const TIMESTAMP_PERIOD_MIN_NS: i128 = 1_000_000;

/// The panes of an Aggregate that can be lowered.
pub(super) fn interval(operator: &OperatorNode) -> Option<TimeInterval> {
    let window = operator.inputs[0].window.as_ref()?;
    let Policy::Interval(interval) = window.evict else {
        return None;
    };
    let has = |param| operator.param(param).is_some();
    let most = interval.period_ns.saturating_mul(PANES_OF_A_TUPLE_MAX);
    let overlaps = interval.duration_ns > interval.period_ns;
    let out = &operator.outputs[0];
    let time = &operator.inputs[0].schema.attributes[interval.attribute as usize].ty;
    let is_lowered = has_numbers(&interval, time)
        && interval.duration_ns <= most
        && !(has("partitionBy") && has("groupBy"))
        && groups::can_lower(out)
        && out.calls.iter().all(|call| {
            let name = &*call.function;
            let is_of_all = matches!(name, "CountAll" | "CountGroups" | "CountByGroup");
            // Each pane would keep all values by itself.
            let is_shared = matches!(name, "Collect" | "CollectDistinct") && overlaps;
            !is_of_all && !is_shared && functions::is_lowered_in_tumbling(call, true)
        });
    is_lowered.then_some(interval)
}

/// Whether an int64 holds the numbers of all panes, or of those up to a far future.
fn has_numbers(interval: &TimeInterval, time: &Type) -> bool {
    if *time == Type::Timestamp {
        return interval.period_ns >= TIMESTAMP_PERIOD_MIN_NS;
    }
    let latest = i128::from(u64::MAX).saturating_mul(interval.resolution.tick_ns());
    let ends = [
        interval.offset_ns,
        interval.duration_ns,
        interval.discard_ns,
    ];
    let farthest = ends
        .iter()
        .fold(latest, |sum, ns| sum.saturating_add(ns.saturating_abs()));
    farthest / interval.period_ns < i128::from(i64::MAX)
}

/// Lowers an Aggregate with panes.
pub(super) fn lower(
    operator: &OperatorNode,
    interval: TimeInterval,
) -> Result<LoweredLogic, eval::Fault> {
    let mut code = StatefulLowering::new(operator);
    let (mut watermark, mut counted_panes, mut counted_slices) = (None, None, None);
    let mut logic = lower::after_logic(operator, |_, body| {
        code.body = std::mem::take(body);
        match slices::slice_count(operator, &interval) {
            Some(count) => {
                let slices = SliceLowering::new(operator, (interval, count), &mut code).lower();
                (watermark, counted_slices) = (Some(slices.0), Some(slices.1));
            }
            None => {
                let panes = PaneLowering::new(operator, interval, &mut code).lower();
                (watermark, counted_panes) = (Some(panes.0), Some(panes.1));
            }
        }
        *body = std::mem::take(&mut code.body);
        Ok(())
    })?;
    logic.state.extend(code.state);
    logic.tables = code.tables;
    logic.on_watermark = watermark;
    logic.panes = counted_panes;
    logic.slices = counted_slices;
    Ok(logic)
}

/// Lowering of the panes of one operator.
struct PaneLowering<'l> {
    operator: &'l OperatorNode,
    interval: TimeInterval,
    /// Statements before those for a tuple: the logic clause.
    clause: Vec<Stmt>,
    /// The event time of a tuple.
    time: Expr,
    /// Least event time that is not too late.
    earliest: Expr,
    /// Number of tuples that were too late.
    late: Expr,
    /// Number of the first pane whose end the watermark has not passed, and of the first that is
    /// not discarded.
    complete: Expr,
    discarded: Expr,
    panes: PaneLinks,
    /// Number of times that a pane has fired, and whether a tuple has come since then.
    fire_count: Expr,
    has_new_tuples: Expr,
    parts: PartLinks,
    /// The key of a part, without the number of the pane.
    key: Vec<Expr>,
    calls: RunningCalls<'l>,
}

impl<'l> PaneLowering<'l> {
    fn new(
        operator: &'l OperatorNode,
        interval: TimeInterval,
        code: &'l mut StatefulLowering,
    ) -> PaneLowering<'l> {
        let clause = std::mem::take(&mut code.body.stmts);
        let time = event_time(operator, &interval);
        let number = Value::Int64(i64::MIN);
        let earliest = earliest_time(&interval, &time.ty, code);
        let late = code.variable(None, "late", Type::Uint64);
        let complete = variable_from(code, "complete", Type::Int64, number.clone());
        let discarded = variable_from(code, "discarded", Type::Int64, number);
        let partition = code.key(operator, "partitionBy");
        let is_partitioned = partition.is_some();
        let key = partition.or_else(|| code.key(operator, "groupBy"));
        let key = key.unwrap_or_default();
        let panes = PaneLinks::new("panes", code);
        let fire_count = code.variable(Some(panes.table), "fireCount", Type::Uint64);
        let has_new_tuples = code.variable(Some(panes.table), "hasNewTuples", Type::Boolean);
        let parts = PartLinks::new(code, &key, is_partitioned);
        let size = parts.size.clone();
        let calls = RunningCalls::new(code, Some(parts.table), size, true);
        PaneLowering {
            operator,
            interval,
            clause,
            time,
            earliest,
            late,
            complete,
            discarded,
            panes,
            fire_count,
            has_new_tuples,
            parts,
            key,
            calls,
        }
    }

    /// The statements for a tuple become those of the body. Returns those for a watermark, and what
    /// the run time counts.
    fn lower(mut self) -> (WatermarkLogic, CountedPanes) {
        let results = self.calls.calls(self.operator);
        self.add_to_panes();
        let code = &mut *self.calls.code;
        let stmts = std::mem::take(&mut code.body.stmts);
        let is_late = code.compare(BinaryOp::Lt, &self.time, &self.earliest);
        let for_tuple = Stmt::If(is_late, vec![code.increment(&self.late)], stmts);
        self.clause.push(for_tuple);
        code.body.stmts = std::mem::take(&mut self.clause);
        let on_tuple = std::mem::take(&mut code.body);
        self.fire_panes(results);
        self.discard_panes();
        let body = std::mem::replace(&mut self.calls.code.body, on_tuple);
        (self.watermark_logic(body), self.counted())
    }

    fn watermark_logic(&self, body: Body) -> WatermarkLogic {
        let TimeInterval {
            duration_ns,
            discard_ns,
            resolution,
            ..
        } = self.interval;
        let passed = |end_ns| units_from_end(&self.interval, end_ns);
        WatermarkLogic {
            body,
            counts: vec![
                (state_id(&self.complete), passed(duration_ns)),
                (
                    state_id(&self.discarded),
                    passed(duration_ns.saturating_add(discard_ns)),
                ),
            ],
            earliest: state_id(&self.earliest),
            late: state_id(&self.late),
            discard_ns,
            resolution,
        }
    }

    fn counted(&self) -> CountedPanes {
        CountedPanes {
            parts: self.parts.table,
            first: state_id(&self.panes.first_part),
            has_new_tuples: state_id(&self.has_new_tuples),
            next: state_id(&self.parts.next),
            tuples: state_id(&self.parts.size),
            part_has_new_tuples: self.parts.has_new_tuples.as_ref().map(state_id),
            help: INCOMPLETE_PANES_HELP,
        }
    }

    /// Adds a tuple to all panes that it lies in.
    fn add_to_panes(&mut self) {
        let TimeInterval {
            duration_ns,
            period_ns,
            offset_ns,
            ..
        } = self.interval;
        let began = self.count_units("last", offset_ns);
        if duration_ns == period_ns {
            return self.add_to_pane(&began);
        }
        let ended = self.count_units("ended", offset_ns.saturating_add(duration_ns));
        let code = &mut *self.calls.code;
        let (number_id, number) = code.local("number", Type::Int64);
        let one = lower::constant(Value::Int64(1), Type::Int64, code.pos);
        let next = code.binary(BinaryOp::Add, &number, &one);
        code.body.stmts.push(Stmt::Let(number_id, Some(ended)));
        let before = std::mem::take(&mut code.body.stmts);
        self.add_to_pane(&number);
        let code = &mut *self.calls.code;
        let mut turn = std::mem::replace(&mut code.body.stmts, before);
        turn.insert(0, code.set(&number, next));
        // The number is raised only below another one: that of the last pane may be the greatest.
        let is_open = code.compare(BinaryOp::Lt, &number, &began);
        code.body.stmts.push(Stmt::While(is_open, turn));
    }

    /// A new local: the number of the period that the event time lies in, counted from an origin.
    fn count_units(&mut self, name: &str, origin_ns: i128) -> Expr {
        let code = &mut *self.calls.code;
        let (id, number) = code.local(name, Type::Int64);
        let units = EventTimeUnits {
            origin_ns,
            unit_ns: self.interval.period_ns,
            resolution: self.interval.resolution,
        };
        let count = Stmt::CountUnits(id, Box::new(units), self.time.clone());
        code.body.stmts.push(count);
        number
    }

    /// Adds a tuple to the pane with a number.
    fn add_to_pane(&mut self, number: &Expr) {
        let code = &mut *self.calls.code;
        let key = [vec![number.clone()], self.key.clone()].concat();
        let find = code.find_entry(self.parts.table, key);
        code.body.stmts.push(find);
        let note = code.set(&self.has_new_tuples, boolean(code, true));
        let mut of_new = self.parts.link_new(&self.panes, number, code);
        of_new.push(note.clone());
        let of_fired = vec![
            code.find_entry(self.panes.table, vec![number.clone()]),
            note,
        ];
        let has_fired = code.compare(BinaryOp::Lt, number, &self.complete);
        let is_new = code.equals(&self.parts.size, Value::Uint32(0));
        let of_known = if_then(has_fired, of_fired);
        code.body
            .stmts
            .push(Stmt::If(is_new, of_new, vec![of_known]));
        if let Some(is_new) = &self.parts.has_new_tuples {
            let note = code.set(is_new, boolean(code, true));
            code.body.stmts.push(note);
        }
        self.calls.count_and_accumulate(&self.parts.size.clone());
    }

    /// Fires the panes that are complete and have got tuples, the earliest first.
    fn fire_panes(&mut self, results: Vec<Expr>) {
        let parts = self.submit_parts(results);
        let code = &mut *self.calls.code;
        let (at_id, at) = code.local("pane", Type::Uint32);
        let (later_id, later) = code.local("later", Type::Uint32);
        let panes = &self.panes;
        let is_open = code.compare(BinaryOp::Ge, &panes.number, &self.complete);
        let turn = vec![
            Stmt::SelectEntry(panes.table, at.clone()),
            if_then(is_open, vec![Stmt::Break]),
            Stmt::Let(later_id, Some(panes.later.clone())),
            if_then(self.has_new_tuples.clone(), parts),
            code.set(&at, later),
        ];
        let stmts = [
            Stmt::Let(at_id, Some(panes.earliest.clone())),
            Stmt::While(code.is_entry(&at), turn),
        ];
        code.body.stmts.extend(stmts);
    }

    /// The statements that submit the results of the current pane.
    fn submit_parts(&mut self, results: Vec<Expr>) -> Vec<Stmt> {
        let (panes, parts) = (&self.panes, &self.parts);
        let code = &mut *self.calls.code;
        let (count_id, fire_count) = code.local("fireCount", Type::Uint64);
        let (part_id, part) = code.local("part", Type::Uint32);
        let begin = Stmt::BeginPane {
            number: panes.number.clone(),
            fire_count,
            panes: Box::new(NumberedPanes {
                starts: EventTimeUnits {
                    origin_ns: self.interval.offset_ns,
                    unit_ns: self.interval.period_ns,
                    resolution: self.interval.resolution,
                },
                duration_ns: self.interval.duration_ns,
            }),
        };
        let mut stmts = vec![
            code.set(&self.has_new_tuples, boolean(code, false)),
            Stmt::Let(count_id, Some(self.fire_count.clone())),
            code.increment(&self.fire_count),
            Stmt::Let(part_id, Some(panes.first_part.clone())),
            begin,
        ];
        let select = Stmt::SelectEntry(parts.table, part.clone());
        let go_on = code.set(&part, parts.next.clone());
        let is_part = code.is_entry(&part);
        let marker = lower::submit_window(PortIndex(0), self.operator.pos);
        let is_new = parts.has_new_tuples.clone();
        let noted = is_new
            .as_ref()
            .map(|is_new| code.set(is_new, boolean(code, false)));
        let submit = self.submit_part(results);
        let mut turn = vec![select];
        match is_new.zip(noted) {
            Some((is_new, noted)) => {
                let (was_new_id, was_new) = self.calls.code.local("wasNew", Type::Boolean);
                turn.extend([Stmt::Let(was_new_id, Some(is_new)), noted]);
                turn.extend(submit.kept);
                turn.extend([go_on, if_then(was_new, vec![submit.submit, marker])]);
                stmts.push(Stmt::While(is_part, turn));
            }
            None => {
                turn.extend(submit.kept);
                turn.extend([go_on, submit.submit]);
                stmts.extend([Stmt::While(is_part, turn), marker]);
            }
        }
        stmts
    }

    /// The results of the current part, in locals that outlive the submission.
    fn submit_part(&mut self, results: Vec<Expr>) -> PartResults {
        let mut kept = Vec::new();
        let results = self.calls.keep_results(results, &mut kept);
        let pos = self.operator.pos;
        let tuple = output(self.operator, pos, &results, &self.calls.last_values);
        PartResults {
            kept,
            submit: lower::submit(PortIndex(0), tuple),
        }
    }

    /// Removes the panes that take no tuples any more.
    fn discard_panes(&mut self) {
        let (panes, parts) = (&self.panes, &self.parts);
        let code = &mut *self.calls.code;
        let (part_id, part) = code.local("left", Type::Uint32);
        let remove = vec![
            Stmt::SelectEntry(parts.table, part.clone()),
            code.set(&part, parts.next.clone()),
            Stmt::RemoveEntry(parts.table),
        ];
        let is_kept = code.compare(BinaryOp::Ge, &panes.number, &self.discarded);
        let turn = vec![
            Stmt::SelectEntry(panes.table, panes.earliest.clone()),
            if_then(is_kept, vec![Stmt::Break]),
            Stmt::Let(part_id, Some(panes.first_part.clone())),
            code.set(&panes.earliest, panes.later.clone()),
            Stmt::RemoveEntry(panes.table),
            Stmt::While(code.is_entry(&part), remove),
        ];
        let is_left = code.is_entry(&panes.earliest);
        code.body.stmts.push(Stmt::While(is_left, turn));
        let end_links = panes.end_links(code);
        code.body.stmts.extend(end_links);
    }
}

/// The statements that submit a part.
struct PartResults {
    /// Statements that keep what is submitted.
    kept: Vec<Stmt>,
    submit: Stmt,
}

/// The event time of a tuple.
pub(super) fn event_time(operator: &OperatorNode, interval: &TimeInterval) -> Expr {
    let ty = &operator.inputs[0].schema.attributes[interval.attribute as usize].ty;
    let time = Expr::attribute(PortIndex(0), interval.attribute, ty.clone());
    time.with_pos(operator.pos)
}

/// A new variable: the least event time that is not too late.
pub(super) fn earliest_time(
    interval: &TimeInterval,
    ty: &Type,
    code: &mut StatefulLowering,
) -> Expr {
    let first = EventTime(i128::MIN).to_value(ty, interval.resolution);
    variable_from(code, "earliestTime", ty.clone(), first)
}

/// Numbers of panes by what begins a number of nanoseconds behind a pane's start: the number of the
/// first pane for which that is later than an event time.
pub(super) fn units_from_end(interval: &TimeInterval, end_ns: i128) -> EventTimeUnits {
    EventTimeUnits {
        origin_ns: interval
            .offset_ns
            .saturating_add(end_ns)
            .saturating_sub(interval.period_ns),
        unit_ns: interval.period_ns,
        resolution: interval.resolution,
    }
}

/// A new variable of the operator that begins with a value.
pub(super) fn variable_from(
    code: &mut StatefulLowering,
    name: &str,
    ty: Type,
    first: Value,
) -> Expr {
    debug_assert!(State::is_scalar(&ty));
    let variable = code.variable(None, name, ty.clone());
    if let Some(declared) = code.state.last_mut() {
        declared.init = Some(lower::constant(first, ty, code.pos));
    }
    variable
}

pub(super) fn boolean(code: &StatefulLowering, value: bool) -> Expr {
    code.constant(Value::Boolean(value))
}
