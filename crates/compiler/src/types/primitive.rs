//! Primitive types by their keywords.

use tuple::Type;

/// The type of a keyword.
pub(crate) fn primitive(word: &str) -> Option<Type> {
    Some(match word {
        "boolean" => Type::Boolean,
        "int8" => Type::Int8,
        "int16" => Type::Int16,
        "int32" => Type::Int32,
        "int64" => Type::Int64,
        "uint8" => Type::Uint8,
        "uint16" => Type::Uint16,
        "uint32" => Type::Uint32,
        "uint64" => Type::Uint64,
        "float32" => Type::Float32,
        "float64" => Type::Float64,
        "decimal32" => Type::Decimal32,
        "decimal64" => Type::Decimal64,
        "decimal128" => Type::Decimal128,
        "complex32" => Type::Complex32,
        "complex64" => Type::Complex64,
        "timestamp" => Type::Timestamp,
        "rstring" => Type::RString,
        "ustring" => Type::UString,
        "blob" => Type::Blob,
        "xml" => Type::Xml(None),
        "void" => Type::Void,
        _ => return None,
    })
}
