//! Predicates of a step: each sees the position of a candidate among those that are left.

/// The candidates for which all predicates hold. A predicate is asked with a candidate, its
/// position from 1 and the number of candidates that the predicates before it have left.
///
/// # Errors
/// The first error that `holds` returns.
pub(crate) fn filter<T, P, E>(
    mut candidates: Vec<T>,
    predicates: &[P],
    mut holds: impl FnMut(&P, &T, usize, usize) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    for predicate in predicates {
        let count = candidates.len();
        let mut left = Vec::new();
        for (at, candidate) in candidates.into_iter().enumerate() {
            if holds(predicate, &candidate, at + 1, count)? {
                left.push(candidate);
            }
        }
        candidates = left;
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_counts_what_those_before_it_left() {
        let positions = |predicates: &[&dyn Fn(i32, usize, usize) -> bool]| {
            filter(vec![3, 4, 5, 6], predicates, |holds, n, position, count| {
                Ok::<_, ()>(holds(*n, position, count))
            })
        };
        let is_even = |n, _, _| n % 2 == 0;
        let is_second = |_, position, _| position == 2;
        let is_last = |_, position, count| position == count;
        assert_eq!(positions(&[&is_even, &is_second]), Ok(vec![6]));
        assert_eq!(positions(&[&is_second, &is_even]), Ok(vec![4]));
        assert_eq!(positions(&[&is_last, &is_last]), Ok(vec![6]));
        assert_eq!(positions(&[]), Ok(vec![3, 4, 5, 6]));
    }
}
