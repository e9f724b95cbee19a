//! XML documents as trees: elements, attributes and text.

use xml::{Scanner, ScannerLimits, XmlToken};

/// What a document may have: elements nest so deep at most, texts are as long as memory allows.
const LIMITS: ScannerLimits = ScannerLimits {
    depth: 1000,
    item_bytes: usize::MAX,
};

/// An element.
#[derive(Debug, Default, PartialEq)]
pub(super) struct XmlTreeElement {
    /// With its prefix, if it has one.
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<XmlTreeElement>,
    /// Its own text, without that of its children.
    pub(super) text: String,
}

impl XmlTreeElement {
    /// An attribute by name.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| &v[..])
    }

    /// The name without its prefix.
    pub(super) fn local_name(&self) -> &str {
        self.name.rsplit(':').next().unwrap_or_default()
    }
}

/// The root element of a document.
pub(super) fn parse(bytes: &[u8]) -> Result<XmlTreeElement, String> {
    let mut scanner = Scanner::new(LIMITS);
    scanner.push(bytes);
    let mut open: Vec<XmlTreeElement> = Vec::new();
    let mut root = None;
    while let Some(token) = scanner.token()? {
        match token {
            XmlToken::Declaration { .. }
            | XmlToken::Comment { .. }
            | XmlToken::Instruction { .. } => {}
            XmlToken::Start { name, attributes } => open.push(XmlTreeElement {
                name,
                attributes,
                ..XmlTreeElement::default()
            }),
            XmlToken::Text { text, .. } => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text);
                }
            }
            XmlToken::End { .. } => {
                let element = open.pop();
                match open.last_mut() {
                    Some(parent) => parent.children.extend(element),
                    None => root = element,
                }
            }
        }
    }
    scanner.end()?;
    root.ok_or_else(|| "it has no element".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_documents() {
        for text in [
            "<a/>",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ELEMENT a ANY>]><a>x</a> <!-- c --> ",
            "<n:a xmlns:n='u' b='1' c=\"&lt;&#65;&#x42;\"><?p q?><![CDATA[<&]]></n:a>",
            "<a><b></b ><c /></a>",
        ] {
            assert_eq!(parse(text.as_bytes()).map(drop), Ok(()), "{text}");
        }
    }

    #[test]
    fn ill_formed_documents() {
        for (text, why) in [
            ("", "it has no element"),
            ("x", "text outside of the root element"),
            ("<a>", "<a> is not closed"),
            ("<a></b>", "</b> where <a> should be closed"),
            ("<a/><b/>", "a second root element"),
            ("<a b=1/>", "the value of the attribute b is not quoted"),
            ("<a b='1' b='2'/>", "<a> has the attribute b twice"),
            ("<a>&x;</a>", "&x; is unknown"),
            ("<a>&amp</a>", "a reference without `;`"),
            ("<a b='<'/>", "`<` in the value of the attribute b"),
            ("<a><!-- a -- b --></a>", "`--` in a comment"),
            ("<1/>", "a name is missing"),
            ("<a>\u{1}</a>", "the character U+0001 is not allowed"),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<a>".repeat(100_000);
        assert_eq!(
            parse(deep.as_bytes()),
            Err("elements nest deeper than 1000".to_owned())
        );
    }
}
