//! Constructors: `<a b="{...}">text{...}</a>`, `element a {...}` and others.

use super::super::failure::QueryResult;
use super::super::query::{ConstructorPart, ElementConstructor, QueryExpr};
use super::query_parser::QueryParser;
use crate::tree::{NamespaceBinding, XmlNodeKind};

/// The attributes of a tag: those that declare namespaces apart.
#[derive(Default)]
struct TagAttributes<'t> {
    namespaces: Vec<NamespaceBinding>,
    attributes: Vec<((&'t str, &'t str), Vec<ConstructorPart>)>,
}

/// The text of an element that has been read since the last child.
#[derive(Default)]
struct PendingText {
    text: String,
    /// Whether a part was written as a reference or in CDATA, so that blanks count.
    is_significant: bool,
}

impl<'t> QueryParser<'t> {
    /// Reads a constructor that begins with `<`.
    pub(super) fn direct_constructor(&mut self) -> QueryResult<QueryExpr> {
        if self.cursor.take_exact("<!--") {
            let text = self.text_until("-->")?;
            let parts = vec![ConstructorPart::Text(text.to_owned())];
            return Ok(QueryExpr::Leaf(XmlNodeKind::Comment, None, parts));
        }
        let begin = self.cursor;
        self.cursor.skip();
        let Some(written) = self.cursor.prefixed() else {
            return Err(begin.failure_at("an expression is missing"));
        };
        let known = self.namespaces.len();
        let tag = self.tag()?;
        let name = self.namespaces.element(written)?;
        let mut attributes = Vec::new();
        for (name, parts) in tag.attributes {
            attributes.push((self.namespaces.attribute(name)?, parts));
        }
        let content = match self.cursor.take_exact("/>") {
            true => Vec::new(),
            false => {
                self.cursor.expect(">")?;
                self.content(written)?
            }
        };
        self.namespaces.truncate(known);
        Ok(QueryExpr::Element(Box::new(ElementConstructor {
            name,
            namespaces: tag.namespaces,
            attributes,
            content,
        })))
    }

