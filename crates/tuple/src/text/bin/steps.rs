//! Steps that write and read the attributes of a record, made once from the layout.
//!
//! ```text
//!   attributes  int64 a, int64 b, int32 c, rstring d, boolean e
//!   steps       2 words of 8   1 word of 4   text       slot
//! ```
//! Numbers of one width that lie side by side in the tuple do so in the record, too: such a run is
//! one step, whose length is checked once and whose bytes are turned round in one loop. Strings
//! have a step of their own; what is left goes slot by slot, by its type.

use super::decode::{BinCursor, BinFault};
use super::encode::{write_bytes, write_slot};
use crate::{Layout, TupleBuf, TupleRef, Type};

/// The steps of the attributes that records hold.
#[derive(Debug)]
pub struct BinSteps {
    steps: Vec<BinStep>,
}

/// A step, which is for one attribute or several.
#[derive(Debug)]
struct BinStep {
    /// Offset of the first attribute's slot.
    slot: usize,
    /// Position of the first attribute among those of the record.
    first: usize,
    form: StepForm,
}

/// The bytes of a step.
#[derive(Debug)]
enum StepForm {
    /// Numbers of a width in bytes (1, 2, 4 or 8), and how many.
    Words { width: usize, count: usize },
    /// An rstring, blob or xml.
    Text,
    /// A slot of some other type.
    Slot(Type),
}

impl BinSteps {
    /// The steps of records that hold these attributes, in order.
    pub fn new(layout: &Layout, attributes: impl IntoIterator<Item = usize>) -> BinSteps {
        let mut steps: Vec<BinStep> = Vec::new();
        for (first, attribute) in attributes.into_iter().enumerate() {
            let (slot, ty) = layout.attribute(attribute);
            if let (Some(last), Some(added)) = (steps.last_mut(), word_bytes(ty))
                && let StepForm::Words { width, count } = &mut last.form
                && *width == added
                && last.slot + added * *count == slot
            {
                *count += 1;
                continue;
            }
            let form = match (ty, word_bytes(ty)) {
                (_, Some(width)) => StepForm::Words { width, count: 1 },
                (Type::RString | Type::Blob | Type::Xml(_), None) => StepForm::Text,
                (ty, None) => StepForm::Slot(ty.clone()),
            };
            steps.push(BinStep { slot, first, form });
        }
        BinSteps { steps }
    }

    /// The steps of records that hold all attributes.
    pub fn all(layout: &Layout) -> BinSteps {
        BinSteps::new(layout, 0..layout.offsets.len())
    }

    /// Appends the attributes of a tuple.
    #[inline]
    pub fn write(&self, tuple: TupleRef<'_>, out: &mut Vec<u8>) {
        for step in &self.steps {
            match &step.form {
                StepForm::Words { width, count } => {
                    let words = &tuple.bytes()[step.slot..][..width * count];
                    let start = out.len();
                    out.resize(start + words.len(), 0);
                    turn_round(*width, words, &mut out[start..]);
                }
                StepForm::Text => write_bytes(tuple.bytes_at(step.slot), out),
                StepForm::Slot(ty) => write_slot(tuple, step.slot, ty, out),
            }
        }
    }

    /// Reads the attributes into a tuple that has begun. After a fault the cursor is where the
    /// faulty value, or its faulty part, begins, and the number is that of its attribute among
    /// those of the record.
    #[inline]
    pub(super) fn read(
        &self,
        source: &mut BinCursor<'_>,
        out: &mut TupleBuf,
    ) -> Result<(), (usize, BinFault)> {
        for step in &self.steps {
            let read = match &step.form {
                StepForm::Words { width, count } => {
                    let whole = source.words(*width, *count);
                    let words = whole.map_err(|(read, fault)| (step.first + read, fault))?;
                    let place = &mut out.as_bytes_mut()[step.slot..][..words.len()];
                    turn_round(*width, words, place);
                    Ok(())
                }
                StepForm::Text => source.text(out, step.slot),
                StepForm::Slot(ty) => source.slot(ty, out, step.slot),
            };
            read.map_err(|fault| (step.first, fault))?;
        }
        Ok(())
    }
}

/// Bytes of a number, any bits of which are one of its type; `None` for other types.
fn word_bytes(ty: &Type) -> Option<usize> {
    Some(match ty {
        Type::Int8 | Type::Uint8 => 1,
        Type::Int16 | Type::Uint16 => 2,
        Type::Int32 | Type::Uint32 | Type::Float32 => 4,
        Type::Int64 | Type::Uint64 | Type::Float64 => 8,
        _ => return None,
    })
}

/// Copies words of a width between native and network byte order.
#[inline]
fn turn_round(width: usize, from: &[u8], to: &mut [u8]) {
    match width {
        2 => turn_round_each::<2>(from, to, |word| u16::from_be_bytes(word).to_ne_bytes()),
        4 => turn_round_each::<4>(from, to, |word| u32::from_be_bytes(word).to_ne_bytes()),
        8 => turn_round_each::<8>(from, to, |word| u64::from_be_bytes(word).to_ne_bytes()),
        _ => to.copy_from_slice(from),
    }
}

#[inline]
fn turn_round_each<const WIDTH: usize>(
    from: &[u8],
    to: &mut [u8],
    turned: impl Fn([u8; WIDTH]) -> [u8; WIDTH],
) {
    let (from, to) = (from.as_chunks().0, to.as_chunks_mut().0);
    for (word, place) in from.iter().zip(to) {
        *place = turned(*word);
    }
}
