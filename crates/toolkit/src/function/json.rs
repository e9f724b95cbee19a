//! The functions of the toolkit `com.ibm.streamsx.json`, which are known by name only.
//!
//! Their types (`JsonIndex`, `JsonStatus`) are not there: a formal of such a type takes any enum.

use eval::NativeFn;
use graph::Unsupported;

use super::entry::unsupported;

/// All functions of the namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[FUNCTIONS];

const WRITE: Unsupported = Unsupported {
    reason: "there is no JSON in this engine",
    alternative: "put the text together, as `\"{\\\"n\\\":\" + (rstring) n + \"}\"`",
};
const READ: Unsupported = Unsupported {
    reason: "there is no JSON in this engine",
    alternative: "take the text apart with regexMatchPerl, or have the data as csv or XML (XMLParse)",
};

const FUNCTIONS: &[NativeFn] = &[
    writes("<tuple T> rstring tupleToJSON(T t)"),
    writes("<tuple T> rstring tupleToJSON(T t, rstring prefixToIgnore)"),
    writes("<string S, any T> rstring mapToJSON(map<S,T> m)"),
    writes("<string S, any T> rstring mapToJSON(map<S,T> m, rstring prefixToIgnore)"),
    writes("<string S, any T> rstring toJSON(S key, T value)"),
    writes("<string S, any T> rstring toJSON(S key, T value, rstring prefixToIgnore)"),
    reads("<tuple T> T extractFromJSON(rstring jsonString, mutable T value)"),
    reads("<enum E> uint32 parseJSON(rstring jsonString, E index)"),
    reads(
        "<enum S, enum E> boolean parseJSON(rstring jsonString, mutable S status, \
         mutable uint32 offset, E index)",
    ),
    reads("<enum S> rstring getParseError(S status)"),
    reads("<any T, enum E> T queryJSON(rstring jsonPath, T defaultValue, E index)"),
    reads(
        "<any T, enum S, enum E> T queryJSON(rstring jsonPath, T defaultValue, mutable S status, \
         E index)",
    ),
];

const fn writes(prototype: &'static str) -> NativeFn {
    let doc = "JSON of a value; not supported.";
    unsupported("com.ibm.streamsx.json", prototype, doc, WRITE)
}

const fn reads(prototype: &'static str) -> NativeFn {
    let doc = "What a JSON document holds; not supported.";
    unsupported("com.ibm.streamsx.json", prototype, doc, READ)
}
