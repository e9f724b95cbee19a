//! The block format: blobs of a fixed number of bytes, one attribute; the last blob may be shorter.

use std::sync::Arc;

use super::record::{ReadStep, Record, RecordReader, RecordWriter, chosen_attributes};
use super::{ReadOptions, WriteOptions};
use crate::{Layout, Punctuation, TupleBuf, TupleRef};

/// Reads blocks. Without a block size, all bytes up to the end are one.
#[derive(Debug)]
pub struct BlockReader {
    layout: Arc<Layout>,
    attribute: usize,
    block_bytes: usize,
}

impl BlockReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> BlockReader {
        let attribute = chosen_attributes(&layout, &options.attributes)[0];
        let block_bytes = options
            .block_bytes
            .filter(|&bytes| bytes > 0)
            .unwrap_or(usize::MAX);
        BlockReader {
            layout,
            attribute,
            block_bytes,
        }
    }
}

impl RecordReader for BlockReader {
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        if bytes.len() < self.block_bytes && !at_end {
            return ReadStep {
                consumed: 0,
                record: Record::NeedMore,
            };
        }
        if bytes.is_empty() {
            return ReadStep {
                consumed: 0,
                record: Record::End,
            };
        }
        let consumed = bytes.len().min(self.block_bytes);
        out.begin(&self.layout);
        out.put_bytes(self.layout.attribute(self.attribute).0, &bytes[..consumed]);
        ReadStep {
            consumed,
            record: Record::Tuple { delay: 0.0 },
        }
    }

    fn restart(&mut self) {}
}

/// Writes blocks: the blobs one after the other.
#[derive(Debug)]
pub struct BlockWriter {
    slot: usize,
}

impl BlockWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> BlockWriter {
        let attribute = chosen_attributes(&layout, &options.attributes)[0];
        BlockWriter {
            slot: layout.attribute(attribute).0,
        }
    }
}

impl RecordWriter for BlockWriter {
    fn write(&mut self, tuple: TupleRef<'_>, _delay: Option<f64>, out: &mut Vec<u8>) {
        out.extend_from_slice(tuple.bytes_at(self.slot));
    }

    fn punctuate(&mut self, _punctuation: Punctuation, _out: &mut Vec<u8>) {}
}
