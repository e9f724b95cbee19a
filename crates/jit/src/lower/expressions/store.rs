//! Storing: what an assignment does once it is known where to.

use cranelift_codegen::ir;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use eval::ops;
use graph::Pos;
use tuple::Type;

use super::place::PlaceLocation;
use crate::code::{FallbackOp, ImportedFunction, value_layout};
use crate::lower::context::{FunctionLowering, LocalStorage};
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Stores a value at a location.
    pub fn store_at(&mut self, loc: PlaceLocation, value: LoweredValue, ty: &Type) {
        match loc {
            PlaceLocation::Slot(region, base, offset) => {
                let parts = self.parts(&value, ty);
                self.store_slot(region, base, offset, ty, &parts);
            }
            PlaceLocation::Cached(variable) => {
                let part = self.single_part(&value, ty);
                self.builder.def_var(variable, part);
            }
            PlaceLocation::Value(at) => self.assign_value(at, &value, ty),
            PlaceLocation::Registers(local, fields) => {
                let at = local as usize;
                let whole = self.body.types[at].clone();
                let storage = std::mem::replace(&mut self.body.locals[at], LocalStorage::Unset);
                let storage = self.store_field(storage, &whole, &fields, value);
                self.body.locals[at] = storage;
            }
        }
    }

    /// Sets an attribute of a tuple in registers.
    fn store_field(
        &mut self,
        storage: LocalStorage,
        ty: &Type,
        fields: &[u32],
        value: LoweredValue,
    ) -> LocalStorage {
        let Some((&index, rest)) = fields.split_first() else {
            return self.set_storage(storage, value, ty);
        };
        let Type::Tuple(t) = ty else {
            unreachable!("an attribute of {ty}")
        };
        let index = index as usize;
        match storage {
            LocalStorage::Fields(mut fields) => {
                let storage = std::mem::replace(&mut fields[index], LocalStorage::Unset);
                fields[index] = self.store_field(storage, &t.attributes[index].ty, rest, value);
                LocalStorage::Fields(fields)
            }
            // A tuple within a tuple: the parts of the attribute are adjacent.
            LocalStorage::Registers(vars) => {
                let before = t.attributes[..index].iter();
                let start: usize = before.map(|a| type_parts::part_count(&a.ty)).sum();
                let inner = &t.attributes[index].ty;
                let own = vars[start..start + type_parts::part_count(inner)].to_vec();
                self.store_field(LocalStorage::Registers(own), inner, rest, value);
                LocalStorage::Registers(vars)
            }
            other => other,
        }
    }

    /// Writes over a `Value` of the same type.
    pub fn assign_value(&mut self, at: ir::Value, value: &LoweredValue, ty: &Type) {
        if type_parts::is_scalar(ty) {
            let parts = self.parts(value, ty);
            for (part, offset) in parts.into_iter().zip(value_layout::scalar_offsets(ty)) {
                self.store(AccessRegion::Values, part, at, offset);
            }
            return;
        }
        let is_single = type_parts::is_view(ty) || type_parts::is_boxed(ty);
        let value = if is_single {
            value.clone()
        } else {
            self.stable(value.clone(), ty)
        };
        if let (Type::Tuple(t), false) = (ty, matches!(value.form, ValueForm::Boxed(..))) {
            for (index, a) in t.attributes.iter().enumerate() {
                let field = self.field(&value, t, index);
                let (to, offset) = self.boxed_field((at, 0), index, AccessRegion::Values);
                let to = self.offset(to, i64::from(offset));
                self.assign_value(to, &field, &a.ty);
            }
            return;
        }
        let words = self.parts_as_words(&value, ty);
        let ty = self.type_address(ty);
        self.call(ImportedFunction::AssignValue, &[ty, words, at]);
    }

    /// Lowers `m[k] = value`: inserts, unless the map is bounded and full.
    pub fn insert(
        &mut self,
        map: ir::Value,
        map_type: &Type,
        key: &LoweredValue,
        value: &LoweredValue,
        ty: &Type,
    ) {
        let Type::Map(entry, bound) = map_type else {
            unreachable!("an entry of {map_type}")
        };
        // What the value points to may be in the map, whose entries move.
        let value = self.stable(value.clone(), ty);
        let at = self.map_entry_of(map, map_type, key, &entry.0);
        if bound.is_none() {
            return self.assign_value(at, &value, ty);
        }
        let (store, done) = (self.block(), self.block());
        let has_room = self.icmp_const(IntCC::NotEqual, at, 0);
        self.branch(has_room, store, done);
        self.switch_to_sealed(store);
        self.assign_value(at, &value, ty);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// A value cut to the bound of the place that it is assigned to.
    pub fn fit_to_bound(&mut self, value: LoweredValue, from: &Type, to: &Type) -> LoweredValue {
        match to {
            Type::BoundedRString(_) if from.is_rstring() => {
                let is_volatile = value.is_volatile();
                let parts = self.parts(&value, from);
                LoweredValue::from_parts(self.truncate_to_bound(parts, to))
                    .with_volatility(is_volatile)
            }
            Type::List(element, Some(bound)) if type_parts::is_scalar(element) => {
                let parts = self.parts(&value, from);
                let bound = self.word(i64::from(*bound));
                let len = self.builder.ins().umin(parts[1], bound);
                LoweredValue::from_parts([parts[0], len]).with_volatility(value.is_volatile())
            }
            to if ops::is_bounded(to) && from != to => {
                let given = FunctionLowering::value_operand(&value, from);
                self.run_fallback(FallbackOp::Identity, &[given], to, Pos::default())
            }
            _ => value,
        }
    }
}
