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

/// Beginnings that send the reader to another doc.
const REFERENCES: [&str; 5] = ["The same", "As [", "As for [", "As with [", "Of the types"];

/// Findings on one file: wide comments, and docs of items and modules.
pub fn check(source: &TidySource) -> Vec<String> {
    let mut findings = Vec::new();
    let mut doc = Doc::default();
    for (at, line) in source.text.lines().chain([""]).enumerate() {
        let text = line.trim_start();
        if text.starts_with("//") && line.chars().count() > COLUMNS_MAX {
            findings.push(format!(
                "{}:{}: a comment wider than {COLUMNS_MAX} columns",
                source.path,
                at + 1
            ));
        }
        let part = text
            .strip_prefix("///")
            .or_else(|| text.strip_prefix("//!"));
        match part {
            Some(part) => doc.add(at + 1, part.trim(), text.starts_with("//!")),
            None => findings.extend(std::mem::take(&mut doc).findings(&source.path)),
        }
    }
    findings
}

/// A doc that is being read: the paragraphs that have to stand alone, which are its first one and
/// the first one below each heading.
#[derive(Default)]
struct Doc {
    is_of_module: bool,
    /// Line and text of each of these paragraphs.
    paragraphs: Vec<(usize, String)>,
    is_in_paragraph: bool,
    /// Whether a heading stands above, and no paragraph yet.
    is_below_heading: bool,
    is_code: bool,
}

impl Doc {
    fn add(&mut self, line: usize, text: &str, is_of_module: bool) {
        self.is_of_module = is_of_module;
        if text.starts_with("```") {
            self.is_code = !self.is_code;
            // A picture or an example is the first thing below its heading.
            (self.is_in_paragraph, self.is_below_heading) = (false, false);
        } else if self.is_code {
        } else if text.is_empty() || text.starts_with("# ") {
            self.is_in_paragraph = false;
            self.is_below_heading |= !text.is_empty();
        } else if self.is_in_paragraph {
            let (_, paragraph) = self.paragraphs.last_mut().expect("one was begun");
            paragraph.push(' ');
            paragraph.push_str(text);
        } else if self.paragraphs.is_empty() || self.is_below_heading {
            self.paragraphs.push((line, text.to_owned()));
            (self.is_in_paragraph, self.is_below_heading) = (true, false);
        }
    }

    fn findings(self, path: &str) -> impl Iterator<Item = String> {
        let is_of_module = self.is_of_module;
        let paragraphs = self.paragraphs.into_iter().enumerate();
        paragraphs.filter_map(move |(at, (line, text))| {
            // Sections may be short, and so may the name of a module's subject.
            let words_min = if at == 0 && !is_of_module {
                WORDS_MIN
            } else {
                1
            };
            let fault = fault(&text, words_min)?;
            Some(format!("{path}:{line}: a doc that {fault}: `{text}`"))
        })
    }
}

fn fault(doc: &str, words_min: usize) -> Option<String> {
    let mut words = doc.split_whitespace();
    let first = words.next()?;
    let word = first.trim_matches(|c: char| !c.is_alphanumeric());
    let is_reference = REFERENCES.iter().any(|start| doc.starts_with(start));
    if POINTERS.contains(&word) || is_reference {
        return Some(format!("begins with \"{word}\" and cannot be read alone"));
    }
    let count = 1 + words.count();
    (count < words_min).then(|| format!("has {count} words"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::TidySource;

    fn findings(text: &str) -> usize {
        let (path, text) = ("a.rs".to_owned(), text.to_owned());
        check(&TidySource { path, text }).len()
    }

    #[test]
    fn docs_that_cannot_be_read_alone() {
        assert_eq!(
            findings("/// The same with a data directory.\nfn f() {}"),
            1
        );
        assert_eq!(findings("/// What went wrong, in words.\nfn f() {}"), 1);
        assert_eq!(findings("/// Bytes read.\nfn f() {}"), 1);
        assert_eq!(
            findings("/// Bytes read since the connection began.\nfn f() {}"),
            0
        );
        assert_eq!(findings("/// Itself a sentence with enough words."), 0);
    }

    #[test]
    fn module_docs_and_sections_stand_alone_too() {
        assert_eq!(findings("//! What a module is.\n"), 1);
        assert_eq!(findings("//! Queues.\n//!\n//! They are long.\n"), 0);
        let section = "/// Sends a frame soon.\n///\n/// # Errors\n/// ";
        assert_eq!(findings(&format!("{section}As [`send`].\nfn f() {{}}")), 1);
        assert_eq!(
            findings(&format!("{section}The edge is lost.\nfn f() {{}}")),
            0
        );
        assert_eq!(
            findings("/// An example of it all:\n/// ```\n/// // What?\n/// ```\n"),
            0
        );
    }
}
