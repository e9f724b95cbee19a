//! Documents from their text.

use std::sync::Arc;

use super::builder::XmlTreeBuilder;
use super::name::{NamespaceBinding, XML_NAMESPACE, XmlName};
use super::xml_tree::{XmlNodeKind, XmlTree};
use crate::scan::{Scanner, ScannerLimits, XmlToken};

/// Limits of documents that are in memory already: elements nest at most 1000 deep, because casts
/// and queries visit them by recursion; tags and texts may have any length.
const LIMITS: ScannerLimits = ScannerLimits {
    depth: 1000,
    item_bytes: usize::MAX,
};

/// Checks that a text is a well-formed document.
///
/// # Errors
/// A sentence that says what is not well-formed.
pub fn check_document(text: &[u8]) -> Result<(), String> {
    let mut scanner = Scanner::new(LIMITS);
    scanner.push(text);
    while scanner.token()?.is_some() {}
    scanner.end()
}

impl XmlTree {
    /// The elements, attributes and texts of a document. Names stay as they are written.
    ///
    /// # Errors
    /// A sentence that says what is not well-formed.
    pub fn parse(text: &[u8]) -> Result<XmlTree, String> {
        let mut scanner = Scanner::new(LIMITS);
        scanner.push(text);
        let mut builder = XmlTreeBuilder::default();
        builder.start(XmlNodeKind::Document, None, Vec::new());
        while let Some(token) = scanner.token()? {
            match token {
                XmlToken::Start { name, attributes } => {
                    builder.start_element(name, attributes);
                }
                XmlToken::End { .. } => builder.end(),
                XmlToken::Text { text, .. } => builder.text(&text),
                XmlToken::Declaration { .. }
                | XmlToken::Comment { .. }
                | XmlToken::Instruction { .. } => {}
            }
        }
        scanner.end()?;
        builder.end();
        Ok(builder.finish())
    }

    /// All nodes of a document, comments and instructions included, with the namespaces of names.
    ///
    /// # Errors
    /// A sentence that says what is not well-formed, or which prefix is not declared.
    pub fn parse_with_namespaces(text: &[u8]) -> Result<XmlTree, String> {
        let mut scanner = Scanner::with_comments(LIMITS);
        scanner.push(text);
        let mut parser = NamespaceParser::default();
        parser
            .builder
            .start(XmlNodeKind::Document, None, Vec::new());
        while let Some(token) = scanner.token()? {
            parser.process_token(token)?;
        }
        scanner.end()?;
        parser.builder.end();
        Ok(parser.builder.finish())
    }
}

/// Builds a tree whose names are resolved to namespaces.
#[derive(Default)]
struct NamespaceParser {
    builder: XmlTreeBuilder,
    /// Namespaces that open elements declare, outermost first.
    scope: Vec<NamespaceBinding>,
    /// Length of `scope` when each open element began.
    scope_lens: Vec<usize>,
}

impl NamespaceParser {
    fn process_token(&mut self, token: XmlToken) -> Result<(), String> {
        match token {
            XmlToken::Declaration { .. } => {}
            XmlToken::Start { name, attributes } => self.start(&name, &attributes)?,
            XmlToken::End { .. } => {
                self.builder.end();
                self.scope.truncate(self.scope_lens.pop().unwrap_or(0));
            }
            XmlToken::Text { text, .. } => self.builder.text(&text),
            XmlToken::Comment { text } => self.builder.leaf(XmlNodeKind::Comment, None, &text),
            XmlToken::Instruction { target, text } => {
                let name = Some(XmlName::without_namespace(target));
                self.builder.leaf(XmlNodeKind::Instruction, name, &text);
            }
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &[(String, String)]) -> Result<(), String> {
        let declared: Vec<_> = attributes.iter().filter_map(declaration).collect();
        self.scope_lens.push(self.scope.len());
        self.scope.extend(declared.iter().cloned());
        let name = self.resolve(name, false)?;
        self.builder
            .start(XmlNodeKind::Element, Some(name), declared);
        for attribute in attributes {
            if declaration(attribute).is_none() {
                let name = self.resolve(&attribute.0, true)?;
                self.builder
                    .leaf(XmlNodeKind::Attribute, Some(name), &attribute.1);
            }
        }
        Ok(())
    }

    fn resolve(&self, name: &str, is_attribute: bool) -> Result<XmlName, String> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let uri = match prefix {
            "" if is_attribute => return Ok(XmlName::without_namespace(local.to_owned())),
            "xml" => XML_NAMESPACE.into(),
            _ => {
                let mut scope = self.scope.iter().rev();
                let found = scope.find(|(known, _)| **known == *prefix);
                match found {
                    Some((_, uri)) => Arc::clone(uri),
                    None if prefix.is_empty() => {
                        return Ok(XmlName::without_namespace(local.to_owned()));
                    }
                    None => return Err(format!("no namespace is declared for `{prefix}:`")),
                }
            }
        };
        Ok(XmlName::new(prefix, local, uri))
    }
}

/// The namespace that an attribute declares.
fn declaration((name, value): &(String, String)) -> Option<NamespaceBinding> {
    match name.strip_prefix("xmlns")? {
        "" => Some(("".into(), value[..].into())),
        prefix => Some((prefix.strip_prefix(':')?.into(), value[..].into())),
    }
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
            assert_eq!(check_document(text.as_bytes()), Ok(()), "{text}");
            assert!(XmlTree::parse(text.as_bytes()).is_ok(), "{text}");
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
            assert_eq!(
                check_document(text.as_bytes()),
                Err(why.to_owned()),
                "{text}"
            );
            let parsed = XmlTree::parse(text.as_bytes()).map(drop);
            assert_eq!(parsed, Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<a>".repeat(100_000);
        assert_eq!(
            XmlTree::parse(deep.as_bytes()).map(drop),
            Err("elements nest deeper than 1000".to_owned())
        );
    }
}
