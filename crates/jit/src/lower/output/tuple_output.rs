//! Flat tuples that compiled code writes, to submit them or to hand them on.
//!
//! First what lies in the fixed part alone, attribute by attribute or in runs that are copied from
//! one input tuple at once; then, in order, what has a tail.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use tuple::layout::{self, ElementLayout};
use tuple::{Layout, Type};

use crate::code::ImportedFunction;
use crate::lower::context::FunctionLowering;
use crate::lower::values::{AccessRegion, attribute};
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Writes the tuple that an imported function then submits or hands on. An attribute without a
    /// value has its default.
    pub fn make_tuple(&mut self, values: &[Option<LoweredValue>], layout: &std::sync::Arc<Layout>) {
        let types: Vec<Type> = layout
            .schema
            .attributes
            .iter()
            .map(|a| a.ty.clone())
            .collect();
        let mut tail = self.word(0);
        for (value, ty) in values.iter().zip(&types) {
            if let Some(value) = value {
                tail = self.tail_bytes(tail, value, ty);
            }
        }
        let address = self.unit.pool.layout(layout);
        let address = self.word(address);
        let base = self.call_for_word(ImportedFunction::BeginTuple, &[address, tail]);
        self.put_all_fixed(base, values, &types, layout, false);
        for ((value, ty), &offset) in values.iter().zip(&types).zip(&layout.offsets) {
            if let Some(value) = value {
                self.put_tail(offset as i32, value, ty);
            }
        }
    }

    /// Writes the fixed parts of attributes into zeroes; two words at once, if it `pairs` them.
    fn put_all_fixed(
        &mut self,
        base: ir::Value,
        values: &[Option<LoweredValue>],
        types: &[Type],
        layout: &Layout,
        pairs: bool,
    ) {
        let mut at = 0;
        while at < values.len() {
            let run = self.run_length(&values[at..], &types[at..], &layout.offsets[at..]);
            let offset = layout.offsets[at] as i32;
            match &values[at] {
                Some(LoweredValue {
                    form: ValueForm::Flat(from, from_offset),
                    ..
                }) if run > 0 => {
                    let last = at + run - 1;
                    let end = layout.offsets[last] + layout::slot(&types[last]).0;
                    let bytes = end as i32 - offset;
                    self.copy_const((base, offset), (*from, *from_offset), bytes);
                    at += run - 1;
                }
                Some(_) if pairs && self.put_pair(base, offset, &values[at..], &types[at..]) => {
                    at += 1;
                }
                Some(value) => self.put_fixed(base, offset, value, &types[at]),
                None => {}
            }
            at += 1;
        }
    }

    /// Writes a tuple of fixed length where there may be anything.
    pub fn fill_fixed(
        &mut self,
        base: ir::Value,
        values: &[Option<LoweredValue>],
        layout: &Layout,
    ) {
        let attributes = layout.schema.attributes.iter();
        let types: Vec<Type> = attributes.map(|a| a.ty.clone()).collect();
        if !covers(values, &types, layout) {
            self.clear_bytes(base, layout.size);
        }
        self.put_all_fixed(base, values, &types, layout, STORES_PAIRS);
    }

    /// Writes the first two attributes by one store, if they are two words of one kind.
    fn put_pair(
        &mut self,
        base: ir::Value,
        offset: i32,
        values: &[Option<LoweredValue>],
        types: &[Type],
    ) -> bool {
        let ([Some(one), Some(two), ..], [one_type, two_type, ..]) = (values, types) else {
            return false;
        };
        let Some(pair) = pair_type(one_type).filter(|pair| pair_type(two_type) == Some(*pair))
        else {
            return false;
        };
        let (one, two) = (
            self.single_part(one, one_type),
            self.single_part(two, two_type),
        );
        let both = if one == two {
            self.builder.ins().splat(pair, one)
        } else {
            let low = self.builder.ins().scalar_to_vector(pair, one);
            self.builder.ins().insertlane(low, two, 1)
        };
        // Not `trusted`: it may lie at any multiple of 8.
        let region = self.flags(AccessRegion::Output).alias_region();
        let flags = MemFlagsData::new().with_notrap().with_alias_region(region);
        self.builder.ins().store(flags, both, base, offset);
        true
    }

    /// How many attributes from here on lie one after the other in another flat tuple just as in
    /// this one, and have no tail.
    fn run_length(
        &self,
        values: &[Option<LoweredValue>],
        types: &[Type],
        offsets: &[u32],
    ) -> usize {
        let Some(Some(LoweredValue {
            form: ValueForm::Flat(base, start),
            ..
        })) = values.first()
        else {
            return 0;
        };
        let each = values.iter().zip(types).zip(offsets);
        let fits = |((value, ty), offset): ((&Option<LoweredValue>, &Type), &u32)| {
            matches!(value, Some(LoweredValue { form: ValueForm::Flat(other, at), .. })
                if other == base && at - start == (offset - offsets[0]) as i32)
                && layout::is_fixed(ty)
        };
        each.take_while(|&each| fits(each)).count()
    }

    /// The bytes of tail so far, and those of a value at most.
    fn tail_bytes(&mut self, so_far: ir::Value, value: &LoweredValue, ty: &Type) -> ir::Value {
        if layout::is_fixed(ty) || !type_parts::is_view(ty) {
            return so_far;
        }
        let parts = self.parts(value, ty);
        let zero = self.word(0);
        let bytes = self.element(zero, parts[1], unit_bytes(ty));
        let padded = self.offset(bytes, 8);
        self.builder.ins().iadd(so_far, padded)
    }

    /// Writes what of a slot lies in the fixed part.
    fn put_fixed(&mut self, base: ir::Value, offset: i32, value: &LoweredValue, ty: &Type) {
        if let (ValueForm::Flat(from, at), true) = (&value.form, layout::is_fixed(ty)) {
            let bytes = layout::slot(ty).0 as i32;
            return self.copy_const((base, offset), (*from, *at), bytes);
        }
        match ty {
            Type::Tuple(t) => {
                for index in 0..t.attributes.len() {
                    let field = self.field(value, t, index);
                    let (at, ty) = attribute(t, index);
                    let ty = ty.clone();
                    self.put_fixed(base, offset + at, &field, &ty);
                }
            }
            Type::Optional(inner) if type_parts::is_plain(inner) => {
                self.put_optional(base, offset, value, inner);
            }
            Type::BoundedRString(_) => self.put_bounded(base, offset, 4, value, ty),
            Type::List(..) if type_parts::is_view(ty) && layout::is_fixed(ty) => {
                self.put_bounded(base, offset, 8, value, ty);
            }
            ty if type_parts::is_scalar(ty) => {
                let parts = self.parts(value, ty);
                self.store_slot(AccessRegion::Output, base, offset, ty, &parts);
            }
            _ => {}
        }
    }

    /// Elements in the slot itself, behind their number.
    fn put_bounded(
        &mut self,
        base: ir::Value,
        offset: i32,
        header: i32,
        value: &LoweredValue,
        ty: &Type,
    ) {
        let parts = self.parts(value, ty);
        let len = self.builder.ins().ireduce(types::I32, parts[1]);
        self.store(AccessRegion::Output, len, base, offset);
        let zero = self.word(0);
        let bytes = self.element(zero, parts[1], unit_bytes(ty));
        let to = self.offset(base, i64::from(offset + header));
        self.copy(to, parts[0], bytes);
    }

    /// Absent is all zero, as the slot is.
    fn put_optional(&mut self, base: ir::Value, offset: i32, value: &LoweredValue, inner: &Type) {
        let (flag, content) = self.optional(value, inner);
        let (present, done) = (self.block(), self.block());
        let is_present = self.icmp_const(IntCC::NotEqual, flag, 0);
        self.branch(is_present, present, done);
        self.switch_to_sealed(present);
        let one = self.int(types::I8, 1);
        self.store(AccessRegion::Output, one, base, offset);
        let at = offset + layout::slot(inner).1 as i32;
        self.put_fixed(base, at, &content, inner);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Writes what of a slot has a tail.
    fn put_tail(&mut self, offset: i32, value: &LoweredValue, ty: &Type) {
        let is_done = match ty {
            ty if type_parts::is_view(ty) => layout::is_fixed(ty),
            Type::Optional(inner) => type_parts::is_plain(inner),
            Type::Tuple(t) => {
                for index in 0..t.attributes.len() {
                    let field = self.field(value, t, index);
                    let (at, ty) = attribute(t, index);
                    let ty = ty.clone();
                    self.put_tail(offset + at, &field, &ty);
                }
                true
            }
            ty => type_parts::is_scalar(ty),
        };
        let in_flat = matches!(value.form, ValueForm::Flat(..));
        if is_done || in_flat && layout::is_fixed(ty) {
            return;
        }
        let slot = self.word(i64::from(offset));
        if type_parts::is_view(ty) {
            return self.put_view(slot, value, ty);
        }
        let type_at = self.type_address(ty);
        if let ValueForm::Flat(from, at) = value.form {
            let from = self.offset(from, i64::from(at));
            self.call(ImportedFunction::PutFlat, &[type_at, slot, from]);
        } else {
            let value = self.boxed(value, ty);
            self.call(ImportedFunction::PutValue, &[type_at, slot, value]);
        }
    }

    fn put_view(&mut self, slot: ir::Value, value: &LoweredValue, ty: &Type) {
        let parts = self.parts(value, ty);
        let zero = self.word(0);
        let bytes = self.element(zero, parts[1], unit_bytes(ty));
        let align = match ty {
            Type::UString => 2,
            Type::List(..) => ElementLayout::for_collection(ty).map_or(4, |e| i64::from(e.align)),
            _ => 1,
        };
        let align = self.word(align);
        self.call(
            ImportedFunction::PutBlock,
            &[slot, parts[0], bytes, parts[1], align],
        );
    }
}

