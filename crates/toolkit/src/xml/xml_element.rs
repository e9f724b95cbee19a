//! An element of a document, as far as it is kept.

/// An element with what the plan may ask for.
#[derive(Debug, Default, PartialEq)]
pub struct XmlElement {
    /// Its name.
    pub name: String,
    /// Its attributes, without declarations of namespaces.
    pub attributes: Vec<(String, String)>,
    /// Its children, in order.
    pub children: Vec<XmlElement>,
    /// Its own text, without that of its children.
    pub text: String,
    /// Blanks after `text` that count unless an element follows or came before.
    blanks: String,
    has_children: bool,
}

impl XmlElement {
    /// An element that has just begun.
    pub fn new(name: &str, attributes: Vec<(String, String)>) -> XmlElement {
        XmlElement {
            name: name.to_owned(),
            attributes,
            ..XmlElement::default()
        }
    }

    /// Adds text. Blanks that lay an element's children out do not count.
    pub fn add_text(&mut self, text: &str, is_literal: bool) {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        if !is_literal && text.chars().all(is_blank) {
            self.blanks.push_str(text);
            return;
        }
        if !self.has_children {
            self.text.push_str(&self.blanks);
        }
        self.blanks.clear();
        self.text.push_str(text);
    }

    /// A child begins, kept or not.
    pub fn begin_child(&mut self) {
        self.has_children = true;
        self.blanks.clear();
    }

    /// The element ends.
    pub fn finish(&mut self) {
        let blanks = std::mem::take(&mut self.blanks);
        if !self.has_children {
            self.text.push_str(&blanks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of an element whose content is this; `None` is a child.
    fn text(parts: &[Option<&str>]) -> String {
        let mut element = XmlElement::default();
        for part in parts {
            match part {
                Some(text) => element.add_text(text, false),
                None => element.begin_child(),
            }
        }
        element.finish();
        element.text
    }

    #[test]
    fn blanks_between_elements_are_layout() {
        assert_eq!(
            text(&[Some("\n "), None, Some("\n "), None, Some("\n")]),
            ""
        );
        assert_eq!(text(&[Some(" x "), None, Some(" "), Some("y ")]), " x y ");
        assert_eq!(text(&[Some(" "), None, Some(" "), Some("x")]), "x");
    }

    #[test]
    fn blanks_of_an_element_without_elements_are_its_text() {
        assert_eq!(text(&[Some("  ")]), "  ");
        assert_eq!(text(&[Some(" "), Some("x"), Some(" ")]), " x ");
    }

    #[test]
    fn blanks_in_cdata_are_text() {
        let mut element = XmlElement::default();
        element.begin_child();
        element.add_text(" ", true);
        element.finish();
        assert_eq!(element.text, " ");
    }
}
