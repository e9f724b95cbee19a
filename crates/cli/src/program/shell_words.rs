//! Words of one option, split as a shell does.

/// Words of one option, without quotes and escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellWords(pub Vec<String>);

/// Splits a text into words as a shell does: quotes keep blanks, and `\` keeps the next character.
///
/// # Errors
/// A quote is not closed, or the text ends with `\`.
pub fn shell_words(text: &str) -> Result<ShellWords, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                let taken = chars.next().ok_or("ends with `\\`")?;
                word.get_or_insert_default().push(taken);
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("has a `{open}` that is not closed")),
        None => Ok(ShellWords(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::shell_words;

    #[test]
    fn words_are_told_apart_as_a_shell_does() {
        let of = |text: &str| shell_words(text).map(|words| words.0);
        let list = |words: &[&str]| Ok(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(of(" 4  depth=2 "), list(&["4", "depth=2"]));
        assert_eq!(
            of(r#"'a b' "c 'd'" "" e\ f"#),
            list(&["a b", "c 'd'", "", "e f"])
        );
        assert_eq!(of(r#"a"b"'c'"#), list(&["abc"]));
        assert_eq!(of(""), list(&[]));
        assert!(of("'a").is_err());
        assert!(of("a\\").is_err());
    }
}
