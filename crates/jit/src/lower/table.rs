//! Sets and maps: their entries, and searching them, for integers here and for the rest by a call.
//!
//! ```text
//!   empty? --> slot --> entry has the key? --yes--> its value
//!     |yes                 |no
//!     v                    v
//!   not there     free slot? --no--> a call searches on
//! ```
//! [`tuple::TableShape`] says why that is enough.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use tuple::{TableShape, Type};

use super::{Lower, Region};
use crate::code::{Import, shapes};
use crate::shape;
use crate::value::{Form, Val};

/// A set or map.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The address of its `Value`.
    value: ir::Value,
    /// The address of what that points to.
    at: ir::Value,
    shape: TableShape,
    region: Region,
    is_volatile: bool,
}

/// The entries of a set or map, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Entries {
    /// Where the first one is.
    data: ir::Value,
    /// How many there are.
    pub len: ir::Value,
}

/// The type of a key that has a search of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    Integer,
    /// An rstring or blob.
    Bytes,
    Other,
}

impl Table {
    /// That of slots and entries, which are there only if the table is not empty.
    fn inner_region(&self) -> Region {
        match self.region {
            Region::Fixed => Region::Input,
            other => other,
        }
    }
}

/// How keys of a type are searched.
fn key_kind(ty: &Type) -> KeyKind {
    match ty {
        ty if ty.is_integral() => KeyKind::Integer,
        ty if ty.is_rstring() || *ty == Type::Blob => KeyKind::Bytes,
        _ => KeyKind::Other,
    }
}

impl Lower<'_, '_> {
    /// The table behind a set or map.
    pub fn table(&mut self, value: &Val, ty: &Type) -> Table {
        let is_boxed = matches!(value.form, Form::Boxed(..));
        let region = if is_boxed {
            Region::of_values(value)
        } else {
            Region::Values
        };
        let is_volatile = value.is_volatile();
        let value = self.boxed(value, ty);
        let (pointer, shape) = shapes::table(ty);
        Table {
            value,
            at: self.load(region, types::I64, value, pointer),
            shape,
            region,
            is_volatile,
        }
    }

    /// The entries of a set or map.
    pub fn table_entries(&mut self, table: &Table) -> Entries {
        let (data, len) = self.table_vector(table, table.shape.entries);
        Entries { data, len }
    }

    /// The element of a set or the key of a map at a position.
    pub fn entry_key(&mut self, table: &Table, entries: &Entries, index: ir::Value) -> Val {
        let entry = self.element(entries.data, index, table.shape.entry_bytes as i32);
        Val::stable(Form::Boxed(entry, table.shape.key as i32)).volatile_if(table.is_volatile)
    }

    /// The address of the value of a key, or 0.
    pub fn map_get(&mut self, map: &Table, key: &Val, ty: &Type) -> ir::Value {
        match key_kind(ty) {
            KeyKind::Integer => self.search(map, key, ty, true, |lower, word| {
                lower.call1(Import::MapGetWord, &[map.value, word])
            }),
            KeyKind::Bytes => {
                let key = self.parts(key, ty);
                self.call1(Import::MapGetBytes, &[map.value, key[0], key[1]])
            }
            KeyKind::Other => {
                let key = self.boxed(key, ty);
                self.call1(Import::MapGet, &[map.value, key])
            }
        }
    }

    /// The address of the value of a key, inserted if there is none, or 0 if the map is full.
    pub fn map_entry_of(
        &mut self,
        map: ir::Value,
        map_type: &Type,
        key: &Val,
        ty: &Type,
    ) -> ir::Value {
        let type_at = self.type_address(map_type);
        match key_kind(ty) {
            KeyKind::Integer => {
                let table = self.table(&Val::variable(map), map_type);
                self.search(&table, key, ty, false, |lower, word| {
                    lower.call1(Import::MapEntryWord, &[map, type_at, word])
                })
            }
            KeyKind::Bytes => {
                let key = self.parts(key, ty);
                self.call1(Import::MapEntryBytes, &[map, type_at, key[0], key[1]])
            }
            KeyKind::Other => {
                let words = self.words(key, ty);
                self.call1(Import::MapEntry, &[map, type_at, words])
            }
        }
    }

