//! Types in prototypes, which may contain type formals.

use std::fmt;
use std::sync::Arc;

use tuple::{Attribute, TupleType, Type};

/// A type that may hold type formals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypePattern {
    /// No formal in it.
    Exact(Type),
    /// The n-th type formal.
    Formal(usize),
    List(Box<TypePattern>),
    Set(Box<TypePattern>),
    Map(Box<TypePattern>, Box<TypePattern>),
    Optional(Box<TypePattern>),
    Tuple(Vec<(Arc<str>, TypePattern)>),
}

impl TypePattern {
    /// The type, when each formal stands for a type; `None` if one of them does not.
    pub fn instantiate(&self, formals: &[Option<Type>]) -> Option<Type> {
        Some(match self {
            TypePattern::Exact(ty) => ty.clone(),
            TypePattern::Formal(at) => formals.get(*at)?.clone()?,
            TypePattern::List(e) => Type::List(Arc::new(e.instantiate(formals)?), None),
            TypePattern::Set(e) => Type::Set(Arc::new(e.instantiate(formals)?), None),
            TypePattern::Map(k, v) => {
                let both = (k.instantiate(formals)?, v.instantiate(formals)?);
                Type::Map(Arc::new(both), None)
            }
            TypePattern::Optional(e) => match e.instantiate(formals)? {
                ty @ Type::Optional(_) => ty,
                ty => Type::Optional(Arc::new(ty)),
            },
            TypePattern::Tuple(list) => {
                let attributes = list.iter().map(|(name, p)| {
                    Some(Attribute {
                        name: name.clone(),
                        ty: p.instantiate(formals)?,
                    })
                });
                let attributes = attributes.collect::<Option<Vec<_>>>()?;
                Type::Tuple(Arc::new(TupleType { attributes }))
            }
        })
    }

    /// The pattern with every part that holds no formal made exact.
    pub fn simplified(self) -> TypePattern {
        match self.instantiate(&[]) {
            Some(ty) => TypePattern::Exact(ty),
            None => self,
        }
    }

    /// As SPL writes it, with the formals' names.
    pub fn display<'p>(&'p self, names: &'p [Arc<str>]) -> TypePatternDisplay<'p> {
        TypePatternDisplay {
            pattern: self,
            names,
        }
    }
}

/// A pattern to be printed.
pub(crate) struct TypePatternDisplay<'p> {
    pattern: &'p TypePattern,
    names: &'p [Arc<str>],
}

impl fmt::Display for TypePatternDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |pattern| TypePatternDisplay {
            pattern,
            names: self.names,
        };
        match self.pattern {
            TypePattern::Exact(ty) => write!(f, "{ty}"),
            TypePattern::Formal(at) => f.write_str(self.names.get(*at).map_or("T", |n| n)),
            TypePattern::List(e) => write!(f, "list<{}>", of(e)),
            TypePattern::Set(e) => write!(f, "set<{}>", of(e)),
            TypePattern::Map(k, v) => write!(f, "map<{}, {}>", of(k), of(v)),
            TypePattern::Optional(e) => write!(f, "optional<{}>", of(e)),
            TypePattern::Tuple(list) => {
                f.write_str("tuple<")?;
                for (at, (name, p)) in list.iter().enumerate() {
                    write!(f, "{}{} {name}", if at > 0 { ", " } else { "" }, of(p))?;
                }
                f.write_str(">")
            }
        }
    }
}
