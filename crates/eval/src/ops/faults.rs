//! The sentences of faults, so that the interpreter and compiled code say the same.

use graph::print::BriefValue;
use tuple::Value;

use crate::{Fault, FaultKind};

/// `index 7 is out of range of a list of 3`.
pub fn index_out_of_range(index: i128, noun: &str, len: usize) -> Fault {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    Fault::value(format!(
        "index {index} is out of range of {article} {noun} of {len}"
    ))
}

/// `the slice begins at 7, beyond the end of a list of 3`.
pub fn slice_start_out_of_range(start: i128, noun: &str, len: usize) -> Fault {
    if start < 0 {
        return Fault::value(format!(
            "the slice of a {noun} begins at {start}, before the start"
        ));
    }
    Fault::value(format!(
        "the slice begins at {start}, beyond the end of a {noun} of {len}"
    ))
}

/// `the map has no key "x"`.
pub fn missing_key(key: &Value) -> Fault {
    Fault::value(format!("the map has no key {}", BriefValue(key)))
}

/// Division or remainder by zero.
pub fn division_by_zero() -> Fault {
    Fault::new(FaultKind::Division, "integer division by zero")
}

/// The fault of `!` on null.
pub fn null_unwrapped() -> Fault {
    Fault::value("the optional value is null")
}

/// The fault of a dotted operator on lists of different length.
pub fn length_mismatch(left: usize, right: usize) -> Fault {
    Fault::value(format!(
        "a dotted operator needs lists of equal length, not {left} and {right}"
    ))
}

/// The fault of a dotted operator on maps with a key that is only on the left.
pub fn key_missing_on_right(key: &Value) -> Fault {
    Fault::value(format!(
        "the map to the right of a dotted operator has no key {}",
        BriefValue(key)
    ))
}

/// Submission to a port that is not there.
pub fn port_out_of_range(port: u64, ports: usize) -> Fault {
    let plural = if ports == 1 { "" } else { "s" };
    let sentence =
        format!("output port {port} does not exist: there are {ports} output port{plural}");
    Fault::value(sentence)
}

/// Number of bytes, UTF-16 units or elements that a string, blob or list has at most: `length()` is
/// an int32.
pub const LEN_MAX: usize = i32::MAX as usize;

/// The fault of a string, blob or list that would be longer than [`LEN_MAX`].
pub fn too_long(noun: &str) -> Fault {
    let most = LEN_MAX;
    let sentence = format!("a {noun} cannot be longer than {most}, the greatest int32");
    Fault::new(FaultKind::Limit, sentence)
}

/// Sentence of the fault of calls nested deeper than [`crate::interp::MAX_CALL_DEPTH`].
pub const RECURSION_MESSAGE: &str = "function calls are nested too deeply";

/// A fault of [`RECURSION_MESSAGE`].
pub fn recursion_too_deep() -> Fault {
    Fault::new(FaultKind::Limit, RECURSION_MESSAGE)
}

/// The fault of a variable or input tuple that does not exist here: while compiling, or in the
/// expressions of another operator.
pub fn no_variable() -> Fault {
    let sentence = "a variable or an input tuple is not available here";
    Fault::new(FaultKind::Limit, sentence)
}

/// The fault of an operation that the type checker should have refused.
pub fn mistyped(what: &str) -> Fault {
    Fault::new(
        FaultKind::Limit,
        format!("{what} is not defined for values of these types"),
    )
}