    /// Whether a set has an element, as a boolean.
    pub fn set_has(&mut self, set: &Table, item: &Val, ty: &Type) -> ir::Value {
        let found = match key_kind(ty) {
            KeyKind::Integer => {
                let found = self.search(set, item, ty, true, |lower, word| {
                    let found = lower.call1(Import::SetHasWord, &[set.value, word]);
                    lower.b.ins().uextend(types::I64, found)
                });
                return self.icmp_const(IntCC::NotEqual, found, 0);
            }
            KeyKind::Bytes => {
                let item = self.parts(item, ty);
                self.call1(Import::SetHasBytes, &[set.value, item[0], item[1]])
            }
            KeyKind::Other => {
                let item = self.boxed(item, ty);
                self.call1(Import::SetHas, &[set.value, item])
            }
        };
        self.b.ins().ireduce(types::I8, found)
    }

    /// The address of the value of an integer key, or what `elsewhere` gives: if the key is not where its
    /// search begins, and, unless the `search_ends` there with 0, if it is not in the table.
    fn search(
        &mut self,
        table: &Table,
        key: &Val,
        ty: &Type,
        search_ends: bool,
        elsewhere: impl FnOnce(&mut Self, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let part = self.part(key, ty);
        let word = self.resize(part, ty, types::I64);
        let (look, further) = (self.block(), self.cold_block());
        let done = self.block_with(&[types::I64]);
        let absent = [BlockArg::Value(self.word(0))];
        let (missing, none): (_, &[BlockArg]) = if search_ends {
            (done, &absent)
        } else {
            (further, &[])
        };
        let entries = self.table_entries(table);
        self.b.ins().brif(entries.len, look, &[], missing, none);
        self.go_sealed(look);
        let (slot_at, entry) = self.home_entry(table, &entries, word);
        let is_it = self.has_key(table, entry, part, ty);
        let value = self.offset(entry, table.shape.value as i64);
        let found = [BlockArg::Value(value)];
        if search_ends {
            let other = self.block();
            self.b.ins().brif(is_it, done, &found, other, &[]);
            self.go_sealed(other);
            let slot = self.load(table.inner_region(), types::I64, slot_at, 0);
            self.b.ins().brif(slot, further, &[], missing, none);
        } else {
            self.b.ins().brif(is_it, done, &found, further, &[]);
        }
        self.go_sealed(further);
        let found = elsewhere(self, word);
        self.jump(done, &[found]);
        self.go_sealed(done);
        self.params(done)[0]
    }

    /// The address of the slot where a search begins, and of the entry that it leads to.
    fn home_entry(
        &mut self,
        table: &Table,
        entries: &Entries,
        word: ir::Value,
    ) -> (ir::Value, ir::Value) {
        let shape = &table.shape;
        let (slots, _) = self.table_vector(table, shape.slots);
        let multiplier = shape.multiplier as i32;
        let multiplier = self.load(table.region, types::I64, table.at, multiplier);
        let shift = self.load(table.region, types::I32, table.at, shape.shift as i32);
        let product = self.b.ins().imul(word, multiplier);
        let slot = self.b.ins().ushr(product, shift);
        let slot_at = self.element(slots, slot, 8);
        let flags = self.flags(table.inner_region());
        let position = self.b.ins().uload32(flags, slot_at, 0);
        let entry = self.element(entries.data, position, shape.entry_bytes as i32);
        (slot_at, entry)
    }

    fn has_key(
        &mut self,
        table: &Table,
        entry: ir::Value,
        wanted: ir::Value,
        ty: &Type,
    ) -> ir::Value {
        let offset = table.shape.key as i32 + shapes::scalar(ty)[0];
        let key = self.load(table.inner_region(), shape::single(ty), entry, offset);
        self.icmp(IntCC::Equal, key, wanted)
    }

    fn table_vector(&mut self, table: &Table, offset: usize) -> (ir::Value, ir::Value) {
        let vector = shapes::vec_shape();
        let (data, len) = (vector.data + offset as i32, vector.len + offset as i32);
        (
            self.load(table.region, types::I64, table.at, data),
            self.load(table.region, types::I64, table.at, len),
        )
    }
}
