//! Casts from and to xml.
use tuple::{RString, Type, Value};

use crate::Fault;

pub(super) fn checked(text: Vec<u8>) -> Result<Value, Fault> {
    Ok(Value::Xml(RString(text)))
}
pub(super) fn from_tuple(_value: &Value, _from: &Type) -> Result<Value, Fault> {
    Err(Fault::value("x"))
}
pub(super) fn to_tuple(_text: &RString, _to: &Type) -> Result<Value, Fault> {
    Err(Fault::value("x"))
}
