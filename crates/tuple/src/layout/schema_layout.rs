//! The layout of a schema: the size of its fixed part, and where each attribute lies.

use std::sync::Arc;

use super::LayoutError;
use super::slot::{self, FIXED_BYTES_MAX, is_fixed, slot};
use crate::{TupleType, Type};

/// Size of a schema's fixed part, and the offset of each attribute.
///
/// A layout follows from its schema alone, so two processes that have compiled the same program
/// agree on it without exchanging it. It is made once, while wiring, and shared ([`Arc`]). The
/// [module](crate::layout) has the format.
#[derive(Debug, PartialEq)]
pub struct Layout {
    /// The schema that is laid out.
    pub schema: Arc<TupleType>,
    /// Bytes of the fixed part; a multiple of 8.
    pub size: u32,
    /// Offset of each attribute's slot.
    pub offsets: Vec<u32>,
    /// Whether there is never a tail.
    pub is_fixed: bool,
}

impl Layout {
    /// The layout of a schema.
    ///
    /// # Panics
    /// If bounded types make it larger than [`FIXED_BYTES_MAX`]; see [`Layout::try_new`].
    ///
    /// # Example
    /// ```
    /// use std::sync::Arc;
    /// use thalweg_tuple::{Layout, TupleType, Type};
    ///
    /// let attributes = [("ok", Type::Boolean), ("n", Type::Int32), ("s", Type::RString)];
    /// let schema = TupleType::new(attributes);
    /// let layout = Layout::new(&Arc::new(schema));
    /// assert_eq!(layout.offsets, [0, 4, 8]);
    /// assert_eq!(layout.size, 16);
    /// assert!(!layout.is_fixed);
    /// ```
    pub fn new(schema: &Arc<TupleType>) -> Arc<Layout> {
        match Layout::try_new(schema) {
            Ok(layout) => layout,
            Err(error) => panic!("{error}: {schema}"),
        }
    }

    /// The layout of a schema.
    ///
    /// # Errors
    /// If bounded types make the fixed part, or that of an element in it, larger than
    /// [`FIXED_BYTES_MAX`].
    pub fn try_new(schema: &Arc<TupleType>) -> Result<Arc<Layout>, LayoutError> {
        if !schema
            .attributes
            .iter()
            .all(|a| slot::fits_fixed_part(&a.ty))
        {
            return Err(LayoutError::TooLarge);
        }
        let offsets: Vec<u32> = slot::offsets(schema).map(|(offset, _)| offset).collect();
        let size = slot::tuple_size(schema);
        if size > FIXED_BYTES_MAX {
            return Err(LayoutError::TooLarge);
        }
        let is_fixed = schema.attributes.iter().all(|a| is_fixed(&a.ty));
        let schema = schema.clone();
        Ok(Arc::new(Layout {
            schema,
            size,
            offsets,
            is_fixed,
        }))
    }

    /// Size and alignment of a type's slot, in bytes; the alignment is 1, 2, 4 or 8.
    pub fn slot(ty: &Type) -> (u32, u32) {
        slot(ty)
    }

    /// Whether values of a type lie in their slot alone, so that all have the size of the slot.
    pub fn is_in_slot(ty: &Type) -> bool {
        is_fixed(ty)
    }

    /// The offset and type of an attribute's slot.
    ///
    /// # Panics
    /// If there is no such attribute.
    pub fn attribute(&self, attribute: usize) -> (usize, &Type) {
        (
            self.offsets[attribute] as usize,
            &self.schema.attributes[attribute].ty,
        )
    }
}
