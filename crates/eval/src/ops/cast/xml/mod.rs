//! Casts from and to xml.
//!
//! A tuple becomes a document like this, without blanks between the elements:
//! ```text
//! <tuple>
//!   <attr name="id" type="int32"><int32>7</int32></attr>
//!   <attr name="tags" type="list&lt;rstring&gt;">
//!     <list><rstring>a</rstring><rstring>b</rstring></list></attr>
//!   <attr name="age" type="map&lt;rstring, int32&gt;">
//!     <map><entry><rstring>ann</rstring><int32>31</int32></entry></map></attr>
//!   <attr name="pet" type="optional&lt;rstring&gt;"><null/></attr>
//! </tuple>
//! ```
//! Primitive values have their text form, strings and xml unquoted. The element around a value is
//! named by the value's type, without arguments and bounds. A cast to a tuple finds attributes by
//! name and skips blanks between elements, comments and namespaces.

mod tuple_to_xml;
mod xml_to_tuple;

use tuple::{RString, Value};
pub(super) use tuple_to_xml::from_tuple;
use xml::check_document;
pub(super) use xml_to_tuple::to_tuple;

use crate::Fault;

/// Checks that a text is a well-formed XML document.
///
/// # Errors
/// A sentence that says what is not well-formed.
pub fn check_xml(text: &[u8]) -> Result<(), String> {
    check_document(text)
}

/// A value of type xml with this text.
///
/// # Errors
/// If the text is not a well-formed document.
pub(super) fn checked_xml(text: Vec<u8>) -> Result<Value, Fault> {
    match check_document(&text) {
        Ok(()) => Ok(Value::Xml(RString(text))),
        Err(why) => Err(Fault::value(format!(
            "the string is not well-formed XML: {why}"
        ))),
    }
}
