//! Docs that can be read alone: each begins with a noun or a verb of its own, says more than the
//! name does, and fits the page.

use super::TidySource;

/// Columns of a comment line, the same as rustfmt's limit for code.
const COLUMNS_MAX: usize = 100;

/// A doc of fewer words repeats the name that it stands above.
const WORDS_MIN: usize = 4;

/// First words that point at something outside of the doc.
const POINTERS: [&str; 27] = [
    "What", "Whose", "Who", "Whom", "That", "Those", "These", "This", "It", "Its", "They", "Their",
    "He", "She", "His", "And", "Or", "But", "So", "Such", "Whatever", "Whoever", "There", "Here",
    "Likewise", "Somebody", "Ditto",
];

/// Findings on one file.
pub fn check(source: &TidySource) -> Vec<String> {
    let mut findings = Vec::new();
    let mut doc: Option<(usize, String)> = None;
    for (at, line) in source.text.lines().enumerate() {
        let text = line.trim_start();
        if text.starts_with("//") && line.chars().count() > COLUMNS_MAX {
            findings.push(format!(
                "{}:{}: a comment wider than {COLUMNS_MAX} columns",
                source.path,
                at + 1
            ));
        }
        match (text.strip_prefix("///"), &mut doc) {
            (Some(more), Some((_, text))) => *text += more,
            (Some(first), None) => doc = Some((at + 1, first.to_owned())),
            (None, _) => {
                if let Some((line, text)) = doc.take() {
                    findings.extend(fault(&text).map(|fault| {
                        format!(
                            "{}:{line}: a doc that {fault}: `{}`",
                            source.path,
                            text.trim()
                        )
                    }));
                }
            }
        }
    }
    findings
}

fn fault(doc: &str) -> Option<String> {
    let mut words = doc.split_whitespace();
    let first = words.next()?;
    let word = first.trim_matches(|c: char| !c.is_alphanumeric());
    if POINTERS.contains(&word) || doc.trim_start().starts_with("The same") {
        return Some(format!("begins with \"{word}\" and cannot be read alone"));
    }
    let count = 1 + words.count();
    (count < WORDS_MIN).then(|| format!("has {count} words"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn docs_that_cannot_be_read_alone() {
        assert!(fault(" The same with a data directory.").is_some());
        assert!(fault(" What went wrong, in words.").is_some());
        assert!(fault(" Bytes read.").is_some());
        assert!(fault(" Bytes read since the connection began.").is_none());
        assert!(fault(" Itself a sentence with enough words.").is_none());
    }
}
