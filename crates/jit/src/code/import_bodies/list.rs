//! Imported functions that change lists.

use eval::ops;
use tuple::{Type, Value};

use super::super::env::Env;
use super::super::parts_reader::PartsReader;
use super::{deref, deref_mut};

pub extern "C" fn list_append(_: *mut Env, list: *mut Value, ty: *const Type, element: *const u64) {
    let ty = deref(ty);
    let (Value::List(list), Type::List(element_type, _)) = (deref_mut(list), ty) else {
        return;
    };
    // SAFETY: compiled code stores a word for each part of the element.
    let value = unsafe { PartsReader::new(element) }.build(element_type);
    if !ops::is_full(list.len(), ty) {
        list.push(value);
    }
}
