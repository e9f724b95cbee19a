//! Proving that bytes from elsewhere are a tuple of a schema.

use super::slot::{self, ElementLayout, MapEntryLayout, slot};
use super::{Layout, LayoutError};
use crate::Type;

/// Proves that bytes are a tuple of a schema: every reference lies in the tail and is aligned,
/// lengths keep their bounds, booleans are 0 or 1, enum ordinals are known, and no piece of tail is
/// reached twice, so that the time to read the tuple is in proportion to its bytes.
///
/// After that, no accessor of [`super::TupleRef`] on slots of the schema panics. The bytes may
/// begin at any address.
///
/// # Errors
/// The first fault found.
pub fn check(layout: &Layout, bytes: &[u8]) -> Result<(), LayoutError> {
    let size = layout.size as usize;
    if bytes.len() < size {
        return Err(LayoutError::TooShort {
            bytes: bytes.len(),
            needed: size,
        });
    }
    let mut checker = LayoutChecker {
        bytes,
        tail: bytes.len() - size,
    };
    let slots = layout.offsets.iter().zip(&layout.schema.attributes);
    slots
        .into_iter()
        .try_for_each(|(&at, a)| checker.slot(at as usize, &a.ty))
}

struct LayoutChecker<'a> {
    bytes: &'a [u8],
    /// Bytes of tail that no reference has claimed yet.
    tail: usize,
}

impl LayoutChecker<'_> {
    /// Checks a slot that lies within the bytes.
    fn slot(&mut self, at: usize, ty: &Type) -> Result<(), LayoutError> {
        let fault = |fault| Err(LayoutError::Slot { offset: at, fault });
        match ty {
            Type::Boolean if self.bytes[at] > 1 => fault("holds no boolean"),
            Type::Enum(e) if self.word(at) as usize >= e.names.len().max(1) => {
                fault("holds no enumerator's ordinal")
            }
            Type::BoundedRString(n) if self.word(at) > *n => fault("exceeds its bound"),
            Type::RString | Type::Blob | Type::Xml(_) => self.reference(at, 1, 1).map(|_| ()),
            Type::UString => self.reference(at, 2, 2).map(|_| ()),
            Type::List(t, n) | Type::Set(t, n) => {
                self.elements(at, ty, *n, is_plain(t), |checker, at| checker.slot(at, t))
            }
            Type::Map(kv, n) => {
                let value = MapEntryLayout::for_map(kv).value as usize;
                let plain = is_plain(&kv.0) && is_plain(&kv.1);
                self.elements(at, ty, *n, plain, |checker, at| {
                    checker.slot(at, &kv.0)?;
                    checker.slot(at + value, &kv.1)
                })
            }
            Type::Tuple(t) => {
                let mut slots = slot::offsets(t);
                slots.try_for_each(|(offset, ty)| self.slot(at + offset as usize, ty))
            }
            Type::Optional(t) => match self.bytes[at] {
                0 => Ok(()),
                1 => self.slot(at + slot(t).1 as usize, t),
                _ => fault("is neither present nor absent"),
            },
            _ => Ok(()),
        }
    }

    fn elements(
        &mut self,
        at: usize,
        ty: &Type,
        bound: Option<u32>,
        plain: bool,
        check: impl Fn(&mut Self, usize) -> Result<(), LayoutError>,
    ) -> Result<(), LayoutError> {
        let Some(elements) = ElementLayout::for_collection(ty) else {
            return Ok(());
        };
        let stride = elements.stride as usize;
        let (data, len) = match elements.bound {
            Some(_) => (at + 8, self.word(at) as usize),
            None => self.reference(at, stride, elements.align as usize)?,
        };
        if bound.is_some_and(|n| len > n as usize) {
            return Err(LayoutError::Slot {
                offset: at,
                fault: "exceeds its bound",
            });
        }
        if plain {
            return Ok(());
        }
        (0..len).try_for_each(|index| check(self, data + index * stride))
    }

    /// Checks a reference and claims what it points to. Returns where that is, and its length.
    fn reference(
        &mut self,
        at: usize,
        unit: usize,
        align: usize,
    ) -> Result<(usize, usize), LayoutError> {
        let fault = |fault| Err(LayoutError::Slot { offset: at, fault });
        let (distance, len) = (self.word(at) as usize, self.word(at + 4) as usize);
        if len == 0 {
            // An accessor slices nothing at the target, which must still be a place in the tuple.
            return if distance == 0 {
                Ok((at, 0))
            } else {
                fault("refers to nothing somewhere")
            };
        }
        let data = at + distance;
        let Some(size) = len.checked_mul(unit) else {
            return fault("refers to more than there is");
        };
        if distance < 8 || !data.is_multiple_of(align) {
            return fault("refers to no valid place");
        }
        if data
            .checked_add(size)
            .is_none_or(|end| end > self.bytes.len())
        {
            return fault("refers beyond the end of the tuple");
        }
        match self.tail.checked_sub(size) {
            Some(rest) => self.tail = rest,
            None => return fault("refers to what another slot holds"),
        }
        Ok((data, len))
    }

    fn word(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes[at..at + 4]);
        u32::from_ne_bytes(word)
    }
}

/// Whether any bits are a value of the type, so that its slots need no look.
fn is_plain(ty: &Type) -> bool {
    ty.is_numeric() || *ty == Type::Timestamp
}
