//! Sets and maps: their entries, and searching them, for integers here and for the rest by a call.
//!
//! ```text
//!   empty? --> slot --> entry has the key? --yes--> its value
//!     |yes                 |no
//!     v                    v
//!   not there     free slot? --no--> a call searches on
//! ```
//! [`tuple::TableLayout`] says why that is enough.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use tuple::{TableLayout, Type};

use super::emit::AccessRegion;
use crate::code::{ImportedFunction, value_layout};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

/// A set or map.
#[derive(Clone, Copy, Debug)]
pub struct LoweredTable {
    /// The address of its `Value`.
    value: ir::Value,
    /// Address of the table that the `Value` points to.
    inner_address: ir::Value,
    layout: TableLayout,
    region: AccessRegion,
    is_volatile: bool,
}

/// The entries of a set or map, in their order.
#[derive(Clone, Copy, Debug)]
pub struct HashTableEntries {
    /// Address of the first entry.
    data: ir::Value,
    /// Number of entries in the table.
    pub len: ir::Value,
}

/// Kind of key, by the search that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    Integer,
    /// An rstring or blob.
    Bytes,
    Other,
}

impl LoweredTable {
    /// Region of slots and entries, which are there only if the table is not empty.
    fn inner_region(&self) -> AccessRegion {
        match self.region {
            AccessRegion::Fixed => AccessRegion::Input,
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

impl FunctionLowering<'_, '_> {
    /// The table behind a set or map.
    pub fn lowered_table(&mut self, value: &LoweredValue, ty: &Type) -> LoweredTable {
        let is_boxed = matches!(value.form, ValueForm::Boxed(..));
        let region = if is_boxed {
            AccessRegion::of_boxed_value(value)
        } else {
            AccessRegion::Values
        };
        let is_volatile = value.is_volatile();
        let value = self.boxed(value, ty);
        let (pointer, shape) = value_layout::table_layout(ty);
        LoweredTable {
            value,
            inner_address: self.load(region, types::I64, value, pointer),
            layout: shape,
            region,
            is_volatile,
        }
    }

    /// The entries of a set or map.
    pub fn table_entries(&mut self, table: &LoweredTable) -> HashTableEntries {
        let (data, len) = self.table_vector(table, table.layout.entries);
        HashTableEntries { data, len }
    }

    /// The element of a set or the key of a map at a position.
    pub fn entry_key(
        &mut self,
        table: &LoweredTable,
        entries: &HashTableEntries,
        index: ir::Value,
    ) -> LoweredValue {
        let entry = self.element(entries.data, index, table.layout.entry_bytes as i32);
        LoweredValue::new_stable(ValueForm::Boxed(entry, table.layout.key as i32))
            .with_volatility(table.is_volatile)
    }

    /// The address of the value of a key, or 0.
    pub fn map_get(&mut self, map: &LoweredTable, key: &LoweredValue, ty: &Type) -> ir::Value {
        match key_kind(ty) {
            KeyKind::Integer => self.search_integer(map, key, ty, true, |lower, word| {
                lower.call_for_word(ImportedFunction::MapGetWord, &[map.value, word])
            }),
            KeyKind::Bytes => {
                let key = self.parts(key, ty);
                self.call_for_word(ImportedFunction::MapGetBytes, &[map.value, key[0], key[1]])
            }
            KeyKind::Other => {
                let key = self.boxed(key, ty);
                self.call_for_word(ImportedFunction::MapGet, &[map.value, key])
            }
        }
    }

    /// The address of the value of a key, inserted if there is none, or 0 if the map is full.
    pub fn map_entry_of(
        &mut self,
        map: ir::Value,
        map_type: &Type,
        key: &LoweredValue,
        ty: &Type,
    ) -> ir::Value {
        let type_at = self.type_address(map_type);
        match key_kind(ty) {
            KeyKind::Integer => {
                let table = self.lowered_table(&LoweredValue::of_variable(map), map_type);
                self.search_integer(&table, key, ty, false, |lower, word| {
                    lower.call_for_word(ImportedFunction::MapEntryWord, &[map, type_at, word])
                })
            }
            KeyKind::Bytes => {
                let key = self.parts(key, ty);
                self.call_for_word(
                    ImportedFunction::MapEntryBytes,
                    &[map, type_at, key[0], key[1]],
                )
            }
            KeyKind::Other => {
                let words = self.parts_as_words(key, ty);
                self.call_for_word(ImportedFunction::MapEntry, &[map, type_at, words])
            }
        }
    }

    /// Whether a set has an element, as a boolean.
    pub fn set_has(&mut self, set: &LoweredTable, item: &LoweredValue, ty: &Type) -> ir::Value {
        let found = match key_kind(ty) {
            KeyKind::Integer => {
                let found = self.search_integer(set, item, ty, true, |lower, word| {
                    let found =
                        lower.call_for_word(ImportedFunction::SetHasWord, &[set.value, word]);
                    lower.builder.ins().uextend(types::I64, found)
                });
                return self.icmp_const(IntCC::NotEqual, found, 0);
            }
            KeyKind::Bytes => {
                let item = self.parts(item, ty);
                self.call_for_word(
                    ImportedFunction::SetHasBytes,
                    &[set.value, item[0], item[1]],
                )
            }
            KeyKind::Other => {
                let item = self.boxed(item, ty);
                self.call_for_word(ImportedFunction::SetHas, &[set.value, item])
            }
        };
        self.builder.ins().ireduce(types::I8, found)
    }

    /// The address of the value of an integer key, or what `elsewhere` gives: if the key is not
    /// where its search begins, and, unless the `search_ends` there with 0, if it is not in the
    /// table.
    fn search_integer(
        &mut self,
        table: &LoweredTable,
        key: &LoweredValue,
        ty: &Type,
        search_ends: bool,
        elsewhere: impl FnOnce(&mut Self, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let part = self.single_part(key, ty);
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
        self.builder
            .ins()
            .brif(entries.len, look, &[], missing, none);
        self.switch_to_sealed(look);
        let (slot_at, entry) = self.home_entry(table, &entries, word);
        let is_it = self.has_key(table, entry, part, ty);
        let value = self.offset(entry, table.layout.value as i64);
        let found = [BlockArg::Value(value)];
        if search_ends {
            let other = self.block();
            self.builder.ins().brif(is_it, done, &found, other, &[]);
            self.switch_to_sealed(other);
            let slot = self.load(table.inner_region(), types::I64, slot_at, 0);
            self.builder.ins().brif(slot, further, &[], missing, none);
        } else {
            self.builder.ins().brif(is_it, done, &found, further, &[]);
        }
        self.switch_to_sealed(further);
        let found = elsewhere(self, word);
        self.jump(done, &[found]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// The address of the slot where a search begins, and of the entry that it leads to.
    fn home_entry(
        &mut self,
        table: &LoweredTable,
        entries: &HashTableEntries,
        word: ir::Value,
    ) -> (ir::Value, ir::Value) {
        let shape = &table.layout;
        let (slots, _) = self.table_vector(table, shape.slots);
        let multiplier = shape.multiplier as i32;
        let multiplier = self.load(table.region, types::I64, table.inner_address, multiplier);
        let shift = self.load(
            table.region,
            types::I32,
            table.inner_address,
            shape.shift as i32,
        );
        let product = self.builder.ins().imul(word, multiplier);
        let slot = self.builder.ins().ushr(product, shift);
        let slot_at = self.element(slots, slot, 8);
        let flags = self.flags(table.inner_region());
        let position = self.builder.ins().uload32(flags, slot_at, 0);
        let entry = self.element(entries.data, position, shape.entry_bytes as i32);
        (slot_at, entry)
    }

    fn has_key(
        &mut self,
        table: &LoweredTable,
        entry: ir::Value,
        wanted: ir::Value,
        ty: &Type,
    ) -> ir::Value {
        let offset = table.layout.key as i32 + value_layout::scalar_offsets(ty)[0];
        let key = self.load(
            table.inner_region(),
            type_parts::single_part(ty),
            entry,
            offset,
        );
        self.icmp(IntCC::Equal, key, wanted)
    }

    fn table_vector(&mut self, table: &LoweredTable, offset: usize) -> (ir::Value, ir::Value) {
        let vector = value_layout::vec_layout();
        let (data, len) = (vector.data + offset as i32, vector.len + offset as i32);
        (
            self.load(table.region, types::I64, table.inner_address, data),
            self.load(table.region, types::I64, table.inner_address, len),
        )
    }
}
