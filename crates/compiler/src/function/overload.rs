//! Overload resolution: the choice among the functions of one name.
//!
//! Each candidate is matched against the arguments. Of those that fit, the one that needs the
//! fewest conversions is chosen, then the one with the fewest type formals, then the nearest.

use std::rc::Rc;

use syntax::ast::{self, ExprKind};
use tuple::Type;

use super::unify::{BOUNDED_TEXT_COST, TypeBindings, TypeMismatch};
use crate::expr::fits_type;
use crate::tables::{Signature, TypePattern};

/// An argument as far as it is typed before the choice.
#[derive(Debug)]
pub(super) enum OverloadArgument<'w> {
    /// An argument with a type of its own.
    Typed(graph::Expr),
    /// A literal that gets its type from the formal.
    Untyped(&'w ast::Expr),
}

/// A candidate that fits.
#[derive(Clone, Debug)]
pub(super) struct OverloadFit {
    pub signature: Rc<Signature>,
    /// The types of the formals in this call.
    pub types: Vec<Type>,
    pub result: Type,
    rank: (u32, usize, usize),
}

/// Why a candidate does not fit: which argument, and a sentence.
#[derive(Clone, Debug)]
pub(super) struct OverloadRefusal {
    pub argument: Option<usize>,
    /// The type that the argument must be of, if it is a certain one.
    pub wanted: Option<Type>,
    pub sentence: String,
}

/// Result of choosing among the candidates of a call.
#[derive(Debug)]
pub(super) enum OverloadChoice {
    One(OverloadFit),
    Several(Vec<OverloadFit>),
    None(Vec<(Rc<Signature>, OverloadRefusal)>),
}

/// Chooses among candidates, each with its distance from the place of the call.
pub(super) fn choose(
    candidates: &[(usize, Rc<Signature>)],
    args: &[OverloadArgument<'_>],
) -> OverloadChoice {
    let mut fits = Vec::new();
    let mut refusals = Vec::new();
    for (distance, signature) in candidates {
        match fit(signature, args, *distance) {
            Ok(fit) => fits.push(fit),
            Err(refusal) => refusals.push((signature.clone(), refusal)),
        }
    }
    let Some(best) = fits.iter().map(|fit| fit.rank).min() else {
        return OverloadChoice::None(refusals);
    };
    fits.retain(|fit| fit.rank == best);
    match fits.len() {
        1 => OverloadChoice::One(fits.remove(0)),
        _ => OverloadChoice::Several(fits),
    }
}

fn fit(
    signature: &Rc<Signature>,
    args: &[OverloadArgument<'_>],
    distance: usize,
) -> Result<OverloadFit, OverloadRefusal> {
    let wanted = signature.formals.len();
    if wanted != args.len() {
        let s = if wanted == 1 { "" } else { "s" };
        let sentence = format!("it takes {wanted} argument{s}, not {}", args.len());
        return Err(OverloadRefusal {
            argument: None,
            wanted: None,
            sentence,
        });
    }
    let mut bindings = TypeBindings::new(signature);
    let mut cost = 0;
    let mut late = Vec::new();
    for (at, (formal, arg)) in signature.formals.iter().zip(args).enumerate() {
        let OverloadArgument::Typed(arg) = arg else {
            late.push((at, None));
            continue;
        };
        match bindings.argument(signature, &formal.ty, &arg.ty, formal.mutable) {
            Ok(more) => cost += more,
            Err(mismatch) => late.push((at, Some(mismatch))),
        }
    }
    for (at, mismatch) in late {
        cost += conversion_cost(signature, &bindings, args, at, mismatch)?;
    }
    let instantiate = |at: usize| signature.formals[at].ty.instantiate(&bindings.types);
    let types: Option<Vec<Type>> = (0..wanted).map(instantiate).collect();
    let result = signature.result.instantiate(&bindings.types);
    let (Some(types), Some(result)) = (types, result) else {
        let sentence = "the arguments do not say what its type formals are".to_owned();
        return Err(OverloadRefusal {
            argument: None,
            wanted: None,
            sentence,
        });
    };
    let rank = (cost, signature.type_names.len(), distance);
    Ok(OverloadFit {
        signature: signature.clone(),
        types,
        result,
        rank,
    })
}

/// An argument that did not match by its type alone: a literal that is retyped, or waits for a
/// type.
fn conversion_cost(
    signature: &Signature,
    bindings: &TypeBindings,
    args: &[OverloadArgument<'_>],
    at: usize,
    mismatch: Option<TypeMismatch>,
) -> Result<u32, OverloadRefusal> {
    let formal = &signature.formals[at];
    let ty = formal.ty.instantiate(&bindings.types);
    let fits = match (&args[at], &ty) {
        (OverloadArgument::Typed(arg), Some(ty)) => !formal.mutable && fits_type(arg, ty),
        (OverloadArgument::Untyped(expr), Some(ty)) => shape_fits(expr, ty),
        (OverloadArgument::Untyped(_), None) => {
            let number = at + 1;
            let sentence = format!("nothing says of which type argument {number} is");
            return Err(OverloadRefusal {
                argument: Some(at),
                wanted: None,
                sentence,
            });
        }
        (_, None) => false,
    };
    if fits {
        return Ok(match ty {
            Some(Type::BoundedRString(_)) => BOUNDED_TEXT_COST,
            _ => 1,
        });
    }
    let wanted = ty.filter(|_| !matches!(mismatch, Some(TypeMismatch::Constraint(_))));
    let sentence = refusal_sentence(signature, bindings, &args[at], at, mismatch);
    Err(OverloadRefusal {
        argument: Some(at),
        wanted,
        sentence,
    })
}

fn refusal_sentence(
    signature: &Signature,
    bindings: &TypeBindings,
    arg: &OverloadArgument<'_>,
    at: usize,
    mismatch: Option<TypeMismatch>,
) -> String {
    let formal = &signature.formals[at];
    let number = at + 1;
    let found = match arg {
        OverloadArgument::Typed(arg) => arg.ty.to_string(),
        OverloadArgument::Untyped(_) => "a literal without type".to_owned(),
    };
    let wanted = match (&mismatch, formal.ty.instantiate(&bindings.types)) {
        (Some(TypeMismatch::Constraint(at)), _) => {
            let words = signature.constraints[*at].description();
            match &formal.ty {
                TypePattern::Formal(_) => words.to_owned(),
                other => {
                    let name = &signature.type_names[*at];
                    format!(
                        "{} where {name} is {words}",
                        other.display(&signature.type_names)
                    )
                }
            }
        }
        (_, Some(ty)) => ty.to_string(),
        (_, None) => formal.ty.display(&signature.type_names).to_string(),
    };
    format!(
        "argument {number} (`{}`) must be {wanted}, and it is {found}",
        formal.name
    )
}

/// Whether a literal without a type of its own can be of a type, by its form.
fn shape_fits(expr: &ast::Expr, ty: &Type) -> bool {
    let inner = match ty {
        Type::Optional(inner) => inner,
        ty => ty,
    };
    match &expr.kind {
        ExprKind::Null => ty.is_optional(),
        ExprKind::List(_) => inner.is_list(),
        ExprKind::Set(list) if list.is_empty() => {
            inner.is_set() || inner.is_map() || inner.is_tuple()
        }
        ExprKind::Set(_) => inner.is_set(),
        ExprKind::Map(_) => inner.is_map(),
        ExprKind::Tuple(_) => inner.is_tuple(),
        ExprKind::Conditional(_, a, b) => shape_fits(a, ty) && shape_fits(b, ty),
        ExprKind::Paren(e) => shape_fits(e, ty),
        _ => true,
    }
}
