//! Forms in which compiled code writes and reads tuples in frames without a call.

use tuple::{Layout, normal};

/// Form of a tuple in a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameForm {
    /// The flat tuple, byte by byte as it lies in memory.
    Flat,
    /// The form of the normal codec: attribute by attribute, most significant byte first, without
    /// gaps.
    Normal,
}

/// Most attributes of a tuple that compiled code writes and reads one by one; there are a few
/// instructions for each, and one register or place on the stack.
const ATTRIBUTES_MAX: usize = 256;

impl FrameForm {
    /// Bytes that each tuple of a layout takes in this form; `None` if they vary, or if compiled
    /// code leaves the form of such tuples to a codec.
    pub fn payload_bytes(self, layout: &Layout) -> Option<u32> {
        match self {
            FrameForm::Flat => layout.is_fixed.then_some(layout.size),
            FrameForm::Normal => {
                let attributes = &layout.schema.attributes;
                let sizes = attributes.iter().map(|a| normal::scalar_bytes(&a.ty));
                let bytes: Option<u32> = sizes.sum();
                bytes.filter(|_| attributes.len() <= ATTRIBUTES_MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tuple::{TupleType, Type};

    use super::*;

    fn bytes(form: FrameForm, types: &[Type]) -> Option<u32> {
        let attributes = types.iter().map(|ty| ("a", ty.clone()));
        form.payload_bytes(&Layout::new(&Arc::new(TupleType::new(attributes))))
    }

    #[test]
    fn forms_of_fixed_length() {
        let numbers = [Type::Int8, Type::Int64, Type::Boolean, Type::Timestamp];
        assert_eq!(bytes(FrameForm::Flat, &numbers), Some(40));
        assert_eq!(bytes(FrameForm::Normal, &numbers), Some(26));
        assert_eq!(bytes(FrameForm::Flat, &[Type::Decimal64]), Some(8));
        assert_eq!(bytes(FrameForm::Normal, &[Type::Decimal64]), None);
        for form in [FrameForm::Flat, FrameForm::Normal] {
            assert_eq!(bytes(form, &[Type::Int8, Type::RString]), None);
        }
        let wide = vec![Type::Int64; ATTRIBUTES_MAX + 1];
        assert_eq!(bytes(FrameForm::Normal, &wide), None);
        assert_eq!(bytes(FrameForm::Normal, &wide[1..]), Some(2048));
    }
}
