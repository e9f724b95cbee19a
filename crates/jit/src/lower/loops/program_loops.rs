//! Loops that a program writes: `while`, and `for` over ranges and collections. A turn gives back
//! what it has taken of the arena, and its temporary values.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Arg, Callee, Expr, ExprKind, LocalId, Stmt};
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction, offsets};
use crate::lower::context::{BodyUsage, FunctionLowering, LoopTargets};
use crate::lower::values::{AccessRegion, HashTableEntries, ListElements, LoweredTable};
use crate::lowered_value::LoweredValue;
use crate::type_parts;

/// Temporary memory that was in use before a loop.
#[derive(Clone, Copy, Debug)]
pub struct AllocationMark {
    bump: ir::Value,
    temps: ir::Value,
    /// Value of [`FunctionLowering::allocations`] when the mark was made.
    allocations: u32,
}

impl FunctionLowering<'_, '_> {
    /// Marks the temporary memory that is in use now.
    pub fn allocation_mark(&mut self) -> AllocationMark {
        AllocationMark {
            bump: self.load_env(types::I64, offsets::BUMP),
            temps: self.load_env(types::I64, offsets::TEMPS_LEN),
            allocations: self.allocations,
        }
    }

    /// Gives back the memory taken since the mark, if any can have been taken.
    pub fn reset_to_mark(&mut self, mark: AllocationMark) {
        if self.allocations == mark.allocations {
            return;
        }
        let bump = self.load_env(types::I64, offsets::BUMP);
        let temps = self.load_env(types::I64, offsets::TEMPS_LEN);
        let more_bytes = self.icmp(IntCC::NotEqual, bump, mark.bump);
        let more_values = self.icmp(IntCC::NotEqual, temps, mark.temps);
        let more = self.builder.ins().bor(more_bytes, more_values);
        let (give_back, done) = (self.block(), self.block());
        self.branch(more, give_back, done);
        self.switch_to_sealed(give_back);
        self.call(ImportedFunction::ResetTemps, &[mark.bump, mark.temps]);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Lowers `while`. A condition without calls of user functions stands twice, before the loop
    /// and at its end: one branch a turn, and what does not change in the loop can be computed
    /// before it.
    pub fn while_loop(&mut self, condition: &Expr, body: &[Stmt]) {
        let mark = self.allocation_mark();
        if !BodyUsage::from_expr(condition).calls.is_empty() {
            return self.while_loop_tested_at_head(mark, condition, body);
        }
        let (turn, done) = (self.block(), self.block());
        let is_first = self.expr_single_part(condition);
        self.branch(is_first, turn, done);
        self.switch_to(turn);
        self.iteration(body, done);
        self.reset_to_mark(mark);
        let is_more = self.expr_single_part(condition);
        self.branch(is_more, turn, done);
        self.builder.seal_block(turn);
        self.switch_to_sealed(done);
        self.forget_ticks();
    }

    /// Lowers `while` with its condition at the head.
    fn while_loop_tested_at_head(&mut self, mark: AllocationMark, condition: &Expr, body: &[Stmt]) {
        let (head, turn, done) = (self.block(), self.block(), self.block());
        self.jump(head, &[]);
        self.switch_to(head);
        let condition = self.expr_single_part(condition);
        // Cranelift moves code out of a loop only if the way out is the first one of its branch.
        let is_done = self.icmp_const(IntCC::Equal, condition, 0);
        self.branch(is_done, done, turn);
        self.switch_to_sealed(turn);
        self.iteration(body, done);
        self.reset_to_mark(mark);
        self.jump(head, &[]);
        self.builder.seal_block(head);
        self.switch_to_sealed(done);
        self.forget_ticks();
    }

    /// Lowers one turn, up to the block of `continue`.
    fn iteration(&mut self, body: &[Stmt], done: ir::Block) {
        let next = self.block();
        self.body.loops.push(LoopTargets {
            break_block: done,
            continue_block: next,
            is_continued: false,
        });
        self.stmts(body);
        let around = self.body.loops.pop();
        // A block of its own would part what belongs together.
        if around.is_some_and(|blocks| blocks.is_continued) {
            self.jump(next, &[]);
            self.switch_to_sealed(next);
        }
    }

    /// Lowers a loop `for (T x in collection)`.
    pub fn for_each(&mut self, local: LocalId, collection: &Expr, body: &[Stmt]) {
        if let Some(numbers) = self.loop_range(collection) {
            return self.for_each_of(numbers.len, local, body, |lower, index| {
                lower.number_at(&numbers, index)
            });
        }
        let value = self.expr(collection);
        let (value, ty) = match &collection.ty {
            Type::UString => {
                let ty = Type::List(Type::UString.into(), None);
                let given = FunctionLowering::value_operand(&value, &collection.ty);
                (
                    self.run_fallback(FallbackOp::CodePoints, &[given], &ty, collection.pos),
                    ty,
                )
            }
            // A part of a variable does not change in the loop; what was made for the loop is kept.
            ty if collection.is_part_of_variable() => (value, ty.clone()),
            ty => (self.stable(value, ty), ty.clone()),
        };
        let items = self.loop_items(&value, &ty);
        self.for_each_of(items.len(), local, body, |lower, index| {
            lower.loop_item(&items, index, &ty)
        });
    }

    /// Emits the turns of a loop over `len` items.
    fn for_each_of(
        &mut self,
        len: ir::Value,
        local: LocalId,
        body: &[Stmt],
        item: impl FnOnce(&mut Self, ir::Value) -> LoweredValue,
    ) {
        // What the loop runs over may be temporary itself: it is kept until the loop is done.
        let mark = self.allocation_mark();
        let zero = self.word(0);
        let turn = self.block_with(&[types::I64]);
        let done = self.block();
        let is_any = self.icmp_const(IntCC::NotEqual, len, 0);
        self.branch_to_iteration(is_any, (turn, zero), done);
        self.switch_to(turn);
        let index = self.block_params(turn)[0];
        let item = item(self, index);
        self.set_item(local, item);
        self.iteration(body, done);
        self.reset_to_mark(mark);
        let index = self.offset(index, 1);
        let is_more = self.icmp(IntCC::UnsignedLessThan, index, len);
        self.branch_to_iteration(is_more, (turn, index), done);
        self.builder.seal_block(turn);
        self.switch_to_sealed(done);
        self.forget_ticks();
    }

    /// Recognises a loop over a call of `range`, for which no list is made.
    fn loop_range(&mut self, collection: &Expr) -> Option<LoopRange> {
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
            words.push(self.builder.ins().sextend(types::I64, number));
            operands.push(FunctionLowering::value_operand(
                &LoweredValue::from_part(number),
                &arg.ty,
            ));
        }
        let zero = self.word(0);
        let (first, limit, step) = match words[..] {
            [limit] => (zero, limit, None),
            [first, limit] => (first, limit, None),
            [first, limit, step] => (first, limit, Some(step)),
            _ => return None,
        };
        let distance = self.builder.ins().isub(limit, first);
        let Some(step) = step else {
            let len = self.builder.ins().smax(distance, zero);
            return Some(LoopRange { first, step, len });
        };
        self.fault_if_zero(
            step,
            FallbackOp::Native(function),
            &operands,
            collection.pos,
        );
        let is_down = self.icmp_const(IntCC::SignedLessThan, step, 0);
        let back = self.builder.ins().ineg(distance);
        let distance = self.builder.ins().select(is_down, back, distance);
        let distance = self.builder.ins().smax(distance, zero);
        let size = self.builder.ins().iabs(step);
        // Rounded up: the last step may be a part of one.
        let more = self.offset(size, -1);
        let more = self.builder.ins().iadd(distance, more);
        let len = self.builder.ins().udiv(more, size);
        let step = Some(step);
        Some(LoopRange { first, step, len })
    }

