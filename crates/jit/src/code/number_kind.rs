//! Kinds of numbers, by which compiled code tells an imported function what its words hold.

use tuple::Type;

/// A real number as one or two words: an integer extended to 64 bits, or the bits of a float or of
/// a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NumberKind {
    /// Any integer but a uint64, as an int64 holds it.
    Signed,
    /// A uint64 as it is.
    Unsigned,
    Float32,
    Float64,
    Decimal32,
    Decimal64,
    /// Two words, the low half first.
    Decimal128,
}

impl NumberKind {
    const ALL: [NumberKind; 7] = [
        NumberKind::Signed,
        NumberKind::Unsigned,
        NumberKind::Float32,
        NumberKind::Float64,
        NumberKind::Decimal32,
        NumberKind::Decimal64,
        NumberKind::Decimal128,
    ];

    /// The kind of a type's values; `None` if they are no real numbers.
    pub fn from_type(ty: &Type) -> Option<NumberKind> {
        Some(match ty {
            Type::Float32 => NumberKind::Float32,
            Type::Float64 => NumberKind::Float64,
            Type::Decimal32 => NumberKind::Decimal32,
            Type::Decimal64 => NumberKind::Decimal64,
            Type::Decimal128 => NumberKind::Decimal128,
            Type::Uint64 => NumberKind::Unsigned,
            ty if ty.is_integral() => NumberKind::Signed,
            _ => return None,
        })
    }

    /// The kind of a code, `kind as u32`.
    pub fn from_code(code: u32) -> NumberKind {
        Self::ALL[code as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::NumberKind;

    #[test]
    fn codes_name_their_kinds() {
        for kind in NumberKind::ALL {
            assert_eq!(NumberKind::from_code(kind as u32), kind);
        }
    }
}
