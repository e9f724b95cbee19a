//! A tumbling window as statements: what a tuple does, and what flushes the window.
//!
//! ```text
//!   onPunct : {                                      // a window that markers flush
//!       if (count != 0) {
//!           flushed = count; count = 0;
//!           submit({total = sum, all = (int32) flushed, price = lastPrice}, 0);
//!       }
//!       submit(Sys.WindowMarker, 0);
//!   }
//!   onPunct : {                                      // the same with partitions
//!       if (firstWindow != 0) {
//!           while (firstWindow != 0) {
//!               <the entry firstWindow of windows>;
//!               flushed = count; T total = sum; firstWindow = nextWindow;
//!               remove entry of windows;
//!               submit({total = total}, 0); submit(Sys.WindowMarker, 0);
//!           }
//!       } else { submit(Sys.WindowMarker, 0); }
//!   }
//! ```
//! The statements for a tuple are in [`super`]. A window whose output faults is over.

use graph::{BinaryOp, Body, Expr, OperatorNode, PortIndex, Stmt};
use runtime::CountedWindow;
use tuple::Value;

use super::calls::RunningCalls;
use super::delta;
use super::groups::GroupLinks;
use super::lowered_window::FlushPolicy;
use super::output::{PartitionKey, output};
use super::window_links::WindowLinks;
use crate::lower;
use crate::relational::aggregate::incomplete_help::incomplete_help;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Lowering of a tumbling window.
pub(super) struct TumblingLowering<'l> {
    operator: &'l OperatorNode,
    policy: &'l FlushPolicy,
    /// The table of windows and the key of a tuple's, if there are partitions.
    partition: Option<PartitionKey>,
    /// The order of windows that are flushed together.
    links: Option<WindowLinks>,
    /// Number of tuples in the window.
    count: Expr,
    /// Number of tuples in the window that is flushed, unless it is the same for all.
    flushed: Option<Expr>,
    groups: Option<GroupLinks>,
    calls: RunningCalls<'l>,
    results: Vec<Expr>,
}

