//! `com.ibm.streamsx.json`: values as JSON, and parts of JSON documents.
//!
//! `parseJSON` keeps a document for its operator under the name of the index, and `queryJSON` looks
//! it up. In Streams it is kept for the thread; here an operator has the same documents on every
//! plan.

use std::sync::Arc;

use eval::{Fault, NativeCall, NativeFn};
use tuple::Value;
use tuple::text::json::{
    JsonDocument, JsonFinding, JsonNames, JsonNull, JsonOptions, JsonWriteOptions, fill_json,
    print_json,
};

use super::arguments::{NativeArguments, rstring};
use super::entry::{NativeEval, native};

/// All functions of the namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[WRITE, READ];

const fn json(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("com.ibm.streamsx.json", prototype, doc, eval)
}

const WRITE: &[NativeFn] = &[
    json(
        "<tuple T> rstring tupleToJSON(T t)",
        "A tuple as a JSON object with an entry an attribute. Blobs, complex numbers, xml and \
         optionals without a value are null; timestamps, enums and floats that are not finite are \
         strings.",
        |c| value_to_json(c, 1),
    ),
    json(
        "<tuple T> rstring tupleToJSON(T t, rstring prefixToIgnore)",
        "A tuple as a JSON object. Names of attributes that begin with the prefix lose it.",
        |c| value_to_json(c, 1),
    ),
    json(
        "<string S, any T> rstring mapToJSON(map<S,T> m)",
        "A map as a JSON object with an entry a key.",
        |c| value_to_json(c, 1),
    ),
    json(
        "<string S, any T> rstring mapToJSON(map<S,T> m, rstring prefixToIgnore)",
        "A map as a JSON object. Names of attributes in its values that begin with the prefix lose \
         it.",
        |c| value_to_json(c, 1),
    ),
    json(
        "<string S, any T> rstring toJSON(S key, T value)",
        "A JSON object with one entry.",
        entry_to_json,
    ),
    json(
        "<string S, any T> rstring toJSON(S key, T value, rstring prefixToIgnore)",
        "A JSON object with one entry. Names of attributes that begin with the prefix lose it.",
        entry_to_json,
    ),
];

const READ: &[NativeFn] = &[
    json(
        "<tuple T> T extractFromJSON(rstring jsonString, mutable T value)",
        "Fills the attributes of the tuple for which a JSON object has an entry, and gives the \
         tuple. Others stay as they are, as do those whose entry is null or does not fit the type. A \
         text that is not JSON is a fault.",
        extract,
    ),
    json(
        "<enum E> uint32 parseJSON(rstring jsonString, E index)",
        "Parses a JSON document and keeps it for the operator under an index of JsonIndex. 0, or \
         the number of the mistake in JsonParseStatus.",
        |c| Ok(Value::Uint32(parse(c, 1)?.0)),
    ),
    json(
        "<enum E> boolean parseJSON(rstring jsonString, \
         mutable com.ibm.streamsx.json::JsonParseStatus.status status, mutable uint32 offset, \
         E index)",
        "Parses a JSON document and keeps it for the operator under an index of JsonIndex. Whether \
         it is JSON; if not, `status` is the mistake and `offset` the number of bytes before it.",
        |c| {
            let (status, offset) = parse(c, 3)?;
            c.set_ordinal(1, status);
            c.set_uint32(2, offset);
            Ok(Value::Boolean(status == 0))
        },
    ),
    json(
        "rstring getParseError(com.ibm.streamsx.json::JsonParseStatus.status status)",
        "A sentence for a status of parseJSON.",
        |c| Ok(rstring(PARSE_SENTENCES[c.ordinal(0) as usize])),
    ),
    json(
        "<any T, enum E> T queryJSON(rstring jsonPath, T defaultValue, E index)",
        "The value at a JSON pointer (`/a/0/b`) in the document of an index, as a boolean, a number \
         or a string, or a list of these; the default if there is none of this type.",
        |c| Ok(query(c, 2)?.1),
    ),
    json(
        "<any T, enum E> T queryJSON(rstring jsonPath, T defaultValue, \
         mutable com.ibm.streamsx.json::JsonStatus.status status, E index)",
        "The value at a JSON pointer in the document of an index. `status` says what was found.",
        |c| {
            let (finding, value) = query(c, 3)?;
            c.set_ordinal(2, finding as u32);
            Ok(value)
        },
    ),
];

