//! Memory and values.

use tuple::{Type, Value};

use super::super::env::Env;
use super::super::site::Site;
use super::super::words::Words;
use super::{changed, env, shared};

/// The words of an argument.
fn words(at: *const u64) -> Words {
    // SAFETY: compiled code stores a word for each part of the types that go with them.
    unsafe { Words::at(at) }
}

pub extern "C" fn take(e: *mut Env, bytes: usize) -> *mut u8 {
    env(e).take(bytes)
}

pub extern "C" fn reset(e: *mut Env, bump: usize, temps: usize) {
    env(e).reset(bump, temps);
}

pub extern "C" fn copy(_: *mut Env, to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: compiled code has taken so many bytes at `to`, and the source has as many.
    unsafe { to.copy_from(from, bytes) };
}

pub extern "C" fn zero(_: *mut Env, at: *mut u8, bytes: usize) {
    // SAFETY: compiled code has taken so many bytes there.
    unsafe { at.write_bytes(0, bytes) };
}

pub extern "C" fn fetch(_: *mut Env, frame: *const u8, bytes: usize, left: usize) {
    runtime::abi::fetch_ahead(frame, bytes, left);
}

pub extern "C" fn run(e: *mut Env, site: *const Site, operands: *const u64) -> *mut Value {
    let env = env(e);
    match shared(site).run(env, words(operands)) {
        Ok(value) => env.keep(value),
        Err(fault) => {
            env.fail(fault);
            std::ptr::null_mut()
        }
    }
}

pub extern "C" fn build(e: *mut Env, ty: *const Type, parts: *const u64) -> *mut Value {
    let value = words(parts).build(shared(ty));
    env(e).keep(value)
}

pub extern "C" fn assign(_: *mut Env, ty: *const Type, parts: *const u64, to: *mut Value) {
    words(parts).assign(shared(ty), changed(to));
}

pub extern "C" fn clear(_: *mut Env, ty: *const Type, to: *mut Value) {
    *changed(to) = Value::default_of(shared(ty));
}

pub extern "C" fn clone(e: *mut Env, value: *const Value) -> *mut Value {
    let copy = shared(value).clone();
    env(e).keep(copy)
}

pub extern "C" fn from_flat(e: *mut Env, ty: *const Type, slot: *const u8) -> *mut Value {
    let ty = shared(ty);
    let env = env(e);
    let value = match env.input_at(slot) {
        Some((tuple, offset)) => tuple.value_at(offset, ty),
        None => {
            debug_assert!(false, "a slot of an input tuple is in one");
            Value::default_of(ty)
        }
    };
    env.keep(value)
}

pub extern "C" fn enter(e: *mut Env, types: *const Type, len: usize) -> *mut Value {
    // SAFETY: a row of the pool and its length.
    let types = unsafe { std::slice::from_raw_parts(types, len) };
    env(e).frames.take(types)
}

pub extern "C" fn exit(e: *mut Env) {
    env(e).frames.release();
}
