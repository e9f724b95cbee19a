//! Taking values apart: from flat memory, from `Value`s, from tuples of values.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use tuple::layout::{self, ElementLayout};
use tuple::{Layout, TupleType, Type};

use super::emit::AccessRegion;
use crate::code::{ImportedFunction, value_layout};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm, ValueParts};
use crate::type_parts;

/// An address and an offset from it.
pub type BaseOffset = (ir::Value, i32);

/// The offset of an attribute's slot within a tuple's, and its type.
pub fn attribute(ty: &TupleType, index: usize) -> (i32, &Type) {
    let mut end = 0;
    for (at, a) in ty.attributes.iter().enumerate() {
        let (size, align) = Layout::slot(&a.ty);
        let offset = u32::next_multiple_of(end, align);
        if at == index {
            return (offset as i32, &a.ty);
        }
        end = offset + size;
    }
    unreachable!("attribute {index} of {ty}")
}

impl FunctionLowering<'_, '_> {
    /// The parts of a value.
    pub fn parts(&mut self, value: &LoweredValue, ty: &Type) -> ValueParts {
        match &value.form {
            ValueForm::Parts(parts) => parts.clone(),
            ValueForm::Flat(base, offset) => {
                self.flat_parts((*base, *offset), ty, AccessRegion::of_flat_value(value))
            }
            ValueForm::Boxed(base, offset) => {
                self.boxed_parts((*base, *offset), ty, AccessRegion::of_boxed_value(value))
            }
            ValueForm::Fields(fields) => {
                let Type::Tuple(t) = ty else {
                    unreachable!("fields of {ty}")
                };
                let each = fields.iter().zip(&t.attributes);
                each.flat_map(|(field, a)| self.parts(field, &a.ty))
                    .collect()
            }
        }
    }

    /// The part of a value that has one.
    pub fn single_part(&mut self, value: &LoweredValue, ty: &Type) -> ir::Value {
        self.parts(value, ty)[0]
    }

    /// An attribute of a tuple.
    pub fn field(&mut self, value: &LoweredValue, ty: &TupleType, index: usize) -> LoweredValue {
        let form = match &value.form {
            ValueForm::Fields(fields) => {
                return fields[index].clone();
            }
            ValueForm::Flat(base, offset) => {
                ValueForm::Flat(*base, offset + attribute(ty, index).0)
            }
            ValueForm::Boxed(base, offset) => {
                let region = AccessRegion::of_boxed_value(value);
                let (base, offset) = self.boxed_field((*base, *offset), index, region);
                ValueForm::Boxed(base, offset)
            }
            ValueForm::Parts(parts) => {
                let before = ty.attributes[..index].iter();
                let start: usize = before.map(|a| type_parts::part_count(&a.ty)).sum();
                let count = type_parts::part_count(&ty.attributes[index].ty);
                ValueForm::Parts(parts[start..start + count].into())
            }
        };
        value.part_of(form)
    }

    /// The address of an attribute of a `Value::Tuple`.
    pub fn boxed_field(
        &mut self,
        at: BaseOffset,
        index: usize,
        region: AccessRegion,
    ) -> BaseOffset {
        let data = self.load(
            region,
            types::I64,
            at.0,
            at.1 + value_layout::tuple_data_offset(),
        );
        (data, index as i32 * value_layout::VALUE_BYTES)
    }

    /// Whether an optional is present, and its content (of any bits if it is not).
    pub fn optional(&mut self, value: &LoweredValue, inner: &Type) -> (ir::Value, LoweredValue) {
        let (flag, form) = match &value.form {
            ValueForm::Parts(parts) => (parts[0], ValueForm::Parts(parts[1..].into())),
            ValueForm::Flat(base, offset) => {
                let flag = self.load(
                    AccessRegion::of_flat_value(value),
                    types::I8,
                    *base,
                    *offset,
                );
                (
                    flag,
                    ValueForm::Flat(*base, offset + Layout::slot(inner).1 as i32),
                )
            }
            ValueForm::Boxed(base, offset) => {
                let region = AccessRegion::of_boxed_value(value);
                let at = offset + value_layout::optional_data_offset();
                let content = self.load(region, types::I64, *base, at);
                let flag = self.icmp_const(IntCC::NotEqual, content, 0);
                let default = self.unit.pool.default_of(inner);
                let default = self.word(default);
                (
                    flag,
                    ValueForm::Boxed(self.builder.ins().select(flag, content, default), 0),
                )
            }
            ValueForm::Fields(_) => unreachable!("an optional is no tuple"),
        };
        (flag, value.part_of(form))
    }

