//! Imported functions on maps and sets.

use std::ptr::{from_mut, from_ref, null_mut};

use eval::ops;
use tuple::{RString, Type, Value};

use super::super::env::Env;
use super::super::parts_reader::PartsReader;
use super::{deref, deref_mut, elements};

/// The value of a key as an address that compiled code may also write to, if the map is a variable.
fn value_address(value: Option<&Value>) -> *mut Value {
    value.map_or(null_mut(), |value| from_ref(value).cast_mut())
}

/// The map of a value; no other value gets here.
fn as_map<'a>(map: *const Value) -> Option<&'a tuple::Map> {
    match deref(map) {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

pub extern "C" fn get_word(_: *mut Env, map: *const Value, key: u64) -> *mut Value {
    value_address(as_map(map).and_then(|map| map.get_word(key)))
}

pub extern "C" fn get_bytes(
    _: *mut Env,
    map: *const Value,
    data: *const u8,
    len: usize,
) -> *mut Value {
    value_address(as_map(map).and_then(|map| map.get_bytes(elements(data, len))))
}

pub extern "C" fn get(_: *mut Env, map: *const Value, key: *const Value) -> *mut Value {
    value_address(as_map(map).and_then(|map| map.get(deref(key))))
}

/// The value of a key that is made by `key` if there is none.
fn get_or_insert(
    map: *mut Value,
    ty: *const Type,
    find: impl FnOnce(&mut tuple::Map) -> Option<*mut Value>,
    key: impl FnOnce(&Type) -> Value,
) -> *mut Value {
    let (Value::Map(map), Type::Map(types, _)) = (deref_mut(map), deref(ty)) else {
        return null_mut();
    };
    if let Some(value) = find(map) {
        return value;
    }
    if ops::is_full(map.len(), deref(ty)) {
        return null_mut();
    }
    map.get_or_insert_with(key(&types.0), || Value::default_of(&types.1))
}

pub extern "C" fn entry_word(
    _: *mut Env,
    map: *mut Value,
    ty: *const Type,
    key: u64,
) -> *mut Value {
    let find = |map: &mut tuple::Map| map.get_word_mut(key).map(from_mut);
    get_or_insert(map, ty, find, |ty| match ty {
        Type::Int8 => Value::Int8(key as i8),
        Type::Int16 => Value::Int16(key as i16),
        Type::Int32 => Value::Int32(key as i32),
        Type::Int64 => Value::Int64(key as i64),
        Type::Uint8 => Value::Uint8(key as u8),
        Type::Uint16 => Value::Uint16(key as u16),
        Type::Uint32 => Value::Uint32(key as u32),
        _ => Value::Uint64(key),
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
    let find = |map: &mut tuple::Map| map.get_bytes_mut(bytes).map(from_mut);
    get_or_insert(map, ty, find, |ty| match ty {
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
    let (Value::Map(map), Type::Map(types, _)) = (deref_mut(map), deref(ty)) else {
        return null_mut();
    };
    // SAFETY: compiled code stores a word for each part of the key.
    let key = unsafe { PartsReader::new(key) }.build(&types.0);
    if ops::is_full(map.len(), deref(ty)) && !map.contains(&key) {
        return null_mut();
    }
    map.get_or_insert_with(key, || Value::default_of(&types.1))
}

/// Whether a set has what is asked for.
fn set_has_where(set: *const Value, asked: impl FnOnce(&tuple::Set) -> bool) -> u32 {
    match deref(set) {
        Value::Set(set) => u32::from(asked(set)),
        _ => 0,
    }
}

pub extern "C" fn set_has_word(_: *mut Env, set: *const Value, item: u64) -> u32 {
    set_has_where(set, |set| set.contains_word(item))
}

pub extern "C" fn set_has_bytes(
    _: *mut Env,
    set: *const Value,
    data: *const u8,
    len: usize,
) -> u32 {
    set_has_where(set, |set| set.contains_bytes(elements(data, len)))
}

pub extern "C" fn set_has(_: *mut Env, set: *const Value, item: *const Value) -> u32 {
    set_has_where(set, |set| set.contains(deref(item)))
}
