//! Variables of tables: scalars in the current entry, other values in the block that it names.

use std::mem::offset_of;

use cranelift_codegen::ir::{self, InstBuilder, types};
use eval::{TableState, TableVariable};

use super::place::PlaceLocation;
use crate::code::value_layout;
use crate::lower::context::{FunctionLowering, StateStorage};
use crate::lower::values::AccessRegion;

impl FunctionLowering<'_, '_> {
    /// The location of a variable of a table's current entry.
    pub fn table_variable(&mut self, table: usize, variable: TableVariable) -> PlaceLocation {
        let state = self.body.state_layout.clone();
        let table_address = self.table_address(table);
        let entry = self.load(
            AccessRegion::Tables,
            types::I64,
            table_address,
            offset_of!(TableState, entry_address) as i32,
        );
        match (variable, &state.tables[table].blocks) {
            (TableVariable::Value(at), Some(blocks)) => {
                let id = self.load(
                    AccessRegion::Entries,
                    types::I32,
                    entry,
                    blocks.offset as i32,
                );
                let id = self.builder.ins().uextend(types::I64, id);
                let pages = offset_of!(TableState, block_pages) as i32;
                let pages = self.load(AccessRegion::Tables, types::I64, table_address, pages);
                let block_bytes = blocks.types.len() as i32 * value_layout::VALUE_BYTES;
                let block = self.place_in_pages(pages, id, blocks.place_bits, block_bytes);
                let offset = at as i64 * i64::from(value_layout::VALUE_BYTES);
                PlaceLocation::Value(self.offset(block, offset))
            }
            (TableVariable::Scalar { offset, .. }, _) => {
                PlaceLocation::Slot(AccessRegion::Entries, entry, offset as i32)
            }
            (TableVariable::Value(_), None) => unreachable!("values without blocks"),
        }
    }

    /// The address of what has an id, given as a word, in pages.
    pub fn place_in_pages(
        &mut self,
        pages: ir::Value,
        id: ir::Value,
        place_bits: u32,
        bytes: i32,
    ) -> ir::Value {
        let page = self.builder.ins().ushr_imm_u(id, i64::from(place_bits));
        let page = self.element(pages, page, 8);
        // Pages are numbered from 1 on.
        let page = self.load(AccessRegion::Tables, types::I64, page, -8);
        let place = self.builder.ins().band_imm_u(id, (1 << place_bits) - 1);
        self.element(page, place, bytes)
    }

    /// The address of a table of the operator.
    pub fn table_address(&mut self, table: usize) -> ir::Value {
        let StateStorage::At { tables, .. } = self.body.state else {
            unreachable!("a table without state")
        };
        self.offset(tables, (table * size_of::<TableState>()) as i64)
    }
}
