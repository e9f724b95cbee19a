//! Matching the type of an argument against that of a formal.

use tuple::Type;

use super::pattern::Pattern;
use super::signature::Signature;

/// What a match costs beside an exact one: the overload with the lowest sum is chosen.
pub(super) const EXACT: u32 = 0;
const BOUND: u32 = 1;
const WRAP: u32 = 10;
/// A text that is written as the argument is one of any length first: a bounded string takes it only
/// if nothing else does.
pub(super) const BOUNDED_TEXT: u32 = 100;

/// What the type formals of one call stand for.
#[derive(Debug)]
pub(super) struct Bindings {
    pub types: Vec<Option<Type>>,
    /// Bound within a collection, where nothing converts: it cannot be widened any more.
    fixed: Vec<bool>,
    lenient: bool,
}

/// Why a type does not match.
#[derive(Debug)]
pub(super) enum Misfit {
    /// It is of another form, or another type than the formal already stands for.
    Other,
    /// The n-th type formal does not admit it.
    Constraint(usize),
}

impl Bindings {
    pub fn new(signature: &Signature) -> Bindings {
        let count = signature.type_names.len();
        let lenient = signature.is_lenient();
        Bindings {
            types: vec![None; count],
            fixed: vec![false; count],
            lenient,
        }
    }

    /// Matches an argument; its cost, or why not.
    pub fn argument(
        &mut self,
        signature: &Signature,
        pattern: &Pattern,
        ty: &Type,
        mutable: bool,
    ) -> Result<u32, Misfit> {
        let unify = Unify { signature, mutable };
        unify.run(self, pattern, ty, true)
    }
}

struct Unify<'s> {
    signature: &'s Signature,
    /// The argument is changed in place, so that it must have the formal's very type.
    mutable: bool,
}

impl Unify<'_> {
    fn run(
        &self,
        bindings: &mut Bindings,
        pattern: &Pattern,
        ty: &Type,
        top: bool,
    ) -> Result<u32, Misfit> {
        match (pattern, ty) {
            (Pattern::Exact(exact), ty) => self.exact(bindings, exact, ty, top),
            (Pattern::Formal(at), ty) => self.formal(bindings, *at, ty, top),
            (Pattern::List(p), Type::List(e, bound)) | (Pattern::Set(p), Type::Set(e, bound)) => {
                let cost = self.bounded(bindings, bound.is_some())?;
                Ok(cost + self.run(bindings, p, e, false)?)
            }
            (Pattern::Map(k, v), Type::Map(kv, bound)) => {
                let cost = self.bounded(bindings, bound.is_some())?;
                let key = self.run(bindings, k, &kv.0, false)?;
                Ok(cost + key + self.run(bindings, v, &kv.1, false)?)
            }
            (Pattern::Tuple(list), Type::Tuple(schema)) => {
                if list.len() != schema.attributes.len() {
                    return Err(Misfit::Other);
                }
                let mut cost = EXACT;
                for ((name, p), attribute) in list.iter().zip(&schema.attributes) {
                    if *name != attribute.name {
                        return Err(Misfit::Other);
                    }
                    cost += self.run(bindings, p, &attribute.ty, false)?;
                }
                Ok(cost)
            }
            (Pattern::Optional(p), Type::Optional(e)) => self.run(bindings, p, e, false),
            (Pattern::Optional(p), ty) if top && !self.mutable => {
                Ok(WRAP + self.run(bindings, p, ty, true)?)
            }
            _ => Err(Misfit::Other),
        }
    }

    fn bounded(&self, bindings: &Bindings, is_bounded: bool) -> Result<u32, Misfit> {
        match (is_bounded, bindings.lenient) {
            (false, _) => Ok(EXACT),
            (true, true) => Ok(BOUND),
            (true, false) => Err(Misfit::Other),
        }
    }

    fn exact(
        &self,
        bindings: &Bindings,
        exact: &Type,
        ty: &Type,
        top: bool,
    ) -> Result<u32, Misfit> {
        if exact == ty {
            return Ok(EXACT);
        }
        if bindings.lenient && unbounded(ty).as_ref() == Some(exact) {
            return Ok(BOUND);
        }
        match exact {
            Type::Optional(inner) if top && !self.mutable && !ty.is_optional() => {
                Ok(WRAP + self.exact(bindings, inner, ty, top)?)
            }
            _ => Err(Misfit::Other),
        }
    }

    fn formal(
        &self,
        bindings: &mut Bindings,
        at: usize,
        ty: &Type,
        top: bool,
    ) -> Result<u32, Misfit> {
        let Some(bound) = bindings.types[at].clone() else {
            if !self.signature.constraints[at].admits(ty) {
                return Err(Misfit::Constraint(at));
            }
            bindings.types[at] = Some(ty.clone());
            bindings.fixed[at] = !top || self.mutable;
            return Ok(EXACT);
        };
        if bound == *ty {
            bindings.fixed[at] |= !top || self.mutable;
            return Ok(EXACT);
        }
        if !top || self.mutable {
            return self.rebind(bindings, at, &bound, ty);
        }
        if let Type::Optional(inner) = &bound
            && **inner == *ty
        {
            return Ok(WRAP);
        }
        if let (true, Some(wide)) = (bindings.lenient, wider(&bound, ty)) {
            if !bindings.fixed[at] {
                bindings.types[at] = Some(wide);
            }
            return Ok(BOUND);
        }
        self.rebind(bindings, at, &bound, ty)
    }

    /// An earlier argument converts to what this one needs: `(5, optional)`, `("a", list<ustring>)` no.
    fn rebind(
        &self,
        bindings: &mut Bindings,
        at: usize,
        bound: &Type,
        ty: &Type,
    ) -> Result<u32, Misfit> {
        let wraps = matches!(ty, Type::Optional(inner) if **inner == *bound);
        let widens = bindings.lenient && wider(bound, ty).is_some();
        if bindings.fixed[at] || !(wraps || widens) {
            return Err(Misfit::Other);
        }
        if !self.signature.constraints[at].admits(ty) {
            return Err(Misfit::Constraint(at));
        }
        bindings.types[at] = Some(ty.clone());
        bindings.fixed[at] = true;
        Ok(if wraps { WRAP } else { BOUND })
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
