//! Conversion between UTF-8 and other encodings.

use eval::{Fault, NativeCall, NativeFn, WrongArgument};
use tuple::{List, Value};

use crate::charset::Charset;
use crate::function::arguments::{NativeArguments, check_text};
use crate::function::entry::string;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "rstring convertToUtf8(list<uint8> val, rstring enc)",
        "The text whose bytes in the encoding `enc` are given. What is malformed becomes U+FFFD; \
         an unknown encoding faults.",
        |c| {
            let bytes: &[u8] = c.list(0).as_slice().unwrap_or_default();
            c.bounded_rstring(charset(c, 1)?.decode(bytes))
        },
    )
    .with_check(check_encoding),
    string(
        "rstring convertToUtf8(rstring val, rstring enc)",
        "The text whose bytes in the encoding `enc` are given. What is malformed becomes U+FFFD; \
         an unknown encoding faults.",
        |c| c.bounded_rstring(charset(c, 1)?.decode(c.bytes(0))),
    )
    .with_check(check_encoding),
    string(
        "list<uint8> convertFromUtf8(rstring str, rstring enc)",
        "The bytes of the text in the encoding `enc`. What the encoding lacks becomes the \
         substitute character 0x1A; an unknown encoding faults.",
        |c| Ok(Value::List(List::Uint8(charset(c, 1)?.encode(&c.text(0))))),
    )
    .with_check(check_encoding),
    string(
        "rstring convertFromUtf8ToString(rstring str, rstring enc)",
        "The bytes of the text in the encoding `enc`, as an rstring. What the encoding lacks \
         becomes the substitute character 0x1A; an unknown encoding faults.",
        |c| c.bounded_rstring(charset(c, 1)?.encode(&c.text(0))),
    )
    .with_check(check_encoding),
];

/// The encoding, if it is known.
fn check_encoding(args: &[Option<Value>]) -> Result<(), WrongArgument> {
    check_text(args, 1, "", |name| Charset::from_name(name).map(drop))
}

fn charset(c: &NativeCall<'_>, at: usize) -> Result<Charset, Fault> {
    Charset::from_name(&c.text(at))
}
