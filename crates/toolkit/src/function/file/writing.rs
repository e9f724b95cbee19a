//! Functions that write to open files.

use eval::{Fault, NativeCall, NativeFn};
use tuple::text;

use super::open_file::with_file;
use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::file;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    file(
        "<string T> stateful void fwriteString(T val, uint64 file, mutable int32 err)",
        "Writes a string as it is, a ustring in UTF-8.",
        |c| {
            let bytes = c.utf8(0).into_owned();
            write(c, 1, &bytes)
        },
    ),
    file(
        "<any T> stateful void fwriteTxt(T val, uint64 file, mutable int32 err)",
        "Writes a value as SPL writes it, strings in quotes.",
        |c| {
            let mut bytes = Vec::new();
            text::print(c.arg(0), c.arg_type(0), &mut bytes);
            write(c, 1, &bytes)
        },
    ),
    file(
        "<any T> stateful void fwriteBin(T val, uint64 file, mutable int32 err)",
        "Writes a value in the binary form of the file formats, in network byte order.",
        |c| {
            let mut bytes = Vec::new();
            text::bin::write_value(c.arg(0), c.arg_type(0), &mut bytes);
            write(c, 1, &bytes)
        },
    ),
    file(
        "stateful void fwrite(list<uint8> val, uint64 file, uint64 loffset, uint64 length, \
         mutable int32 err)",
        "Writes `length` bytes of the list from index `loffset` on. Faults if there are fewer.",
        |c| {
            let (from, count) = (c.uint64(2), c.uint64(3));
            let bytes: &[u8] = c.list(0).as_slice().unwrap_or_default();
            let end = from
                .checked_add(count)
                .filter(|&end| end <= bytes.len() as u64);
            let end = end.ok_or_else(|| {
                let len = bytes.len();
                Fault::value(format!(
                    "fwrite of {count} bytes from index {from} of a list of {len}"
                ))
            })?;
            let part = bytes[from as usize..end as usize].to_vec();
            write(c, 1, &part)
        },
    ),
    file(
        "stateful void fwriteblob(blob b, uint64 file, mutable int32 err)",
        "Writes the bytes of a blob.",
        |c| {
            let bytes = c.blob(0).clone();
            write(c, 1, &bytes)
        },
    ),
];

/// Writes to the file of an argument; the error goes into the last one.
fn write(c: &mut NativeCall<'_>, file: usize, bytes: &[u8]) -> NativeResult {
    let written = with_file(c.uint64(file), |stream| stream.write(bytes));
    let last = c.args.len() - 1;
    c.set_int32(last, written.err().unwrap_or(0));
    Ok(VOID)
}
