//! The bodies of the functions that compiled code may call; the list is [`super::import`].
//!
//! # Safety
//! All of them rely on what [`super`] says of compiled code: addresses are those of live things of
//! the types that the expression's types say, views have as many elements as they say, and the
//! environment is entered. So does every `unsafe` block below.

pub mod list;
pub mod map;
pub mod number;
pub mod string;
pub mod submit;
pub mod table;
pub mod value;

use super::env::Env;
use super::parts_reader::RawSlice;

/// The environment behind the first argument.
fn env<'a>(env: *mut Env) -> &'a mut Env {
    // SAFETY: compiled code passes on what its handle gave it, and holds no reference itself.
    unsafe { &mut *env }
}

/// The elements of a view.
fn elements<'a, T: Copy>(data: *const T, len: usize) -> &'a [T] {
    // SAFETY: compiled code passes an address together with the number of elements there.
    unsafe { RawSlice { data, len }.slice() }
}

/// Something that is only read.
fn deref<'a, T>(at: *const T) -> &'a T {
    // SAFETY: compiled code passes the address of a live thing of this type.
    unsafe { &*at }
}

/// Something that is changed.
fn deref_mut<'a, T>(at: *mut T) -> &'a mut T {
    // SAFETY: compiled code passes the address of a live variable that no other argument points
    // into.
    unsafe { &mut *at }
}
