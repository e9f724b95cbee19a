//! Types of prototypes: with type formals in them.

use std::fmt;
use std::sync::Arc;

use tuple::{Attribute, TupleType, Type};

/// A type that may hold type formals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pattern {
    /// No formal in it.
    Exact(Type),
    /// The n-th type formal.
    Formal(usize),
    List(Box<Pattern>),
    Set(Box<Pattern>),
    Map(Box<Pattern>, Box<Pattern>),
    Optional(Box<Pattern>),
    Tuple(Vec<(Arc<str>, Pattern)>),
}

impl Pattern {
    /// The type, when each formal stands for a type; `None` if one of them does not.
    pub fn instantiate(&self, formals: &[Option<Type>]) -> Option<Type> {
        Some(match self {
            Pattern::Exact(ty) => ty.clone(),
            Pattern::Formal(at) => formals.get(*at)?.clone()?,
            Pattern::List(e) => Type::List(Arc::new(e.instantiate(formals)?), None),
            Pattern::Set(e) => Type::Set(Arc::new(e.instantiate(formals)?), None),
            Pattern::Map(k, v) => {
                let both = (k.instantiate(formals)?, v.instantiate(formals)?);
                Type::Map(Arc::new(both), None)
            }
            Pattern::Optional(e) => match e.instantiate(formals)? {
                ty @ Type::Optional(_) => ty,
                ty => Type::Optional(Arc::new(ty)),
            },
            Pattern::Tuple(list) => {
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

    /// The same with every part that holds no formal made exact.
    pub fn collapsed(self) -> Pattern {
        match self.instantiate(&[]) {
            Some(ty) => Pattern::Exact(ty),
            None => self,
        }
    }

    /// As SPL writes it, with the formals' names.
    pub fn show<'p>(&'p self, names: &'p [Arc<str>]) -> Shown<'p> {
        Shown {
            pattern: self,
            names,
        }
    }
}

/// A pattern to be printed.
pub(crate) struct Shown<'p> {
    pattern: &'p Pattern,
    names: &'p [Arc<str>],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |pattern| Shown {
            pattern,
            names: self.names,
        };
        match self.pattern {
            Pattern::Exact(ty) => write!(f, "{ty}"),
            Pattern::Formal(at) => f.write_str(self.names.get(*at).map_or("T", |n| n)),
            Pattern::List(e) => write!(f, "list<{}>", of(e)),
            Pattern::Set(e) => write!(f, "set<{}>", of(e)),
            Pattern::Map(k, v) => write!(f, "map<{}, {}>", of(k), of(v)),
            Pattern::Optional(e) => write!(f, "optional<{}>", of(e)),
            Pattern::Tuple(list) => {
                f.write_str("tuple<")?;
                for (at, (name, p)) in list.iter().enumerate() {
                    write!(f, "{}{} {name}", if at > 0 { ", " } else { "" }, of(p))?;
                }
                f.write_str(">")
            }
        }
    }
}
