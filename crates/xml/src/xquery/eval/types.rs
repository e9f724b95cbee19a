//! Types of sequences, and casts.

use super::super::atomic_value::{AtomicType, AtomicValue};
use super::super::failure::{QueryResult, failure};
use super::super::item::{Item, Sequence, at_most_one, singleton};
use super::super::query::{SequenceType, XQueryItemType};
use super::node_test::test_matches;

/// Whether a sequence has a type.
pub(super) fn matches(items: &[Item], ty: &SequenceType) -> bool {
    match items.len() {
        0 if !ty.may_be_empty => return false,
        0 | 1 => {}
        _ if !ty.may_be_several => return false,
        _ => {}
    }
    items.iter().all(|item| match (&ty.item, item) {
        (Some(XQueryItemType::Any), _) => true,
        (Some(XQueryItemType::Node(test)), Item::Node(node)) => {
            let node = node.as_ref();
            test_matches(test, node, node.kind())
        }
        (Some(XQueryItemType::Atomic(ty)), Item::Atomic(value)) => ty.includes(value.ty()),
        _ => false,
    })
}

/// Checks that a sequence has a type: `treat as`.
pub(super) fn treat(items: Sequence, ty: &SequenceType) -> QueryResult<Sequence> {
    match matches(&items, ty) {
        true => Ok(items),
        false => Err(failure(format!("a value is not of type `{}`", ty.text))),
    }
}

/// The value of an external variable, cast to its declared type.
pub(super) fn external(value: AtomicValue, ty: Option<&SequenceType>) -> QueryResult<Sequence> {
    match ty.map(|ty| (ty, &ty.item)) {
        None => Ok(singleton(value)),
        Some((_, Some(XQueryItemType::Atomic(ty)))) => Ok(singleton(value.cast(*ty)?)),
        Some((ty, _)) => treat(singleton(value), ty),
    }
}

/// Evaluates `cast as`: at most one item, cast to a type.
pub(super) fn cast(items: &[Item], ty: AtomicType, may_be_empty: bool) -> QueryResult<Sequence> {
    match at_most_one(items, "a cast")? {
        Some(item) => Ok(singleton(item.atomize().cast(ty)?)),
        None if may_be_empty => Ok(Vec::new()),
        None => Err(failure("there is nothing to cast")),
    }
}
