//! A Sort as statements, for windows of a number of tuples and of a marker, without partitions.
//!
//! The tuples of the window are entries of a table, which has a queue in the order of `sortBy`.
//!
//! ```text
//!   K k = <sortBy>;                                // each
//!   if (count == size) {                           // a sliding window: the first leaves
//!       take entry from queue of tuples; at = id of tuples;
//!       submit({price = price}, 0);
//!       <the entry at of tuples>;                  // which becomes that of the tuple here
//!   } else { <a free entry of tuples, or a new one>; ++count; }
//!   key = k; price = Trades.price;                 // what outputs read
//!   put entry into queue of tuples;
//!   if (count == size) {                           // a tumbling window
//!       count = 0;
//!       while (true) {
//!           take entry from queue of tuples; at = id of tuples;
//!           if (at == 0) { break; }
//!           submit({price = price}, 0);
//!           <the entry at of tuples>; nextFree = free; free = at;
//!       }
//!       submit(Sys.WindowMarker, 0);
//!   }
//! ```
//! Entries are kept for later tuples; but those of a window that ends with a marker are removed.

use eval::Fault;
use graph::{
    Body, CaughtFaults, Expr, OperatorNode, Policy, PortIndex, SortKey, Stmt, TableId, Window,
    WindowKind,
};
use runtime::{CountedWindow, LoweredLogic};
use tuple::{Type, Value};

use super::{INCOMPLETE_HELP, is_descending};
use crate::kept_tuple::KeptTuple;
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};
use crate::verify_params::{exprs, literals};

/// Whether a Sort can be lowered. What `@catch` leaves of an output is kept by [`super::operator`]
/// alone.
pub fn can_lower(operator: &OperatorNode) -> bool {
    let is_caught = operator.caught_faults() != CaughtFaults::None;
    SortWindow::of(operator).is_some() && !is_caught && !operator.keeps_history()
}

/// A window that is lowered.
#[derive(Clone, Copy)]
enum SortWindow {
    /// Sliding window of a number of tuples: the first leaves when another comes.
    Sliding(u32),
    /// Tumbling window of a number of tuples.
    Tumbling(u32),
    /// Tumbling window of the tuples between two window markers.
    Marked,
}

impl SortWindow {
    fn of(operator: &OperatorNode) -> Option<SortWindow> {
        let window: &Window = operator.inputs[0].window.as_ref()?;
        if window.partition.is_some() {
            return None;
        }
        match (window.kind, &window.evict) {
            (WindowKind::Sliding, Policy::Count(size @ 1..)) => Some(SortWindow::Sliding(*size)),
            (WindowKind::Tumbling, Policy::Count(size @ 1..)) => Some(SortWindow::Tumbling(*size)),
            (WindowKind::Tumbling, Policy::Punct) => Some(SortWindow::Marked),
            _ => None,
        }
    }

    /// Number of tuples below which the window is not full.
    fn full_size(self) -> u64 {
        match self {
            // What is left at the end is submitted.
            SortWindow::Sliding(_) => 0,
            SortWindow::Tumbling(size) => size.into(),
            SortWindow::Marked => u64::MAX,
        }
    }
}

/// Lowers a Sort to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let window = SortWindow::of(operator).ok_or_else(|| lower::missing_param("window"))?;
    let mut sort = SortLowering::new(operator, window);
    let mut logic = lower::after_logic(operator, |_, body| {
        sort.code.body = std::mem::take(body);
        sort.lower_tuple();
        *body = std::mem::take(&mut sort.code.body);
        Ok(())
    })?;
    match window {
        SortWindow::Sliding(_) => logic.on_finish = Some(sort.lower_end()),
        SortWindow::Tumbling(_) => {}
        SortWindow::Marked => {
            let clause = logic.on_punct[0].take().unwrap_or_default();
            logic.on_punct[0] = Some(sort.lower_marker(clause));
        }
    }
    logic.window = Some(CountedWindow {
        count: state_id(&sort.count),
        table: None,
        size: window.full_size(),
        help: INCOMPLETE_HELP,
    });
    logic.state.extend(sort.code.state);
    logic.tables = sort.code.tables;
    Ok(logic)
}

struct SortLowering<'a> {
    operator: &'a OperatorNode,
    window: SortWindow,
    code: StatefulLowering,
    tuples: TableId,
    /// Number of tuples in the window.
    count: Expr,
    /// Ids of the first entry that is free, and of the one behind the current entry.
    free: Expr,
    next_free: Expr,
    /// The values that the current tuple is sorted by.
    keys: Vec<Expr>,
    kept: KeptTuple,
}

