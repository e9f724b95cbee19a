//! Types of SPL: a [`Type`], tuples with their attributes, enums with their enumerators.

use std::fmt;
use std::sync::Arc;

/// An SPL type. Cheap to clone: what is large is behind an [`Arc`]. Two types are equal iff SPL
/// says so: tuples by names and types in order, enums by enumerators in order, bounds count.
///
/// A type says how a [`Value`](crate::Value) and a slot of a flat tuple are to be read, as neither
/// carries its type. The text of a type (`Display`) is that of SPL.
///
/// The bound of a bounded type (`rstring[n]`, `list<T>[n]`) counts bytes of a string and elements
/// of a collection. Values are cut to it where they are cast or written into a tuple.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::Type;
///
/// let prices = Type::Map(Arc::new((Type::RString, Type::Decimal64)), None);
/// assert_eq!(prices.to_string(), "map<rstring, decimal64>");
/// let last = Type::List(Arc::new(Type::Int32), Some(5));
/// assert_eq!(last.to_string(), "list<int32>[5]");
/// assert!(last.is_collection() && !last.is_primitive());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each primitive is the SPL type of its name")]
pub enum Type {
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
    Decimal32,
    Decimal64,
    Decimal128,
    Complex32,
    Complex64,
    Timestamp,
    /// Raw bytes, normally UTF-8.
    RString,
    /// `rstring[n]`: at most n bytes.
    BoundedRString(u32),
    /// A string of UTF-16 units.
    UString,
    Blob,
    /// `xml` or `xml<"schema uri">`.
    Xml(Option<Arc<str>>),
    Enum(Arc<EnumType>),
    /// A list, `list<T>` or `list<T>[n]`.
    List(Arc<Type>, Option<u32>),
    /// A set, `set<T>` or `set<T>[n]`.
    Set(Arc<Type>, Option<u32>),
    /// `map<K, V>` or `map<K, V>[n]`.
    Map(Arc<(Type, Type)>, Option<u32>),
    Tuple(Arc<TupleType>),
    /// `optional<T>`; T is never optional.
    Optional(Arc<Type>),
    /// The result of a function that has none; no value has this type.
    Void,
}

/// The enumerators of an enum type, in order of declaration.
///
/// A value of the type is an ordinal, counted from 0; the default value is the first enumerator.
/// Two enum types are equal if they have the same enumerators in the same order.
///
/// # Example
/// ```
/// use thalweg_tuple::{EnumType, Value};
///
/// let side = EnumType { names: vec!["buy".into(), "sell".into()] };
/// assert_eq!(side.find("sell").map(Value::Enum), Some(Value::Enum(1)));
/// assert_eq!(side.find("hold"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// Names of the enumerators, by ordinal.
    pub names: Vec<Arc<str>>,
}

/// The attributes of a tuple type, in order: the schema of a stream.
///
/// Attributes are addressed by their index. Names are unique; the compiler sees to that, and
/// nothing here checks it. [`Layout`](crate::Layout) says where each attribute lies in a flat
/// tuple.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TupleType {
    /// Attributes of the schema, in order.
    pub attributes: Vec<Attribute>,
}

/// One attribute of a tuple type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Name of the attribute.
    pub name: Arc<str>,
    /// Type of the attribute's values.
    pub ty: Type,
}

impl TupleType {
    /// A tuple type of these attributes.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{TupleType, Type};
    ///
    /// let schema = TupleType::new([("symbol", Type::RString), ("price", Type::Float64)]);
    /// let (index, price) = schema.find("price").expect("an attribute");
    /// assert_eq!((index, &price.ty), (1, &Type::Float64));
    /// assert!(schema.find("volume").is_none());
    /// ```
    pub fn new(attributes: impl IntoIterator<Item = (impl Into<Arc<str>>, Type)>) -> TupleType {
        let attributes = attributes.into_iter();
        let attributes = attributes
            .map(|(name, ty)| Attribute {
                name: name.into(),
                ty,
            })
            .collect();
        TupleType { attributes }
    }

    /// The index and the attribute of a name; `None` if the type has no such attribute. Compares
    /// one name after the other, so callers look names up while wiring, not for each tuple.
    pub fn find(&self, name: &str) -> Option<(usize, &Attribute)> {
        self.attributes
            .iter()
            .enumerate()
            .find(|(_, a)| &*a.name == name)
    }
}

impl EnumType {
    /// The ordinal of an enumerator, from 0; `None` if the type has no such enumerator.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names
            .iter()
            .position(|n| &**n == name)
            .map(|at| at as u32)
    }
}

