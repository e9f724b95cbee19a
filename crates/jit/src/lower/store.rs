//! Storing: what an assignment does once it is known where to.

use cranelift_codegen::ir;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use graph::Pos;
use tuple::Type;

use super::place::Loc;
use super::{Lower, Region, Storage};
use crate::code::{Import, Op, shapes};
use crate::shape;
use crate::value::{Form, Val};

impl Lower<'_, '_> {
    /// Puts a value there.
    pub fn store_at(&mut self, loc: Loc, value: Val, ty: &Type) {
        match loc {
            Loc::Slot(region, base, offset) => {
                let parts = self.parts(&value, ty);
                self.store_slot(region, base, offset, ty, &parts);
            }
            Loc::Value(at) => self.assign_value(at, &value, ty),
            Loc::Registers(local, fields) => {
                let at = local as usize;
                let whole = self.frame.types[at].clone();
                let storage = std::mem::replace(&mut self.frame.locals[at], Storage::Unset);
                let storage = self.store_field(storage, &whole, &fields, value);
                self.frame.locals[at] = storage;
            }
        }
    }

    /// Sets an attribute of what lives in registers.
    fn store_field(&mut self, storage: Storage, ty: &Type, fields: &[u32], value: Val) -> Storage {
        let Some((&index, rest)) = fields.split_first() else {
            return self.set_storage(storage, value, ty);
        };
        let Type::Tuple(t) = ty else {
            unreachable!("an attribute of {ty}")
        };
        let index = index as usize;
        match storage {
            Storage::Fields(mut homes) => {
                let home = std::mem::replace(&mut homes[index], Storage::Unset);
                homes[index] = self.store_field(home, &t.attributes[index].ty, rest, value);
                Storage::Fields(homes)
            }
            // A tuple within a tuple: the parts of the attribute are adjacent.
            Storage::Registers(vars) => {
                let before = t.attributes[..index].iter();
                let start: usize = before.map(|a| shape::part_count(&a.ty)).sum();
                let inner = &t.attributes[index].ty;
                let own = vars[start..start + shape::part_count(inner)].to_vec();
                self.store_field(Storage::Registers(own), inner, rest, value);
                Storage::Registers(vars)
            }
            other => other,
        }
    }

    /// Writes over a `Value` of the same type.
    pub fn assign_value(&mut self, at: ir::Value, value: &Val, ty: &Type) {
        if shape::is_scalar(ty) {
            let parts = self.parts(value, ty);
            for (part, offset) in parts.into_iter().zip(shapes::scalar(ty)) {
                self.store(Region::Values, part, at, offset);
            }
            return;
        }
        let is_single = shape::is_view(ty) || shape::is_boxed(ty);
        let value = if is_single {
            value.clone()
        } else {
            self.stable(value.clone(), ty)
        };
        if let (Type::Tuple(t), false) = (ty, matches!(value.form, Form::Boxed(..))) {
            for (index, a) in t.attributes.iter().enumerate() {
                let field = self.field(&value, t, index);
                let (to, offset) = self.boxed_field((at, 0), index, Region::Values);
                let to = self.offset(to, i64::from(offset));
                self.assign_value(to, &field, &a.ty);
            }
            return;
        }
        let words = self.words(&value, ty);
        let ty = self.type_address(ty);
        self.call(Import::Assign, &[ty, words, at]);
    }

    /// `m[k] = value`: inserts, unless the map is bounded and full.
    pub fn insert(&mut self, map: ir::Value, map_type: &Type, key: &Val, value: &Val, ty: &Type) {
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
        self.go_sealed(store);
        self.assign_value(at, &value, ty);
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    /// A value cut to the bound of the place that it is assigned to.
    pub fn fit(&mut self, value: Val, from: &Type, to: &Type) -> Val {
        match to {
            Type::BoundedRString(_) if from.is_rstring() => {
                let is_volatile = value.is_volatile();
                let parts = self.parts(&value, from);
                Val::parts(self.fitted(parts, to)).volatile_if(is_volatile)
            }
            Type::List(element, Some(bound)) if shape::is_scalar(element) => {
                let parts = self.parts(&value, from);
                let bound = self.word(i64::from(*bound));
                let len = self.b.ins().umin(parts[1], bound);
                Val::parts([parts[0], len]).volatile_if(value.is_volatile())
            }
            to if super::construct::is_bounded(to) && from != to => {
                let given = Lower::given(&value, from);
                self.run_at(Op::Same, &[given], to, Pos::default())
            }
            _ => value,
        }
    }
}
