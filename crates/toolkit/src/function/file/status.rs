//! Status of an open file: `fstat`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use eval::{NativeCall, NativeFn};
use rustix::io::Errno;
use tuple::{Timestamp, Value};

use super::name::path;
use super::open_file::{error_number, with_file};
use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::file;

const NUMBER: &str = "Sets `result` to a number that the system knows of a file: `dev`, `rdev`, \
    `ino`, `nlink`, `mode`, `size`, `uid`, `gid`, `blksize` or `blocks`.";
const TIME: &str =
    "Sets `result` to a time that the system knows of a file: `atime`, `mtime` or `ctime`.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    file(
        "stateful void fstat(rstring file, rstring what, mutable uint64 result, mutable int32 err)",
        NUMBER,
        |c| set_result(c, number),
    ),
    file(
        "stateful void fstat(ustring file, ustring what, mutable uint64 result, mutable int32 err)",
        NUMBER,
        |c| set_result(c, number),
    ),
    file(
        "stateful void fstat(rstring file, rstring what, mutable timestamp result, mutable int32 \
         err)",
        TIME,
        |c| set_result(c, time),
    ),
    file(
        "stateful void fstat(ustring file, ustring what, mutable timestamp result, mutable int32 \
         err)",
        TIME,
        |c| set_result(c, time),
    ),
    file(
        "stateful void fstat(uint64 file, rstring what, mutable uint64 result, mutable int32 err)",
        NUMBER,
        |c| set_result(c, number),
    ),
    file(
        "stateful void fstat(uint64 file, ustring what, mutable uint64 result, mutable int32 err)",
        NUMBER,
        |c| set_result(c, number),
    ),
    file(
        "stateful void fstat(uint64 file, rstring what, mutable timestamp result, mutable int32 \
         err)",
        TIME,
        |c| set_result(c, time),
    ),
    file(
        "stateful void fstat(uint64 file, ustring what, mutable timestamp result, mutable int32 \
         err)",
        TIME,
        |c| set_result(c, time),
    ),
];

fn set_result(c: &mut NativeCall<'_>, read: fn(&Metadata, &str) -> Option<Value>) -> NativeResult {
    let metadata = match c.arg(0) {
        Value::Uint64(number) => with_file(*number, |stream| stream.file().metadata()),
        _ => std::fs::metadata(path(c, 0)?).map_err(|e| error_number(&e)),
    };
    let found = metadata.and_then(|m| read(&m, &c.text(1)).ok_or(Errno::INVAL.raw_os_error()));
    c.set_int32(3, *found.as_ref().err().unwrap_or(&0));
    if let Ok(value) = found {
        *c.arg_mut(2) = value;
    }
    Ok(VOID)
}

fn number(metadata: &Metadata, what: &str) -> Option<Value> {
    Some(Value::Uint64(match what {
        "dev" => metadata.dev(),
        "rdev" => metadata.rdev(),
        "ino" => metadata.ino(),
        "nlink" => metadata.nlink(),
        "mode" => metadata.mode().into(),
        "size" => metadata.size(),
        "uid" => metadata.uid().into(),
        "gid" => metadata.gid().into(),
        "blksize" => metadata.blksize(),
        "blocks" => metadata.blocks(),
        _ => return None,
    }))
}

fn time(metadata: &Metadata, what: &str) -> Option<Value> {
    let (seconds, nanos) = match what {
        "atime" => (metadata.atime(), metadata.atime_nsec()),
        "mtime" => (metadata.mtime(), metadata.mtime_nsec()),
        "ctime" => (metadata.ctime(), metadata.ctime_nsec()),
        _ => return None,
    };
    Some(Value::Timestamp(Timestamp {
        seconds,
        nanos: nanos as u32,
        machine: 0,
    }))
}
