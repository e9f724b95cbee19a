//! A DeDuplicate as statements, where a key is forgotten after a time or a number of tuples.
//!
//! ```text
//!   K k = <key>;                                   // each
//!   uint64 now = ++tuples;                         // or: seconds on a clock
//!   boolean isFirst = false;
//!   entry of seen[{k = k}] added {
//!       isFirst = true; <look at the two keys that were queued for the longest time>
//!   }
//!   if (!isFirst) {
//!       isFirst = now - last > count;
//!       if (isFirst) { last = now; }                         // always: resetOnDuplicate
//!   } else { last = now; }
//!   if (isFirst) { submit(output, 0); } else { submit(input, 1); }
//! ```
//! A key that is looked at is forgotten if it is too old, else queued anew: a duplicate only stores
//! its time, and leaves the queue and the entries beside its own alone. With two that are looked at
//! for a new one, the memory follows the keys that still count.

use eval::Fault;
use graph::{BinaryOp, Clock, Expr, ExprKind, LocalId, OperatorNode, PortIndex, Stmt, TableId};
use runtime::LoweredLogic;
use tuple::{Type, Value};

use super::DEFAULT_SECONDS;
use crate::key_evaluator::{is_flat, may_hold_nan};
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then};
use crate::verify_params::{exprs, has_param};

/// Keys that are looked at for a new one.
const LOOKED_AT_ONCE: usize = 2;

/// Whether a DeDuplicate can be lowered.
pub fn can_lower(operator: &OperatorNode) -> bool {
    let flushes = !matches!(flag(operator, "flushOnPunctuation", false), Some(false));
    let resets = flag(operator, "resetOnDuplicate", true).is_some();
    let key_is_flat = key(operator).iter().all(|part| is_flat(&part.ty));
    !has_param(operator, "deltaAttribute") && !flushes && resets && key_is_flat
}

/// The value of a boolean parameter, if it is known.
fn flag(operator: &OperatorNode, name: &str, default: bool) -> Option<bool> {
    match lower::constant_param(operator, name) {
        Some(Value::Boolean(flag)) => Some(*flag),
        _ => (!has_param(operator, name)).then_some(default),
    }
}

/// The parts of the key: without the parameter, all attributes.
fn key(operator: &OperatorNode) -> Vec<Expr> {
    if has_param(operator, "key") {
        return exprs(operator, "key").to_vec();
    }
    let attributes = operator.inputs[0].schema.attributes.iter();
    let parts = attributes.enumerate().map(|(index, attribute)| {
        let kind = ExprKind::Attribute {
            port: PortIndex(0),
            history: 0,
            index: index as u32,
        };
        lower::expr(kind, attribute.ty.clone(), operator.pos)
    });
    parts.collect()
}

/// Lowers a DeDuplicate to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let mut code = StatefulLowering::new(operator);
    let mut logic = lower::after_logic(operator, |_, body| {
        code.body = std::mem::take(body);
        lower_tuple(operator, &mut code);
        *body = std::mem::take(&mut code.body);
        Ok(())
    })?;
    logic.state.extend(code.state);
    logic.tables = code.tables;
    Ok(logic)
}

/// Adds the statements for a tuple.
fn lower_tuple(operator: &OperatorNode, code: &mut StatefulLowering) {
    let key: Vec<Expr> = key(operator)
        .iter()
        .map(|part| code.argument(part))
        .collect();
    code.pos = operator.pos;
    let seen = code.add_table("seen", Some(&key));
    code.tables[seen.0 as usize].by_use = true;
    let age = Age::new(operator, seen, code);

    let resets = flag(operator, "resetOnDuplicate", true) == Some(true);
    let is_first = code.local("isFirst", Type::Boolean);
    let look_up = look_up(&key, seen, &age, resets, &is_first, code);
    code.body.stmts.extend(look_up);

    let out = &operator.outputs[0];
    let tuple = lower::output(out, operator.pos, |assigned| assigned.clone());
    let duplicate = (operator.outputs.len() > 1)
        .then(|| lower::submit(PortIndex(1), lower::input(operator, PortIndex(0))));
    let first = vec![lower::submit(PortIndex(0), tuple)];
    let branches = Stmt::If(is_first.1, first, duplicate.into_iter().collect());
    code.body.stmts.push(branches);
}

