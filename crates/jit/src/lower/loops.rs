//! Loops. What a turn has taken of the arena and of the temporary values it gives back.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Arg, Callee, Expr, ExprKind, LocalId, Stmt};
use tuple::Type;

use super::frame::Loop;
use super::table::{Entries, Table};
use super::{Lower, Region, Uses};
use crate::code::{Import, Op, offsets};
use crate::shape;
use crate::value::Val;

/// How much was taken before a loop.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    bump: ir::Value,
    temps: ir::Value,
    /// [`Lower::allocations`] then.
    allocations: u32,
}

impl Lower<'_, '_> {
    /// How much is taken now.
    pub fn mark(&mut self) -> Mark {
        Mark {
            bump: self.load_env(types::I64, offsets::BUMP),
            temps: self.load_env(types::I64, offsets::TEMPS),
            allocations: self.allocations,
        }
    }

    /// Gives back what was taken since, if anything can have been.
    pub fn reset(&mut self, mark: Mark) {
        if self.allocations == mark.allocations {
            return;
        }
        let bump = self.load_env(types::I64, offsets::BUMP);
        let temps = self.load_env(types::I64, offsets::TEMPS);
        let more_bytes = self.icmp(IntCC::NotEqual, bump, mark.bump);
        let more_values = self.icmp(IntCC::NotEqual, temps, mark.temps);
        let more = self.b.ins().bor(more_bytes, more_values);
        let (give_back, done) = (self.block(), self.block());
        self.branch(more, give_back, done);
        self.go_sealed(give_back);
        self.call(Import::Reset, &[mark.bump, mark.temps]);
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    /// `while`. A condition without calls of user functions stands twice, before the loop and at its
    /// end: one branch a turn, and what does not change in the loop can be computed before it.
    pub fn repeat(&mut self, condition: &Expr, body: &[Stmt]) {
        let mark = self.mark();
        if !Uses::of_expr(condition).calls.is_empty() {
            return self.repeat_once_tested(mark, condition, body);
        }
        let (turn, done) = (self.block(), self.block());
        let is_first = self.expr_part(condition);
        self.branch(is_first, turn, done);
        self.go(turn);
        self.turn(body, done);
        self.reset(mark);
        let is_more = self.expr_part(condition);
        self.branch(is_more, turn, done);
        self.b.seal_block(turn);
        self.go_sealed(done);
    }

    /// `while` with its condition at the head.
    fn repeat_once_tested(&mut self, mark: Mark, condition: &Expr, body: &[Stmt]) {
        let (head, turn, done) = (self.block(), self.block(), self.block());
        self.jump(head, &[]);
        self.go(head);
        let condition = self.expr_part(condition);
        // Cranelift moves code out of a loop only if the way out is the first one of its branch.
        let is_done = self.icmp_const(IntCC::Equal, condition, 0);
        self.branch(is_done, done, turn);
        self.go_sealed(turn);
        self.turn(body, done);
        self.reset(mark);
        self.jump(head, &[]);
        self.b.seal_block(head);
        self.go_sealed(done);
    }

    /// One turn, up to where `continue` goes.
    fn turn(&mut self, body: &[Stmt], done: ir::Block) {
        let next = self.block();
        self.frame.loops.push(Loop {
            done,
            next,
            is_continued: false,
        });
        self.stmts(body);
        let around = self.frame.loops.pop();
        // A block of its own would part what belongs together.
        if around.is_some_and(|blocks| blocks.is_continued) {
            self.jump(next, &[]);
            self.go_sealed(next);
        }
    }

    /// `for (T x in collection)`
    pub fn for_each(&mut self, local: LocalId, collection: &Expr, body: &[Stmt]) {
        if let Some(numbers) = self.range(collection) {
            return self.for_each_of(numbers.len, local, body, |lower, index| {
                lower.number_at(&numbers, index)
            });
        }
        let value = self.expr(collection);
        let (value, ty) = match &collection.ty {
            Type::UString => {
                let ty = Type::List(Type::UString.into(), None);
                let given = Lower::given(&value, &collection.ty);
                (self.run_at(Op::Spell, &[given], &ty, collection.pos), ty)
            }
            // A part of a variable does not change in the loop; what was made for the loop is kept.
            ty if is_part_of_variable(collection) => (value, ty.clone()),
            ty => (self.stable(value, ty), ty.clone()),
        };
        let items = self.items(&value, &ty);
        self.for_each_of(items.len(), local, body, |lower, index| {
            lower.item(&items, index, &ty)
        });
    }

    /// The turns of a loop over so many items.
    fn for_each_of(
        &mut self,
        len: ir::Value,
        local: LocalId,
        body: &[Stmt],
        item: impl FnOnce(&mut Self, ir::Value) -> Val,
    ) {
        // What the loop runs over may be temporary itself: it is kept until the loop is done.
        let mark = self.mark();
        let zero = self.word(0);
        let turn = self.block_with(&[types::I64]);
        let done = self.block();
        let is_any = self.icmp_const(IntCC::NotEqual, len, 0);
        self.turn_if(is_any, (turn, zero), done);
        self.go(turn);
        let index = self.params(turn)[0];
        let item = item(self, index);
        self.set_item(local, item);
        self.turn(body, done);
        self.reset(mark);
        let index = self.offset(index, 1);
        let is_more = self.icmp(IntCC::UnsignedLessThan, index, len);
        self.turn_if(is_more, (turn, index), done);
        self.b.seal_block(turn);
        self.go_sealed(done);
    }

    /// What a loop over a call of `range` goes through: no list is made.
    fn range(&mut self, collection: &Expr) -> Option<Numbers> {
        let ExprKind::Call(Callee::Native(native), args) = &collection.kind else {
            return None;
        };
        let function = self.unit.natives[native.0 as usize];
        if !function.is_range {
            return None;
        }
        let mut words = Vec::new();
        let mut operands = Vec::new();
        for arg in args {
            let Arg::Value(arg) = arg else { return None };
            let value = self.expr(arg);
            if let Type::List(..) = arg.ty {
                words.push(self.elements(&value, &arg.ty).len);
                continue;
            }
            let number = self.parts(&value, &arg.ty)[0];
            words.push(self.b.ins().sextend(types::I64, number));
            operands.push(Lower::given(&Val::one(number), &arg.ty));
        }
        let zero = self.word(0);
        let (first, limit, step) = match words[..] {
            [limit] => (zero, limit, None),
            [first, limit] => (first, limit, None),
            [first, limit, step] => (first, limit, Some(step)),
            _ => return None,
        };
        let distance = self.b.ins().isub(limit, first);
        let Some(step) = step else {
            let len = self.b.ins().smax(distance, zero);
            return Some(Numbers { first, step, len });
        };
        self.fault_if_zero(step, Op::Native(function), &operands, collection.pos);
        let is_down = self.icmp_const(IntCC::SignedLessThan, step, 0);
        let back = self.b.ins().ineg(distance);
        let distance = self.b.ins().select(is_down, back, distance);
        let distance = self.b.ins().smax(distance, zero);
        let size = self.b.ins().iabs(step);
        // Rounded up: the last step may be a part of one.
        let more = self.offset(size, -1);
        let more = self.b.ins().iadd(distance, more);
        let len = self.b.ins().udiv(more, size);
        let step = Some(step);
        Some(Numbers { first, step, len })
    }

    fn number_at(&mut self, numbers: &Numbers, index: ir::Value) -> Val {
        let way = match numbers.step {
            Some(step) => self.b.ins().imul(index, step),
            None => index,
        };
        let number = self.b.ins().iadd(numbers.first, way);
        Val::one(self.b.ins().ireduce(types::I32, number))
    }

    /// Goes on with the turn of an index, or behind the loop.
    fn turn_if(&mut self, is_more: ir::Value, turn: (ir::Block, ir::Value), done: ir::Block) {
        let index = [ir::BlockArg::Value(turn.1)];
        self.b.ins().brif(is_more, turn.0, &index, done, &[]);
    }

    /// What a loop runs over.
    fn items(&mut self, value: &Val, ty: &Type) -> Items {
        match ty {
            Type::List(..) => Items::List(self.elements(value, ty)),
            Type::Set(..) | Type::Map(..) => {
                let table = self.table(value, ty);
                Items::Hashed(table, self.table_entries(&table))
            }
            _ => {
                let parts = self.parts(value, ty);
                let is_volatile = value.is_volatile();
                Items::Bytes {
                    data: parts[0],
                    len: parts[1],
                    is_volatile,
                }
            }
        }
    }

    fn item(&mut self, items: &Items, index: ir::Value, ty: &Type) -> Val {
        match (items, ty) {
            (Items::List(list), Type::List(element, _)) => self.element_at(*list, index, element),
            (Items::Bytes { data, .. }, Type::Blob) => {
                let at = self.b.ins().iadd(*data, index);
                Val::one(self.load(Region::Bytes, types::I8, at, 0))
            }
            (
                Items::Bytes {
                    data, is_volatile, ..
                },
                _,
            ) => self.one_byte(*data, index, *is_volatile),
            (Items::Hashed(table, entries), ty) => {
                let item_type = match ty {
                    Type::Map(entry, _) => &entry.0,
                    Type::Set(element, _) => element,
                    other => unreachable!("the items of {other}"),
                };
                let value = self.entry_key(table, entries, index);
                if shape::is_scalar(item_type) {
                    Val::parts(self.parts(&value, item_type))
                } else {
                    value
                }
            }
            (Items::List(_), other) => unreachable!("the elements of {other}"),
        }
    }
}

/// Whether a loop's collection is a part of one variable.
fn is_part_of_variable(collection: &Expr) -> bool {
    match &collection.kind {
        ExprKind::Local(_)
        | ExprKind::State(_)
        | ExprKind::Input { .. }
        | ExprKind::Attribute { .. }
        | ExprKind::OutputCall(_) => true,
        ExprKind::Field(base, _) | ExprKind::Index(base, _) | ExprKind::Unwrap(base) => {
            is_part_of_variable(base)
        }
        _ => false,
    }
}

/// What a loop over numbers runs over: words, so that nothing overflows.
struct Numbers {
    first: ir::Value,
    /// `None`: 1.
    step: Option<ir::Value>,
    len: ir::Value,
}

/// What a loop runs over.
enum Items {
    List(super::list::Elements),
    Bytes {
        data: ir::Value,
        len: ir::Value,
        is_volatile: bool,
    },
    Hashed(Table, Entries),
}

impl Items {
    fn len(&self) -> ir::Value {
        match self {
            Items::List(list) => list.len,
            Items::Hashed(_, entries) => entries.len,
            Items::Bytes { len, .. } => *len,
        }
    }
}
