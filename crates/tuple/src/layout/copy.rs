//! Copying attributes between flat tuples without values in between.

use super::slot::{self, ElementLayout, MapEntryLayout};
use super::{Layout, TupleBuf, TupleRef, is_fixed};
use crate::Type;

impl TupleBuf {
    /// Copies an attribute of another tuple, with its part of the tail. The types must be equal.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    pub fn copy_attribute(
        &mut self,
        layout: &Layout,
        attribute: usize,
        source: TupleRef<'_>,
        source_layout: &Layout,
        source_attribute: usize,
    ) {
        let (to, ty) = layout.attribute(attribute);
        let (from, source_ty) = source_layout.attribute(source_attribute);
        debug_assert_eq!(ty, source_ty, "attributes of two types");
        self.copy_slot(to, source, from, ty);
    }

    /// Copies a slot of another tuple, with its part of the tail.
    pub fn copy_slot(&mut self, to: usize, source: TupleRef<'_>, from: usize, ty: &Type) {
        match ty {
            Type::RString | Type::Blob | Type::Xml(_) => self.put_bytes(to, source.bytes_at(from)),
            Type::UString => self.put_units(to, source.units_at(from)),
            _ if is_fixed(ty) => {
                let size = slot::slot(ty).0 as usize;
                let bytes = &source.bytes[from..from + size];
                self.as_bytes_mut()[to..to + size].copy_from_slice(bytes);
            }
            Type::List(t, _) | Type::Set(t, _) => {
                self.copy_elements(to, source, from, ty, is_fixed(t), |buf, to, from| {
                    buf.copy_slot(to, source, from, t);
                });
            }
            Type::Map(kv, _) => {
                let value = MapEntryLayout::for_map(kv).value as usize;
                let fixed = is_fixed(&kv.0) && is_fixed(&kv.1);
                self.copy_elements(to, source, from, ty, fixed, |buf, to, from| {
                    buf.copy_slot(to, source, from, &kv.0);
                    buf.copy_slot(to + value, source, from + value, &kv.1);
                });
            }
            Type::Tuple(t) => {
                for (offset, ty) in slot::offsets(t) {
                    self.copy_slot(to + offset as usize, source, from + offset as usize, ty);
                }
            }
            Type::Optional(t) => match source.optional_at(from, t) {
                Some(inner) => {
                    let place = self.put_present(to, t);
                    self.copy_slot(place, source, inner, t);
                }
                None => self.clear(to, ty),
            },
            scalar => debug_assert!(false, "{scalar} is fixed"),
        }
    }

    /// Copies a collection that a reference points to: fixed elements as one block.
    fn copy_elements(
        &mut self,
        to: usize,
        source: TupleRef<'_>,
        from: usize,
        ty: &Type,
        fixed: bool,
        copy: impl Fn(&mut TupleBuf, usize, usize),
    ) {
        let Some(elements) = ElementLayout::for_collection(ty) else {
            return;
        };
        let (stride, align) = (elements.stride as usize, elements.align as usize);
        let (data, len) = source.elements_at(from, elements);
        if fixed {
            let bytes = &source.bytes[data..data + len * stride];
            return self.put_block(to, bytes, len, align);
        }
        let (place, len) = self.put_elements(to, elements, len);
        (0..len).for_each(|at| copy(self, place + at * stride, data + at * stride));
    }
}