    fn number_at(&mut self, numbers: &LoopRange, index: ir::Value) -> LoweredValue {
        let way = match numbers.step {
            Some(step) => self.builder.ins().imul(index, step),
            None => index,
        };
        let number = self.builder.ins().iadd(numbers.first, way);
        LoweredValue::from_part(self.builder.ins().ireduce(types::I32, number))
    }

    /// Goes on with the turn of an index, or behind the loop.
    fn branch_to_iteration(
        &mut self,
        is_more: ir::Value,
        turn: (ir::Block, ir::Value),
        done: ir::Block,
    ) {
        let index = [ir::BlockArg::Value(turn.1)];
        self.builder.ins().brif(is_more, turn.0, &index, done, &[]);
    }

    /// Prepares a loop over the elements of a collection.
    fn loop_items(&mut self, value: &LoweredValue, ty: &Type) -> LoopItems {
        match ty {
            Type::List(..) => LoopItems::List(self.elements(value, ty)),
            Type::Set(..) | Type::Map(..) => {
                let table = self.lowered_table(value, ty);
                LoopItems::Hashed(table, self.table_entries(&table))
            }
            _ => {
                let parts = self.parts(value, ty);
                let is_volatile = value.is_volatile();
                LoopItems::Bytes {
                    data: parts[0],
                    len: parts[1],
                    is_volatile,
                }
            }
        }
    }

    fn loop_item(&mut self, items: &LoopItems, index: ir::Value, ty: &Type) -> LoweredValue {
        match (items, ty) {
            (LoopItems::List(list), Type::List(element, _)) => {
                self.element_at(*list, index, element)
            }
            (LoopItems::Bytes { data, .. }, Type::Blob) => {
                let at = self.builder.ins().iadd(*data, index);
                LoweredValue::from_part(self.load(AccessRegion::Bytes, types::I8, at, 0))
            }
            (
                LoopItems::Bytes {
                    data, is_volatile, ..
                },
                _,
            ) => self.one_byte(*data, index, *is_volatile),
            (LoopItems::Hashed(table, entries), ty) => {
                let item_type = match ty {
                    Type::Map(entry, _) => &entry.0,
                    Type::Set(element, _) => element,
                    other => unreachable!("the items of {other}"),
                };
                let value = self.entry_key(table, entries, index);
                if type_parts::is_scalar(item_type) {
                    LoweredValue::from_parts(self.parts(&value, item_type))
                } else {
                    value
                }
            }
            (LoopItems::List(_), other) => unreachable!("the elements of {other}"),
        }
    }
}

/// Bounds and step of a loop over numbers, as words, so that nothing overflows.
struct LoopRange {
    first: ir::Value,
    /// Step between two numbers; `None` means 1.
    step: Option<ir::Value>,
    len: ir::Value,
}

/// Elements that a loop runs over.
enum LoopItems {
    List(ListElements),
    Bytes {
        data: ir::Value,
        len: ir::Value,
        is_volatile: bool,
    },
    Hashed(LoweredTable, HashTableEntries),
}

impl LoopItems {
    fn len(&self) -> ir::Value {
        match self {
            LoopItems::List(list) => list.len,
            LoopItems::Hashed(_, entries) => entries.len,
            LoopItems::Bytes { len, .. } => *len,
        }
    }
}
