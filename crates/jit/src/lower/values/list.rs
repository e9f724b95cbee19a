//! The elements of lists, wherever the list is: packed, in flat memory, or as `Value`s.

use cranelift_codegen::ir::{self, InstBuilder, types};
use tuple::Type;

use super::emit::AccessRegion;
use crate::code::value_layout;
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

/// The elements of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListElements {
    /// Address of the first element.
    pub data: ir::Value,
    /// Number of elements in the list.
    pub len: ir::Value,
    /// Form of the elements in memory.
    pub storage: ElementStorage,
    /// Whether assignments may change them.
    pub is_volatile: bool,
}

/// Form of a list's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementStorage {
    /// Packed scalars, one after the other.
    Packed,
    /// Slots of an input tuple.
    Flat,
    /// Values of the type `tuple::Value`.
    Values,
}

impl FunctionLowering<'_, '_> {
    /// The elements of a list.
    pub fn elements(&mut self, value: &LoweredValue, ty: &Type) -> ListElements {
        let Type::List(element, _) = ty else {
            unreachable!("the elements of {ty}")
        };
        let is_volatile = value.is_volatile();
        if type_parts::is_scalar(element) {
            let parts = self.parts(value, ty);
            return ListElements {
                data: parts[0],
                len: parts[1],
                storage: ElementStorage::Packed,
                is_volatile,
            };
        }
        if let ValueForm::Flat(base, offset) = value.form {
            let (data, len) =
                self.flat_elements((base, offset), ty, AccessRegion::of_flat_value(value));
            return ListElements {
                data,
                len,
                storage: ElementStorage::Flat,
                is_volatile,
            };
        }
        let at = match value.form {
            ValueForm::Boxed(base, offset) => (base, offset),
            _ => (self.boxed(value, ty), 0),
        };
        let (data, len) = self.boxed_vector(at, ty, AccessRegion::of_boxed_value(value));
        ListElements {
            data,
            len,
            storage: ElementStorage::Values,
            is_volatile,
        }
    }

    /// The element at an index that is known to be good.
    pub fn element_at(&mut self, list: ListElements, index: ir::Value, ty: &Type) -> LoweredValue {
        match list.storage {
            ElementStorage::Packed => {
                let at = self.element(list.data, index, type_parts::scalar_bytes(ty));
                LoweredValue::from_parts(self.load_slot(AccessRegion::Bytes, at, 0, ty))
            }
            ElementStorage::Flat => {
                let at = self.element(list.data, index, FunctionLowering::flat_stride(ty));
                LoweredValue::new_stable(ValueForm::Flat(at, 0))
            }
            ElementStorage::Values => {
                let at = self.element(list.data, index, value_layout::VALUE_BYTES);
                LoweredValue::new_stable(ValueForm::Boxed(at, 0)).with_volatility(list.is_volatile)
            }
        }
    }

    /// An integer as a 64-bit index; what is negative becomes larger than any length.
    pub fn index_word(&mut self, value: &LoweredValue, ty: &Type) -> ir::Value {
        let part = self.single_part(value, ty);
        self.resize(part, ty, types::I64)
    }

    /// One byte of a string as a string.
    pub fn one_byte(
        &mut self,
        data: ir::Value,
        index: ir::Value,
        is_volatile: bool,
    ) -> LoweredValue {
        let at = self.builder.ins().iadd(data, index);
        let one = self.word(1);
        LoweredValue::from_parts([at, one]).with_volatility(is_volatile)
    }
}
