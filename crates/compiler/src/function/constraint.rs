//! The constraint words of generic prototypes.

use tuple::Type;

/// What a type formal may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    Any,
    Primitive,
    Ordered,
    Numeric,
    Integral,
    FloatingPoint,
    Float,
    Decimal,
    Complex,
    String,
    Enum,
    Xml,
    Composite,
    Collection,
    List,
    Map,
    Set,
    Tuple,
    Optional,
}

impl Constraint {
    /// The constraint of a word.
    pub fn of(word: &str) -> Option<Constraint> {
        Some(match word {
            "any" => Constraint::Any,
            "primitive" => Constraint::Primitive,
            "ordered" => Constraint::Ordered,
            "numeric" => Constraint::Numeric,
            "integral" => Constraint::Integral,
            "floatingpoint" => Constraint::FloatingPoint,
            "float" => Constraint::Float,
            "decimal" => Constraint::Decimal,
            "complex" => Constraint::Complex,
            "string" => Constraint::String,
            "enum" => Constraint::Enum,
            "xml" => Constraint::Xml,
            "composite" => Constraint::Composite,
            "collection" => Constraint::Collection,
            "list" => Constraint::List,
            "map" => Constraint::Map,
            "set" => Constraint::Set,
            "tuple" => Constraint::Tuple,
            "optional" => Constraint::Optional,
            _ => return None,
        })
    }

    /// Whether a type is one of those.
    pub fn admits(self, ty: &Type) -> bool {
        match self {
            Constraint::Any => *ty != Type::Void,
            Constraint::Primitive => ty.is_primitive(),
            Constraint::Ordered => ty.is_ordered(),
            Constraint::Numeric => ty.is_numeric(),
            Constraint::Integral => ty.is_integral(),
            Constraint::FloatingPoint => ty.is_floatingpoint(),
            Constraint::Float => ty.is_float(),
            Constraint::Decimal => ty.is_decimal(),
            Constraint::Complex => ty.is_complex(),
            Constraint::String => ty.is_string(),
            Constraint::Enum => ty.is_enum(),
            Constraint::Xml => ty.is_xml(),
            Constraint::Composite => ty.is_collection() || ty.is_tuple(),
            Constraint::Collection => ty.is_collection(),
            Constraint::List => ty.is_list(),
            Constraint::Map => ty.is_map(),
            Constraint::Set => ty.is_set(),
            Constraint::Tuple => ty.is_tuple(),
            Constraint::Optional => ty.is_optional(),
        }
    }

    /// What it admits, in the user's words.
    pub fn words(self) -> &'static str {
        match self {
            Constraint::Any => "any value",
            Constraint::Primitive => "a primitive value",
            Constraint::Ordered => "a value that has an order",
            Constraint::Numeric => "a number",
            Constraint::Integral => "an integer",
            Constraint::FloatingPoint => "a float or decimal",
            Constraint::Float => "a float",
            Constraint::Decimal => "a decimal",
            Constraint::Complex => "a complex number",
            Constraint::String => "a string",
            Constraint::Enum => "an enumerator",
            Constraint::Xml => "an xml value",
            Constraint::Composite => "a collection or tuple",
            Constraint::Collection => "a list, set or map",
            Constraint::List => "a list",
            Constraint::Map => "a map",
            Constraint::Set => "a set",
            Constraint::Tuple => "a tuple",
            Constraint::Optional => "an optional",
        }
    }
}
