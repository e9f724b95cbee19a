//! How alike two words are, for "did you mean".

/// `written` is probably `meant`: the same letters in another case, or one or two slips away in a
/// word long enough to tell.
pub fn is_similar(written: &str, meant: &str) -> bool {
    let allowed = match meant.len() {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    };
    if written.len().abs_diff(meant.len()) > allowed {
        return false;
    }
    distance(&written.to_lowercase(), &meant.to_lowercase()) <= allowed
}

/// The candidate most like `written`, if any is alike.
pub fn closest<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let lower = written.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| is_similar(written, candidate))
        .min_by_key(|candidate| distance(&lower, &candidate.to_lowercase()))
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (the optimal
/// string alignment distance).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, distance, is_similar};

    #[test]
    fn slips_count_once() {
        assert_eq!(distance("graph", "grpah"), 1);
        assert_eq!(distance("composite", "compsite"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn short_words_must_match_closely() {
        assert!(is_similar("Composite", "composite"));
        assert!(is_similar("parm", "param"));
        assert!(!is_similar("data", "graph"));
        assert!(!is_similar("is", "in"));
    }

    #[test]
    fn the_closest_wins() {
        let names = ["price", "prices", "volume"];
        assert_eq!(closest("prics", names), Some("price"));
        assert_eq!(closest("zzz", names), None);
    }
}
