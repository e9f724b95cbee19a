//! Constants and literals of collections.

use cranelift_codegen::ir::{InstBuilder, types};
use graph::Expr;
use tuple::{List, Type, Value};

use super::emit::AccessRegion;
use crate::code::{FallbackOp, RawSlice};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm, ValueParts};
use crate::type_parts;

/// Lists of scalars up to this length are made inline.
const INLINE_ELEMENTS_MAX: usize = 64;

impl FunctionLowering<'_, '_> {
    /// The default value of a type.
    pub fn default_value(&mut self, ty: &Type) -> LoweredValue {
        self.constant(&Value::default_of(ty), ty)
    }

    /// Lowers a constant of a type.
    pub fn constant(&mut self, value: &Value, ty: &Type) -> LoweredValue {
        match (value, ty) {
            (Value::Tuple(fields), Type::Tuple(t)) => {
                let each = fields.iter().zip(&t.attributes);
                LoweredValue::from_fields(each.map(|(field, a)| self.constant(field, &a.ty)))
            }
            (Value::Optional(Some(content)), Type::Optional(inner)) => {
                let content = self.constant(content, inner);
                self.wrap_optional(&content, inner)
            }
            (Value::Optional(None), Type::Optional(inner)) => {
                let content = self.default_value(inner);
                let mut parts = ValueParts::from_elem(self.int(types::I8, 0), 1);
                parts.extend(self.parts(&content, inner));
                LoweredValue::from_parts(parts)
            }
            (_, Type::Void) => LoweredValue::from_parts([]),
            (value, ty) if type_parts::is_scalar(ty) => {
                LoweredValue::from_parts(self.scalar_constant(value))
            }
            (value, ty) if type_parts::is_view(ty) => {
                let view = constant_elements(self.unit.pool.constant(value));
                let parts = [
                    self.word(view.data.expose_provenance() as i64),
                    self.word(view.len as i64),
                ];
                LoweredValue::from_parts(parts)
            }
            (value, _) => {
                let at = self.unit.pool.constant_address(value);
                LoweredValue::new_stable(ValueForm::Boxed(self.word(at), 0))
            }
        }
    }

    fn scalar_constant(&mut self, value: &Value) -> ValueParts {
        let int = |lower: &mut Self, ty, x: i64| ValueParts::from_elem(lower.int(ty, x), 1);
        match value {
            Value::Boolean(x) => int(self, types::I8, i64::from(*x)),
            Value::Int8(x) => int(self, types::I8, i64::from(*x)),
            Value::Int16(x) => int(self, types::I16, i64::from(*x)),
            Value::Int32(x) => int(self, types::I32, i64::from(*x)),
            Value::Int64(x) => int(self, types::I64, *x),
            Value::Uint8(x) => int(self, types::I8, i64::from(*x as i8)),
            Value::Uint16(x) => int(self, types::I16, i64::from(*x as i16)),
            Value::Uint32(x) | Value::Enum(x) => int(self, types::I32, i64::from(*x as i32)),
            Value::Uint64(x) => int(self, types::I64, *x as i64),
            Value::Float32(x) => ValueParts::from_elem(self.builder.ins().f32const(*x), 1),
            Value::Float64(x) => ValueParts::from_elem(self.builder.ins().f64const(*x), 1),
            Value::Decimal32(x) => int(self, types::I32, i64::from(x.0 as i32)),
            Value::Decimal64(x) => int(self, types::I64, x.0 as i64),
            Value::Decimal128(x) => [self.word(x.0[0] as i64), self.word(x.0[1] as i64)]
                .into_iter()
                .collect(),
            Value::Complex32(re, im) => [
                self.builder.ins().f32const(*re),
                self.builder.ins().f32const(*im),
            ]
            .into_iter()
            .collect(),
            Value::Complex64(re, im) => [
                self.builder.ins().f64const(*re),
                self.builder.ins().f64const(*im),
            ]
            .into_iter()
            .collect(),
            Value::Timestamp(t) => {
                let seconds = self.word(t.seconds);
                let nanos = self.int(types::I32, i64::from(t.nanos as i32));
                let machine = self.int(types::I32, i64::from(t.machine));
                [seconds, nanos, machine].into_iter().collect()
            }
            other => unreachable!("a scalar, not {other:?}"),
        }
    }

    /// A list literal: elements of scalars side by side in the arena.
    pub fn list_literal(&mut self, e: &Expr, elements: &[Expr]) -> LoweredValue {
        let Type::List(element, bound) = &e.ty else {
            unreachable!("a list of {}", e.ty)
        };
        if !type_parts::is_scalar(element) || elements.len() > INLINE_ELEMENTS_MAX {
            return self.collect(e, FallbackOp::List, elements.iter());
        }
        let values: Vec<ValueParts> = elements
            .iter()
            .map(|e| {
                let value = self.expr(e);
                self.parts(&value, &e.ty)
            })
            .collect();
        let kept = bound.map_or(values.len(), |bound| values.len().min(bound as usize));
        let stride = type_parts::scalar_bytes(element);
        let bytes = self.word(kept as i64 * i64::from(stride));
        let data = self.allocate(bytes);
        for (at, parts) in values[..kept].iter().enumerate() {
            self.store_slot(
                AccessRegion::Bytes,
                data,
                at as i32 * stride,
                element,
                parts,
            );
        }
        let len = self.word(kept as i64);
        LoweredValue::from_parts([data, len])
    }

    /// A collection literal by its site.
    pub fn collect<'e>(
        &mut self,
        e: &Expr,
        op: FallbackOp,
        elements: impl Iterator<Item = &'e Expr>,
    ) -> LoweredValue {
        let operands: Vec<_> = elements.map(|element| self.operand(element)).collect();
        self.run_expr_fallback(e, op, &operands)
    }
}

/// The elements of a string, blob or list of scalars.
fn constant_elements(value: &Value) -> RawSlice<u8> {
    fn view<T>(elements: &[T]) -> RawSlice<u8> {
        RawSlice {
            data: elements.as_ptr().cast(),
            len: elements.len(),
        }
    }
    macro_rules! packed {
        ($list:expr, $($variant:ident)+) => {
            match $list {
                $(List::$variant(v) => view(v),)+
                List::Any(v) => view(v),
            }
        };
    }
    match value {
        Value::RString(s) | Value::Xml(s) => view(&s.0),
        Value::UString(s) => view(&s.0),
        Value::Blob(b) => view(b),
        Value::List(list) => {
            packed!(list, Boolean Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64
            Float32 Float64 Decimal32 Decimal64 Decimal128 Complex32 Complex64 Timestamp Enum)
        }
        other => unreachable!("a view, not {other:?}"),
    }
}
