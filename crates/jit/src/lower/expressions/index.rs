//! Subscripts, slices and membership.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Expr, Pos};
use tuple::Type;

use crate::code::FallbackOp;
use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Lowers a subscript, `base[at]`.
    pub fn index(&mut self, e: &Expr, base: &Expr, at: &Expr) -> LoweredValue {
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
                let map = self.lowered_table(&container, &base.ty);
                let found = self.map_get(&map, &index, &entry.0);
                let operands = [
                    FunctionLowering::value_operand(&container, &base.ty),
                    FunctionLowering::value_operand(&index, &at.ty),
                ];
                self.fault_if_zero(found, FallbackOp::Index, &operands, e.pos);
                LoweredValue::new_stable(ValueForm::Boxed(found, 0))
                    .with_volatility(container.is_volatile())
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
                let at = self.builder.ins().iadd(parts[0], word);
                LoweredValue::from_part(self.load(AccessRegion::Bytes, types::I8, at, 0))
            }
            _ => {
                let operands = [
                    FunctionLowering::value_operand(&container, &base.ty),
                    FunctionLowering::value_operand(&index, &at.ty),
                ];
                self.run_expr_fallback(e, FallbackOp::Index, &operands)
            }
        }
    }

    /// Faults unless an index is below a length.
    pub fn check_index(
        &mut self,
        (container, container_type): (&LoweredValue, &Type),
        (index, index_type): (&LoweredValue, &Type),
        word: ir::Value,
        len: ir::Value,
        pos: Pos,
    ) {
        let is_beyond = self.icmp(IntCC::UnsignedGreaterThanOrEqual, word, len);
        let operands = [
            FunctionLowering::value_operand(container, container_type),
            FunctionLowering::value_operand(index, index_type),
        ];
        self.fault_if(is_beyond, FallbackOp::Index, &operands, pos);
    }

    /// Lowers a slice, `base[lower:upper]`.
    pub fn slice(
        &mut self,
        e: &Expr,
        base: &Expr,
        lower: Option<&Expr>,
        upper: Option<&Expr>,
    ) -> LoweredValue {
        let container = self.expr(base);
        let ends = [lower, upper].map(|end| end.map(|end| (self.expr(end), end.ty.clone())));
        let is_native = type_parts::is_view(&base.ty) && base.ty != Type::UString;
        let mut operands = vec![FunctionLowering::value_operand(&container, &base.ty)];
        operands.extend(
            ends.iter()
                .flatten()
                .map(|(end, ty)| FunctionLowering::value_operand(end, ty)),
        );
        let op = FallbackOp::Slice(lower.is_some(), upper.is_some());
        if !is_native || ends.iter().flatten().any(|(_, ty)| *ty == Type::Uint64) {
            return self.run_expr_fallback(e, op, &operands);
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
                let to = self.builder.ins().smin(to, len);
                self.builder.ins().smax(to, from)
            }
            None => len,
        };
        let stride = match &base.ty {
            Type::List(element, _) => type_parts::scalar_bytes(element),
            _ => 1,
        };
        let data = self.element(parts[0], from, stride);
        let len = self.builder.ins().isub(to, from);
        LoweredValue::from_parts([data, len]).with_volatility(container.is_volatile())
    }

    /// Lowers a membership test, `item in collection`.
    pub fn contains(&mut self, e: &Expr, item: &Expr, collection: &Expr) -> LoweredValue {
        let value = self.expr(item);
        let container = self.expr(collection);
        let found = self.has_item(&value, &item.ty, &container, &collection.ty, e.pos);
        found.unwrap_or_else(|| {
            let operands = [
                FunctionLowering::value_operand(&value, &item.ty),
                FunctionLowering::value_operand(&container, &collection.ty),
            ];
            self.run_expr_fallback(e, FallbackOp::In, &operands)
        })
    }

    /// Whether a collection has an element, or a map a key, if there is code for that.
    pub fn has_item(
        &mut self,
        item: &LoweredValue,
        item_type: &Type,
        collection: &LoweredValue,
        ty: &Type,
        pos: Pos,
    ) -> Option<LoweredValue> {
        if !is_searched(item_type, ty) {
            return None;
        }
        match ty {
            Type::Map(entry, _) => {
                let map = self.lowered_table(collection, ty);
                let found = self.map_get(&map, item, &entry.0);
                Some(LoweredValue::from_part(self.icmp_const(
                    IntCC::NotEqual,
                    found,
                    0,
                )))
            }
            Type::Set(element, _) => {
                let set = self.lowered_table(collection, ty);
                Some(LoweredValue::from_part(self.set_has(&set, item, element)))
            }
            Type::List(element, _) => Some(LoweredValue::from_part(
                self.scan(item, collection, ty, element, pos),
            )),
            _ => None,
        }
    }

    /// Whether a list has an element, one after the other.
    pub fn scan(
        &mut self,
        item: &LoweredValue,
        list: &LoweredValue,
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
        self.switch_to(head);
        let index = self.block_params(head)[0];
        let is_more = self.icmp(IntCC::UnsignedLessThan, index, list.len);
        let no = [ir::BlockArg::Value(self.int(types::I8, 0))];
        self.builder.ins().brif(is_more, body, &[], done, &no);
        self.switch_to_sealed(body);
        let candidate = self.element_at(list, index, element);
        let same = self.compare(graph::BinaryOp::Eq, &candidate, item, element, pos);
        let yes = [ir::BlockArg::Value(self.int(types::I8, 1))];
        self.builder.ins().brif(same, done, &yes, next, &[]);
        self.switch_to_sealed(next);
        let index = self.offset(index, 1);
        self.jump(head, &[index]);
        self.builder.seal_block(head);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
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
    type_parts::is_scalar(ty) || ty.is_rstring()
}
