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
    policy: FlushPolicy,
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
        policy: FlushPolicy,
        code: &'l mut StatefulLowering,
    ) -> TumblingLowering<'l> {
        let partition = code.key(operator, "partitionBy");
        let group = code.key(operator, "groupBy");
        let home = partition
            .as_ref()
            .map(|partition| code.add_table("windows", Some(partition)));
        let count = code.variable(home, "count", policy.count_type());
        let (tuples, flushed) = match policy {
            FlushPolicy::Count(size) => (code.constant(Value::Uint32(size)), None),
            FlushPolicy::Punct => {
                let flushed = code.variable(None, "flushed", policy.count_type());
                (flushed.clone(), Some(flushed))
            }
        };
        let key = partition.clone().unwrap_or_default();
        let groups = group
            .map(|group| GroupLinks::new(home, [key, group].concat(), policy.count_type(), code));
        let links = home.filter(|_| policy == FlushPolicy::Punct);
        let links = links.map(|windows| WindowLinks::new(windows, code));
        let keeps_last = groups.is_some() || policy == FlushPolicy::Punct;
        let mut calls = RunningCalls::new(code, home, tuples, keeps_last);
        if let FlushPolicy::Count(size) = policy {
            calls.all = calls.code.constant(Value::Int32(size as i32));
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
        match &self.groups {
            Some(groups) => {
                let count = self.calls.code.increment(&self.count);
                self.calls.code.body.stmts.push(count);
                groups.accumulate(&self.count, &mut self.calls);
            }
            None => self.calls.count_and_accumulate(&self.count),
        }
        if let FlushPolicy::Count(size) = self.policy {
            let is_full = self.calls.code.equals(&self.count, Value::Uint32(size));
            let mut flush = self.flush();
            flush.push(self.submit_marker());
            self.calls.code.body.stmts.push(if_then(is_full, flush));
        }
    }

    /// The body for a marker, if the window is flushed by markers: the clause, and behind it the
    /// statements for a window marker.
    pub(super) fn lower_marker(&mut self, clause: Option<Body>) -> Option<Body> {
        if self.policy != FlushPolicy::Punct {
            return clause;
        }
        let for_tuple = std::mem::replace(&mut self.calls.code.body, clause.unwrap_or_default());
        let flush = self.flush_all();
        self.calls.code.after_marker_clause(flush);
        Some(std::mem::replace(&mut self.calls.code.body, for_tuple))
    }

    /// The statements that flush the windows of all partitions.
    fn flush_all(&mut self) -> Vec<Stmt> {
        let flush = self.flush();
        let marker = self.submit_marker();
        let code = &*self.calls.code;
        let Some(links) = &self.links else {
            let none = lower::default_value(&self.count.ty, code.pos);
            let has_tuples = code.compare(BinaryOp::Ne, &self.count, &none);
            return vec![if_then(has_tuples, flush), marker];
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
        let results = match self.partition {
            Some(_) => self.calls.keep_results(results, &mut stmts),
            None => results,
        };
        let last_values = &self.calls.last_values;
        let tuple = output(self.operator, self.operator.pos, &results, last_values);
        stmts.extend(empty);
        stmts.push(lower::submit(PortIndex(0), tuple));
        stmts
    }

    /// Statements after which the current window has no tuples.
    fn empty_window(&self) -> Vec<Stmt> {
        match (&self.links, &self.partition) {
            (Some(links), _) => links.remove_first(self.calls.code),
            (None, Some((windows, _))) => vec![Stmt::RemoveEntry(*windows)],
            (None, None) => {
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
