//! Subscripts, slices and membership.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Expr, Pos};
use tuple::Type;

use super::{Lower, Region};
use crate::code::Op;
use crate::shape;
use crate::value::{Form, Val};

impl Lower<'_, '_> {
    /// `base[at]`.
    pub fn index(&mut self, e: &Expr, base: &Expr, at: &Expr) -> Val {
        let container = self.expr(base);
        let index = self.expr(at);
        match &base.ty {
            Type::List(element, _) => {
                let list = self.elements(&container, &base.ty);
                let word = self.index_word(&index, &at.ty);
                self.check_index(
                    (&container, &base.ty),
                    (&index, &at.ty),
                    word,
                    list.len,
                    e.pos,
                );
                self.element_at(list, word, element)
            }
            Type::Map(entry, _) => {
                let map = self.table(&container, &base.ty);
                let found = self.map_get(&map, &index, &entry.0);
                let operands = [
                    Lower::given(&container, &base.ty),
                    Lower::given(&index, &at.ty),
                ];
                self.fault_if_zero(found, Op::Index, &operands, e.pos);
                Val::stable(Form::Boxed(found, 0)).volatile_if(container.is_volatile())
            }
            Type::RString | Type::BoundedRString(_) | Type::Blob => {
                let parts = self.parts(&container, &base.ty);
                let word = self.index_word(&index, &at.ty);
                self.check_index(
                    (&container, &base.ty),
                    (&index, &at.ty),
                    word,
                    parts[1],
                    e.pos,
                );
                if base.ty != Type::Blob {
                    return self.one_byte(parts[0], word, container.is_volatile());
                }
                let at = self.b.ins().iadd(parts[0], word);
                Val::one(self.load(Region::Bytes, types::I8, at, 0))
            }
            _ => {
                let operands = [
                    Lower::given(&container, &base.ty),
                    Lower::given(&index, &at.ty),
                ];
                self.run_site(e, Op::Index, &operands)
            }
        }
    }

    /// Faults unless an index is below a length.
    pub fn check_index(
        &mut self,
        (container, container_type): (&Val, &Type),
        (index, index_type): (&Val, &Type),
        word: ir::Value,
        len: ir::Value,
        pos: Pos,
    ) {
        let is_beyond = self.icmp(IntCC::UnsignedGreaterThanOrEqual, word, len);
        let operands = [
            Lower::given(container, container_type),
            Lower::given(index, index_type),
        ];
        self.fault_if(is_beyond, Op::Index, &operands, pos);
    }

    /// `base[lower:upper]`.
    pub fn slice(
        &mut self,
        e: &Expr,
        base: &Expr,
        lower: Option<&Expr>,
        upper: Option<&Expr>,
    ) -> Val {
        let container = self.expr(base);
        let ends = [lower, upper].map(|end| end.map(|end| (self.expr(end), end.ty.clone())));
        let is_native = shape::is_view(&base.ty) && base.ty != Type::UString;
        let mut operands = vec![Lower::given(&container, &base.ty)];
        operands.extend(ends.iter().flatten().map(|(end, ty)| Lower::given(end, ty)));
        let op = Op::Slice(lower.is_some(), upper.is_some());
        if !is_native || ends.iter().flatten().any(|(_, ty)| *ty == Type::Uint64) {
            return self.run_site(e, op, &operands);
        }
        let parts = self.parts(&container, &base.ty);
        let len = parts[1];
        let zero = self.word(0);
        let from = match &ends[0] {
            Some((end, ty)) => {
                let from = self.index_word(end, ty);
                let is_beyond = self.icmp(IntCC::UnsignedGreaterThan, from, len);
                self.fault_if(is_beyond, op, &operands, e.pos);
                from
            }
            None => zero,
        };
        let to = match &ends[1] {
            Some((end, ty)) => {
                let to = self.index_word(end, ty);
                let to = self.b.ins().smin(to, len);
                self.b.ins().smax(to, from)
            }
            None => len,
        };
        let stride = match &base.ty {
            Type::List(element, _) => shape::scalar_bytes(element),
            _ => 1,
        };
        let data = self.element(parts[0], from, stride);
        let len = self.b.ins().isub(to, from);
        Val::parts([data, len]).volatile_if(container.is_volatile())
    }

    /// `item in collection`.
    pub fn contains(&mut self, e: &Expr, item: &Expr, collection: &Expr) -> Val {
        let value = self.expr(item);
        let container = self.expr(collection);
        let found = self.has_item(&value, &item.ty, &container, &collection.ty, e.pos);
        found.unwrap_or_else(|| {
            let operands = [
                Lower::given(&value, &item.ty),
                Lower::given(&container, &collection.ty),
            ];
            self.run_site(e, Op::In, &operands)
        })
    }

    /// Whether a collection has an element, or a map a key, if there is code for that.
    pub fn has_item(
        &mut self,
        item: &Val,
        item_type: &Type,
        collection: &Val,
        ty: &Type,
        pos: Pos,
    ) -> Option<Val> {
        if !is_searched(item_type, ty) {
            return None;
        }
        match ty {
            Type::Map(entry, _) => {
                let map = self.table(collection, ty);
                let found = self.map_get(&map, item, &entry.0);
                Some(Val::one(self.icmp_const(IntCC::NotEqual, found, 0)))
            }
            Type::Set(element, _) => {
                let set = self.table(collection, ty);
                Some(Val::one(self.set_has(&set, item, element)))
            }
            Type::List(element, _) => Some(Val::one(self.scan(item, collection, ty, element, pos))),
            _ => None,
        }
    }

    /// Whether a list has an element, one after the other.
    pub fn scan(
        &mut self,
        item: &Val,
        list: &Val,
        list_type: &Type,
        element: &Type,
        pos: Pos,
    ) -> ir::Value {
        let list = self.elements(list, list_type);
        let zero = self.word(0);
        let head = self.block_with(&[types::I64]);
        let (body, next) = (self.block(), self.block());
        let done = self.block_with(&[types::I8]);
        self.jump(head, &[zero]);
        self.go(head);
        let index = self.params(head)[0];
        let is_more = self.icmp(IntCC::UnsignedLessThan, index, list.len);
        let no = [ir::BlockArg::Value(self.int(types::I8, 0))];
        self.b.ins().brif(is_more, body, &[], done, &no);
        self.go_sealed(body);
        let candidate = self.element_at(list, index, element);
        let same = self.compare(graph::BinaryOp::Eq, &candidate, item, element, pos);
        let yes = [ir::BlockArg::Value(self.int(types::I8, 1))];
        self.b.ins().brif(same, done, &yes, next, &[]);
        self.go_sealed(next);
        let index = self.offset(index, 1);
        self.jump(head, &[index]);
        self.b.seal_block(head);
        self.go_sealed(done);
        self.params(done)[0]
    }
}

/// Whether there is code for finding an element of a type in a collection.
pub fn is_searched(item: &Type, collection: &Type) -> bool {
    match collection {
        Type::Map(entry, _) => entry.0 == *item,
        Type::Set(element, _) => **element == *item,
        Type::List(element, _) => **element == *item && is_scanned(element),
        _ => false,
    }
}

/// Whether elements of a type are compared without a call of a site.
fn is_scanned(ty: &Type) -> bool {
    shape::is_scalar(ty) || ty.is_rstring()
}
