//! A Join as statements: on equality, with windows of a number of tuples.
//!
//! The tuples of a window are entries of a table without keys, linked by their ids in two lists:
//! those of the window, and those of each key. A table of keys has the ends of both windows' lists,
//! so that one search serves to find partners and to insert.
//!
//! ```text
//!   entry of keys[{k = k}]; own = id of keys;
//!   at = firstRight;                                   // of a tuple that comes from the left
//!   while (at != 0) {
//!       <the entry at of right>; next = nextOfKey;
//!       if (match) {
//!           hasSubmitted = true; submit(output, 0);
//!           matched = true; paired = true;             // where unmatched tuples count
//!       }
//!       at = next;
//!   }
//!   if (count == size) {                               // the oldest leaves: the first of its key
//!       <the entry oldest of left>;
//!       if (matched == false) { hasSubmitted = true; submit(output with a default tuple, 0); }
//!       slot = oldest; oldest = nextOfWindow; next = nextOfKey;
//!       <the entry key of keys>; firstLeft = next;
//!       if (next == 0 && firstRight == 0 && key != own) { remove entry of keys; }
//!       <the entry own of keys>;
//!   } else { add entry to left; slot = id of left; ++count; }
//!   <slot goes to the end of both lists, with the attributes that outputs and matches read>
//!   if (hasSubmitted) { hasSubmitted = false; submit(Sys.WindowMarker, 0); }
//! ```

use eval::Fault;
use graph::{
    BinaryOp, CaughtFaults, Expr, OperatorNode, ParamValue, Policy, PortIndex, Stmt, TableId,
};
use runtime::LoweredLogic;
use tuple::{Type, Value};

use super::unmatched::UnmatchedOutput;
use crate::kept_tuple::KeptTuple;
use crate::key_evaluator::{is_flat, may_hold_nan};
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then};

const EQUALITY: [&str; 2] = ["equalityLHS", "equalityRHS"];

/// Whether a Join can be lowered. What `@catch` leaves of a pair's output is kept by
/// [`super::operator`] alone.
pub fn can_lower(operator: &OperatorNode) -> bool {
    let is_caught = operator.caught_faults() != CaughtFaults::None;
    let has_flat_keys = EQUALITY.iter().all(|param| {
        let param = operator.param(param).map(|param| &param.value);
        matches!(param, Some(ParamValue::Exprs(parts)) if parts.iter().all(|part| is_flat(&part.ty)))
    });
    let sides = [0, 1].map(|side| size(operator, side).is_some());
    !is_caught && has_flat_keys && sides == [true; 2] && !operator.keeps_history()
}

/// Number of tuples that a side's window has, if nothing else lets one leave and it has no
/// partitions.
fn size(operator: &OperatorNode, side: usize) -> Option<u32> {
    let window = operator.inputs[side].window.as_ref()?;
    match window.evict {
        Policy::Count(size) if window.partition.is_none() => Some(size),
        _ => None,
    }
}

/// Lowers a Join to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let mut join = JoinLowering::new(operator);
    let mut logic = lower::after_logic(operator, |port, body| {
        join.code.body = std::mem::take(body);
        join.lower_side(port.index());
        *body = std::mem::take(&mut join.code.body);
        Ok(())
    })?;
    logic.state.extend(join.code.state);
    logic.tables = join.code.tables;
    Ok(logic)
}

struct JoinLowering<'a> {
    operator: &'a OperatorNode,
    code: StatefulLowering,
    keys: TableId,
    /// Whether a pair was submitted since the last marker.
    has_submitted: Expr,
    sides: [SideVariables; 2],
}

/// Variables of one side's window.
struct SideVariables {
    /// Number of tuples of a full window; none is kept if it is 0.
    size: u32,
    tuples: TableId,
    /// Number of tuples in the window, and ids of the oldest and the newest.
    count: Expr,
    oldest: Expr,
    newest: Expr,
    /// Ids of the first and the last tuple of this side that has the current key.
    first: Expr,
    last: Expr,
    /// Id of the current tuple's key; ids of the tuples behind it in the window and of its key.
    key: Expr,
    next_in_window: Expr,
    next_of_key: Expr,
    /// Attributes of the current tuple that outputs and matches read.
    kept: KeptTuple,
    /// The output for tuples without a partner, and whether the current tuple has found one.
    unmatched: Option<(UnmatchedOutput, Expr)>,
}

