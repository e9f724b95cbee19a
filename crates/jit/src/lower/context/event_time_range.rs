//! The event times that compiled code counts in words of nanoseconds.

use tuple::{Resolution, Type};

/// Nanoseconds of a second.
const SECOND_NS: i128 = 1_000_000_000;

/// The event times of a type that a word holds as nanoseconds since an origin: whole numbers of
/// ticks, or of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTimeRange {
    /// The least number, as the word that holds it.
    pub first: i64,
    /// The greatest number less the least one.
    pub width: u64,
    /// Nanoseconds of a tick or second.
    pub unit_ns: i64,
    /// The origin in nanoseconds, as far as a word holds it. Arithmetic that wraps comes to the
    /// right sum for numbers within the range.
    pub origin_ns: i64,
}

impl EventTimeRange {
    /// The event times of a type that a word holds; `None` if it holds none.
    pub fn new(ty: &Type, resolution: Resolution, origin_ns: i128) -> Option<EventTimeRange> {
        let signed = i64::MIN.into()..=i64::MAX.into();
        let (unit_ns, nanos_max, numbers) = match ty {
            Type::Timestamp => (SECOND_NS, u32::MAX.into(), signed),
            Type::Uint64 => (resolution.tick_ns(), 0, 0..=u64::MAX.into()),
            _ => (resolution.tick_ns(), 0, signed),
        };
        let earliest = i128::from(i64::MIN).checked_add(origin_ns)?;
        let latest = (i128::from(i64::MAX) - nanos_max).checked_add(origin_ns)?;
        let is_between = earliest.rem_euclid(unit_ns) > 0;
        let first = earliest.div_euclid(unit_ns) + i128::from(is_between);
        let first = first.max(*numbers.start());
        let last = latest.div_euclid(unit_ns).min(*numbers.end());
        Some(EventTimeRange {
            first: first as i64,
            width: u64::try_from(last.checked_sub(first)?).ok()?,
            unit_ns: unit_ns as i64,
            origin_ns: origin_ns as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nanoseconds since the origin, as compiled code computes them.
    fn since(range: EventTimeRange, number: i64) -> i64 {
        let ns = number.wrapping_mul(range.unit_ns);
        ns.wrapping_sub(range.origin_ns)
    }

    #[test]
    fn the_range_is_that_of_the_words() {
        for origin in [0, 1, -1, 77_000_000_001, i128::from(i64::MAX), -(1 << 62)] {
            for resolution in [Resolution::Milliseconds, Resolution::Nanoseconds] {
                let range = EventTimeRange::new(&Type::Int64, resolution, origin);
                let range = range.expect("a range");
                let exact = |number: i64| i128::from(number) * resolution.tick_ns() - origin;
                let last = range.first.wrapping_add(range.width as i64);
                for number in [range.first, last] {
                    assert_eq!(exact(number), since(range, number).into(), "from {origin}");
                }
                let words = i128::from(i64::MIN)..=i128::from(i64::MAX);
                let beyond = [range.first.checked_sub(1), last.checked_add(1)];
                for number in beyond.into_iter().flatten() {
                    assert!(!words.contains(&exact(number)), "from {origin}");
                }
            }
        }
    }

    #[test]
    fn unsigned_ticks_begin_at_the_epoch() {
        let range = EventTimeRange::new(&Type::Uint64, Resolution::Milliseconds, 5);
        let range = range.expect("a range");
        assert_eq!(range.first, 0);
        assert_eq!(range.width, i64::MAX as u64 / 1_000_000);
        assert_eq!(since(range, 1), 999_995);
    }

    #[test]
    fn an_origin_beyond_all_event_times_leaves_no_range() {
        for origin in [1 << 100, -(1 << 100), i128::MAX, i128::MIN] {
            let range = EventTimeRange::new(&Type::Uint64, Resolution::Nanoseconds, origin);
            assert_eq!(range, None);
        }
    }
}
