//! Conversions between types: `(T) e`, and the implicit ones that the compiler has spelt out.
//!
//! | from | to | how |
//! | --- | --- | --- |
//! | T | T | as it is |
//! | number but complex | number but complex | see [`number`] |
//! | complex | complex | each part |
//! | string, xml, enum | string | the raw characters |
//! | anything else | string | its text form |
//! | string | anything else | reads the text form; blanks around it are allowed |
//! | enum | integer, and back | the ordinal; no such enumerator is a fault |
//! | float64 | timestamp, and back | seconds |
//! | list of uint8 | blob, and back | the bytes |
//! | list of two numbers | complex | real and imaginary part; another length is a fault |
//! | list, set, map | the same kind | element by element |
//! | set | list | its elements in the order in which they came; no program can write it |
//! | tuple | tuple | by name of the attributes |
//! | tuple | xml, and back | see [`xml`] |
//! | X | `optional<Y>` | if X can be cast to Y; text may say `null`, but for a string or xml |
//!
//! A bounded target drops what is beyond its bound.

mod number;
mod text;
mod undefined_cast;
mod value_cast;
mod xml;

use undefined_cast::undefined_cast;

pub use value_cast::cast;
pub use xml::check_xml;
