//! Formatting: the edits that bring a document into the canonical layout.

use lsp_types::TextEdit;

use crate::document_text::ColumnUnit;
use crate::open_documents::OpenDocument;

/// The edit that formats a document: none if it has the layout already.
///
/// # Errors
/// A sentence: the document has syntax errors, or it is not SPL alone.
pub fn layout_edits(document: &OpenDocument, unit: ColumnUnit) -> Result<Vec<TextEdit>, String> {
    if !document.is_spl() {
        return Err("a file with Perl in it cannot be formatted".to_owned());
    }
    let text = document.text.text();
    let formatted = engine::format(&document.path, text)
        .map_err(|_| "a program with syntax errors cannot be formatted".to_owned())?;
    if **text == *formatted {
        return Ok(Vec::new());
    }
    let (start, end, new) = changed_part(text, &formatted);
    let range = document.text.range(start as u32, end as u32, unit);
    Ok(vec![TextEdit::new(range, new.to_owned())])
}

/// The lines of a text that differ in another one: their bytes, and the text in their place. Lines
/// that are equal stay untouched, and with them marks and folds of the editor.
fn changed_part<'n>(old: &str, new: &'n str) -> (usize, usize, &'n str) {
    let common = |a: &str, b: &str| a.len() == b.len() && a == b;
    let lines = |text: &'n str| text.split_inclusive('\n').collect::<Vec<_>>();
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines = lines(new);
    let both = old_lines.iter().zip(&new_lines);
    let first = both.take_while(|(a, b)| common(a, b)).count();
    let rest = old_lines[first..]
        .iter()
        .rev()
        .zip(new_lines[first..].iter().rev());
    let last = rest.take_while(|(a, b)| common(a, b)).count();
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let start = bytes(&old_lines[..first]);
    let tail = bytes(&old_lines[old_lines.len() - last..]);
    (start, old.len() - tail, &new[start..new.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::changed_part;

    #[test]
    fn only_lines_that_differ_are_replaced() {
        let cases = [
            ("a\nb\nc\n", "a\nX\nc\n", (2, 4, "X\n")),
            ("a\nb", "a\nb\n", (2, 3, "b\n")),
            ("a\na\n", "a\n", (2, 4, "")),
            ("", "a\n", (0, 0, "a\n")),
            ("é\nb\n", "é\n\nb\n", (3, 3, "\n")),
        ];
        for (old, new, wanted) in cases {
            let (start, end, part) = changed_part(old, new);
            assert_eq!((start, end, part), wanted, "{old:?} {new:?}");
            assert_eq!([&old[..start], part, &old[end..]].concat(), new);
        }
    }
}
