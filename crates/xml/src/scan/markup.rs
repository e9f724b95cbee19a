//! Markup: how long an item of a document is, and the contents of tags.

use super::text::{attribute_value, is_blank, is_name_char, is_name_start};

/// Kind of an item of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkupKind {
    Comment,
    CData,
    Instruction,
    DocType,
    End,
    Start,
    Text,
}

const MARKUP_OPENINGS: [(&[u8], MarkupKind); 5] = [
    (b"<!--", MarkupKind::Comment),
    (b"<![CDATA[", MarkupKind::CData),
    (b"<?", MarkupKind::Instruction),
    (b"<!DOCTYPE", MarkupKind::DocType),
    (b"</", MarkupKind::End),
];

/// Kind of the item that begins with these bytes; `None` if that depends on bytes that have not
/// come. `at_end`: no more bytes come.
pub(super) fn markup_at(bytes: &[u8], at_end: bool) -> Option<MarkupKind> {
    if bytes.first() != Some(&b'<') {
        return Some(MarkupKind::Text);
    }
    for (opening, item) in MARKUP_OPENINGS {
        if bytes.starts_with(opening) {
            return Some(item);
        }
        if opening.starts_with(bytes) && !at_end {
            return None;
        }
    }
    Some(MarkupKind::Start)
}

impl MarkupKind {
    /// Length of the item in bytes; `None` if its end has not come. The first `searched` bytes do
    /// not contain the end.
    pub(super) fn len(self, bytes: &[u8], searched: usize) -> Option<usize> {
        match self {
            MarkupKind::Comment => find_end_of(bytes, b"-->", searched.max(4)),
            MarkupKind::CData => find_end_of(bytes, b"]]>", searched.max(9)),
            MarkupKind::Instruction => find_end_of(bytes, b"?>", searched.max(2)),
            MarkupKind::DocType => doc_type_len(bytes),
            MarkupKind::End | MarkupKind::Start => tag_len(bytes),
            MarkupKind::Text => find_end_of(bytes, b"<", searched).map(|end| end - 1),
        }
    }

    /// The characters that end an item of this kind.
    pub(super) fn terminator(self) -> &'static str {
        match self {
            MarkupKind::Comment => "-->",
            MarkupKind::CData => "]]>",
            MarkupKind::Instruction => "?>",
            MarkupKind::DocType | MarkupKind::End | MarkupKind::Start => ">",
            MarkupKind::Text => "<",
        }
    }
}

/// End of the first `token` that begins at or after `from`.
fn find_end_of(bytes: &[u8], token: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest.windows(token.len()).position(|w| w == token)?;
    Some(from + found + token.len())
}

fn tag_len(bytes: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, &b) in bytes.iter().enumerate() {
        match (quote, b) {
            (Some(q), _) if b == q => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Length of a document type with its declarations.
fn doc_type_len(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        if quote.is_none() && bytes[at..].starts_with(b"<!--") {
            at = find_end_of(bytes, b"-->", at + 4)?;
            continue;
        }
        match (quote, b) {
            (Some(q), _) if b == q => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'<' | b'[') => depth += 1,
            (None, b'>' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Reads the text between `<` and `>` of a tag.
pub(super) struct TagParser<'a> {
    pub(super) rest: &'a str,
}

impl TagParser<'_> {
    /// Reads a name, with its prefix.
    pub(super) fn name(&mut self) -> Result<String, String> {
        let end = self.rest.find(|c: char| !is_name_char(c));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if !name.chars().next().is_some_and(is_name_start) {
            return Err("a name is missing".to_owned());
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    /// Reads the attributes up to the end of the tag. `element` is for messages.
    pub(super) fn attributes(&mut self, element: &str) -> Result<Vec<(String, String)>, String> {
        let mut attributes = Vec::new();
        loop {
            let blanks = self.skip_blanks();
            if self.rest.is_empty() {
                break;
            }
            if !blanks {
                return Err(format!("<{element}> is not well-formed"));
            }
            attributes.push(self.attribute()?);
        }
        let mut names: Vec<_> = attributes.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(attributes),
            Some(pair) => Err(format!("<{element}> has the attribute {} twice", pair[0])),
        }
    }

    fn attribute(&mut self) -> Result<(String, String), String> {
        let name = self.name()?;
        self.skip_blanks();
        let Some(rest) = self.rest.strip_prefix('=') else {
            return Err(format!("the attribute {name} has no value"));
        };
        self.rest = rest;
        self.skip_blanks();
        let quote = match self.rest.chars().next() {
            Some(c @ ('"' | '\'')) => c,
            _ => return Err(format!("the value of the attribute {name} is not quoted")),
        };
        let (raw, rest) = self.rest[1..]
            .split_once(quote)
            .ok_or_else(|| format!("{quote} is missing"))?;
        self.rest = rest;
        if raw.contains('<') {
            return Err(format!("`<` in the value of the attribute {name}"));
        }
        Ok((name, attribute_value(raw)?))
    }

    /// Skips blanks, and returns whether there were any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(is_blank);
        let skipped = rest.len() < self.rest.len();
        self.rest = rest;
        skipped
    }
}