    /// The address of a `Value` that holds this; made if there is none.
    pub fn boxed(&mut self, value: &LoweredValue, ty: &Type) -> ir::Value {
        match &value.form {
            ValueForm::Boxed(base, offset) => self.offset(*base, i64::from(*offset)),
            ValueForm::Parts(parts) if type_parts::is_boxed(ty) => parts[0],
            ValueForm::Flat(base, offset) => self.value_of_flat(*base, *offset, ty),
            _ => {
                let words = self.parts_as_words(value, ty);
                let ty = self.type_address(ty);
                self.allocations += 1;
                self.call_for_word(ImportedFunction::BuildValue, &[ty, words])
            }
        }
    }

    /// The parts of a value as words on the stack.
    pub fn parts_as_words(&mut self, value: &LoweredValue, ty: &Type) -> ir::Value {
        let parts = self.parts(value, ty);
        let words = self.stack_words(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            self.store_word(part, words, at);
        }
        words
    }

    /// The address of a type, as an argument of an imported function.
    pub fn type_address(&mut self, ty: &Type) -> ir::Value {
        let address = self.unit.pool.ty(ty);
        self.word(address)
    }

    fn value_of_flat(&mut self, base: ir::Value, offset: i32, ty: &Type) -> ir::Value {
        let slot = self.offset(base, i64::from(offset));
        let ty = self.type_address(ty);
        self.allocations += 1;
        self.call_for_word(ImportedFunction::FromFlat, &[ty, slot])
    }

    fn flat_parts(&mut self, at: BaseOffset, ty: &Type, region: AccessRegion) -> ValueParts {
        let (base, offset) = at;
        match ty {
            Type::Tuple(t) => {
                let indexes = 0..t.attributes.len();
                let each = indexes.map(|index| attribute(t, index));
                let each: Vec<(i32, &Type)> = each.collect();
                each.into_iter()
                    .flat_map(|(from, ty)| self.flat_parts((base, offset + from), ty, region))
                    .collect()
            }
            Type::Optional(inner) => {
                let whole = region.value_in_region(ValueForm::Flat(base, offset));
                let (flag, content) = self.optional(&whole, inner);
                let mut parts = ValueParts::from_elem(flag, 1);
                parts.extend(self.parts(&content, inner));
                parts
            }
            ty if type_parts::is_view(ty) => {
                let (data, len) = self.flat_elements(at, ty, region);
                ValueParts::from_slice(&[data, len])
            }
            ty if type_parts::is_boxed(ty) => {
                ValueParts::from_elem(self.value_of_flat(base, offset, ty), 1)
            }
            ty => self.load_slot(region, base, offset, ty),
        }
    }

    /// The parts of a scalar in a flat slot.
    pub fn load_slot(
        &mut self,
        region: AccessRegion,
        base: ir::Value,
        offset: i32,
        ty: &Type,
    ) -> ValueParts {
        let parts = type_parts::parts(ty);
        let each = parts.into_iter().zip(type_parts::slot_offsets(ty));
        each.map(|(part, at)| self.load(region, part, base, offset + at))
            .collect()
    }

    /// Writes a scalar's parts to a flat slot.
    pub fn store_slot(
        &mut self,
        region: AccessRegion,
        base: ir::Value,
        offset: i32,
        ty: &Type,
        parts: &[ir::Value],
    ) {
        for (&part, at) in parts.iter().zip(type_parts::slot_offsets(ty)) {
            self.store(region, part, base, offset + at);
        }
    }

