//! Constructors: `<a b="{...}">text{...}</a>`, and `element a {...}` and its like.

use super::super::Outcome;
use super::super::query::{Element, Expr, Part};
use super::super::tree::{Kind, Namespace};
use super::Parser;

/// The attributes of a tag: those that declare namespaces apart.
#[derive(Default)]
struct Tag<'t> {
    namespaces: Vec<Namespace>,
    attributes: Vec<((&'t str, &'t str), Vec<Part>)>,
}

/// Text of an element as far as it has been read.
#[derive(Default)]
struct Text {
    text: String,
    /// A part of it was written as a reference or in CDATA: it is no blank between tags.
    is_meant: bool,
}

impl<'t> Parser<'t> {
    /// At a `<`.
    pub(super) fn direct(&mut self) -> Outcome<Expr> {
        if self.cursor.take_exact("<!--") {
            let text = self.until("-->")?;
            let parts = vec![Part::Text(text.to_owned())];
            return Ok(Expr::Leaf(Kind::Comment, None, parts));
        }
        let begin = self.cursor;
        self.cursor.skip();
        let Some(written) = self.cursor.prefixed() else {
            return Err(begin.wrong("an expression is missing"));
        };
        let known = self.names.count();
        let tag = self.tag()?;
        let name = self.names.element(written)?;
        let mut attributes = Vec::new();
        for (name, parts) in tag.attributes {
            attributes.push((self.names.attribute(name)?, parts));
        }
        let content = match self.cursor.take_exact("/>") {
            true => Vec::new(),
            false => {
                self.cursor.expect(">")?;
                self.content(written)?
            }
        };
        self.names.forget(known);
        Ok(Expr::Element(Box::new(Element {
            name,
            namespaces: tag.namespaces,
            attributes,
            content,
        })))
    }

