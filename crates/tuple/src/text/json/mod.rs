//! JSON: values of every SPL type as JSON text and back, and the record format `json`.
//!
//! | SPL | written as |
//! | --- | --- |
//! | boolean | `true`, `false` |
//! | integers | number |
//! | floats | number, the shortest that reads back equal; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | decimals | number with all digits; `"NaN"` and the like |
//! | rstring, ustring | string; bytes that are no UTF-8 become U+FFFD |
//! | timestamp, complex, enum, blob, xml | string: the text of a cast to rstring |
//! | list, set | array |
//! | map | object; keys are the texts of casts to rstring |
//! | tuple | object, an entry an attribute |
//! | optional | `null` or the value |
//!
//! Read is what is written, and also: numbers and booleans in strings, and as strings; whole
//! numbers as floats; a timestamp from a whole number of seconds. Entries of an object that are no
//! attribute are skipped, an attribute without an entry keeps its default. In an array `null` is
//! left out, unless elements are optional; elsewhere `null` gives any type but an optional its
//! default. Of several entries with one name the last one counts. What exceeds a bound is left out.
//!
//! The text is parsed by the library sonic-rs; JSON is that of RFC 8259, at most 254 levels deep.

mod document;
mod failure;
mod names;
mod print;
mod reader;
mod slot_seed;
mod value_extent;
mod value_seed;
mod writer;

pub use document::{JsonDocument, JsonFinding, JsonMistake};
pub use failure::JsonFailure;
pub use names::JsonNames;
pub use print::{JsonWriteOptions, print_json};
pub use reader::JsonReader;
pub use value_seed::{JsonNull, JsonOptions, fill_json};
pub use writer::JsonWriter;

#[cfg(test)]
mod tests;
