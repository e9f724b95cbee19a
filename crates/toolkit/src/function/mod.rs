//! The built-in functions of SPL as data: prototype, documentation, implementation.
//!
//! One module a namespace, one list a file, one entry a prototype; [`functions`] joins the lists.
//! The compiler parses the prototypes to resolve calls, the interpreter and compiled code call the
//! implementations, `thalweg doc` prints what is written here.
//!
//! # Adding a function
//! One entry in the list of the file where it belongs. Its implementation reads its arguments and
//! builds its result through [`arguments::Arguments`], which keeps the bounds of bounded types: a
//! prototype for `list<T>` also serves `list<T>[n]`.
//!
//! # Time
//! Functions are called once a tuple. They do not log, and they keep what is expensive to build
//! (compiled regular expressions, time zones) per thread.

mod arguments;
mod collection;
mod complex;
mod eventtime;
mod file;
mod json;
mod math;
pub(crate) mod number;
pub(crate) mod regex;
pub(crate) mod string;
mod time;
mod utility;
mod xml;

use std::sync::LazyLock;

use eval::{Fault, FaultKind, NativeCall, NativeFn};
use graph::Unsupported;
use tuple::Value;

/// How a function is implemented.
type NativeEval = fn(&mut NativeCall<'_>) -> Result<Value, Fault>;

/// The lists of all namespaces.
const LISTS: &[&[&[NativeFn]]] = &[
    math::LISTS,
    string::LISTS,
    collection::LISTS,
    utility::LISTS,
    time::LISTS,
    file::LISTS,
    xml::LISTS,
    eventtime::LISTS,
    json::LISTS,
];

/// All built-in functions, the prototypes of one namespace together.
pub fn functions() -> &'static [NativeFn] {
    static ALL: LazyLock<Vec<NativeFn>> = LazyLock::new(|| LISTS.concat().concat());
    &ALL
}

/// A function that is known by name only; the compiler lets no call through.
const fn unsupported(
    namespace: &'static str,
    prototype: &'static str,
    doc: &'static str,
    refusal: Unsupported,
) -> NativeFn {
    NativeFn {
        unsupported: Some(refusal),
        ..native(namespace, prototype, doc, eval_unsupported)
    }
}

fn eval_unsupported(_: &mut NativeCall<'_>) -> Result<Value, Fault> {
    Err(Fault::new(FaultKind::Limit, "it is not supported"))
}

/// One entry of a list.
const fn native(
    namespace: &'static str,
    prototype: &'static str,
    doc: &'static str,
    eval: NativeEval,
) -> NativeFn {
    NativeFn {
        namespace,
        prototype,
        doc,
        eval,
        is_range: false,
        unsupported: None,
        check: None,
    }
}
