//! Windows as SPL writes them.

use std::fmt;

use tuple::TupleType;

use super::literal::literal;
use crate::{PartitionEviction, Policy, Window, WindowKind};

/// A window of a port of a schema.
pub(super) struct PrintedWindow<'a>(pub(super) &'a Window, pub(super) &'a TupleType);

impl fmt::Display for PrintedWindow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrintedWindow(window, schema) = *self;
        f.write_str(match window.kind {
            WindowKind::Tumbling => "tumbling, ",
            WindowKind::Sliding => "sliding, ",
            WindowKind::TimeInterval => "timeInterval, ",
            WindowKind::Session => "session, ",
        })?;
        policy(&window.evict, schema, f)?;
        if let Some(trigger) = &window.trigger {
            f.write_str(", ")?;
            policy(trigger, schema, f)?;
        }
        let Some(partition) = &window.partition else {
            return Ok(());
        };
        f.write_str(", partitioned")?;
        match &partition.evict {
            None => Ok(()),
            Some(PartitionEviction::Age(seconds)) => write!(f, ", partitionAge({seconds:?})"),
            Some(PartitionEviction::Count(n)) => write!(f, ", partitionCount({n}u)"),
            Some(PartitionEviction::Tuples(n)) => write!(f, ", tupleCount({n}u)"),
        }
    }
}

fn seconds(nanoseconds: i128) -> f64 {
    nanoseconds as f64 / 1e9
}

fn policy(policy: &Policy, schema: &TupleType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match policy {
        Policy::Count(n) => write!(f, "count({n}u)"),
        Policy::Time(seconds) => write!(f, "time({seconds:?})"),
        Policy::Punct => f.write_str("punct()"),
        Policy::Interval(interval) => write!(
            f,
            "intervalDuration({:?}), creationPeriod({:?}), discardAge({:?}), intervalOffset({:?})",
            seconds(interval.duration_ns),
            seconds(interval.period_ns),
            seconds(interval.discard_ns),
            seconds(interval.offset_ns),
        ),
        Policy::Session(session) => write!(
            f,
            "gap({:?}), discardAge({:?})",
            seconds(session.gap_ns),
            seconds(session.discard_ns),
        ),
        Policy::Delta(at, amount) => match schema.attributes.get(*at as usize) {
            Some(attribute) => {
                let mut text = String::new();
                // A timestamp moves by seconds.
                let ty = match attribute.ty {
                    tuple::Type::Timestamp => &tuple::Type::Float64,
                    ref ty => ty,
                };
                literal(amount, ty, &mut text);
                write!(f, "delta({}, {text})", attribute.name)
            }
            None => write!(f, "delta({at}, {amount:?})"),
        },
    }
}
