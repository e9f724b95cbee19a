//! The normal form of tuples: numbers as the normal codec has them, most significant byte first and
//! without gaps (see `tuple::normal`).
//!
//! The parts of a scalar ([`type_parts`]) are in both forms in the same order, so that a tuple is
//! one part after the other.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use tuple::{TupleType, Type};

use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueParts};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Writes a tuple of scalars at an address.
    pub fn fill_normal(&mut self, base: ir::Value, tuple: &LoweredValue, schema: &TupleType) {
        let region = self.flags(AccessRegion::Output).alias_region();
        // Not `trusted`: without gaps, parts lie at any address.
        let flags = MemFlagsData::new().with_notrap().with_alias_region(region);
        let mut at = 0;
        for (index, attribute) in schema.attributes.iter().enumerate() {
            let field = self.field(tuple, schema, index);
            for part in self.parts(&field, &attribute.ty) {
                let ty = self.builder.func.dfg.value_type(part);
                let bits = match ty.is_float() {
                    true => self
                        .builder
                        .ins()
                        .bitcast(ty.as_int(), MemFlagsData::new(), part),
                    false => part,
                };
                let word = self.turned_round(bits);
                self.builder.ins().store(flags, word, base, at);
                at += ty.bytes() as i32;
            }
        }
    }

    /// Reads a tuple of scalars from an address. Leaves for a block if some bytes are no value of
    /// their type.
    pub fn read_normal(
        &mut self,
        base: ir::Value,
        schema: &TupleType,
        invalid: ir::Block,
    ) -> LoweredValue {
        let mut at = 0;
        let mut fields = Vec::new();
        for attribute in &schema.attributes {
            let parts: ValueParts = type_parts::parts(&attribute.ty)
                .into_iter()
                .map(|ty| {
                    let part = self.read_part(base, at, ty);
                    at += ty.bytes() as i32;
                    part
                })
                .collect();
            let values = match &attribute.ty {
                Type::Boolean => Some(2),
                Type::Enum(e) => Some(e.names.len() as i64),
                _ => None,
            };
            if let Some(values) = values {
                let beyond = IntCC::UnsignedGreaterThanOrEqual;
                let is_none = self.icmp_const(beyond, parts[0], values);
                self.leave_if(is_none, invalid);
            }
            fields.push(LoweredValue::from_parts(parts));
        }
        LoweredValue::from_fields(fields)
    }

    fn read_part(&mut self, base: ir::Value, at: i32, ty: ir::Type) -> ir::Value {
        // A frame does not change; see `fill_normal` for what is not `trusted`.
        let flags = MemFlagsData::new().with_notrap().with_readonly();
        let word = self.builder.ins().load(ty.as_int(), flags, base, at);
        let bits = self.turned_round(word);
        match ty.is_float() {
            true => self.builder.ins().bitcast(ty, MemFlagsData::new(), bits),
            false => bits,
        }
    }

    /// An integer in the other order of bytes, unless the machine has the codec's.
    fn turned_round(&mut self, word: ir::Value) -> ir::Value {
        let is_byte = self.builder.func.dfg.value_type(word) == types::I8;
        match is_byte || cfg!(target_endian = "big") {
            true => word,
            false => self.builder.ins().bswap(word),
        }
    }
}
