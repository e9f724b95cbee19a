//! The rule by which a name in a document equals a name in the program.

/// The parameters `ignorecase` and `ignoreNamespaces`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameMatching {
    /// Whether case is ignored.
    pub ignore_case: bool,
    /// Whether prefixes are ignored.
    pub ignore_namespaces: bool,
}

impl NameMatching {
    /// The part of a name that is compared.
    pub fn comparable_name(self, name: &str) -> &str {
        match name.rsplit_once(':') {
            Some((_, local)) if self.ignore_namespaces => local,
            _ => name,
        }
    }

    /// Whether two names are equal.
    pub fn matches(self, a: &str, b: &str) -> bool {
        let (a, b) = (self.comparable_name(a), self.comparable_name(b));
        a == b || (self.ignore_case && a.to_lowercase() == b.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_prefixes_count_unless_they_are_ignored() {
        let names = |ignore_case, ignore_namespaces| NameMatching {
            ignore_case,
            ignore_namespaces,
        };
        assert!(names(false, false).matches("n:a", "n:a"));
        assert!(!names(false, false).matches("n:a", "a"));
        assert!(!names(false, false).matches("A", "a"));
        assert!(names(true, false).matches("\u{C4}b", "\u{E4}B"));
        assert!(names(false, true).matches("n:a", "m:a"));
        assert!(!names(false, true).matches("n:A", "a"));
        assert!(names(true, true).matches("n:A", "a"));
    }
}