/// A frame goes into lines that another processor has, and stores wait for them in a buffer of so
/// many stores, whatever their width: with two words a store it covers twice as many lines that are
/// on their way. Elsewhere than on x86-64 processors join such stores themselves.
const STORES_PAIRS: bool = cfg!(target_arch = "x86_64");

/// Two of a type side by side, if each is a word of 8 bytes.
fn pair_type(ty: &Type) -> Option<ir::Type> {
    let is_word = type_parts::is_scalar(ty) && type_parts::part_count(ty) == 1;
    is_word
        .then(|| type_parts::single_part(ty))
        .and_then(|part| match part {
            types::I64 => Some(types::I64X2),
            types::F64 => Some(types::F64X2),
            _ => None,
        })
}

/// Whether writing every attribute writes every byte.
fn covers(values: &[Option<LoweredValue>], types: &[Type], layout: &Layout) -> bool {
    let each = values.iter().zip(types);
    let is_whole = |(value, ty): (&Option<LoweredValue>, &Type)| match value {
        Some(value) => matches!(value.form, ValueForm::Flat(..)) || type_parts::is_scalar(ty),
        None => false,
    };
    let bytes: u32 = types.iter().map(|ty| layout::slot(ty).0).sum();
    bytes == layout.size && each.into_iter().all(is_whole)
}

/// Bytes of an element of a string or list of scalars.
pub fn unit_bytes(ty: &Type) -> i32 {
    match ty {
        Type::UString => 2,
        Type::List(element, _) => type_parts::scalar_bytes(element),
        _ => 1,
    }
}