#[expect(missing_docs, reason = "each is the SPL constraint word of its name")]
impl Type {
    pub fn is_signed(&self) -> bool {
        matches!(self, Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64)
    }
    pub fn is_unsigned(&self) -> bool {
        matches!(
            self,
            Type::Uint8 | Type::Uint16 | Type::Uint32 | Type::Uint64
        )
    }
    pub fn is_integral(&self) -> bool {
        self.is_signed() || self.is_unsigned()
    }
    pub fn is_float(&self) -> bool {
        matches!(self, Type::Float32 | Type::Float64)
    }
    pub fn is_decimal(&self) -> bool {
        matches!(self, Type::Decimal32 | Type::Decimal64 | Type::Decimal128)
    }
    pub fn is_floatingpoint(&self) -> bool {
        self.is_float() || self.is_decimal()
    }
    pub fn is_complex(&self) -> bool {
        matches!(self, Type::Complex32 | Type::Complex64)
    }
    pub fn is_numeric(&self) -> bool {
        self.is_integral() || self.is_floatingpoint() || self.is_complex()
    }
    pub fn is_string(&self) -> bool {
        matches!(
            self,
            Type::RString | Type::BoundedRString(_) | Type::UString
        )
    }
    pub fn is_rstring(&self) -> bool {
        matches!(self, Type::RString | Type::BoundedRString(_))
    }
    pub fn is_xml(&self) -> bool {
        matches!(self, Type::Xml(_))
    }
    pub fn is_enum(&self) -> bool {
        matches!(self, Type::Enum(_))
    }
    pub fn is_ordered(&self) -> bool {
        matches!(
            self,
            Type::Boolean | Type::Enum(_) | Type::Timestamp | Type::Blob
        ) || self.is_integral()
            || self.is_floatingpoint()
            || self.is_string()
    }
    pub fn is_primitive(&self) -> bool {
        self.is_ordered() || self.is_complex() || self.is_xml()
    }
    pub fn is_list(&self) -> bool {
        matches!(self, Type::List(..))
    }
    pub fn is_set(&self) -> bool {
        matches!(self, Type::Set(..))
    }
    pub fn is_map(&self) -> bool {
        matches!(self, Type::Map(..))
    }
    pub fn is_collection(&self) -> bool {
        self.is_list() || self.is_set() || self.is_map()
    }
    pub fn is_tuple(&self) -> bool {
        matches!(self, Type::Tuple(_))
    }
    pub fn is_optional(&self) -> bool {
        matches!(self, Type::Optional(_))
    }
    /// All but xml, and what holds xml.
    pub fn is_equatable(&self) -> bool {
        match self {
            Type::Xml(_) | Type::Void => false,
            Type::List(e, _) | Type::Set(e, _) | Type::Optional(e) => e.is_equatable(),
            Type::Map(kv, _) => kv.0.is_equatable() && kv.1.is_equatable(),
            Type::Tuple(t) => t.attributes.iter().all(|a| a.ty.is_equatable()),
            _ => true,
        }
    }
    /// The tuple type, if it is one.
    pub fn as_tuple(&self) -> Option<&Arc<TupleType>> {
        if let Type::Tuple(t) = self {
            Some(t)
        } else {
            None
        }
    }
}

/// As SPL writes it: `list<int32>[5]`, `tuple<int32 a, rstring b>`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |f: &mut fmt::Formatter<'_>, n: &Option<u32>| match n {
            Some(n) => write!(f, "[{n}]"),
            None => Ok(()),
        };
        match self {
            Type::BoundedRString(n) => write!(f, "rstring[{n}]"),
            Type::Xml(None) => f.write_str("xml"),
            Type::Xml(Some(uri)) => write!(f, "xml<{uri:?}>"),
            Type::Enum(e) => write!(f, "enum{{{}}}", e.names.join(",")),
            Type::List(e, n) => write!(f, "list<{e}>").and_then(|()| bound(f, n)),
            Type::Set(e, n) => write!(f, "set<{e}>").and_then(|()| bound(f, n)),
            Type::Map(kv, n) => write!(f, "map<{}, {}>", kv.0, kv.1).and_then(|()| bound(f, n)),
            Type::Tuple(t) => write!(f, "tuple<{t}>"),
            Type::Optional(t) => write!(f, "optional<{t}>"),
            primitive => f.write_str(&format!("{primitive:?}").to_lowercase()),
        }
    }
}

/// The attributes alone: `int32 a, rstring b`.
impl fmt::Display for TupleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, a) in self.attributes.iter().enumerate() {
            write!(f, "{}{} {}", if at > 0 { ", " } else { "" }, a.ty, a.name)?;
        }
        Ok(())
    }
}
