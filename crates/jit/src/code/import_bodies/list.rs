//! Imported functions that change lists.

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
