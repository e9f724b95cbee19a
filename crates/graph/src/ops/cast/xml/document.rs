//! A small XML parser: elements, attributes and text of a well-formed document.
//!
//! It checks what XML 1.0 calls well-formedness but for the declarations inside a DOCTYPE, which it
//! skips: entities that those declare are unknown here.

/// How deep elements nest at most.
const DEPTH_MAX: usize = 1000;

/// An element.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Element {
    /// With its prefix, if it has one.
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// Its own text, without that of its children.
    pub(super) text: String,
}

impl Element {
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
pub(super) fn parse(bytes: &[u8]) -> Result<Element, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if let Some(c) = text.chars().find(|&c| !is_char(c)) {
        return Err(format!(
            "the character U+{:04X} is not allowed",
            u32::from(c)
        ));
    }
    Parser {
        rest: text,
        open: Vec::new(),
        root: None,
    }
    .run()
}

struct Parser<'a> {
    rest: &'a str,
    /// The elements that are open, outermost first.
    open: Vec<Element>,
    root: Option<Element>,
}

impl<'a> Parser<'a> {
    fn run(mut self) -> Result<Element, String> {
        if self.rest.starts_with("<?xml") {
            self.until("?>")?;
        }
        while !self.rest.is_empty() {
            self.item()?;
        }
        if let Some(element) = self.open.last() {
            return Err(format!("<{}> is not closed", element.name));
        }
        self.root.ok_or_else(|| "it has no element".to_owned())
    }

    fn item(&mut self) -> Result<(), String> {
        if self.accept("<!--") {
            let comment = self.until("-->")?;
            return if comment.contains("--") {
                Err("`--` in a comment".to_owned())
            } else {
                Ok(())
            };
        }
        if self.accept("<![CDATA[") {
            let text = self.until("]]>")?;
            return self.add_text(text.to_owned());
        }
        if self.accept("<?") {
            let target = self.until("?>")?;
            let is_xml = target.len() >= 3 && target.as_bytes()[..3].eq_ignore_ascii_case(b"xml");
            return if is_xml {
                Err("an XML declaration inside".to_owned())
            } else {
                Ok(())
            };
        }
        if self.rest.starts_with("<!DOCTYPE") && self.open.is_empty() && self.root.is_none() {
            return self.doctype();
        }
        if self.accept("</") {
            return self.end();
        }
        if self.accept("<") {
            return self.start();
        }
        let text = self.rest.split('<').next().unwrap_or_default();
        self.rest = &self.rest[text.len()..];
        if text.contains("]]>") {
            return Err("`]]>` in text".to_owned());
        }
        self.add_text(expand(text)?)
    }

    fn add_text(&mut self, text: String) -> Result<(), String> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(&text),
            None if text.chars().all(is_blank) => {}
            None => return Err("text outside of the root element".to_owned()),
        }
        Ok(())
    }

    /// Skips a document type with its declarations.
    fn doctype(&mut self) -> Result<(), String> {
        let mut depth = 0_u32;
        let mut quote = None;
        for (at, c) in self.rest.char_indices() {
            match (quote, c) {
                (Some(q), _) if c == q => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '<' | '[') => depth += 1,
                (None, '>' | ']') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &self.rest[at + 1..];
                return Ok(());
            }
        }
        Err("the document type is not closed".to_owned())
    }

    fn start(&mut self) -> Result<(), String> {
        if self.root.is_some() {
            return Err("a second root element".to_owned());
        }
        let mut element = Element {
            name: self.name()?,
            ..Element::default()
        };
        loop {
            let blanks = self.skip_blanks();
            if self.accept("/>") {
                return self.close(element);
            }
            if self.accept(">") {
                if self.open.len() == DEPTH_MAX {
                    return Err(format!("elements nest deeper than {DEPTH_MAX}"));
                }
                self.open.push(element);
                return Ok(());
            }
            if !blanks {
                return Err(format!("<{}> is not well-formed", element.name));
            }
            let (name, value) = self.attribute()?;
            if element.attribute(&name).is_some() {
                return Err(format!("<{}> has the attribute {name} twice", element.name));
            }
            element.attributes.push((name, value));
        }
    }

    fn attribute(&mut self) -> Result<(String, String), String> {
        let name = self.name()?;
        self.skip_blanks();
        if !self.accept("=") {
            return Err(format!("the attribute {name} has no value"));
        }
        self.skip_blanks();
        let quote = match self.rest.chars().next() {
            Some(c @ ('"' | '\'')) => c,
            _ => return Err(format!("the value of the attribute {name} is not quoted")),
        };
        self.rest = &self.rest[1..];
        let value = self.until(if quote == '"' { "\"" } else { "'" })?;
        if value.contains('<') {
            return Err(format!("`<` in the value of the attribute {name}"));
        }
        Ok((name, expand(value)?))
    }

    fn end(&mut self) -> Result<(), String> {
        let name = self.name()?;
        self.skip_blanks();
        match self.open.pop() {
            Some(element) if element.name == name && self.accept(">") => self.close(element),
            Some(element) => Err(format!(
                "</{name}> where <{}> should be closed",
                element.name
            )),
            None => Err(format!("</{name}> closes nothing")),
        }
    }

    fn close(&mut self, element: Element) -> Result<(), String> {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn name(&mut self) -> Result<String, String> {
        let end = self
            .rest
            .find(|c: char| !is_name(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        match name.chars().next() {
            Some(c) if !c.is_ascii_digit() && c != '-' && c != '.' => {
                self.rest = rest;
                Ok(name.to_owned())
            }
            _ => Err("a name is missing".to_owned()),
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn until(&mut self, token: &str) -> Result<&'a str, String> {
        let (inside, rest) = self
            .rest
            .split_once(token)
            .ok_or(format!("{token} is missing"))?;
        self.rest = rest;
        Ok(inside)
    }

    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(is_blank);
        let skipped = rest.len() < self.rest.len();
        self.rest = rest;
        skipped
    }
}

/// Replaces references to characters and to the five entities that every document has.
fn expand(text: &str) -> Result<String, String> {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or("a reference without `;`")?;
        let c = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => character(name).ok_or_else(|| format!("&{name}; is unknown"))?,
        };
        out.push(c);
        out.push_str(rest);
    }
    Ok(out)
}

fn character(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let point = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(point).filter(|&c| is_char(c))
}

fn is_char(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{B7}')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
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
