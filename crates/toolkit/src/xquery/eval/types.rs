//! What is of a type, and casts.

use super::super::Outcome;
use super::super::atomic::{Atomic, Type};
use super::super::item::{Item, Sequence, at_most_one};
use super::super::query::{ItemType, SequenceType};
use super::path::takes;
use super::{failure, one};

/// Whether a sequence is of a type.
pub(super) fn matches(items: &[Item], ty: &SequenceType) -> bool {
    match items.len() {
        0 if !ty.may_be_empty => return false,
        0 | 1 => {}
        _ if !ty.may_be_several => return false,
        _ => {}
    }
    items.iter().all(|item| match (&ty.item, item) {
        (Some(ItemType::Any), _) => true,
        (Some(ItemType::Node(test)), Item::Node(node)) => takes(test, node, node.kind()),
        (Some(ItemType::Atomic(ty)), Item::Atomic(value)) => ty.holds(value.ty()),
        _ => false,
    })
}

/// A sequence that must be of a type.
pub(super) fn treat(items: Sequence, ty: &SequenceType) -> Outcome<Sequence> {
    match matches(&items, ty) {
        true => Ok(items),
        false => Err(failure(format!("a value is not of type `{}`", ty.text))),
    }
}

/// The value of a variable from outside, as its type if it has one.
pub(super) fn external(value: Atomic, ty: Option<&SequenceType>) -> Outcome<Sequence> {
    match ty.map(|ty| (ty, &ty.item)) {
        None => Ok(one(value)),
        Some((_, Some(ItemType::Atomic(ty)))) => Ok(one(value.cast(*ty)?)),
        Some((ty, _)) => treat(one(value), ty),
    }
}

/// `cast as`
pub(super) fn cast(items: &[Item], ty: Type, may_be_empty: bool) -> Outcome<Sequence> {
    match at_most_one(items, "a cast")? {
        Some(item) => Ok(one(item.atomic().cast(ty)?)),
        None if may_be_empty => Ok(Vec::new()),
        None => Err(failure("there is nothing to cast")),
    }
}
