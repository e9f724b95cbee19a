//! Constraint words of generic prototypes, such as `numeric` and `enum`.

use tuple::Type;

/// Constraint on a type formal, as the word before its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeConstraint {
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

impl TypeConstraint {
    /// The constraint of a word.
    pub fn from_word(word: &str) -> Option<TypeConstraint> {
        Some(match word {
            "any" => TypeConstraint::Any,
            "primitive" => TypeConstraint::Primitive,
            "ordered" => TypeConstraint::Ordered,
            "numeric" => TypeConstraint::Numeric,
            "integral" => TypeConstraint::Integral,
            "floatingpoint" => TypeConstraint::FloatingPoint,
            "float" => TypeConstraint::Float,
            "decimal" => TypeConstraint::Decimal,
            "complex" => TypeConstraint::Complex,
            "string" => TypeConstraint::String,
            "enum" => TypeConstraint::Enum,
            "xml" => TypeConstraint::Xml,
            "composite" => TypeConstraint::Composite,
            "collection" => TypeConstraint::Collection,
            "list" => TypeConstraint::List,
            "map" => TypeConstraint::Map,
            "set" => TypeConstraint::Set,
            "tuple" => TypeConstraint::Tuple,
            "optional" => TypeConstraint::Optional,
            _ => return None,
        })
    }

    /// Whether a type is one of those.
    pub fn admits(self, ty: &Type) -> bool {
        match self {
            TypeConstraint::Any => *ty != Type::Void,
            TypeConstraint::Primitive => ty.is_primitive(),
            TypeConstraint::Ordered => ty.is_ordered(),
            TypeConstraint::Numeric => ty.is_numeric(),
            TypeConstraint::Integral => ty.is_integral(),
            TypeConstraint::FloatingPoint => ty.is_floatingpoint(),
            TypeConstraint::Float => ty.is_float(),
            TypeConstraint::Decimal => ty.is_decimal(),
            TypeConstraint::Complex => ty.is_complex(),
            TypeConstraint::String => ty.is_string(),
            TypeConstraint::Enum => ty.is_enum(),
            TypeConstraint::Xml => ty.is_xml(),
            TypeConstraint::Composite => ty.is_collection() || ty.is_tuple(),
            TypeConstraint::Collection => ty.is_collection(),
            TypeConstraint::List => ty.is_list(),
            TypeConstraint::Map => ty.is_map(),
            TypeConstraint::Set => ty.is_set(),
            TypeConstraint::Tuple => ty.is_tuple(),
            TypeConstraint::Optional => ty.is_optional(),
        }
    }

    /// The types that the constraint admits, in the user's words.
    pub fn description(self) -> &'static str {
        match self {
            TypeConstraint::Any => "any value",
            TypeConstraint::Primitive => "a primitive value",
            TypeConstraint::Ordered => "a value that has an order",
            TypeConstraint::Numeric => "a number",
            TypeConstraint::Integral => "an integer",
            TypeConstraint::FloatingPoint => "a float or decimal",
            TypeConstraint::Float => "a float",
            TypeConstraint::Decimal => "a decimal",
            TypeConstraint::Complex => "a complex number",
            TypeConstraint::String => "a string",
            TypeConstraint::Enum => "an enumerator",
            TypeConstraint::Xml => "an xml value",
            TypeConstraint::Composite => "a collection or tuple",
            TypeConstraint::Collection => "a list, set or map",
            TypeConstraint::List => "a list",
            TypeConstraint::Map => "a map",
            TypeConstraint::Set => "a set",
            TypeConstraint::Tuple => "a tuple",
            TypeConstraint::Optional => "an optional",
        }
    }
}
