//! Positions in open files.

use std::io::{Error, SeekFrom};

use eval::{Fault, NativeFn};
use rustix::io::Errno;
use tuple::Value;

use super::open_file::{OpenFile, with_file};
use crate::function::arguments::{NativeArguments, VOID};
use crate::function::entry::file;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    file(
        "stateful int64 ftell(uint64 file, mutable int32 err)",
        "The position in a file, in bytes; -1 and the error in `err` if it has none.",
        |c| {
            let position = with_file(c.uint64(0), OpenFile::position);
            c.set_int32(1, *position.as_ref().err().unwrap_or(&0));
            Ok(Value::Int64(position.unwrap_or(-1)))
        },
    ),
    file(
        "stateful void fseek(uint64 file, int64 offset, int32 whence, mutable int32 err)",
        "Goes to a position: from the beginning, from here or from the end, as `whence` says.",
        |c| {
            let moved = with_file(c.uint64(0), |stream| {
                stream.seek(seek_target(c.int64(1), c.int32(2))?)
            });
            c.set_int32(3, moved.err().unwrap_or(0));
            Ok(VOID)
        },
    ),
    file(
        "int32 optSEEK_SET()",
        "Makes `fseek` count from the beginning of the file.",
        |_| Ok(Value::Int32(0)),
    ),
    file(
        "int32 optSEEK_CUR()",
        "Makes `fseek` count from the position in the file.",
        |_| Ok(Value::Int32(1)),
    ),
    file(
        "int32 optSEEK_END()",
        "Makes `fseek` count from the end of the file.",
        |_| Ok(Value::Int32(2)),
    ),
    file(
        "stateful void rewind(uint64 file)",
        "Goes to the beginning of a file.",
        |c| {
            let number = c.uint64(0);
            // As in C, it is not an error that a pipe cannot be rewound.
            with_file(number, |stream| Ok(stream.seek(SeekFrom::Start(0)).is_ok()))
                .map_err(|_| not_open(number))?;
            Ok(VOID)
        },
    ),
    file(
        "stateful boolean feof(uint64 file)",
        "Whether reading has met the end of a file. Faults if the file is not open.",
        |c| {
            let number = c.uint64(0);
            let ended =
                with_file(number, |stream| Ok(stream.is_at_end)).map_err(|_| not_open(number))?;
            Ok(Value::Boolean(ended))
        },
    ),
    file(
        "stateful void clearerr(uint64 file)",
        "Forgets that reading has met the end of a file. Faults if the file is not open.",
        |c| {
            let number = c.uint64(0);
            with_file(number, |stream| {
                stream.is_at_end = false;
                Ok(())
            })
            .map_err(|_| not_open(number))?;
            Ok(VOID)
        },
    ),
];

fn seek_target(offset: i64, whence: i32) -> Result<SeekFrom, Error> {
    match (whence, u64::try_from(offset)) {
        (0, Ok(offset)) => Ok(SeekFrom::Start(offset)),
        (1, _) => Ok(SeekFrom::Current(offset)),
        (2, _) => Ok(SeekFrom::End(offset)),
        _ => Err(Errno::INVAL.into()),
    }
}

fn not_open(number: u64) -> Fault {
    Fault::value(format!("there is no open file {number}"))
}
