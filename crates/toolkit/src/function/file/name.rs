//! Functions of file names: open, close, create, remove.

use std::fs::{self, OpenOptions};
use std::io::Error;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use eval::{Fault, NativeCall, NativeFn};
use rustix::io::Errno;
use tuple::Value;

use super::open_file::{close, error_number, register, with_file};
use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::file;

const REMOVE: &str = "Removes a file, or a directory that is empty.";
const OPEN: &str = "Opens a file as C's `fopen` does: `r`, `w` or `a`, with `+` for reading and \
    writing, with `x` only if it is new. Gives the number of the open file, or 0 and the error in \
    `err`.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    file(
        "stateful void mkdir(rstring name, uint32 mode, mutable int32 err)",
        "Makes a directory with permissions such as 0x000001FFu (octal 777), less those that the process \
         masks.",
        |c| {
            let made = fs::DirBuilder::new().mode(c.uint32(1)).create(path(c, 0)?);
            c.set_int32(2, number(made));
            Ok(VOID)
        },
    ),
    file(
        "stateful void remove(rstring name, mutable int32 err)",
        REMOVE,
        remove,
    ),
    file(
        "stateful void remove(ustring name, mutable int32 err)",
        REMOVE,
        remove,
    ),
    file(
        "stateful uint64 fopen(rstring filename, rstring mode, mutable int32 err)",
        OPEN,
        open,
    ),
    file(
        "stateful uint64 fopen(ustring filename, ustring mode, mutable int32 err)",
        OPEN,
        open,
    ),
    file(
        "stateful int32 fclose(uint64 file, mutable int32 err)",
        "Closes a file. Gives 0, or -1 and the error in `err`.",
        |c| {
            let closed = close(c.uint64(0));
            set_status(c, closed)
        },
    ),
    file(
        "stateful int32 fflush(uint64 file, mutable int32 err)",
        "Makes sure that what was written is in the file, which it always is. Gives 0, or -1 and \
         the error in `err`.",
        |c| {
            let known = with_file(c.uint64(0), |_| Ok(()));
            set_status(c, known)
        },
    ),
];

/// The path of a name: relative to the data directory.
pub(super) fn path(c: &NativeCall<'_>, at: usize) -> Result<PathBuf, Fault> {
    let name = PathBuf::from(std::ffi::OsString::from_vec(c.utf8(at).into_owned()));
    if name.is_absolute() {
        return Ok(name);
    }
    Ok(Path::new(&c.services.data_directory()?).join(name))
}

/// 0, or the number of the error.
pub(super) fn number<T>(result: Result<T, Error>) -> i32 {
    result.map_or_else(|e| error_number(&e), |_| 0)
}

fn set_status(c: &mut NativeCall<'_>, result: Result<(), i32>) -> NativeResult {
    c.set_int32(1, result.err().unwrap_or(0));
    Ok(Value::Int32(if result.is_ok() { 0 } else { -1 }))
}

fn remove(c: &mut NativeCall<'_>) -> NativeResult {
    let path = path(c, 0)?;
    let removed = fs::symlink_metadata(&path).and_then(|found| match found.is_dir() {
        true => fs::remove_dir(&path),
        false => fs::remove_file(&path),
    });
    c.set_int32(1, number(removed));
    Ok(VOID)
}

fn open(c: &mut NativeCall<'_>) -> NativeResult {
    let path = path(c, 0)?;
    let opened = match options(&c.text(1)) {
        Some(options) => options.open(path).map_err(|e| error_number(&e)),
        None => Err(Errno::INVAL.raw_os_error()),
    };
    c.set_int32(2, *opened.as_ref().err().unwrap_or(&0));
    Ok(Value::Uint64(opened.map_or(0, register)))
}

fn options(mode: &str) -> Option<OpenOptions> {
    let mut options = OpenOptions::new();
    let (kind, rest) = mode.split_at_checked(1)?;
    let both = rest.contains('+');
    match kind {
        "r" => options.read(true).write(both),
        "w" => options.write(true).read(both).create(true).truncate(true),
        "a" => options.append(true).read(both).create(true),
        _ => return None,
    };
    if rest.contains('x') && kind != "r" {
        options.create_new(true);
    }
    Some(options)
}