impl SideVariables {
    fn new(
        operator: &OperatorNode,
        side: usize,
        keys: TableId,
        code: &mut StatefulLowering,
    ) -> SideVariables {
        let tuples = code.add_table(["left", "right"][side], None);
        let unmatched = UnmatchedOutput::of(operator, side, code);
        let whole = unmatched
            .as_ref()
            .and_then(|unmatched| unmatched.read(operator, side));
        let outputs = operator.outputs[0].assign.iter().flatten();
        let read = outputs.chain(lower::param(operator, "match")).chain(&whole);
        let port = PortIndex(side as u32);
        let kept = KeptTuple::new(operator, port, read, tuples, code);
        let unmatched = unmatched.map(|output| {
            let matched = code.variable(Some(tuples), "matched", Type::Boolean);
            (output, matched)
        });
        let mut number = |table, name| code.variable(table, name, Type::Uint32);
        SideVariables {
            size: size(operator, side).unwrap_or_default(),
            tuples,
            count: number(None, "count"),
            oldest: number(None, "oldest"),
            newest: number(None, "newest"),
            first: number(Some(keys), "first"),
            last: number(Some(keys), "last"),
            key: number(Some(tuples), "key"),
            next_in_window: number(Some(tuples), "nextInWindow"),
            next_of_key: number(Some(tuples), "nextOfKey"),
            kept,
            unmatched,
        }
    }

    fn select(&self, id: &Expr) -> Stmt {
        Stmt::SelectEntry(self.tuples, id.clone())
    }
}

