//! Reads the prototypes that the library and operator models declare into signatures.

use std::sync::Arc;

use syntax::ast::{Expr, FunctionParam, Prototype, TupleBody, TupleBodyKind, TypeExpr, TypeKind};
use tuple::{EnumType, Type};

use crate::Session;
use crate::names::{Scope, UnitId};
use crate::tables::{FunctionOwner, Signature, SignatureFormal, TypeConstraint, TypePattern};
use crate::types::primitive;

impl Session<'_> {
    /// The signature of a prototype's text. `None`: it cannot be read, which is a mistake of
    /// the library that declares it; a test of the library finds it.
    pub(super) fn prototype(&self, text: &str, target: FunctionOwner) -> Option<Signature> {
        let prototype = syntax::parse_prototype(text).ok()?;
        let reader = PrototypeReader {
            session: self,
            prototype: &prototype,
            scope: self.prelude_scope(),
        };
        let constraints: Option<Vec<_>> = prototype
            .type_formals
            .iter()
            .map(|(word, _)| TypeConstraint::from_word(&word.text))
            .collect();
        let formals: Option<Vec<_>> = prototype.params.iter().map(|p| reader.formal(p)).collect();
        Some(Signature {
            name: prototype.name.text.clone(),
            type_names: prototype
                .type_formals
                .iter()
                .map(|(_, name)| name.text.clone())
                .collect(),
            constraints: constraints?,
            formals: formals?,
            result: reader.pattern(&prototype.result)?,
            stateful: prototype.is_stateful,
            owner: target,
            span: None,
        })
    }

    /// The scope in which the library's prototypes name types: `Sys.tm`.
    fn prelude_scope(&self) -> Scope<'static> {
        let unit = self
            .symbols
            .units()
            .find(|(_, unit)| unit.namespace() == "spl");
        Scope::unit(unit.map_or(UnitId(0), |(id, _)| id))
    }
}

struct PrototypeReader<'r, 'w> {
    session: &'r Session<'w>,
    prototype: &'r Prototype,
    scope: Scope<'static>,
}

impl PrototypeReader<'_, '_> {
    fn formal(&self, param: &FunctionParam) -> Option<SignatureFormal> {
        let ty = self.pattern(&param.ty)?;
        Some(SignatureFormal {
            name: param.name.text.clone(),
            ty,
            mutable: param.is_mutable,
        })
    }

    fn pattern(&self, ty: &TypeExpr) -> Option<TypePattern> {
        let pattern = match &ty.kind {
            TypeKind::Primitive(word) => TypePattern::Exact(primitive(word)?),
            TypeKind::Named(name, None) if name.namespace.is_none() => {
                let formals = &self.prototype.type_formals;
                let at = formals
                    .iter()
                    .position(|(_, formal)| formal.text == name.name.text);
                match at {
                    Some(at) => TypePattern::Formal(at),
                    None => {
                        TypePattern::Exact(self.session.library_type(name, None, &self.scope)?)
                    }
                }
            }
            TypeKind::Named(name, member) => TypePattern::Exact(self.session.library_type(
                name,
                member.as_ref(),
                &self.scope,
            )?),
            TypeKind::Enum(names) => {
                let names = names.iter().map(|n| n.text.clone()).collect();
                TypePattern::Exact(Type::Enum(Arc::new(EnumType { names })))
            }
            TypeKind::BoundedString(bound) => TypePattern::Exact(string_of(bound)),
            TypeKind::Xml(schema) => TypePattern::Exact(Type::Xml(Some(schema.clone()))),
            TypeKind::Tuple(body) => self.tuple(body)?,
            TypeKind::List(e, _) => TypePattern::List(Box::new(self.pattern(e)?)),
            TypeKind::Set(e, _) => TypePattern::Set(Box::new(self.pattern(e)?)),
            TypeKind::Map(k, v, _) => {
                TypePattern::Map(Box::new(self.pattern(k)?), Box::new(self.pattern(v)?))
            }
            TypeKind::Optional(e) => TypePattern::Optional(Box::new(self.pattern(e)?)),
            TypeKind::Error => return None,
        };
        Some(pattern.simplified())
    }

    fn tuple(&self, body: &TupleBody) -> Option<TypePattern> {
        let TupleBodyKind::Attributes(list) = &body.kind else {
            return None;
        };
        let attributes = list
            .iter()
            .map(|(ty, name)| Some((name.text.clone(), self.pattern(ty)?)));
        Some(TypePattern::Tuple(attributes.collect::<Option<Vec<_>>>()?))
    }
}

/// `rstring[N]` of a bound formal stands for every byte string.
fn string_of(_bound: &Expr) -> Type {
    Type::RString
}
