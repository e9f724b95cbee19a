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
//! Primitive values have their text form, strings and xml unquoted; what holds a value is named by
//! its type, arguments and bounds left out. Reading matches attributes by name and skips blanks
//! between elements, comments and namespaces.

mod document;
mod tuple_to_xml;
mod xml_to_tuple;

use tuple::{RString, Value};

use crate::Fault;

pub(super) use tuple_to_xml::from_tuple;
pub(super) use xml_to_tuple::to_tuple;

/// Whether a text is a well-formed XML document; if not, why.
pub fn check_xml(text: &[u8]) -> Result<(), String> {
    document::parse(text).map(drop)
}

/// A text as xml, if it is well-formed.
pub(super) fn checked_xml(text: Vec<u8>) -> Result<Value, Fault> {
    match check_xml(&text) {
        Ok(()) => Ok(Value::Xml(RString(text))),
        Err(why) => Err(Fault::value(format!(
            "the string is not well-formed XML: {why}"
        ))),
    }
}
