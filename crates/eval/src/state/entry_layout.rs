//! The layout of a table's entries, made from their types.
//!
//! ```text
//!  | key | attributes and links of orders, by falling alignment |
//! ```

use std::sync::Arc;

use tuple::layout::slot;
use tuple::{Layout, TupleRef, TupleType, Type, Value};

use super::key_layout::KeyLayout;
use super::scalar_slot::pack_scalar;

/// Attributes and orders that a table is made from.
#[derive(Clone, Debug, Default)]
pub struct EntryTableType {
    /// Attributes of an entry; of fixed length.
    pub attributes: Vec<Type>,
    /// Whether entries can be visited from the oldest on.
    pub by_age: bool,
    /// Whether entries can be visited from the one on that was not used for the longest time.
    pub by_use: bool,
}

/// Where the parts of an entry lie, in bytes from its start.
#[derive(Debug)]
pub(super) struct EntryLayout {
    /// Offset and type of each attribute.
    pub(super) attributes: Vec<(u32, Type)>,
    /// Offset of the two links by age.
    pub(super) age_links: Option<u32>,
    /// Offset of the two links by use.
    pub(super) use_links: Option<u32>,
    /// Words of an entry.
    pub(super) words: usize,
}

/// Use of a slot behind the key.
#[derive(Clone, Copy)]
enum EntrySlot {
    Attribute(usize),
    AgeLinks,
    UseLinks,
}

impl EntryLayout {
    /// The layout of entries with a key.
    pub(super) fn new(key: &KeyLayout, table: &EntryTableType) -> EntryLayout {
        // Two ids of 4 bytes lie like this.
        let links = Type::Complex32;
        let attributes = table.attributes.iter().cloned().enumerate();
        let mut slots: Vec<(EntrySlot, Type)> = attributes
            .map(|(at, ty)| (EntrySlot::Attribute(at), ty))
            .collect();
        if table.by_age {
            slots.push((EntrySlot::AgeLinks, links.clone()));
        }
        if table.by_use {
            slots.push((EntrySlot::UseLinks, links));
        }
        slots.sort_by_key(|(_, ty)| std::cmp::Reverse(slot(ty).1));
        let types = slots.iter().map(|(_, ty)| ("", ty.clone()));
        let behind_key = Layout::new(&Arc::new(TupleType::new(types)));
        let mut layout = EntryLayout {
            attributes: vec![(0, Type::Void); table.attributes.len()],
            age_links: None,
            use_links: None,
            words: (key.words + behind_key.size as usize / 8).max(1),
        };
        for ((slot, ty), &offset) in slots.into_iter().zip(&behind_key.offsets) {
            let offset = key.words as u32 * 8 + offset;
            match slot {
                EntrySlot::Attribute(at) => layout.attributes[at] = (offset, ty),
                EntrySlot::AgeLinks => layout.age_links = Some(offset),
                EntrySlot::UseLinks => layout.use_links = Some(offset),
            }
        }
        layout
    }

    /// Value of an attribute in the words of an entry.
    pub(super) fn get(&self, words: &[u64], attribute: usize) -> Value {
        let (offset, ty) = &self.attributes[attribute];
        let entry = TupleRef::from_bytes(bytemuck::cast_slice(words));
        let entry = entry.expect("words lie at multiples of 8");
        entry.value_at(*offset as usize, ty)
    }

    /// Sets an attribute in the words of an entry to a scalar of its type.
    pub(super) fn set(&self, words: &mut [u64], attribute: usize, value: &Value) {
        let (offset, ty) = &self.attributes[attribute];
        debug_assert!(value.has_type(ty), "{value:?}: {ty}");
        let (at, len) = (*offset as usize, slot(ty).0 as usize);
        let scalar = pack_scalar(value).expect("attributes of entries are scalars");
        let entry: &mut [u8] = bytemuck::cast_slice_mut(words);
        entry[at..at + len].copy_from_slice(&bytemuck::bytes_of(&scalar)[..len]);
    }
}
