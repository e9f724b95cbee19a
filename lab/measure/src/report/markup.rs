//! Elements of HTML and SVG, written so that XML parsers read them too.
//!
//! Text from outside is passed to `text` or to an attribute, which escape it.

use std::fmt::{Display, Write};

/// Names and values of an element's attributes.
pub type MarkupAttributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// A writer of nested elements.
#[derive(Debug, Default)]
pub struct Markup {
    out: String,
    open: Vec<&'static str>,
}

impl Markup {
    /// Begins an element, which ends at the matching `close`.
    pub fn open(&mut self, name: &'static str, attributes: MarkupAttributes) -> &mut Markup {
        self.start(name, attributes);
        self.out.push('>');
        self.open.push(name);
        self
    }

    /// Ends the innermost open element.
    ///
    /// # Panics
    /// If none is open: a mistake of the caller.
    pub fn close(&mut self) -> &mut Markup {
        let name = self.open.pop().expect("an open element");
        let _ = write!(self.out, "</{name}>");
        self
    }

    /// An element without content.
    pub fn empty_element(
        &mut self,
        name: &'static str,
        attributes: MarkupAttributes,
    ) -> &mut Markup {
        self.start(name, attributes);
        self.out.push_str("/>");
        self
    }

    /// An element with text only.
    pub fn text_element(
        &mut self,
        name: &'static str,
        attributes: MarkupAttributes,
        text: impl Display,
    ) -> &mut Markup {
        self.open(name, attributes).text(text).close()
    }

    /// Writes text with its special characters escaped.
    pub fn text(&mut self, text: impl Display) -> &mut Markup {
        escape(&text.to_string(), &mut self.out);
        self
    }

    /// Writes a line end, so that the source of the page can be read.
    pub fn line(&mut self) -> &mut Markup {
        self.out.push('\n');
        self
    }

    /// Writes text that is markup already, unescaped.
    pub fn raw_markup(&mut self, markup: &str) -> &mut Markup {
        self.out.push_str(markup);
        self
    }

    /// The whole text; every element has to be closed.
    pub fn finish(self) -> String {
        assert!(self.open.is_empty(), "not closed: {:?}", self.open);
        self.out
    }

    fn start(&mut self, name: &str, attributes: MarkupAttributes) {
        let _ = write!(self.out, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.out, " {name}=\"");
            escape(&value.to_string(), &mut self.out);
            self.out.push('"');
        }
    }
}

/// Replaces characters that XML does not allow, even escaped, by U+FFFD.
fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | ' '.. => match character {
                '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
                _ => out.push(character),
            },
            _ => out.push('\u{fffd}'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn what_comes_from_outside_cannot_leave_its_place() {
        let mut markup = Markup::default();
        let nasty = "a\"><script>&\u{0}";
        markup.open("p", &[("title", &nasty)]).text(nasty).close();
        let escaped = "a&quot;&gt;&lt;script&gt;&amp;\u{fffd}";
        let expected = format!("<p title=\"{escaped}\">{escaped}</p>");
        assert_eq!(markup.finish(), expected);
    }
}
