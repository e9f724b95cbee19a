//! The comparison of delta policies: has a value moved by more than an amount?

use std::cmp::Ordering;

use tuple::{Timestamp, Value};

/// Whether `new - old > amount`, without wrapping: an unsigned value that goes down has not moved.
/// Timestamps differ in seconds, as a float64. Values of other types than the amount's never
/// differ.
pub fn exceeds(new: &Value, old: &Value, amount: &Value) -> bool {
    match (new, old, amount) {
        (Value::Float32(a), Value::Float32(b), Value::Float32(d)) => a - b > *d,
        (Value::Float64(a), Value::Float64(b), Value::Float64(d)) => a - b > *d,
        (Value::Timestamp(a), Value::Timestamp(b), Value::Float64(d)) => seconds(a, b) > *d,
        (Value::Decimal32(a), Value::Decimal32(b), Value::Decimal32(d)) => {
            (*a - *b).compare(*d) == Some(Ordering::Greater)
        }
        (Value::Decimal64(a), Value::Decimal64(b), Value::Decimal64(d)) => {
            (*a - *b).compare(*d) == Some(Ordering::Greater)
        }
        (Value::Decimal128(a), Value::Decimal128(b), Value::Decimal128(d)) => {
            (*a - *b).compare(*d) == Some(Ordering::Greater)
        }
        _ => match (new.as_integer(), old.as_integer(), amount.as_integer()) {
            (Some(a), Some(b), Some(d)) => a - b > d,
            _ => false,
        },
    }
}

fn seconds(a: &Timestamp, b: &Timestamp) -> f64 {
    (a.seconds as i128 - b.seconds as i128) as f64 + (f64::from(a.nanos) - f64::from(b.nanos)) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_values_do_not_wrap() {
        let exceeds = |a, b, d| exceeds(&Value::Uint32(a), &Value::Uint32(b), &Value::Uint32(d));
        assert!(!exceeds(1, 2, 5));
        assert!(!exceeds(7, 2, 5));
        assert!(exceeds(8, 2, 5));
    }

    #[test]
    fn timestamps_differ_in_seconds() {
        let at = |seconds, nanos| {
            Value::Timestamp(Timestamp {
                seconds,
                nanos,
                machine: 0,
            })
        };
        assert!(exceeds(
            &at(10, 600_000_000),
            &at(10, 0),
            &Value::Float64(0.5)
        ));
        assert!(!exceeds(
            &at(10, 500_000_000),
            &at(10, 0),
            &Value::Float64(0.5)
        ));
        assert!(!exceeds(&at(9, 0), &at(10, 0), &Value::Float64(0.0)));
    }
}