    /// Reads the attributes up to the end of a tag. A declared prefix is known from its declaration
    /// on in values, and everywhere in names.
    fn tag(&mut self) -> QueryResult<TagAttributes<'t>> {
        let mut tag = TagAttributes::default();
        loop {
            self.cursor.rest = self.cursor.rest.trim_start();
            let Some((prefix, local)) = self.cursor.prefixed() else {
                return Ok(tag);
            };
            let begin = self.cursor;
            self.cursor.expect("=")?;
            self.cursor.rest = self.cursor.rest.trim_start();
            let parts = self.value()?;
            let declared = match (prefix, local) {
                ("", "xmlns") => Some(""),
                ("xmlns", prefix) => Some(prefix),
                _ => None,
            };
            let Some(declared) = declared else {
                tag.attributes.push(((prefix, local), parts));
                continue;
            };
            let uri = match &parts[..] {
                [] => "",
                [ConstructorPart::Text(uri)] => uri,
                _ => return Err(begin.failure_at("a namespace is a plain text")),
            };
            self.namespaces.declare(declared, uri);
            tag.namespaces.push((declared.into(), uri.into()));
        }
    }

    /// Reads the value of an attribute in quotes.
    fn value(&mut self) -> QueryResult<Vec<ConstructorPart>> {
        let begin = self.cursor;
        let quote = match self.cursor.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(begin.failure_at("the value of an attribute is missing")),
        };
        self.cursor.skip();
        let (mut parts, mut text) = (Vec::new(), String::new());
        loop {
            match self.cursor.peek() {
                None => return Err(begin.failure_at("a value is not closed")),
                Some('<') => return Err(self.cursor.failure_at("`<` in a value; write `&lt;`")),
                Some('&') => text.push(self.cursor.reference()?),
                Some('{' | '}') => match self.brace()? {
                    None => text.push_str(self.doubled_brace()),
                    Some(inside) => {
                        push_text(&mut parts, &mut text);
                        parts.push(ConstructorPart::Expr(inside));
                    }
                },
                Some(c) => {
                    self.cursor.skip();
                    if c == quote && self.cursor.peek() != Some(quote) {
                        push_text(&mut parts, &mut text);
                        return Ok(parts);
                    }
                    if c == quote {
                        self.cursor.skip();
                    }
                    text.push(if matches!(c, '\n' | '\t' | '\r') {
                        ' '
                    } else {
                        c
                    });
                }
            }
        }
    }

    /// Reads an expression in braces; `None` at a doubled brace, which stands for itself.
    fn brace(&mut self) -> QueryResult<Option<QueryExpr>> {
        if self.cursor.rest.starts_with("{{") || self.cursor.rest.starts_with("}}") {
            return Ok(None);
        }
        if self.cursor.rest.starts_with('}') {
            return Err(self.cursor.failure_at("`}` closes nothing; write `}}`"));
        }
        self.enclosed().map(Some)
    }

    /// Reads a doubled brace as one.
    fn doubled_brace(&mut self) -> &'t str {
        let (brace, rest) = self.cursor.rest.split_at(2);
        self.cursor.rest = rest;
        &brace[1..]
    }

    /// Reads an expression in braces: `{ expression }`.
    fn enclosed(&mut self) -> QueryResult<QueryExpr> {
        self.cursor.expect("{")?;
        if self.cursor.take("}")? {
            return Ok(QueryExpr::Sequence(Vec::new()));
        }
        let inside = self.expression()?;
        self.cursor.expect("}")?;
        Ok(inside)
    }

    /// Reads the content of an element, and its end tag.
    fn content(&mut self, name: (&str, &str)) -> QueryResult<Vec<ConstructorPart>> {
        let begin = self.cursor;
        let (mut parts, mut text) = (Vec::new(), PendingText::default());
        loop {
            if self.cursor.is_at_end() {
                return Err(begin.failure_at("an element is not closed"));
            } else if self.cursor.take_exact("</") {
                self.finish_text(&mut parts, &mut text);
                if self.cursor.prefixed() != Some(name) {
                    return Err(self.cursor.failure_at("the end of another element"));
                }
                self.cursor.rest = self.cursor.rest.trim_start();
                self.cursor.expect(">")?;
                return Ok(parts);
            } else if self.cursor.take_exact("<![CDATA[") {
                text.text += self.text_until("]]>")?;
                text.is_significant = true;
            } else if self.cursor.rest.starts_with("<?") {
                return self.unsupported("a processing instruction");
            } else if self.cursor.rest.starts_with('<') {
                self.finish_text(&mut parts, &mut text);
                let inside = self.nested(QueryParser::direct_constructor)?;
                parts.push(ConstructorPart::Expr(inside));
            } else if self.cursor.rest.starts_with(['{', '}']) {
                match self.brace()? {
                    None => text.text += self.doubled_brace(),
                    Some(inside) => {
                        self.finish_text(&mut parts, &mut text);
                        parts.push(ConstructorPart::Expr(inside));
                    }
                }
            } else if self.cursor.rest.starts_with('&') {
                text.text.push(self.cursor.reference()?);
                text.is_significant = true;
            } else {
                let rest = self.cursor.rest;
                let end = rest.find(['<', '{', '}', '&']).unwrap_or(rest.len());
                text.text += &rest[..end];
                self.cursor.rest = &rest[end..];
            }
        }
    }

    /// Adds the pending text, unless it is blanks between tags.
    fn finish_text(&self, parts: &mut Vec<ConstructorPart>, text: &mut PendingText) {
        let PendingText {
            mut text,
            is_significant: is_meant,
        } = std::mem::take(text);
        if is_meant || self.keeps_blanks || !text.trim().is_empty() {
            push_text(parts, &mut text);
        }
    }

    fn text_until(&mut self, end: &str) -> QueryResult<&'t str> {
        match self.cursor.rest.split_once(end) {
            Some((inside, rest)) => {
                self.cursor.rest = rest;
                Ok(inside)
            }
            None => Err(self.cursor.failure_at(&format!("`{end}` is missing"))),
        }
    }

    /// `element a {...}`, `attribute b {...}`, `text {...}`, `comment {...}`, if one stands here.
    pub(super) fn computed_constructor(&mut self) -> QueryResult<Option<QueryExpr>> {
        let begin = self.cursor;
        for (word, kind) in [
            ("text", XmlNodeKind::Text),
            ("comment", XmlNodeKind::Comment),
        ] {
            if begin.is_word_before(word, &["{"]) {
                self.cursor.take_words(word)?;
                let parts = vec![ConstructorPart::Expr(self.enclosed()?)];
                return Ok(Some(QueryExpr::Leaf(kind, None, parts)));
            }
        }
        for (word, kind) in [
            ("element", XmlNodeKind::Element),
            ("attribute", XmlNodeKind::Attribute),
        ] {
            if !self.cursor.take_words(word)? {
                continue;
            }
            self.cursor.skip_blanks()?;
            if self.cursor.rest.starts_with('{') {
                return self.unsupported("a computed name");
            }
            let name = self.cursor.prefixed();
            self.cursor.skip_blanks()?;
            let Some(name) = name.filter(|_| self.cursor.rest.starts_with('{')) else {
                self.cursor = begin;
                return Ok(None);
            };
            let content = vec![ConstructorPart::Expr(self.enclosed()?)];
            return Ok(Some(match kind {
                XmlNodeKind::Element => QueryExpr::Element(Box::new(ElementConstructor {
                    name: self.namespaces.element(name)?,
                    namespaces: Vec::new(),
                    attributes: Vec::new(),
                    content,
                })),
                kind => QueryExpr::Leaf(kind, Some(self.namespaces.attribute(name)?), content),
            }));
        }
        match begin.is_word_before("document", &["{"]) {
            true => self.unsupported("a constructed document"),
            false => Ok(None),
        }
    }
}

fn push_text(parts: &mut Vec<ConstructorPart>, text: &mut String) {
    if !text.is_empty() {
        parts.push(ConstructorPart::Text(std::mem::take(text)));
    }
}