/// Statements that say whether the tuple is the first of its key, and remember it.
fn look_up(
    key: &[Expr],
    seen: TableId,
    age: &Age,
    resets: bool,
    (first_id, is_first): &(LocalId, Expr),
    code: &mut StatefulLowering,
) -> Vec<Stmt> {
    let [yes, no] = [true, false].map(|value| code.constant(Value::Boolean(value)));
    let mut added = vec![code.set(is_first, yes.clone())];
    added.extend(look_at_old_keys(seen, age, code));
    let mut find = code.find_entry(seen, key.to_vec());
    if let Stmt::FindEntry { added: then, .. } = &mut find {
        *then = added;
    }
    let remember = code.set(&age.last, age.now.clone());
    let mut again = vec![remember.clone()];
    if !resets {
        again = vec![if_then(is_first.clone(), again)];
    }
    again.insert(0, code.set(is_first, age.is_over(code)));
    let stmts = vec![find, Stmt::If(is_first.clone(), vec![remember], again)];
    // A key with a NaN equals no other.
    let mut known = vec![code.set(is_first, no)];
    known.extend(stmts);
    for part in key.iter().filter(|part| may_hold_nan(&part.ty)) {
        let equals_itself = code.compare(BinaryOp::Eq, part, part);
        known = vec![if_then(equals_itself, known)];
    }
    known.insert(0, Stmt::Let(*first_id, Some(yes)));
    known
}

/// Removes entries that are too old, of those that were queued for the longest time; queues them
/// anew if they are not. The current entry stays.
fn look_at_old_keys(seen: TableId, age: &Age, code: &mut StatefulLowering) -> Vec<Stmt> {
    let (own_id, own) = code.local("own", Type::Uint32);
    let (old_id, old) = code.local("old", Type::Uint32);
    let is_other = code.compare(BinaryOp::Ne, &old, &own);
    let remove = vec![Stmt::RemoveEntry(seen)];
    let queue = vec![Stmt::UseEntry(seen)];
    let look = Stmt::If(age.is_over(code), remove, queue);
    let look = [
        Stmt::SelectLeastUsed(seen),
        Stmt::EntryId(old_id, seen),
        if_then(is_other, vec![look]),
    ];
    let mut stmts = vec![Stmt::EntryId(own_id, seen)];
    for _ in 0..LOOKED_AT_ONCE {
        stmts.extend(look.iter().cloned());
    }
    stmts.push(Stmt::SelectEntry(seen, own));
    stmts
}

/// The clock for a `timeOut`. From a second on, a tick more or less does not matter.
fn clock(limit: Option<&Expr>) -> Clock {
    match limit.map(|limit| &limit.kind) {
        None => Clock::Ticks,
        Some(ExprKind::Const(Value::Float64(seconds))) if *seconds >= 1.0 => Clock::Ticks,
        _ => Clock::Exact,
    }
}

/// How old a key is.
struct Age {
    /// The time of the tuple that is here: a number of tuples, or of seconds.
    now: Expr,
    /// The time of the current key's last tuple.
    last: Expr,
    /// By how much they may differ.
    limit: Expr,
}

impl Age {
    fn new(operator: &OperatorNode, seen: TableId, code: &mut StatefulLowering) -> Age {
        let count = lower::param(operator, "count");
        let (now, limit) = match count {
            Some(limit) => {
                let tuples = code.variable(None, "tuples", Type::Uint64);
                let more = code.increment(&tuples);
                code.body.stmts.push(more);
                (tuples, Some(limit))
            }
            None => {
                let limit = lower::param(operator, "timeOut");
                let kind = ExprKind::ClockSeconds(clock(limit));
                let clock = lower::expr(kind, Type::Float64, code.pos);
                let (id, now) = code.local("now", Type::Float64);
                code.body.stmts.push(Stmt::Let(id, Some(clock)));
                (now, limit)
            }
        };
        Age {
            last: code.variable(Some(seen), "last", now.ty.clone()),
            limit: match limit {
                Some(limit) if matches!(limit.kind, ExprKind::Const(_)) => limit.clone(),
                Some(limit) => code.initialized_variable("limit", limit),
                None => {
                    let seconds = Value::Float64(DEFAULT_SECONDS);
                    lower::constant(seconds, Type::Float64, code.pos)
                }
            },
            now,
        }
    }

    /// Whether the current key is too old to count.
    fn is_over(&self, code: &StatefulLowering) -> Expr {
        let age = code.binary(BinaryOp::Sub, &self.now, &self.last);
        code.compare(BinaryOp::Gt, &age, &self.limit)
    }
}
