//! Loops. What a turn has taken of the arena and of the temporary values it gives back.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Expr, ExprKind, LocalId, Stmt};
use tuple::Type;

use super::frame::Loop;
use super::{Lower, Region};
use crate::code::{Import, Op, offsets};
use crate::shape;
use crate::value::{Form, Val};

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

    /// `while`
    pub fn repeat(&mut self, condition: &Expr, body: &[Stmt]) {
        let mark = self.mark();
        let (head, turn, next, done) = (self.block(), self.block(), self.block(), self.block());
        self.jump(head, &[]);
        self.go(head);
        let condition = self.expr_part(condition);
        self.branch(condition, turn, done);
        self.go_sealed(turn);
        self.turn(body, Loop { done, next });
        self.jump(next, &[]);
        self.go_sealed(next);
        self.reset(mark);
        self.jump(head, &[]);
        self.b.seal_block(head);
        self.go_sealed(done);
    }

    fn turn(&mut self, body: &[Stmt], blocks: Loop) {
        self.frame.loops.push(blocks);
        self.stmts(body);
        self.frame.loops.pop();
    }

    /// `for (T x in collection)`
    pub fn for_each(&mut self, local: LocalId, collection: &Expr, body: &[Stmt]) {
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
        // What the loop runs over may be temporary itself: it is kept until the loop is done.
        let mark = self.mark();
        let zero = self.word(0);
        let head = self.block_with(&[types::I64]);
        let (turn, next, done) = (self.block(), self.block(), self.block());
        self.jump(head, &[zero]);
        self.go(head);
        let index = self.params(head)[0];
        let is_more = self.icmp(IntCC::UnsignedLessThan, index, items.len());
        self.branch(is_more, turn, done);
        self.go_sealed(turn);
        let item = self.item(&items, index, &ty);
        self.set_item(local, item);
        self.turn(body, Loop { done, next });
        self.jump(next, &[]);
        self.go_sealed(next);
        self.reset(mark);
        let index = self.offset(index, 1);
        self.jump(head, &[index]);
        self.b.seal_block(head);
        self.go_sealed(done);
    }

    /// What a loop runs over.
    fn items(&mut self, value: &Val, ty: &Type) -> Items {
        match ty {
            Type::List(..) => Items::List(self.elements(value, ty)),
            Type::Set(..) | Type::Map(..) => {
                let at = self.boxed(value, ty);
                let len = self.call1(Import::Size, &[at]);
                Items::Hashed {
                    at,
                    len,
                    is_volatile: value.is_volatile,
                }
            }
            _ => {
                let parts = self.parts(value, ty);
                let is_volatile = value.is_volatile;
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
            (
                Items::Hashed {
                    at, is_volatile, ..
                },
                ty,
            ) => {
                let item = self.call1(Import::ItemAt, &[*at, index]);
                let item_type = match ty {
                    Type::Map(entry, _) => &entry.0,
                    Type::Set(element, _) => element,
                    other => unreachable!("the items of {other}"),
                };
                let value = Val::stable(Form::Boxed(item, 0)).volatile_if(*is_volatile);
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

/// What a loop runs over.
enum Items {
    List(super::list::Elements),
    Bytes {
        data: ir::Value,
        len: ir::Value,
        is_volatile: bool,
    },
    Hashed {
        at: ir::Value,
        len: ir::Value,
        is_volatile: bool,
    },
}

impl Items {
    fn len(&self) -> ir::Value {
        match self {
            Items::List(list) => list.len,
            Items::Bytes { len, .. } | Items::Hashed { len, .. } => *len,
        }
    }
}
