//! Tables: which entry is current.
//!
//! The entry of a key of integers is searched here, as [`eval::TableState`] says; a call adds it if
//! there is none. The whole search for other keys is a call.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use eval::{
    DirectSlot, DirectSlots, DirectoryEntry, HASH_MULTIPLIER, TableLayouts, TableState, hash_seed,
};
use graph::{Expr, LocalId, Pos, Stmt, TableId};

use crate::code::ImportedFunction;
use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::LoweredValue;

/// Result of `FindEntry` after a fault.
const FAULTED: i64 = 2;

/// Most words of a key that is searched here.
const KEY_WORDS_MAX: usize = 4;

/// Slots that are looked at without a branch.
const SLOTS_AT_ONCE: i64 = 4;

const ENTRY_ADDRESS: i32 = offset_of!(TableState, entry_address) as i32;
const CURRENT: i32 = offset_of!(TableState, current) as i32;

impl FunctionLowering<'_, '_> {
    /// Lowers the statement that makes the entry of a key current.
    pub fn find_entry(&mut self, table: TableId, key: &Expr, added: &[Stmt], pos: Pos) {
        let at = table.0 as usize;
        let address = self.table_address(at);
        let value = self.expr(key);
        let fields = self.fields(&value, &key.ty);
        let state = self.body.state_layout.clone();
        let layouts = &state.tables[at];
        let done = self.block();
        let found = match self.key_words(layouts, &fields) {
            Some(words) => {
                self.search_direct(address, &words, done);
                self.search(address, layouts, &words, done);
                let data = self.stack_words(words.len());
                for (at, word) in words.iter().enumerate() {
                    self.store_word(*word, data, at);
                }
                let (count, pos) = (self.word(words.len() as i64), self.position_address(pos));
                let search = ImportedFunction::FindEntryWords;
                self.call_for_word(search, &[address, data, count, pos])
            }
            None => {
                self.make_tuple(&fields, &layouts.key);
                let pos = self.position_address(pos);
                self.call_for_word(ImportedFunction::FindEntry, &[address, pos])
            }
        };
        let (other, add) = (self.block(), self.block());
        let has_failed = self.icmp_const(IntCC::Equal, found, FAULTED);
        self.branch(has_failed, self.fault_block, other);
        self.switch_to_sealed(other);
        self.branch(found, add, done);
        self.switch_to_sealed(add);
        self.stmts(added);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Lowers the statement that sets a local to the id of the current entry.
    pub fn entry_id(&mut self, local: LocalId, table: TableId) {
        let address = self.table_address(table.0 as usize);
        let id = self.load(AccessRegion::Tables, types::I32, address, CURRENT);
        self.set_local(local, LoweredValue::from_parts([id]));
    }

    /// Lowers a statement that a call does, which can fault.
    pub fn call_on_table_or_fault(&mut self, import: ImportedFunction, table: TableId, pos: Pos) {
        let address = self.table_address(table.0 as usize);
        let pos = self.position_address(pos);
        let has_failed = self.call_for_word(import, &[address, pos]);
        let done = self.block();
        self.branch(has_failed, self.fault_block, done);
        self.switch_to_sealed(done);
    }

    /// Lowers a statement that a call does.
    pub fn call_on_table(&mut self, import: ImportedFunction, table: TableId) {
        let address = self.table_address(table.0 as usize);
        self.call(import, &[address]);
    }

    /// Lowers the statement that makes the entry with an id current. A call makes that of no key
    /// current, for its variables become zero.
    pub fn select_entry(&mut self, table: TableId, id: &Expr) {
        let id = self.expr_single_part(id);
        let address = self.table_address(table.0 as usize);
        let (some, none, done) = (self.block(), self.cold_block(), self.block());
        self.branch(id, some, none);
        self.switch_to_sealed(none);
        self.call(ImportedFunction::SelectEntry, &[address, id]);
        self.jump(done, &[]);
        self.switch_to_sealed(some);
        let state = self.body.state_layout.clone();
        let layouts = &state.tables[table.0 as usize];
        let word = self.builder.ins().uextend(types::I64, id);
        let entry = self.entry_at(address, word, layouts);
        self.make_current(address, entry, id);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// The address of the entry with an id, given as a word.
    fn entry_at(&mut self, table: ir::Value, id: ir::Value, layouts: &TableLayouts) -> ir::Value {
        let pages = offset_of!(TableState, pages) as i32;
        let pages = self.load(AccessRegion::Tables, types::I64, table, pages);
        let entry_bytes = layouts.entry_bytes as i32;
        self.place_in_pages(pages, id, layouts.place_bits, entry_bytes)
    }

    fn make_current(&mut self, table: ir::Value, entry: ir::Value, id: ir::Value) {
        self.store(AccessRegion::Tables, entry, table, ENTRY_ADDRESS);
        self.store(AccessRegion::Tables, id, table, CURRENT);
    }

    /// The words of a key of integers.
    fn key_words(
        &mut self,
        layouts: &TableLayouts,
        fields: &[Option<LoweredValue>],
    ) -> Option<Vec<ir::Value>> {
        let bytes = layouts.integers.as_ref()?;
        let is_short = (1..=KEY_WORDS_MAX).contains(&layouts.key_words);
        if !is_short || cfg!(target_endian = "big") {
            return None;
        }
        let mut words = vec![None; layouts.key_words];
        let attributes = layouts.key.schema.attributes.iter();
        for ((attribute, value), &byte) in attributes.zip(fields).zip(bytes) {
            let part = self.single_part(value.as_ref()?, &attribute.ty);
            let mut part = match self.builder.func.dfg.value_type(part) {
                types::I64 => part,
                _ => self.builder.ins().uextend(types::I64, part),
            };
            if !byte.is_multiple_of(8) {
                part = self.builder.ins().ishl_imm_u(part, i64::from(byte % 8 * 8));
            }
            let word: &mut Option<ir::Value> = &mut words[byte as usize / 8];
            *word = Some(match *word {
                Some(others) => self.builder.ins().bor(others, part),
                None => part,
            });
        }
        words.into_iter().collect()
    }

    /// Looks for the key's entry in the index of a small table ([`eval::DirectSlots`]), makes it
    /// current and goes to `done`. If it is not there, the code goes on behind.
    fn search_direct(&mut self, table: ir::Value, words: &[ir::Value], done: ir::Block) {
        let (small, some, found) = (self.block(), self.block(), self.block());
        let other = self.block();
        let [slots, multiplier, shift] = [
            (types::I64, offset_of!(DirectSlots, slots)),
            (types::I64, offset_of!(DirectSlots, multiplier)),
            (types::I32, offset_of!(DirectSlots, shift)),
        ]
        .map(|(ty, offset)| (ty, (offset_of!(TableState, direct) + offset) as i32));
        let slots = self.load(AccessRegion::Tables, slots.0, table, slots.1);
        self.branch(slots, small, other);
        self.switch_to_sealed(small);
        let mut word = words[0];
        for &further in &words[1..] {
            word = self.builder.ins().imul_imm_s(word, HASH_MULTIPLIER as i64);
            word = self.builder.ins().bxor(word, further);
        }
        let multiplier = self.load(AccessRegion::Tables, multiplier.0, table, multiplier.1);
        let shift = self.load(AccessRegion::Tables, shift.0, table, shift.1);
        let product = self.builder.ins().imul(word, multiplier);
        let at = self.builder.ins().ushr(product, shift);
        let slot = self.element(slots, at, size_of::<DirectSlot>() as i32);
        let entry = offset_of!(DirectSlot, entry) as i32;
        let entry = self.load(AccessRegion::Tables, types::I64, slot, entry);
        self.branch(entry, some, other);
        self.switch_to_sealed(some);
        let differs = self.differs_from_key(entry, words);
        self.branch(differs, other, found);
        self.switch_to_sealed(found);
        let id = offset_of!(DirectSlot, id) as i32;
        let id = self.load(AccessRegion::Tables, types::I32, slot, id);
        self.make_current(table, entry, id);
        self.jump(done, &[]);
        self.switch_to_sealed(other);
    }

    /// Searches the key's entry, makes it current and goes to `done`. If there is none, the code
    /// goes on behind.
    fn search(
        &mut self,
        table: ir::Value,
        layouts: &TableLayouts,
        words: &[ir::Value],
        done: ir::Block,
    ) {
        let hash = self.hash(words);
        let segment = self.segment_of(table, hash);
        let found = self.block_with(&[types::I64; 2]);
        let probe = self.block_with(&[types::I64]);
        let (first, compare, other) = (self.block(), self.block(), self.block());
        let (next, none) = (self.block(), self.cold_block());

        let id = self.id_in_first_slots(segment, hash);
        self.branch_with(id, (first, &[]), (probe, &[hash]));
        self.switch_to_sealed(first);
        let entry = self.entry_at(table, id, layouts);
        let differs = self.differs_from_key(entry, words);
        self.branch_with(differs, (probe, &[hash]), (found, &[entry, id]));

        self.switch_to(probe);
        let at = self.block_params(probe)[0];
        let slot = self.slot_at(segment, at);
        let (id, is_id) = self.id_of_hash(slot, hash);
        self.branch(is_id, compare, other);
        self.switch_to_sealed(compare);
        let entry = self.entry_at(table, id, layouts);
        let differs = self.differs_from_key(entry, words);
        self.branch_with(differs, (other, &[]), (found, &[entry, id]));
        // A segment has a free slot, behind the last one of its hash.
        self.switch_to_sealed(other);
        self.branch(slot, next, none);
        self.switch_to_sealed(next);
        let at = self.offset(at, 1);
        self.jump(probe, &[at]);
        self.builder.seal_block(probe);

        self.switch_to_sealed(found);
        let [entry, id] = self.block_params(found)[..] else {
            unreachable!("it has two parameters");
        };
        let id = self.builder.ins().ireduce(types::I32, id);
        self.make_current(table, entry, id);
        self.jump(done, &[]);
        self.switch_to_sealed(none);
    }

    /// The slots of the segment that a hash belongs to, and the mask of their numbers.
    fn segment_of(&mut self, table: ir::Value, hash: ir::Value) -> [ir::Value; 2] {
        let shift = offset_of!(TableState, directory_shift) as i32;
        let shift = self.load(AccessRegion::Tables, types::I32, table, shift);
        let directory = offset_of!(TableState, directory) as i32;
        let directory = self.load(AccessRegion::Tables, types::I64, table, directory);
        let at = self.builder.ins().ushr(hash, shift);
        let segment = self.element(directory, at, size_of::<DirectoryEntry>() as i32);
        let slots = offset_of!(DirectoryEntry, slots) as i32;
        let slots = self.load(AccessRegion::Tables, types::I64, segment, slots);
        let mask = offset_of!(DirectoryEntry, mask) as i32;
        let mask = self.load(AccessRegion::Tables, types::I32, segment, mask);
        [slots, self.builder.ins().uextend(types::I64, mask)]
    }

    /// The slot with a number, which goes on from the last to the first.
    fn slot_at(&mut self, [slots, mask]: [ir::Value; 2], at: ir::Value) -> ir::Value {
        let at = self.builder.ins().band(at, mask);
        let slot = self.element(slots, at, 8);
        self.load(AccessRegion::Tables, types::I64, slot, 0)
    }

    /// The id in a slot, and whether the slot has this hash.
    fn id_of_hash(&mut self, slot: ir::Value, hash: ir::Value) -> (ir::Value, ir::Value) {
        // What is left of the slot of this hash is an id, from 1 to 2^32 - 1.
        let high = self.builder.ins().ishl_imm_u(hash, 32);
        let id = self.builder.ins().bxor(slot, high);
        let less = self.builder.ins().iadd_imm_s(id, -1);
        let is_id = self.icmp_const(IntCC::UnsignedLessThan, less, i64::from(u32::MAX));
        (id, is_id)
    }

    /// The id in the first of some slots that has a hash, or 0. Which one it is, is another for
    /// each key: there is no branch, for no processor would foresee it.
    fn id_in_first_slots(&mut self, segment: [ir::Value; 2], hash: ir::Value) -> ir::Value {
        let mut first = self.word(0);
        for distance in (0..SLOTS_AT_ONCE).rev() {
            let at = self.offset(hash, distance);
            let slot = self.slot_at(segment, at);
            let (id, is_id) = self.id_of_hash(slot, hash);
            first = self.builder.ins().select(is_id, id, first);
        }
        first
    }

    /// A word that is not 0 if the key of an entry has other words.
    fn differs_from_key(&mut self, entry: ir::Value, words: &[ir::Value]) -> ir::Value {
        let mut differs = None;
        for (at, &word) in words.iter().enumerate() {
            let own = self.load(AccessRegion::Entries, types::I64, entry, 8 * at as i32);
            let bits = self.builder.ins().bxor(own, word);
            differs = Some(match differs {
                Some(others) => self.builder.ins().bor(others, bits),
                None => bits,
            });
        }
        differs.expect("a key has words")
    }

    /// The 32 bits of a key's hash, as a word.
    fn hash(&mut self, words: &[ir::Value]) -> ir::Value {
        let multiplier = self.word(HASH_MULTIPLIER as i64);
        let mut hash = self.word(hash_seed() as i64);
        for &word in words {
            let mixed = self.builder.ins().bxor(hash, word);
            let low = self.builder.ins().imul(mixed, multiplier);
            let high = self.builder.ins().umulhi(mixed, multiplier);
            hash = self.builder.ins().bxor(low, high);
        }
        self.builder.ins().ushr_imm_u(hash, 32)
    }
}
