//! The built-in functions of SPL as data: prototype, documentation, implementation.
//!
//! There is one module for each namespace, one list in each file, one entry for each prototype;
//! [`functions`] joins the lists. The compiler parses the prototypes to resolve calls, the
//! interpreter and compiled code call the implementations, `thalweg doc` prints the documentation.
//!
//! # Adding a function
//! Add one entry to the list of the file where it belongs. The implementation reads its arguments
//! and builds its result through [`arguments::NativeArguments`], which keeps the bounds of bounded
//! types: a prototype for `list<T>` also serves `list<T>[n]`.
//!
//! # Time
//! Functions are called once a tuple. They do not log, and they keep what is expensive to build
//! (compiled regular expressions, time zones) per thread.

mod arguments;
mod collection;
mod complex;
mod entry;
mod eventtime;
mod file;
mod json;
mod math;
pub(crate) mod number;
pub(crate) mod regex;
pub(crate) mod string;
mod text;
mod time;
mod utility;
mod xml;

use std::sync::LazyLock;

use eval::NativeFn;

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
    text::LISTS,
];

/// All built-in functions, the prototypes of one namespace together.
pub fn functions() -> &'static [NativeFn] {
    static ALL: LazyLock<Vec<NativeFn>> = LazyLock::new(|| LISTS.concat().concat());
    &ALL
}
