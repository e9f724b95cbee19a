//! Maps and sets.

use std::ptr::{from_ref, null, null_mut};

use graph::ops;
use tuple::{Key, RString, Type, Value};

use super::super::env::Env;
use super::super::words::Words;
use super::{changed, elements, shared};

/// The value of a key as an address that compiled code may also write to, if the map is a variable.
fn found(value: Option<&Value>) -> *mut Value {
    value.map_or(null_mut(), |value| from_ref(value).cast_mut())
}

fn get_key(map: *const Value, key: Key<'_>) -> *mut Value {
    match shared(map) {
        Value::Map(map) => found(map.get_key(key)),
        _ => null_mut(),
    }
}

pub extern "C" fn get_signed(_: *mut Env, map: *const Value, key: i64) -> *mut Value {
    get_key(map, Key::Int(key))
}

pub extern "C" fn get_unsigned(_: *mut Env, map: *const Value, key: u64) -> *mut Value {
    get_key(map, Key::Uint(key))
}

pub extern "C" fn get_bytes(
    _: *mut Env,
    map: *const Value,
    data: *const u8,
    len: usize,
) -> *mut Value {
    get_key(map, Key::Bytes(elements(data, len)))
}

pub extern "C" fn get(_: *mut Env, map: *const Value, key: *const Value) -> *mut Value {
    match shared(map) {
        Value::Map(map) => found(map.get(shared(key))),
        _ => null_mut(),
    }
}

/// The entry of a key that is made by `key` if there is none.
fn entry_of(
    map: *mut Value,
    ty: *const Type,
    borrowed: Key<'_>,
    key: impl FnOnce(&Type) -> Value,
) -> *mut Value {
    let (Value::Map(map), Type::Map(types, _)) = (changed(map), shared(ty)) else {
        return null_mut();
    };
    if let Some(value) = map.get_key_mut(borrowed) {
        return value;
    }
    if ops::is_full(map.len(), shared(ty)) {
        return null_mut();
    }
    map.get_or_insert_with(key(&types.0), || Value::default_of(&types.1))
}

pub extern "C" fn entry_signed(
    _: *mut Env,
    map: *mut Value,
    ty: *const Type,
    key: i64,
) -> *mut Value {
    entry_of(map, ty, Key::Int(key), |ty| match ty {
        Type::Int8 => Value::Int8(key as i8),
        Type::Int16 => Value::Int16(key as i16),
        Type::Int32 => Value::Int32(key as i32),
        _ => Value::Int64(key),
    })
}

pub extern "C" fn entry_bytes(
    _: *mut Env,
    map: *mut Value,
    ty: *const Type,
    data: *const u8,
    len: usize,
) -> *mut Value {
    let bytes = elements(data, len);
    entry_of(map, ty, Key::Bytes(bytes), |ty| match ty {
        Type::Blob => Value::Blob(bytes.to_vec()),
        _ => Value::RString(RString(bytes.to_vec())),
    })
}

pub extern "C" fn entry(
    _: *mut Env,
    map: *mut Value,
    ty: *const Type,
    key: *const u64,
) -> *mut Value {
    let (Value::Map(map), Type::Map(types, _)) = (changed(map), shared(ty)) else {
        return null_mut();
    };
    // SAFETY: compiled code stores a word for each part of the key.
    let key = unsafe { Words::at(key) }.build(&types.0);
    if ops::is_full(map.len(), shared(ty)) && !map.contains(&key) {
        return null_mut();
    }
    map.get_or_insert_with(key, || Value::default_of(&types.1))
}

pub extern "C" fn size(_: *mut Env, collection: *const Value) -> u64 {
    (match shared(collection) {
        Value::Map(map) => map.len(),
        Value::Set(set) => set.len(),
        Value::List(list) => list.len(),
        _ => 0,
    }) as u64
}

fn set_has_key(set: *const Value, key: Key<'_>) -> u32 {
    match shared(set) {
        Value::Set(set) => u32::from(set.contains_key(key)),
        _ => 0,
    }
}

pub extern "C" fn set_has_signed(_: *mut Env, set: *const Value, item: i64) -> u32 {
    set_has_key(set, Key::Int(item))
}

pub extern "C" fn set_has_unsigned(_: *mut Env, set: *const Value, item: u64) -> u32 {
    set_has_key(set, Key::Uint(item))
}

pub extern "C" fn set_has_bytes(
    _: *mut Env,
    set: *const Value,
    data: *const u8,
    len: usize,
) -> u32 {
    set_has_key(set, Key::Bytes(elements(data, len)))
}

pub extern "C" fn set_has(_: *mut Env, set: *const Value, item: *const Value) -> u32 {
    match shared(set) {
        Value::Set(set) => u32::from(set.contains(shared(item))),
        _ => 0,
    }
}

pub extern "C" fn item_at(_: *mut Env, collection: *const Value, at: usize) -> *const Value {
    let item = match shared(collection) {
        Value::Set(set) => set.get_index(at),
        Value::Map(map) => map.get_index(at).map(|(key, _)| key),
        _ => None,
    };
    item.map_or(null(), from_ref)
}
