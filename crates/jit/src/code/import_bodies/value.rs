//! Imported functions that take, copy and give back memory, and that make values.

use tuple::{Type, Value};

use super::super::env::Env;
use super::super::fallback_site::FallbackSite;
use super::super::parts_reader::PartsReader;
use super::{deref, deref_mut, env};

/// The words of an argument.
pub(super) fn parts_reader(at: *const u64) -> PartsReader {
    // SAFETY: compiled code stores a word for each part of the types that go with them.
    unsafe { PartsReader::new(at) }
}

pub extern "C" fn allocate(e: *mut Env, bytes: usize) -> *mut u8 {
    env(e).allocate(bytes)
}

pub extern "C" fn reset_temps(e: *mut Env, bump: usize, temps: usize) {
    env(e).reset(bump, temps);
}

pub extern "C" fn copy_bytes(_: *mut Env, to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: compiled code has taken `bytes` bytes at `to`, and the source has as many.
    unsafe { to.copy_from(from, bytes) };
}

pub extern "C" fn zero_bytes(_: *mut Env, at: *mut u8, bytes: usize) {
    // SAFETY: compiled code has taken `bytes` bytes there.
    unsafe { at.write_bytes(0, bytes) };
}

pub extern "C" fn prefetch(_: *mut Env, frame: *const u8, bytes: usize, left: usize) {
    runtime::abi::prefetch_ahead(frame, bytes, left);
}

pub extern "C" fn run_site(
    e: *mut Env,
    site: *const FallbackSite,
    operands: *const u64,
) -> *mut Value {
    let env = env(e);
    match deref(site).run(env, parts_reader(operands)) {
        Ok(value) => env.push_temp(value),
        Err(fault) => {
            env.set_fault(fault);
            std::ptr::null_mut()
        }
    }
}

pub extern "C" fn build_value(e: *mut Env, ty: *const Type, parts: *const u64) -> *mut Value {
    let value = parts_reader(parts).build(deref(ty));
    env(e).push_temp(value)
}

pub extern "C" fn assign_value(_: *mut Env, ty: *const Type, parts: *const u64, to: *mut Value) {
    parts_reader(parts).assign(deref(ty), deref_mut(to));
}

pub extern "C" fn clear_value(_: *mut Env, ty: *const Type, to: *mut Value) {
    *deref_mut(to) = Value::default_of(deref(ty));
}

pub extern "C" fn clone_value(e: *mut Env, value: *const Value) -> *mut Value {
    let copy = deref(value).clone();
    env(e).push_temp(copy)
}

pub extern "C" fn from_flat(e: *mut Env, ty: *const Type, slot: *const u8) -> *mut Value {
    let ty = deref(ty);
    let env = env(e);
    let value = match env.input_at(slot) {
        Some((tuple, offset)) => tuple.value_at(offset, ty),
        None => {
            debug_assert!(false, "a slot of an input tuple is in one");
            Value::default_of(ty)
        }
    };
    env.push_temp(value)
}

pub extern "C" fn enter_frame(e: *mut Env, types: *const Type, len: usize) -> *mut Value {
    // SAFETY: a row of the pool and its length.
    let types = unsafe { std::slice::from_raw_parts(types, len) };
    env(e).call_frames.push(types)
}

pub extern "C" fn exit_frame(e: *mut Env) {
    env(e).call_frames.pop();
}
