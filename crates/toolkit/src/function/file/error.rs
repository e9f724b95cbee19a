//! Messages and tests of error numbers.

use eval::{NativeCall, NativeFn};
use rustix::io::Errno;
use tuple::Value;

use super::open_file::END_OF_FILE;
use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::file;

/// Declares tests of error numbers: name, number and documentation of the error.
macro_rules! tests {
    ($($name:ident, $errno:ident, $meaning:literal;)+) => {
        &[
            file("boolean isEOF(int32 v)", "Whether the end of the file was met.", |c| {
                Ok(Value::Boolean(c.int32(0) == END_OF_FILE))
            }),
            $(file(
                concat!("boolean is", stringify!($name), "(int32 v)"),
                concat!("Whether the error is ", stringify!($name), ": ", $meaning, "."),
                |c| is_error(c, Errno::$errno),
            ),)+
        ]
    };
}

pub(super) const FUNCTIONS: &[NativeFn] = tests! {
    EACCES, ACCESS, "permission denied";
    EAGAIN, AGAIN, "not possible just now";
    EBADF, BADF, "no open file of that number, or not open for this";
    EFAULT, FAULT, "a bad address";
    EFBIG, FBIG, "the file is too large";
    EINTR, INTR, "interrupted by a signal";
    EINVAL, INVAL, "an argument is not valid";
    EIO, IO, "input or output failed";
    EISDIR, ISDIR, "it is a directory";
    EMFILE, MFILE, "the process has too many open files";
    ENFILE, NFILE, "the system has too many open files";
    ELOOP, LOOP, "too many symbolic links";
    ENAMETOOLONG, NAMETOOLONG, "the name is too long";
    ENODEV, NODEV, "there is no such device";
    ENOENT, NOENT, "there is no such file or directory";
    ENOMEM, NOMEM, "not enough memory";
    ENOSPC, NOSPC, "no space is left";
    ENOTDIR, NOTDIR, "a part of the path is no directory";
    ENXIO, NXIO, "there is no such device or address";
    EOVERFLOW, OVERFLOW, "a number is too large for its type";
    EPIPE, PIPE, "nobody reads from the pipe";
    EPERM, PERM, "the operation is not permitted";
    EROFS, ROFS, "the file system is read-only";
    ESPIPE, SPIPE, "a pipe has no positions";
    ETXTBSY, TXTBSY, "the program is running";
    EWOULDBLOCK, WOULDBLOCK, "it would have to wait";
};

fn is_error(c: &mut NativeCall<'_>, errno: Errno) -> NativeResult {
    Ok(Value::Boolean(c.int32(0) == errno.raw_os_error()))
}
