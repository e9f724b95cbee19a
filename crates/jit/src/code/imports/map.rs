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

/// The map of a value; no other value gets here.
fn map_of<'a>(map: *const Value) -> Option<&'a tuple::Map> {
    match shared(map) {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

pub extern "C" fn get_signed(_: *mut Env, map: *const Value, key: i64) -> *mut Value {
    found(map_of(map).and_then(|map| map.get_i64(key)))
}

pub extern "C" fn get_unsigned(_: *mut Env, map: *const Value, key: u64) -> *mut Value {
    found(map_of(map).and_then(|map| map.get_u64(key)))
}

pub extern "C" fn get_bytes(
    _: *mut Env,
    map: *const Value,
    data: *const u8,
    len: usize,
) -> *mut Value {
    found(map_of(map).and_then(|map| map.get_bytes(elements(data, len))))
}

pub extern "C" fn get(_: *mut Env, map: *const Value, key: *const Value) -> *mut Value {
    found(map_of(map).and_then(|map| map.get(shared(key))))
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

/// Whether a set has what is asked for.
fn has(set: *const Value, asked: impl FnOnce(&tuple::Set) -> bool) -> u32 {
    match shared(set) {
        Value::Set(set) => u32::from(asked(set)),
        _ => 0,
    }
}

pub extern "C" fn set_has_signed(_: *mut Env, set: *const Value, item: i64) -> u32 {
    has(set, |set| set.contains_i64(item))
}

pub extern "C" fn set_has_unsigned(_: *mut Env, set: *const Value, item: u64) -> u32 {
    has(set, |set| set.contains_u64(item))
}

pub extern "C" fn set_has_bytes(
    _: *mut Env,
    set: *const Value,
    data: *const u8,
    len: usize,
) -> u32 {
    has(set, |set| set.contains_bytes(elements(data, len)))
}

pub extern "C" fn set_has(_: *mut Env, set: *const Value, item: *const Value) -> u32 {
    has(set, |set| set.contains(shared(item)))
}

pub extern "C" fn item_at(_: *mut Env, collection: *const Value, at: usize) -> *const Value {
    let item = match shared(collection) {
        Value::Set(set) => set.get_index(at),
        Value::Map(map) => map.get_index(at).map(|(key, _)| key),
        _ => None,
    };
    item.map_or(null(), from_ref)
}