/// By the ordinals of JsonParseStatus.status.
const PARSE_SENTENCES: [&str; 18] = [
    "The document was parsed.",
    "The document is empty.",
    "More follows behind the root of the document.",
    "A value is malformed.",
    "An entry of an object lacks its key.",
    "A colon is missing behind a key.",
    "A comma or a closing brace is missing in an object.",
    "A comma or a closing bracket is missing in an array.",
    "The digits of a \\u escape are not hexadecimal.",
    "A surrogate in \\u escapes lacks its other half.",
    "A string holds an escape that there is not.",
    "The closing quotation mark of a string is missing.",
    "A string is not valid UTF-8, or holds a control character.",
    "A number is too big.",
    "A number lacks the digits of its fraction.",
    "A number lacks the digits of its exponent.",
    "Parsing was ended.",
    "The document is malformed.",
];

/// The options of a call with the prefix as an argument, or without.
fn write_options(c: &NativeCall<'_>, prefix: usize) -> JsonWriteOptions {
    JsonWriteOptions {
        names: match prefix < c.args.len() {
            true => JsonNames::without_prefix(c.text(prefix)),
            false => JsonNames::default(),
        },
        blobs_are_null: true,
    }
}

fn value_to_json(c: &mut NativeCall<'_>, prefix: usize) -> Result<Value, Fault> {
    let mut out = Vec::new();
    print_json(c.arg(0), c.arg_type(0), &write_options(c, prefix), &mut out);
    Ok(rstring(out))
}

fn entry_to_json(c: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let options = write_options(c, 2);
    let mut out = b"{".to_vec();
    print_json(c.arg(0), c.arg_type(0), &options, &mut out);
    out.push(b':');
    print_json(c.arg(1), c.arg_type(1), &options, &mut out);
    out.push(b'}');
    Ok(rstring(out))
}

fn extract(c: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let options = JsonOptions {
        is_lenient: true,
        null: JsonNull::Keep,
        ..JsonOptions::default()
    };
    let (text, ty) = (c.bytes(0).to_vec(), c.arg_type(1).clone());
    let value = c.arg_mut(1);
    fill_json(&text, &ty, value, &options)
        .map_err(|failure| Fault::value(format!("the text is not JSON: {failure}")))?;
    Ok(value.clone())
}

/// Parses and keeps a document; the status and the offset of the mistake.
fn parse(c: &mut NativeCall<'_>, index: usize) -> Result<(u32, u32), Fault> {
    let name = c.enumerator(index).to_owned();
    match JsonDocument::parse(c.bytes(0)) {
        Ok(document) => {
            c.services.keep(&name, Arc::new(document))?;
            Ok((0, 0))
        }
        Err(failure) => {
            // Queries find nothing then, rather than something in the document before.
            c.services.keep(&name, Arc::new(()))?;
            let status = failure.mistake(c.bytes(0)) as u32;
            Ok((status, failure.offset.try_into().unwrap_or(u32::MAX)))
        }
    }
}

fn query(c: &mut NativeCall<'_>, index: usize) -> Result<(JsonFinding, Value), Fault> {
    let name = c.enumerator(index).to_owned();
    let kept = c.services.kept(&name)?;
    let document = kept.and_then(|kept| kept.downcast::<JsonDocument>().ok());
    let Some(document) = document else {
        return Ok((JsonFinding::NotFound, c.arg(1).clone()));
    };
    let (finding, found) = document.query(&c.text(0), c.arg_type(1));
    Ok((finding, found.unwrap_or_else(|| c.arg(1).clone())))
}
