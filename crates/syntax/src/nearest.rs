//! The nearest of the names that could have been written, for "did you mean".

/// Names of more bytes are compared without letting slips pass: how far two names are from each
/// other takes time that grows with the product of their lengths.
const NAME_MAX: usize = 128;

/// The candidate nearest to a name, if it is near enough to be a slip of the pen: a third of the
/// letters at most, or only the case differs.
///
/// # Example
/// ```
/// use thalweg_syntax::nearest;
///
/// let attributes = ["symbol", "price", "volume"];
/// assert_eq!(nearest("prize", attributes), Some("price"));
/// assert_eq!(nearest("date", attributes), None);
/// ```
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| *c != name)
        .filter_map(|c| Some((slips(name, c, limit)?, c)))
        .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)))
        .map(|(_, c)| c)
}

fn slips(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.eq_ignore_ascii_case(b) {
        return Some(0);
    }
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > NAME_MAX {
        return None;
    }
    let distance = edits(a, b);
    (distance <= limit && distance < a.chars().count()).then_some(distance)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_of_the_pen() {
        assert_eq!(nearest("prcie", ["volume", "price", "pi"]), Some("price"));
        assert_eq!(nearest("Filtr", ["Filter", "Functor"]), Some("Filter"));
        assert_eq!(nearest("lenght", ["length", "log"]), Some("length"));
        assert_eq!(nearest("in", ["In", "on"]), Some("In"));
    }

    #[test]
    fn keeps_silent_when_nothing_is_near() {
        assert_eq!(nearest("x", ["y", "price"]), None);
        assert_eq!(nearest("price", ["volume"]), None);
        assert_eq!(nearest("price", ["price"]), None);
        let (long, longer) = ("a".repeat(200), "a".repeat(201));
        assert_eq!(nearest(&long, [longer.as_str()]), None);
        assert_eq!(
            nearest(&long, ["A".repeat(200).as_str()]).map(str::len),
            Some(200)
        );
    }
}