    /// The attributes up to the end of a tag. What a prefix stands for holds from its declaration on in
    /// the values, and everywhere in the names.
    fn tag(&mut self) -> Outcome<Tag<'t>> {
        let mut tag = Tag::default();
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
                [Part::Text(uri)] => uri,
                _ => return Err(begin.wrong("a namespace is a plain text")),
            };
            self.names.declare(declared, uri);
            tag.namespaces.push((declared.into(), uri.into()));
        }
    }

    /// The value of an attribute in its quotes.
    fn value(&mut self) -> Outcome<Vec<Part>> {
        let begin = self.cursor;
        let quote = match self.cursor.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(begin.wrong("the value of an attribute is missing")),
        };
        self.cursor.skip();
        let (mut parts, mut text) = (Vec::new(), String::new());
        loop {
            match self.cursor.peek() {
                None => return Err(begin.wrong("a value is not closed")),
                Some('<') => return Err(self.cursor.wrong("`<` in a value; write `&lt;`")),
                Some('&') => text.push(self.cursor.reference()?),
                Some('{' | '}') => match self.brace()? {
                    None => text.push_str(self.doubled()),
                    Some(inside) => {
                        push_text(&mut parts, &mut text);
                        parts.push(Part::Expr(inside));
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

    /// At a brace: the expression in it; none if it is doubled, which stands for itself.
    fn brace(&mut self) -> Outcome<Option<Expr>> {
        if self.cursor.rest.starts_with("{{") || self.cursor.rest.starts_with("}}") {
            return Ok(None);
        }
        if self.cursor.rest.starts_with('}') {
            return Err(self.cursor.wrong("`}` closes nothing; write `}}`"));
        }
        self.enclosed().map(Some)
    }

    /// Takes a doubled brace.
    fn doubled(&mut self) -> &'t str {
        let (brace, rest) = self.cursor.rest.split_at(2);
        self.cursor.rest = rest;
        &brace[1..]
    }

    /// `{ expression }`
    fn enclosed(&mut self) -> Outcome<Expr> {
        self.cursor.expect("{")?;
        if self.cursor.take("}")? {
            return Ok(Expr::Sequence(Vec::new()));
        }
        let inside = self.expression()?;
        self.cursor.expect("}")?;
        Ok(inside)
    }

    /// What is between the tags of an element, and its end tag.
    fn content(&mut self, name: (&str, &str)) -> Outcome<Vec<Part>> {
        let begin = self.cursor;
        let (mut parts, mut text) = (Vec::new(), Text::default());
        loop {
            if self.cursor.is_at_end() {
                return Err(begin.wrong("an element is not closed"));
            } else if self.cursor.take_exact("</") {
                self.finish_text(&mut parts, &mut text);
                if self.cursor.prefixed() != Some(name) {
                    return Err(self.cursor.wrong("the end of another element"));
                }
                self.cursor.rest = self.cursor.rest.trim_start();
                self.cursor.expect(">")?;
                return Ok(parts);
            } else if self.cursor.take_exact("<![CDATA[") {
                text.text += self.until("]]>")?;
                text.is_meant = true;
            } else if self.cursor.rest.starts_with("<?") {
                return self.refused("a processing instruction");
            } else if self.cursor.rest.starts_with('<') {
                self.finish_text(&mut parts, &mut text);
                let inside = self.nested(Parser::direct)?;
                parts.push(Part::Expr(inside));
            } else if self.cursor.rest.starts_with(['{', '}']) {
                match self.brace()? {
                    None => text.text += self.doubled(),
                    Some(inside) => {
                        self.finish_text(&mut parts, &mut text);
                        parts.push(Part::Expr(inside));
                    }
                }
            } else if self.cursor.rest.starts_with('&') {
                text.text.push(self.cursor.reference()?);
                text.is_meant = true;
            } else {
                let rest = self.cursor.rest;
                let end = rest.find(['<', '{', '}', '&']).unwrap_or(rest.len());
                text.text += &rest[..end];
                self.cursor.rest = &rest[end..];
            }
        }
    }

    /// Adds the text read so far, unless it is blanks between tags.
    fn finish_text(&self, parts: &mut Vec<Part>, text: &mut Text) {
        let Text { mut text, is_meant } = std::mem::take(text);
        if is_meant || self.keeps_blanks || !text.trim().is_empty() {
            push_text(parts, &mut text);
        }
    }

    fn until(&mut self, end: &str) -> Outcome<&'t str> {
        match self.cursor.rest.split_once(end) {
            Some((inside, rest)) => {
                self.cursor.rest = rest;
                Ok(inside)
            }
            None => Err(self.cursor.wrong(&format!("`{end}` is missing"))),
        }
    }

    /// `element a {...}`, `attribute b {...}`, `text {...}`, `comment {...}`, if one stands here.
    pub(super) fn computed(&mut self) -> Outcome<Option<Expr>> {
        let begin = self.cursor;
        for (word, kind) in [("text", Kind::Text), ("comment", Kind::Comment)] {
            if begin.is_word_before(word, &["{"]) {
                self.cursor.take_words(word)?;
                let parts = vec![Part::Expr(self.enclosed()?)];
                return Ok(Some(Expr::Leaf(kind, None, parts)));
            }
        }
        for (word, kind) in [("element", Kind::Element), ("attribute", Kind::Attribute)] {
            if !self.cursor.take_words(word)? {
                continue;
            }
            self.cursor.blanks()?;
            if self.cursor.rest.starts_with('{') {
                return self.refused("a computed name");
            }
            let name = self.cursor.prefixed();
            self.cursor.blanks()?;
            let Some(name) = name.filter(|_| self.cursor.rest.starts_with('{')) else {
                self.cursor = begin;
                return Ok(None);
            };
            let content = vec![Part::Expr(self.enclosed()?)];
            return Ok(Some(match kind {
                Kind::Element => Expr::Element(Box::new(Element {
                    name: self.names.element(name)?,
                    namespaces: Vec::new(),
                    attributes: Vec::new(),
                    content,
                })),
                kind => Expr::Leaf(kind, Some(self.names.attribute(name)?), content),
            }));
        }
        match begin.is_word_before("document", &["{"]) {
            true => self.refused("a constructed document"),
            false => Ok(None),
        }
    }
}

fn push_text(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}