    /// Address and number of the elements of a string or collection in flat memory.
    pub fn flat_elements(
        &mut self,
        (base, offset): BaseOffset,
        ty: &Type,
        region: AccessRegion,
    ) -> (ir::Value, ir::Value) {
        let in_slot = match ty {
            Type::BoundedRString(_) => Some(4),
            _ => ElementLayout::for_collection(ty)
                .and_then(|e| e.bound)
                .map(|_| 8),
        };
        if let Some(header) = in_slot {
            let len = self.load(region, types::I32, base, offset);
            let len = self.builder.ins().uextend(types::I64, len);
            return (self.offset(base, i64::from(offset + header)), len);
        }
        let distance = self.load(region, types::I32, base, offset);
        let distance = self.builder.ins().uextend(types::I64, distance);
        let len = self.load(region, types::I32, base, offset + 4);
        let len = self.builder.ins().uextend(types::I64, len);
        let slot = self.offset(base, i64::from(offset));
        (self.builder.ins().iadd(slot, distance), len)
    }

    fn boxed_parts(&mut self, at: BaseOffset, ty: &Type, region: AccessRegion) -> ValueParts {
        match ty {
            Type::Tuple(t) => {
                let each = t.attributes.iter().enumerate();
                each.flat_map(|(index, a)| {
                    let field = self.boxed_field(at, index, region);
                    self.boxed_parts(field, &a.ty, region)
                })
                .collect()
            }
            Type::Optional(inner) => {
                let whole = region.value_in_region(ValueForm::Boxed(at.0, at.1));
                let (flag, content) = self.optional(&whole, inner);
                let mut parts = ValueParts::from_elem(flag, 1);
                parts.extend(self.parts(&content, inner));
                parts
            }
            ty if type_parts::is_view(ty) => {
                let (data, len) = self.boxed_vector(at, ty, region);
                ValueParts::from_slice(&[data, len])
            }
            ty if type_parts::is_boxed(ty) => {
                ValueParts::from_elem(self.offset(at.0, i64::from(at.1)), 1)
            }
            ty => {
                let each = type_parts::parts(ty)
                    .into_iter()
                    .zip(value_layout::scalar_offsets(ty));
                each.map(|(part, offset)| self.load(region, part, at.0, at.1 + offset))
                    .collect()
            }
        }
    }

    /// The data and the length of the vector in a string, blob or list value.
    pub fn boxed_vector(
        &mut self,
        at: BaseOffset,
        ty: &Type,
        region: AccessRegion,
    ) -> (ir::Value, ir::Value) {
        let vector = at.1 + value_layout::vec_offset(ty).expect("a type whose value is one vector");
        let shape = value_layout::vec_layout();
        let data = self.load(region, types::I64, at.0, vector + shape.data);
        let len = self.load(region, types::I64, at.0, vector + shape.len);
        (data, len)
    }

    /// The given value in a form that no assignment changes.
    pub fn stable(&mut self, value: LoweredValue, ty: &Type) -> LoweredValue {
        if !value.is_volatile() {
            return value;
        }
        match ty {
            Type::Tuple(t) => LoweredValue::from_fields((0..t.attributes.len()).map(|index| {
                let field = self.field(&value, t, index);
                self.stable(field, &t.attributes[index].ty)
            })),
            Type::Optional(inner) => {
                let (flag, content) = self.optional(&value, inner);
                let content = self.stable(content, inner);
                let mut parts = ValueParts::from_elem(flag, 1);
                parts.extend(self.parts(&content, inner));
                LoweredValue::from_parts(parts)
            }
            ty if type_parts::is_boxed(ty) => {
                let at = self.boxed(&value, ty);
                self.allocations += 1;
                LoweredValue::new_stable(ValueForm::Boxed(
                    self.call_for_word(ImportedFunction::CloneValue, &[at]),
                    0,
                ))
            }
            ty if type_parts::is_view(ty) => self.copied_view(&value, ty),
            ty => LoweredValue::from_parts(self.parts(&value, ty)),
        }
    }

    fn copied_view(&mut self, value: &LoweredValue, ty: &Type) -> LoweredValue {
        let parts = self.parts(value, ty);
        let unit = match ty {
            Type::UString => 2,
            Type::List(element, _) => type_parts::scalar_bytes(element),
            _ => 1,
        };
        let zero = self.word(0);
        let bytes = self.element(zero, parts[1], unit);
        let copy = self.allocate(bytes);
        self.copy(copy, parts[0], bytes);
        LoweredValue::from_parts([copy, parts[1]])
    }

    /// Bytes from one element of a flat collection to the next.
    pub fn flat_stride(ty: &Type) -> i32 {
        layout::stride(ty) as i32
    }
}