impl<'a> JoinLowering<'a> {
    fn new(operator: &'a OperatorNode) -> JoinLowering<'a> {
        let mut code = StatefulLowering::new(operator);
        let key = match operator.param(EQUALITY[0]).map(|param| &param.value) {
            Some(ParamValue::Exprs(parts)) => &parts[..],
            _ => &[],
        };
        let keys = code.add_table("keys", Some(key));
        JoinLowering {
            operator,
            keys,
            has_submitted: code.variable(None, "hasSubmitted", Type::Boolean),
            sides: [0, 1].map(|side| SideVariables::new(operator, side, keys, &mut code)),
            code,
        }
    }

    /// Adds the statements for a tuple of one side.
    fn lower_side(&mut self, side: usize) {
        let key = self.code.key(self.operator, EQUALITY[side]);
        let key = key.unwrap_or_default();
        let mut stmts = vec![self.code.find_entry(self.keys, key.clone())];
        let (paired_id, paired) = self.code.local("paired", Type::Boolean);
        stmts.push(Stmt::Let(paired_id, None));
        stmts.extend(self.find_partners(side, &key, &paired));
        if self.sides[side].size == 0 {
            stmts.extend(self.submit_unmatched(side, paired, None));
            stmts.push(self.remove_empty_key());
        } else {
            self.insert(side, &paired, &mut stmts);
        }
        let none = self.code.constant(Value::Boolean(false));
        let end = vec![
            self.code.set(&self.has_submitted, none),
            lower::submit_window(PortIndex(0), self.operator.pos),
        ];
        stmts.push(if_then(self.has_submitted.clone(), end));
        self.code.body.stmts.extend(stmts);
    }

    /// Submits the pairs of a tuple with those of the other side that have its key.
    fn find_partners(&mut self, side: usize, key: &[Expr], paired: &Expr) -> Vec<Stmt> {
        let (at_id, at) = self.code.local("at", Type::Uint32);
        let (next_id, next) = self.code.local("next", Type::Uint32);
        let (operator, other) = (self.operator, &self.sides[1 - side]);
        let tuple = lower::output(&operator.outputs[0], operator.pos, |assigned| {
            other.kept.substitute(assigned, operator)
        });
        let yes = self.code.constant(Value::Boolean(true));
        let mut pair = vec![
            self.code.set(&self.has_submitted, yes.clone()),
            lower::submit(PortIndex(0), tuple),
        ];
        let matched = other.unmatched.iter().map(|(_, matched)| matched);
        let own = self.sides[side].unmatched.iter().map(|_| paired);
        pair.extend(
            matched
                .chain(own)
                .map(|noted| self.code.set(noted, yes.clone())),
        );
        if let Some(condition) = lower::param(operator, "match") {
            pair = vec![if_then(other.kept.substitute(condition, operator), pair)];
        }
        let mut turn = vec![
            other.select(&at),
            Stmt::Let(next_id, Some(other.next_of_key.clone())),
        ];
        turn.extend(pair);
        turn.push(self.code.set(&at, next));
        let mut search = vec![
            Stmt::Let(at_id, Some(other.first.clone())),
            Stmt::While(self.code.is_entry(&at), turn),
        ];
        // A NaN equals nothing, but is one key with others.
        for part in key.iter().filter(|part| may_hold_nan(&part.ty)) {
            let equals_itself = self.code.compare(BinaryOp::Eq, part, part);
            search = vec![if_then(equals_itself, search)];
        }
        search
    }

    /// Submits the output for a tuple of a side if it counts although it has found no partner.
    fn submit_unmatched(
        &self,
        side: usize,
        has_partner: Expr,
        kept: Option<&KeptTuple>,
    ) -> Option<Stmt> {
        let (output, _) = self.sides[side].unmatched.as_ref()?;
        let submitted = self.code.set(
            &self.has_submitted,
            self.code.constant(Value::Boolean(true)),
        );
        let submit = output.submit(self.operator, side, kept, submitted);
        Some(Stmt::If(has_partner, Vec::new(), submit))
    }

    /// Removes the current key if neither side has a tuple of it.
    fn remove_empty_key(&self) -> Stmt {
        let [left, right] = self.sides.each_ref().map(|side| self.is_none(&side.first));
        let remove = vec![Stmt::RemoveEntry(self.keys)];
        if_then(left, vec![if_then(right, remove)])
    }

    fn is_none(&self, id: &Expr) -> Expr {
        self.code.equals(id, Value::Uint32(0))
    }

    /// Puts the tuple at the end of its side's window; from a full one, the oldest leaves.
    fn insert(&mut self, side: usize, paired: &Expr, stmts: &mut Vec<Stmt>) {
        let (own_id, own) = self.code.local("own", Type::Uint32);
        let (slot_id, slot) = self.code.local("slot", Type::Uint32);
        stmts.push(Stmt::EntryId(own_id, self.keys));
        stmts.push(Stmt::Let(slot_id, None));
        let leave = self.leave(side, &own, &slot);
        let this = &self.sides[side];
        let join = vec![
            Stmt::AddEntry(this.tuples, self.operator.pos),
            Stmt::EntryId(slot_id, this.tuples),
            self.code.increment(&this.count),
        ];
        let is_full = self.code.equals(&this.count, Value::Uint32(this.size));
        stmts.push(Stmt::If(is_full, leave, join));

        let is_only = self.code.equals(&this.count, Value::Uint32(1));
        let window_ends = (&this.oldest, &this.newest);
        self.append(
            side,
            &slot,
            is_only,
            window_ends,
            &this.next_in_window,
            stmts,
        );
        let is_first = self.is_none(&this.first);
        let key_ends = (&this.first, &this.last);
        self.append(side, &slot, is_first, key_ends, &this.next_of_key, stmts);

        stmts.push(this.select(&slot));
        let none = self.code.constant(Value::Uint32(0));
        stmts.push(self.code.set(&this.next_of_key, none));
        stmts.push(self.code.set(&this.key, own));
        let matched = this.unmatched.iter();
        stmts.extend(matched.map(|(_, matched)| self.code.set(matched, paired.clone())));
        stmts.extend(this.kept.keep(&self.code));
    }

    /// Takes the oldest tuple of a window out of the lists, and leaves its id in `slot`. It is the
    /// first of its key.
    fn leave(&mut self, side: usize, own: &Expr, slot: &Expr) -> Vec<Stmt> {
        let (key_id, key) = self.code.local("key", Type::Uint32);
        let (next_id, next) = self.code.local("next", Type::Uint32);
        let this = &self.sides[side];
        let is_other = self.code.compare(BinaryOp::Ne, &key, own);
        let matched = this.unmatched.as_ref();
        let submit = matched.and_then(|(_, matched)| {
            self.submit_unmatched(side, matched.clone(), Some(&this.kept))
        });
        let mut stmts = vec![this.select(&this.oldest)];
        stmts.extend(submit);
        stmts.extend([
            self.code.set(slot, this.oldest.clone()),
            self.code.set(&this.oldest, this.next_in_window.clone()),
            Stmt::Let(key_id, Some(this.key.clone())),
            Stmt::Let(next_id, Some(this.next_of_key.clone())),
            Stmt::SelectEntry(self.keys, key),
            self.code.set(&this.first, next),
            if_then(is_other, vec![self.remove_empty_key()]),
            Stmt::SelectEntry(self.keys, own.clone()),
        ]);
        stmts
    }

    /// Puts an entry at the end of a list.
    fn append(
        &self,
        side: usize,
        slot: &Expr,
        is_only: Expr,
        (first, last): (&Expr, &Expr),
        next: &Expr,
        stmts: &mut Vec<Stmt>,
    ) {
        let begin = vec![self.code.set(first, slot.clone())];
        let link = vec![
            self.sides[side].select(last),
            self.code.set(next, slot.clone()),
        ];
        stmts.push(Stmt::If(is_only, begin, link));
        stmts.push(self.code.set(last, slot.clone()));
    }
}
