//! The median of a few runs.

/// The middle value; of an even number of values the mean of the two in the middle; NaN of none.
///
/// # Example
/// ```
/// assert_eq!(thalweg_control::median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
/// ```
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => f64::NAN,
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}
