//! Functions that print to standard output.

use eval::{NativeCall, NativeFn};
use tuple::text;

use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "<any T> void print(T t)",
        "Prints a value as SPL writes it, strings in quotes, without a line end.",
        |c| print_value(c, false),
    ),
    utility(
        "<any T> void println(T t)",
        "Prints a value as SPL writes it, strings in quotes, and a line end; flushes standard \
         output.",
        |c| print_value(c, true),
    ),
    utility(
        "<string T> void printString(T s)",
        "Prints a string as it is, without a line end.",
        |c| print_string(c, false),
    ),
    utility(
        "<string T> void printStringLn(T s)",
        "Prints a string as it is and a line end; flushes standard output.",
        |c| print_string(c, true),
    ),
    utility("void flushStdio()", "Flushes standard output.", |c| {
        c.services.flush()?;
        Ok(VOID)
    }),
];

fn print_value(c: &mut NativeCall<'_>, line: bool) -> NativeResult {
    let mut out = Vec::new();
    text::print(c.arg(0), c.arg_type(0), &mut out);
    print(c, out, line)
}

fn print_string(c: &mut NativeCall<'_>, line: bool) -> NativeResult {
    let out = c.utf8(0).into_owned();
    print(c, out, line)
}

fn print(c: &mut NativeCall<'_>, mut out: Vec<u8>, line: bool) -> NativeResult {
    if line {
        out.push(b'\n');
    }
    c.services.print(&out, line)?;
    Ok(VOID)
}
