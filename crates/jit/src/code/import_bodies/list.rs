//! Imported functions that change lists and sets.

use eval::ops;
use tuple::{Type, Value};

use super::super::env::Env;
use super::super::parts_reader::PartsReader;
use super::{deref, deref_mut};

pub extern "C" fn list_append(
    _: *mut Env,
    list: *mut Value,
    ty: *const Type,
    element: *const u64,
) -> u32 {
    let ty = deref(ty);
    let (Value::List(list), Type::List(element_type, _)) = (deref_mut(list), ty) else {
        return 1;
    };
    if ops::is_full(list.len(), ty) {
        return 1;
    }
    if ops::grown_len(list.len(), 1, "list").is_err() {
        return 0;
    }
    // SAFETY: compiled code stores a word for each part of the element.
    let value = unsafe { PartsReader::new(element) }.build(element_type);
    list.push(value);
    1
}

pub extern "C" fn set_insert(_: *mut Env, set: *mut Value, ty: *const Type, element: *const u64) {
    let ty = deref(ty);
    let (Value::Set(set), Type::Set(element_type, _)) = (deref_mut(set), ty) else {
        return;
    };
    if !ops::is_full(set.len(), ty) {
        // SAFETY: compiled code stores a word for each part of the element.
        set.insert(unsafe { PartsReader::new(element) }.build(element_type));
    }
}

pub extern "C" fn clear_elements(_: *mut Env, collection: *mut Value) {
    ops::clear_elements(deref_mut(collection));
}