impl<'l> TumblingLowering<'l> {
    /// Lowering of a window, whose statements for a tuple are added to the body.
    pub(super) fn new(
        operator: &'l OperatorNode,
        policy: &'l FlushPolicy,
        code: &'l mut StatefulLowering,
    ) -> TumblingLowering<'l> {
        let partition = code.key(operator, "partitionBy");
        let group = code.key(operator, "groupBy");
        let home = partition
            .as_ref()
            .map(|partition| code.add_table("windows", Some(partition)));
        let count = code.variable(home, "count", policy.count_type());
        let (tuples, flushed) = match policy {
            FlushPolicy::Count(size) => (code.constant(Value::Uint32(*size)), None),
            _ => {
                let flushed = code.variable(None, "flushed", policy.count_type());
                (flushed.clone(), Some(flushed))
            }
        };
        let key = partition.clone().unwrap_or_default();
        let groups = group
            .map(|group| GroupLinks::new(home, [key, group].concat(), policy.count_type(), code));
        let links = home.filter(|_| policy.flushes_all());
        let links = links.map(|windows| WindowLinks::new(windows, code));
        let keeps_last = groups.is_some() || !matches!(policy, FlushPolicy::Count(_));
        let mut calls = RunningCalls::new(code, home, tuples, keeps_last);
        if let FlushPolicy::Count(size) = policy {
            calls.all = calls.code.constant(Value::Int32(*size as i32));
        }
        if let Some(groups) = &groups {
            groups.own(&mut calls);
        }
        let mut lowering = TumblingLowering {
            operator,
            policy,
            partition: home.zip(partition),
            links,
            count,
            flushed,
            groups,
            results: calls.calls(operator),
            calls,
        };
        lowering.lower_tuple();
        lowering
    }

    /// The window, as far as the run time counts it.
    pub(super) fn counted(&self) -> CountedWindow {
        CountedWindow {
            count: state_id(&self.count),
            table: self.partition.as_ref().map(|(windows, _)| *windows),
            size: self.policy.full_size(),
            help: self.operator.inputs[0]
                .window
                .as_ref()
                .map_or("", incomplete_help),
        }
    }

    /// Adds the statements for a tuple, behind those that compute the arguments.
    fn lower_tuple(&mut self) {
        // Whatever can fault comes before it, so that a tuple with a fault opens no window.
        if let Some((windows, key)) = &self.partition {
            let code = &mut *self.calls.code;
            let added = self.links.as_ref().map(|links| links.append(code));
            let find = code.find_or_add_entry(*windows, key.clone(), added.unwrap_or_default());
            code.body.stmts.push(find);
        }
        if let FlushPolicy::Delta(attribute, amount) = self.policy {
            let flush = self.flush_if_exceeded(*attribute, amount);
            self.calls.code.body.stmts.push(flush);
        }
        match &self.groups {
            Some(groups) => {
                let count = self.calls.code.increment(&self.count);
                self.calls.code.body.stmts.push(count);
                groups.accumulate(&self.count, &mut self.calls);
            }
            None => self.calls.count_and_accumulate(&self.count),
        }
        if let FlushPolicy::Count(size) = self.policy {
            let is_full = self.calls.code.equals(&self.count, Value::Uint32(*size));
            let mut flush = self.flush();
            flush.push(self.submit_marker());
            self.calls.code.body.stmts.push(if_then(is_full, flush));
        }
    }

    /// A statement that flushes the current window if the tuple is too far from its first one, and
    /// notes the value of the tuple that begins a window.
    fn flush_if_exceeded(&mut self, attribute: u32, amount: &Value) -> Stmt {
        let ty = &self.operator.inputs[0].schema.attributes[attribute as usize].ty;
        let value =
            Expr::attribute(PortIndex(0), attribute, ty.clone()).with_pos(self.operator.pos);
        let home = self.partition.as_ref().map(|(windows, _)| *windows);
        let first = self.calls.code.variable(home, "firstValue", ty.clone());
        let mut flush = self.flush();
        let code = &*self.calls.code;
        let begin = code.set(&first, value.clone());
        flush.extend([self.submit_marker(), begin.clone()]);
        let exceeds = delta::exceeds(code, &value, &first, amount);
        Stmt::If(
            self.has_tuples(),
            vec![if_then(exceeds, flush)],
            vec![begin],
        )
    }

    /// The body for a marker that flushes the windows: the clause, and behind it the statements for
    /// a window marker.
    pub(super) fn lower_marker(&mut self) -> Body {
        let clause = self.operator.logic.on_punct.first().cloned().flatten();
        let for_tuple = std::mem::replace(&mut self.calls.code.body, clause.unwrap_or_default());
        let flush = self.flush_all();
        self.calls.code.after_marker_clause(flush);
        std::mem::replace(&mut self.calls.code.body, for_tuple)
    }

    /// The body for a timer that flushes the windows.
    pub(super) fn lower_timer(&mut self) -> Body {
        let for_tuple = std::mem::take(&mut self.calls.code.body);
        let flush = self.flush_all();
        self.calls.code.body.stmts = flush;
        std::mem::replace(&mut self.calls.code.body, for_tuple)
    }

    /// Whether the current window has tuples.
    fn has_tuples(&self) -> Expr {
        let code = &*self.calls.code;
        let none = lower::default_value(&self.count.ty, code.pos);
        code.compare(BinaryOp::Ne, &self.count, &none)
    }

    /// The statements that flush the windows of all partitions.
    fn flush_all(&mut self) -> Vec<Stmt> {
        let flush = self.flush();
        let marker = self.submit_marker();
        let code = &*self.calls.code;
        let Some(links) = &self.links else {
            return vec![if_then(self.has_tuples(), flush), marker];
        };
        let mut turn = vec![links.select_first()];
        turn.extend(flush);
        turn.push(marker.clone());
        let is_window = code.is_entry(&links.first);
        let each = Stmt::While(is_window.clone(), turn);
        vec![Stmt::If(is_window, vec![each], vec![marker])]
    }

    /// The statements that submit the results of the current window, which is empty from then on.
    fn flush(&mut self) -> Vec<Stmt> {
        let code = &*self.calls.code;
        let flushed = self.flushed.as_ref();
        let mut stmts: Vec<Stmt> = flushed
            .map(|flushed| code.set(flushed, self.count.clone()))
            .into_iter()
            .collect();
        let empty = self.empty_window();
        let results = std::mem::take(&mut self.results);
        if let Some(groups) = &self.groups {
            stmts.extend(groups.flush(self.operator, results, empty, &mut self.calls));
            return stmts;
        }
        let results = match self.removes_entries() {
            true => self.calls.keep_results(results, &mut stmts),
            false => results,
        };
        let last_values = &self.calls.last_values;
        let tuple = output(self.operator, self.operator.pos, &results, last_values);
        stmts.extend(empty);
        stmts.push(lower::submit(PortIndex(0), tuple));
        stmts
    }

    /// Whether a flush removes the window's entry. One that a delta flushes has a tuple at once.
    fn removes_entries(&self) -> bool {
        self.partition.is_some() && !matches!(self.policy, FlushPolicy::Delta(..))
    }

    /// Statements after which the current window has no tuples.
    fn empty_window(&self) -> Vec<Stmt> {
        match (&self.links, &self.partition) {
            (Some(links), _) => links.remove_first(self.calls.code),
            (None, Some((windows, _))) if self.removes_entries() => {
                vec![Stmt::RemoveEntry(*windows)]
            }
            _ => {
                let code = &*self.calls.code;
                let none = lower::default_value(&self.count.ty, code.pos);
                vec![code.set(&self.count, none)]
            }
        }
    }

    fn submit_marker(&self) -> Stmt {
        lower::submit_window(PortIndex(0), self.operator.pos)
    }
}
