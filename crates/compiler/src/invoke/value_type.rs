//! Types that a parameter's model allows, read from their text.

use std::sync::Arc;

use graph::{OperatorModel, ParamModel};
use syntax::ast::{TupleBody, TupleBodyKind, TypeExpr, TypeKind};
use tuple::{Attribute, TupleType, Type};

/// Values that a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ParamType {
    /// A value of any type.
    Any,
    /// A value of one of these types.
    OneOf(Vec<Type>),
    /// One of these custom literals.
    Literal(&'static [&'static str]),
}

/// The values that a parameter's model asks for. A type that cannot be read counts as any.
pub(super) fn param_type(model: &'static OperatorModel, param: &ParamModel) -> ParamType {
    let literals = model.enums.iter().find(|(name, _)| *name == param.ty);
    if let Some((_, values)) = literals {
        return ParamType::Literal(values);
    }
    let types = param.ty.split('|').map(|text| self::parse(text.trim()));
    match types.collect::<Option<Vec<_>>>() {
        Some(types) => ParamType::OneOf(types),
        None => ParamType::Any,
    }
}

fn parse(text: &str) -> Option<Type> {
    if text == "any" {
        return None;
    }
    name_free_type(&syntax::parse_type(text).ok()?)
}

/// A type in which no names occur.
fn name_free_type(ty: &TypeExpr) -> Option<Type> {
    Some(match &ty.kind {
        TypeKind::Primitive(word) => crate::types::primitive(word)?,
        TypeKind::List(element, None) => Type::List(Arc::new(name_free_type(element)?), None),
        TypeKind::Set(element, None) => Type::Set(Arc::new(name_free_type(element)?), None),
        TypeKind::Map(key, value, None) => Type::Map(
            Arc::new((name_free_type(key)?, name_free_type(value)?)),
            None,
        ),
        TypeKind::Optional(inner) => Type::Optional(Arc::new(name_free_type(inner)?)),
        TypeKind::Tuple(body) => Type::Tuple(Arc::new(name_free_tuple(body)?)),
        _ => return None,
    })
}

fn name_free_tuple(body: &TupleBody) -> Option<TupleType> {
    let TupleBodyKind::Attributes(list) = &body.kind else {
        return None;
    };
    let attributes = list.iter().map(|(ty, name)| {
        let name = name.text.clone();
        name_free_type(ty).map(|ty| Attribute { name, ty })
    });
    Some(TupleType {
        attributes: attributes.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use graph::{OperatorModel, ParamModel};
    use tuple::Type;

    use super::{ParamType, param_type};

    static MODEL: OperatorModel = OperatorModel {
        enums: &[("Format", &["csv", "txt"])],
        ..OperatorModel::DEFAULT
    };

    fn of(ty: &'static str) -> ParamType {
        param_type(
            &MODEL,
            &ParamModel {
                ty,
                ..ParamModel::DEFAULT
            },
        )
    }

    #[test]
    fn types_of_models_are_read() {
        assert_eq!(of("any"), ParamType::Any);
        assert_eq!(
            of("int32 | uint32"),
            ParamType::OneOf(vec![Type::Int32, Type::Uint32])
        );
        assert_eq!(of("Format"), ParamType::Literal(&["csv", "txt"]));
        let ParamType::OneOf(types) = of("tuple<int32 time, list<rstring> names>") else {
            panic!("a tuple type is a type");
        };
        assert_eq!(
            types[0].to_string(),
            "tuple<int32 time, list<rstring> names>"
        );
    }
}
