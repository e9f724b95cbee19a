//! Unification: matches the type of an argument against the type pattern of a formal.

use tuple::Type;

use crate::tables::{Signature, TypePattern};

/// Cost of an exact match. The overload with the lowest sum of costs is chosen.
pub(super) const EXACT_COST: u32 = 0;
const BOUND_COST: u32 = 1;
const WRAP_COST: u32 = 10;
/// A text that is written as the argument is one of any length first: a bounded string takes it
/// only if nothing else does.
pub(super) const BOUNDED_TEXT_COST: u32 = 100;

/// Types that the type formals of one call stand for.
#[derive(Debug)]
pub(super) struct TypeBindings {
    pub types: Vec<Option<Type>>,
    /// Bound within a collection, where nothing converts: it cannot be widened any more.
    fixed: Vec<bool>,
    lenient: bool,
}

/// Why a type does not match.
#[derive(Debug)]
pub(super) enum TypeMismatch {
    /// The type has another form than the pattern, or the formal already stands for another type.
    Shape,
    /// The n-th type formal does not admit it.
    Constraint(usize),
}

impl TypeBindings {
    pub fn new(signature: &Signature) -> TypeBindings {
        let count = signature.type_names.len();
        let lenient = signature.is_lenient();
        TypeBindings {
            types: vec![None; count],
            fixed: vec![false; count],
            lenient,
        }
    }

    /// Matches an argument; its cost, or why not.
    pub fn argument(
        &mut self,
        signature: &Signature,
        pattern: &TypePattern,
        ty: &Type,
        mutable: bool,
    ) -> Result<u32, TypeMismatch> {
        let unify = TypeUnifier { signature, mutable };
        unify.run(self, pattern, ty, true)
    }
}

struct TypeUnifier<'s> {
    signature: &'s Signature,
    /// The argument is changed in place, so that it must have the formal's very type.
    mutable: bool,
}

impl TypeUnifier<'_> {
    fn run(
        &self,
        bindings: &mut TypeBindings,
        pattern: &TypePattern,
        ty: &Type,
        top: bool,
    ) -> Result<u32, TypeMismatch> {
        match (pattern, ty) {
            (TypePattern::Exact(exact), ty) => self.exact(bindings, exact, ty, top),
            (TypePattern::Formal(at), ty) => self.formal(bindings, *at, ty, top),
            (TypePattern::List(p), Type::List(e, bound))
            | (TypePattern::Set(p), Type::Set(e, bound)) => {
                let cost = self.bounded(bindings, bound.is_some())?;
                Ok(cost + self.run(bindings, p, e, false)?)
            }
            (TypePattern::Map(k, v), Type::Map(kv, bound)) => {
                let cost = self.bounded(bindings, bound.is_some())?;
                let key = self.run(bindings, k, &kv.0, false)?;
                Ok(cost + key + self.run(bindings, v, &kv.1, false)?)
            }
            (TypePattern::Tuple(list), Type::Tuple(schema)) => {
                if list.len() != schema.attributes.len() {
                    return Err(TypeMismatch::Shape);
                }
                let mut cost = EXACT_COST;
                for ((name, p), attribute) in list.iter().zip(&schema.attributes) {
                    if *name != attribute.name {
                        return Err(TypeMismatch::Shape);
                    }
                    cost += self.run(bindings, p, &attribute.ty, false)?;
                }
                Ok(cost)
            }
            (TypePattern::Optional(p), Type::Optional(e)) => self.run(bindings, p, e, false),
            (TypePattern::Optional(p), ty) if top && !self.mutable => {
                Ok(WRAP_COST + self.run(bindings, p, ty, true)?)
            }
            _ => Err(TypeMismatch::Shape),
        }
    }

    fn bounded(&self, bindings: &TypeBindings, is_bounded: bool) -> Result<u32, TypeMismatch> {
        match (is_bounded, bindings.lenient) {
            (false, _) => Ok(EXACT_COST),
            (true, true) => Ok(BOUND_COST),
            (true, false) => Err(TypeMismatch::Shape),
        }
    }

    fn exact(
        &self,
        bindings: &TypeBindings,
        exact: &Type,
        ty: &Type,
        top: bool,
    ) -> Result<u32, TypeMismatch> {
        if exact == ty {
            return Ok(EXACT_COST);
        }
        if bindings.lenient && unbounded(ty).as_ref() == Some(exact) {
            return Ok(BOUND_COST);
        }
        match exact {
            Type::Optional(inner) if top && !self.mutable && !ty.is_optional() => {
                Ok(WRAP_COST + self.exact(bindings, inner, ty, top)?)
            }
            _ => Err(TypeMismatch::Shape),
        }
    }

    fn formal(
        &self,
        bindings: &mut TypeBindings,
        at: usize,
        ty: &Type,
        top: bool,
    ) -> Result<u32, TypeMismatch> {
        let Some(bound) = bindings.types[at].clone() else {
            if !self.signature.constraints[at].admits(ty) {
                return Err(TypeMismatch::Constraint(at));
            }
            bindings.types[at] = Some(ty.clone());
            bindings.fixed[at] = !top || self.mutable;
            return Ok(EXACT_COST);
        };
        if bound == *ty {
            bindings.fixed[at] |= !top || self.mutable;
            return Ok(EXACT_COST);
        }
        if !top || self.mutable {
            return self.rebind(bindings, at, &bound, ty);
        }
        if let Type::Optional(inner) = &bound
            && **inner == *ty
        {
            return Ok(WRAP_COST);
        }
        if let (true, Some(wide)) = (bindings.lenient, wider(&bound, ty)) {
            if !bindings.fixed[at] {
                bindings.types[at] = Some(wide);
            }
            return Ok(BOUND_COST);
        }
        self.rebind(bindings, at, &bound, ty)
    }

    /// An earlier argument converts to what this one needs: `(5, optional)`, `("a", list<ustring>)`
    /// no.
    fn rebind(
        &self,
        bindings: &mut TypeBindings,
        at: usize,
        bound: &Type,
        ty: &Type,
    ) -> Result<u32, TypeMismatch> {
        let wraps = matches!(ty, Type::Optional(inner) if **inner == *bound);
        let widens = bindings.lenient && wider(bound, ty).is_some();
        if bindings.fixed[at] || !(wraps || widens) {
            return Err(TypeMismatch::Shape);
        }
        if !self.signature.constraints[at].admits(ty) {
            return Err(TypeMismatch::Constraint(at));
        }
        bindings.types[at] = Some(ty.clone());
        bindings.fixed[at] = true;
        Ok(if wraps { WRAP_COST } else { BOUND_COST })
    }
}

/// The type without its bound, if it has one.
fn unbounded(ty: &Type) -> Option<Type> {
    match ty {
        Type::BoundedRString(_) => Some(Type::RString),
        Type::List(e, Some(_)) => Some(Type::List(e.clone(), None)),
        Type::Set(e, Some(_)) => Some(Type::Set(e.clone(), None)),
        Type::Map(kv, Some(_)) => Some(Type::Map(kv.clone(), None)),
        _ => None,
    }
}

/// The unbounded type of which both are forms.
fn wider(a: &Type, b: &Type) -> Option<Type> {
    let (wide_a, wide_b) = (unbounded(a), unbounded(b));
    let (a, b) = (wide_a.as_ref().unwrap_or(a), wide_b.as_ref().unwrap_or(b));
    (a == b).then(|| a.clone())
}
