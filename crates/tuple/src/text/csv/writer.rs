//! Writer of csv: a tuple to a line.

use std::sync::Arc;

use crate::text::line::write_punctuation;
use crate::text::record::{RecordWriter, chosen_attributes};
use crate::text::{WriteOptions, print_f64, print_raw_slot, print_slot};
use crate::{Layout, Punctuation, TupleRef, Type};

/// Writes csv: fields without blanks, lines ended by `\n`.
#[derive(Debug)]
pub struct CsvWriter {
    fields: Vec<CsvField>,
    options: WriteOptions,
}

#[derive(Debug)]
struct CsvField {
    slot: usize,
    ty: Type,
    /// A string to be written as it is.
    is_raw: bool,
}

impl CsvWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> CsvWriter {
        let fields = chosen_attributes(&layout, &options.attributes)
            .into_iter()
            .map(|attribute| {
                let (slot, ty) = layout.attribute(attribute);
                CsvField {
                    slot,
                    ty: ty.clone(),
                    is_raw: !options.quote_strings && ty.is_string(),
                }
            });
        CsvWriter {
            fields: fields.collect(),
            options,
        }
    }
}

impl RecordWriter for CsvWriter {
    fn write(&mut self, tuple: TupleRef<'_>, delay: Option<f64>, out: &mut Vec<u8>) {
        if let Some(delay) = delay {
            print_f64(delay, out);
            out.push(b',');
        }
        for (at, field) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(self.options.separator);
            }
            if field.is_raw {
                print_raw_slot(tuple, field.slot, &field.ty, out);
            } else {
                print_slot(tuple, field.slot, &field.ty, out);
            }
        }
        out.push(b'\n');
    }

    fn punctuate(&mut self, punctuation: Punctuation, out: &mut Vec<u8>) {
        if self.options.punctuations {
            write_punctuation(punctuation, out);
        }
    }
}
