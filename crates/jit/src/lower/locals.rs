//! Local variables: where they live, reading them, setting them.
//!
//! | home | when | reading gives |
//! | --- | --- | --- |
//! | alias | set once | what it was set to, not taken apart |
//! | registers | assigned again, but not in a loop further in (unless it is all numbers) | parts |
//! | memory | changed within, by a callee, or carried around a loop with its strings | the `Value` |
//!
//! A tuple in registers has a home for each attribute, so that those nobody assigns stay aliases.

use cranelift_codegen::ir;
use cranelift_frontend::Variable;
use graph::{Body, LocalId};
use tuple::Type;

use super::analysis::LocalUse;
use super::{Lower, Uses};
use crate::code::{Import, shapes};
use crate::shape;
use crate::value::Val;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Nowhere: it is another name of a value.
    Alias,
    /// In registers.
    Registers,
    /// In a `Value`.
    Memory,
}

/// A variable's home while code is made.
#[derive(Clone, Debug)]
pub enum Storage {
    /// Not set yet.
    Unset,
    /// What it was set to.
    Alias(Val),
    /// A variable for each part.
    Registers(Vec<Variable>),
    /// A home for each attribute.
    Fields(Vec<Storage>),
    /// A `Value` at an address.
    Memory(ir::Value),
}

/// Where a variable of a type that is used so has to live.
pub fn home(ty: &Type, used: &LocalUse) -> Home {
    if used.in_place || used.is_carried && !shape::is_plain(ty) {
        Home::Memory
    } else if used.lets + used.assigns <= 1 && used.fields.is_empty() {
        Home::Alias
    } else {
        Home::Registers
    }
}

impl Lower<'_, '_> {
    /// Finds a home for every variable of a body that is not a formal.
    pub fn settle(&mut self, body: &Body, formals: usize, uses: &Uses) -> Vec<Storage> {
        let mut homes = vec![Storage::Unset; formals];
        for (local, used) in body.locals.iter().zip(&uses.locals).skip(formals) {
            homes.push(self.settle_one(&local.ty, used, used.lets));
        }
        homes
    }

    /// Finds a home for a variable that is set so often.
    pub fn settle_one(&mut self, ty: &Type, used: &LocalUse, lets: u32) -> Storage {
        match home(ty, used) {
            Home::Alias => Storage::Unset,
            Home::Memory => {
                let at = self.slots.len() as i64 * i64::from(shapes::VALUE_BYTES);
                self.slots.push(ty.clone());
                let at = self.offset(self.slot_base, at);
                if lets == 0 {
                    self.clear(at, ty);
                }
                Storage::Memory(at)
            }
            Home::Registers => match ty {
                Type::Tuple(t) => {
                    let is_whole = lets > 1 || used.assigns > 0;
                    let each = t.attributes.iter().enumerate().map(|(index, a)| {
                        if is_whole || used.fields.contains(&(index as u32)) {
                            self.registers(&a.ty)
                        } else {
                            Storage::Unset
                        }
                    });
                    Storage::Fields(each.collect())
                }
                ty => self.registers(ty),
            },
        }
    }

    fn registers(&mut self, ty: &Type) -> Storage {
        let parts = shape::parts(ty).into_iter();
        Storage::Registers(parts.map(|part| self.b.declare_var(part)).collect())
    }

    /// Makes a `Value` the default of its type.
    pub fn clear(&mut self, at: ir::Value, ty: &Type) {
        let ty = self.type_address(ty);
        self.call(Import::Clear, &[ty, at]);
    }

    /// A variable's value.
    pub fn read_local(&mut self, local: LocalId) -> Val {
        let storage = self.frame.locals[local.0 as usize].clone();
        let ty = self.frame.types[local.0 as usize].clone();
        self.read_storage(&storage, &ty)
    }

    fn read_storage(&mut self, storage: &Storage, ty: &Type) -> Val {
        match storage {
            // Only dead code reads a variable before it is set.
            Storage::Unset => self.default_value(ty),
            Storage::Alias(value) => value.clone(),
            Storage::Registers(vars) => Val::parts(vars.iter().map(|&var| self.b.use_var(var))),
            Storage::Fields(fields) => {
                let Type::Tuple(t) = ty else {
                    unreachable!("attributes of {ty}")
                };
                let each = fields.iter().zip(&t.attributes);
                Val::fields(each.map(|(field, a)| self.read_storage(field, &a.ty)))
            }
            Storage::Memory(at) => Val::variable(*at),
        }
    }

    /// Gives a variable its initial value.
    pub fn set_local(&mut self, local: LocalId, value: Val) {
        let at = local.0 as usize;
        let ty = self.frame.types[at].clone();
        let storage = std::mem::replace(&mut self.frame.locals[at], Storage::Unset);
        let storage = self.set_storage(storage, value, &ty);
        self.frame.locals[at] = storage;
    }

    /// Sets what lives in a home; the home afterwards.
    pub fn set_storage(&mut self, storage: Storage, value: Val, ty: &Type) -> Storage {
        match storage {
            Storage::Unset | Storage::Alias(_) => Storage::Alias(self.stable(value, ty)),
            Storage::Registers(vars) => {
                let value = self.stable(value, ty);
                for (&var, part) in vars.iter().zip(self.parts(&value, ty)) {
                    self.b.def_var(var, part);
                }
                Storage::Registers(vars)
            }
            Storage::Fields(fields) => {
                let Type::Tuple(t) = ty else {
                    unreachable!("attributes of {ty}")
                };
                // All of them are read before the first is set.
                let value = self.stable(value, ty);
                let indexes = 0..t.attributes.len();
                let values: Vec<Val> = indexes.map(|i| self.field(&value, t, i)).collect();
                let each = fields.into_iter().zip(values).zip(&t.attributes);
                let set = each.map(|((field, value), a)| self.set_storage(field, value, &a.ty));
                Storage::Fields(set.collect())
            }
            Storage::Memory(at) => {
                self.assign_value(at, &value, ty);
                Storage::Memory(at)
            }
        }
    }
}
