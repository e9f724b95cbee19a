//! Results of functions: sequences of one value.

use crate::xquery::atomic_value::AtomicValue;
use crate::xquery::failure::QueryResult;
use crate::xquery::item::{Sequence, singleton};

pub(super) fn boolean(value: bool) -> QueryResult<Sequence> {
    Ok(singleton(AtomicValue::Boolean(value)))
}

pub(super) fn integer(n: usize) -> QueryResult<Sequence> {
    Ok(singleton(AtomicValue::Integer(n as i64)))
}

pub(super) fn text(text: &str) -> QueryResult<Sequence> {
    Ok(singleton(AtomicValue::text(text)))
}
