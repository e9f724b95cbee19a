//! The elements of lists, wherever the list is: packed, in flat memory, or as `Value`s.

use cranelift_codegen::ir::{self, InstBuilder, types};
use tuple::Type;

use super::{Lower, Region};
use crate::code::shapes;
use crate::shape;
use crate::value::{Form, Val};

/// The elements of a list.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// Where the first one is.
    pub data: ir::Value,
    /// How many there are.
    pub len: ir::Value,
    /// What lies there.
    pub kind: Kind,
    /// Whether assignments may change them.
    pub is_volatile: bool,
}

/// What the elements of a list are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Scalars.
    Packed,
    /// Slots of an input tuple.
    Flat,
    /// `Value`s.
    Values,
}

impl Lower<'_, '_> {
    /// The elements of a list.
    pub fn elements(&mut self, value: &Val, ty: &Type) -> Elements {
        let Type::List(element, _) = ty else {
            unreachable!("the elements of {ty}")
        };
        let is_volatile = value.is_volatile();
        if shape::is_scalar(element) {
            let parts = self.parts(value, ty);
            return Elements {
                data: parts[0],
                len: parts[1],
                kind: Kind::Packed,
                is_volatile,
            };
        }
        if let Form::Flat(base, offset) = value.form {
            let (data, len) = self.flat_elements((base, offset), ty, Region::of_flat(value));
            return Elements {
                data,
                len,
                kind: Kind::Flat,
                is_volatile,
            };
        }
        let at = match value.form {
            Form::Boxed(base, offset) => (base, offset),
            _ => (self.boxed(value, ty), 0),
        };
        let (data, len) = self.boxed_vector(at, ty, Region::of_values(value));
        Elements {
            data,
            len,
            kind: Kind::Values,
            is_volatile,
        }
    }

    /// The element at an index that is known to be good.
    pub fn element_at(&mut self, list: Elements, index: ir::Value, ty: &Type) -> Val {
        match list.kind {
            Kind::Packed => {
                let at = self.element(list.data, index, shape::scalar_bytes(ty));
                Val::parts(self.load_slot(Region::Bytes, at, 0, ty))
            }
            Kind::Flat => {
                let at = self.element(list.data, index, Lower::flat_stride(ty));
                Val::stable(Form::Flat(at, 0))
            }
            Kind::Values => {
                let at = self.element(list.data, index, shapes::VALUE_BYTES);
                Val::stable(Form::Boxed(at, 0)).volatile_if(list.is_volatile)
            }
        }
    }

    /// An integer as a 64-bit index; what is negative becomes larger than any length.
    pub fn index_word(&mut self, value: &Val, ty: &Type) -> ir::Value {
        let part = self.part(value, ty);
        self.resize(part, ty, types::I64)
    }

    /// One byte of a string as a string.
    pub fn one_byte(&mut self, data: ir::Value, index: ir::Value, is_volatile: bool) -> Val {
        let at = self.b.ins().iadd(data, index);
        let one = self.word(1);
        Val::parts([at, one]).volatile_if(is_volatile)
    }
}
