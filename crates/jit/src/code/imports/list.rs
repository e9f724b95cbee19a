//! Lists.

use graph::ops;
use tuple::{Type, Value};

use super::super::env::Env;
use super::super::words::Words;
use super::{changed, shared};

pub extern "C" fn append(_: *mut Env, list: *mut Value, ty: *const Type, element: *const u64) {
    let ty = shared(ty);
    let (Value::List(list), Type::List(element_type, _)) = (changed(list), ty) else {
        return;
    };
    // SAFETY: compiled code stores a word for each part of the element.
    let value = unsafe { Words::at(element) }.build(element_type);
    if !ops::is_full(list.len(), ty) {
        list.push(value);
    }
}
