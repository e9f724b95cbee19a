//! Local variables: where they live, reading them, setting them.
//!
//! | storage | used for variables that are | reading gives |
//! | --- | --- | --- |
//! | alias | set once | the value it was set to, not taken apart |
//! | registers | assigned again, but not in an inner loop (unless all numbers) | parts |
//! | memory | changed within, changed by a callee, or carried around a loop | the `Value` |
//!
//! A tuple in registers has storage for each attribute, so that unassigned attributes stay aliases.

use cranelift_codegen::ir;
use graph::{Body, Function, LocalId};
use tuple::Type;

use crate::code::{ImportedFunction, value_layout};
use crate::lower::context::{
    BodyUsage, FunctionLowering, LocalStorage, LocalUsage, StorageKind, storage_kind,
};
use crate::lowered_value::LoweredValue;
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Chooses storage for every variable of a body that is not a formal.
    pub fn assign_storages(
        &mut self,
        body: &Body,
        formals: usize,
        uses: &BodyUsage,
    ) -> Vec<LocalStorage> {
        let mut storages = vec![LocalStorage::Unset; formals];
        for (local, used) in body.locals.iter().zip(&uses.locals).skip(formals) {
            storages.push(self.assign_storage(&local.ty, used, used.initializations));
        }
        storages
    }

    /// Chooses storage for a variable that is given an initial value `lets` times.
    pub fn assign_storage(&mut self, ty: &Type, used: &LocalUsage, lets: u32) -> LocalStorage {
        match storage_kind(ty, used) {
            StorageKind::Alias => LocalStorage::Unset,
            StorageKind::Memory => {
                let at = self.local_types.len() as i64 * i64::from(value_layout::VALUE_BYTES);
                self.local_types.push(ty.clone());
                let at = self.offset(self.locals_base, at);
                if lets == 0 {
                    self.clear(at, ty);
                }
                LocalStorage::Memory(at)
            }
            StorageKind::Registers => match ty {
                Type::Tuple(t) => {
                    let is_whole = lets > 1 || used.assignments > 0;
                    let each = t.attributes.iter().enumerate().map(|(index, a)| {
                        if is_whole || used.fields.contains(&(index as u32)) {
                            self.registers(&a.ty)
                        } else {
                            LocalStorage::Unset
                        }
                    });
                    LocalStorage::Fields(each.collect())
                }
                ty => self.registers(ty),
            },
        }
    }

    fn registers(&mut self, ty: &Type) -> LocalStorage {
        let parts = type_parts::parts(ty).into_iter();
        LocalStorage::Registers(parts.map(|part| self.builder.declare_var(part)).collect())
    }

    /// Makes a `Value` the default of its type.
    pub fn clear(&mut self, at: ir::Value, ty: &Type) {
        let ty = self.type_address(ty);
        self.call(ImportedFunction::ClearValue, &[ty, at]);
    }

    /// Reads the value of a local variable.
    pub fn read_local(&mut self, local: LocalId) -> LoweredValue {
        let storage = self.body.locals[local.0 as usize].clone();
        let ty = self.body.types[local.0 as usize].clone();
        self.read_storage(&storage, &ty)
    }

    fn read_storage(&mut self, storage: &LocalStorage, ty: &Type) -> LoweredValue {
        match storage {
            // Only dead code reads a variable before it is set.
            LocalStorage::Unset => self.default_value(ty),
            LocalStorage::Alias(value) => value.clone(),
            LocalStorage::Registers(vars) => {
                LoweredValue::from_parts(vars.iter().map(|&var| self.builder.use_var(var)))
            }
            LocalStorage::Fields(fields) => {
                let Type::Tuple(t) = ty else {
                    unreachable!("attributes of {ty}")
                };
                let each = fields.iter().zip(&t.attributes);
                LoweredValue::from_fields(each.map(|(field, a)| self.read_storage(field, &a.ty)))
            }
            LocalStorage::Memory(at) => LoweredValue::of_variable(*at),
        }
    }

    /// Gives a variable its initial value.
    pub fn set_local(&mut self, local: LocalId, value: LoweredValue) {
        let at = local.0 as usize;
        let ty = self.body.types[at].clone();
        let storage = std::mem::replace(&mut self.body.locals[at], LocalStorage::Unset);
        let storage = self.set_storage(storage, value, &ty);
        self.body.locals[at] = storage;
    }

    /// Sets the value in a storage. Returns the storage afterwards.
    pub fn set_storage(
        &mut self,
        storage: LocalStorage,
        value: LoweredValue,
        ty: &Type,
    ) -> LocalStorage {
        match storage {
            LocalStorage::Unset | LocalStorage::Alias(_) => {
                LocalStorage::Alias(self.stable(value, ty))
            }
            LocalStorage::Registers(vars) => {
                let value = self.stable(value, ty);
                for (&var, part) in vars.iter().zip(self.parts(&value, ty)) {
                    self.builder.def_var(var, part);
                }
                LocalStorage::Registers(vars)
            }
            LocalStorage::Fields(fields) => {
                let Type::Tuple(t) = ty else {
                    unreachable!("attributes of {ty}")
                };
                // All of them are read before the first is set.
                let value = self.stable(value, ty);
                let indexes = 0..t.attributes.len();
                let values: Vec<LoweredValue> = indexes.map(|i| self.field(&value, t, i)).collect();
                let each = fields.into_iter().zip(values).zip(&t.attributes);
                let set = each.map(|((field, value), a)| self.set_storage(field, value, &a.ty));
                LocalStorage::Fields(set.collect())
            }
            LocalStorage::Memory(at) => {
                self.assign_value(at, &value, ty);
                LocalStorage::Memory(at)
            }
        }
    }

    /// Takes the variables of a function that live in memory.
    pub fn enter_frame(&mut self, function: &Function, uses: &BodyUsage) -> bool {
        let locals = function.body.locals.iter().zip(&uses.locals).enumerate();
        let in_memory = locals.filter(|(_, (local, used))| {
            !local.by_reference && storage_kind(&local.ty, used) == StorageKind::Memory
        });
        let types: Vec<_> = in_memory.map(|(_, (local, _))| local.ty.clone()).collect();
        if types.is_empty() {
            return false;
        }
        let (types, len) = self.unit.pool.type_list(types);
        let (types, len) = (self.word(types), self.word(len));
        self.locals_base = self.call_for_word(ImportedFunction::EnterFrame, &[types, len]);
        true
    }

    /// Gives back the variables that [`FunctionLowering::enter_frame`] has taken.
    pub fn exit_frame(&mut self, has_frame: bool) {
        if has_frame {
            self.call(ImportedFunction::ExitFrame, &[]);
        }
    }
}