impl<'a> SortLowering<'a> {
    fn new(operator: &'a OperatorNode, window: SortWindow) -> SortLowering<'a> {
        let mut code = StatefulLowering::new(operator);
        let tuples = code.add_table("tuples", None);
        let keys: Vec<Expr> = exprs(operator, "sortBy")
            .iter()
            .map(|part| code.variable(Some(tuples), "key", part.ty.clone()))
            .collect();
        let orders = literals(operator, "order");
        let sort_keys = keys.iter().enumerate().map(|(at, key)| SortKey {
            variable: state_id(key),
            is_descending: is_descending(orders, at),
        });
        code.tables[tuples.0 as usize].sort_keys = sort_keys.collect();
        let read = operator.outputs[0].assign.iter().flatten();
        SortLowering {
            operator,
            window,
            tuples,
            count: code.variable(None, "count", Type::Uint32),
            free: code.variable(None, "free", Type::Uint32),
            next_free: code.variable(Some(tuples), "nextFree", Type::Uint32),
            keys,
            kept: KeptTuple::new(operator, PortIndex(0), read, tuples, &mut code),
            code,
        }
    }

    /// Adds the statements for a tuple.
    fn lower_tuple(&mut self) {
        let values = self.code.key(self.operator, "sortBy").unwrap_or_default();
        self.code.pos = self.operator.pos;
        let reuse = vec![
            self.select(&self.free),
            self.code.set(&self.free, self.next_free.clone()),
        ];
        let add = vec![Stmt::AddEntry(self.tuples, self.code.pos)];
        let mut stmts = vec![
            Stmt::If(self.code.is_entry(&self.free), reuse, add),
            self.code.increment(&self.count),
        ];
        if let SortWindow::Sliding(size) = self.window {
            let is_full = self.code.equals(&self.count, Value::Uint32(size));
            stmts = vec![Stmt::If(is_full, self.submit_first(), stmts)];
        }
        let keys = self.keys.iter().zip(values);
        stmts.extend(keys.map(|(key, value)| self.code.set(key, value)));
        stmts.extend(self.kept.keep(&self.code));
        stmts.push(Stmt::EnqueueEntry(self.tuples, self.code.pos));
        if let SortWindow::Tumbling(size) = self.window {
            let is_full = self.code.equals(&self.count, Value::Uint32(size));
            stmts.push(if_then(is_full, self.flush()));
        }
        self.code.body.stmts.extend(stmts);
    }

    /// The clause for a marker, and behind it: a window marker flushes the window.
    fn lower_marker(&mut self, clause: Body) -> Body {
        self.code.body = clause;
        let flush = self.flush();
        self.code.after_marker_clause(flush);
        std::mem::take(&mut self.code.body)
    }

    /// Submits the tuples left in a sliding window, in order.
    fn lower_end(&mut self) -> Body {
        self.code.body = Body::default();
        self.code.body.stmts = self.submit_all();
        std::mem::take(&mut self.code.body)
    }

    /// Submits all tuples in order, then a window marker.
    fn flush(&mut self) -> Vec<Stmt> {
        let none = self.code.constant(Value::Uint32(0));
        let mut stmts = vec![self.code.set(&self.count, none)];
        stmts.extend(self.submit_all());
        stmts.push(lower::submit_window(PortIndex(0), self.code.pos));
        stmts
    }

    /// Submits all tuples in order.
    fn submit_all(&mut self) -> Vec<Stmt> {
        let (at_id, at) = self.code.local("at", Type::Uint32);
        let is_empty = self.code.equals(&at, Value::Uint32(0));
        let mut turn = vec![
            Stmt::DequeueEntry(self.tuples),
            Stmt::EntryId(at_id, self.tuples),
            if_then(is_empty, vec![Stmt::Break]),
        ];
        turn.extend(self.submit_current(&at));
        turn.extend(match self.window {
            SortWindow::Marked => vec![Stmt::RemoveEntry(self.tuples)],
            _ => vec![
                self.code.set(&self.next_free, self.free.clone()),
                self.code.set(&self.free, at),
            ],
        });
        let always = self.code.constant(Value::Boolean(true));
        vec![Stmt::While(always, turn)]
    }

    /// Submits the first tuple in order; its entry stays current.
    fn submit_first(&mut self) -> Vec<Stmt> {
        let (at_id, at) = self.code.local("at", Type::Uint32);
        let mut stmts = vec![
            Stmt::DequeueEntry(self.tuples),
            Stmt::EntryId(at_id, self.tuples),
        ];
        stmts.extend(self.submit_current(&at));
        stmts
    }

    /// Submits the tuple of the current entry, whose id is `at`.
    fn submit_current(&mut self, at: &Expr) -> [Stmt; 2] {
        let operator = self.operator;
        let tuple = lower::output(&operator.outputs[0], operator.pos, |assigned| {
            self.kept.substitute(assigned, operator)
        });
        [lower::submit(PortIndex(0), tuple), self.select(at)]
    }

    fn select(&self, id: &Expr) -> Stmt {
        Stmt::SelectEntry(self.tuples, id.clone())
    }
}
