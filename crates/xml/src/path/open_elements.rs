//! The open elements of a document, and the tree of those that a trigger needs: the element of the
//! trigger, and below it the elements that some path may ask for.
//!
//! The tree grows while a kept element is open and is cut back when it ends, unless it is a wanted
//! part of the element around it. So it never holds more than the outermost kept element.

use super::name_matching::NameMatching;
use super::trigger::StartTag;
use super::xml_path::XmlPath;
use crate::scan::text::is_blank;
use crate::tree::{XmlNodeRef, XmlTreeBuilder};

/// The elements that are open, and the tree of what is kept of them.
#[derive(Debug)]
pub struct OpenElements {
    names: NameMatching,
    triggers: Vec<XmlPath>,
    /// Whether some trigger asks for attributes of elements on its way.
    needs_attributes: bool,
    /// Names of the elements below triggers that paths ask for; `None`: any.
    wanted_names: Option<Vec<String>>,
    open: Vec<OpenElement>,
    builder: XmlTreeBuilder,
}

#[derive(Debug)]
struct OpenElement {
    name: String,
    /// Attributes of the element, if triggers ask for them.
    attributes: Vec<(String, String)>,
    kept: Option<KeptElement>,
    /// Ports whose trigger leads to the element.
    ports: Vec<usize>,
}

/// State of an open element that the tree keeps.
#[derive(Debug)]
struct KeptElement {
    index: u32,
    /// Whether the element becomes a part of the kept element around it.
    is_part: bool,
    /// Blanks behind the last text, which count unless an element came before or follows.
    blanks: String,
    has_children: bool,
}

/// An element whose end was read and whose trigger it was.
#[derive(Debug)]
pub struct TriggerElement {
    /// Index of the element, for [`OpenElements::node`].
    pub index: u32,
    /// Ports whose trigger leads to the element.
    pub ports: Vec<usize>,
}

impl OpenElements {
    /// No element is open. `wanted` are the names on paths from the triggers; `None` among them
    /// stands for any name.
    pub fn new<'n>(
        names: NameMatching,
        triggers: Vec<XmlPath>,
        wanted: impl Iterator<Item = Option<&'n str>>,
    ) -> OpenElements {
        let wanted = wanted.map(|name| name.map(str::to_owned));
        OpenElements {
            names,
            needs_attributes: triggers.iter().any(XmlPath::needs_attributes),
            triggers,
            wanted_names: wanted.collect(),
            open: Vec::new(),
            builder: XmlTreeBuilder::default(),
        }
    }

    /// Forgets all open elements.
    pub fn restart(&mut self) {
        self.open.clear();
        self.builder.clear();
    }

    /// Begins an element within the innermost one.
    pub fn start(&mut self, name: &str, attributes: Vec<(String, String)>) {
        let name = self.names.comparable_name(name).to_owned();
        let parent = self.open.last_mut().and_then(|open| open.kept.as_mut());
        let is_part = parent.is_some_and(|parent| {
            parent.has_children = true;
            parent.blanks.clear();
            is_wanted(self.wanted_names.as_deref(), &name, self.names)
        });
        let asked = match self.needs_attributes {
            true => attributes_of(attributes.clone(), self.names),
            false => Vec::new(),
        };
        self.open.push(OpenElement {
            name,
            attributes: asked,
            kept: None,
            ports: Vec::new(),
        });
        let ports = self.triggered_ports();
        if let Some(open) = self.open.last_mut() {
            if is_part || !ports.is_empty() {
                let attributes = attributes_of(attributes, self.names);
                open.kept = Some(KeptElement {
                    index: self.builder.start_element(open.name.clone(), attributes),
                    is_part,
                    blanks: String::new(),
                    has_children: false,
                });
            }
            open.ports = ports;
        }
    }

    /// The ports whose trigger leads to the innermost element.
    fn triggered_ports(&self) -> Vec<usize> {
        let tags = self.open.iter();
        let tags: Vec<StartTag<'_>> = tags.map(|open| (&*open.name, &*open.attributes)).collect();
        let triggers = self.triggers.iter().enumerate();
        let ports = triggers.filter(|(_, trigger)| trigger.leads_to(&tags, self.names));
        ports.map(|(port, _)| port).collect()
    }

    /// Adds text to the innermost element. Blanks that lay its children out are no text, unless
    /// they are literal: written in a CDATA section.
    pub fn add_text(&mut self, text: &str, is_literal: bool) {
        let Some(kept) = self.open.last_mut().and_then(|open| open.kept.as_mut()) else {
            return;
        };
        if !is_literal && text.chars().all(is_blank) {
            kept.blanks.push_str(text);
            return;
        }
        if !kept.has_children {
            self.builder.text(&kept.blanks);
        }
        kept.blanks.clear();
        self.builder.text(text);
    }

    /// The path to the innermost element.
    pub fn path(&self) -> String {
        self.open
            .iter()
            .map(|open| format!("/{}", open.name))
            .collect()
    }

    /// Ends the innermost element, and returns it if a trigger leads to it. It stays readable until
    /// [`OpenElements::close`], which must follow.
    pub fn end_element(&mut self) -> Option<TriggerElement> {
        let open = self.open.last_mut()?;
        let kept = open.kept.as_mut()?;
        if !kept.has_children {
            self.builder.text(&kept.blanks);
        }
        self.builder.end();
        let ports = std::mem::take(&mut open.ports);
        let index = kept.index;
        (!ports.is_empty()).then_some(TriggerElement { index, ports })
    }

    /// The kept element at an index.
    pub fn node(&self, index: u32) -> XmlNodeRef<'_> {
        self.builder.tree().node(index)
    }

    /// Closes the innermost element, which has ended. The tree keeps it only as a part of the
    /// element around it.
    pub fn close(&mut self) {
        let kept = self.open.pop().and_then(|open| open.kept);
        if let Some(kept) = kept.filter(|kept| !kept.is_part) {
            self.builder.truncate(kept.index);
        }
    }
}

/// Whether some path asks for elements of a name.
fn is_wanted(wanted: Option<&[String]>, name: &str, names: NameMatching) -> bool {
    wanted.is_none_or(|wanted| wanted.iter().any(|other| names.matches(other, name)))
}

/// Attributes under comparable names, without declarations of namespaces.
fn attributes_of(attributes: Vec<(String, String)>, names: NameMatching) -> Vec<(String, String)> {
    let is_attribute = |name: &str| name != "xmlns" && !name.starts_with("xmlns:");
    let attributes = attributes.into_iter();
    let attributes = attributes.filter(|(name, _)| is_attribute(name));
    attributes
        .map(|(name, value)| (names.comparable_name(&name).to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::xml_path::PathTarget;
    use super::*;
    use crate::tree::XmlTree;

    fn elements(trigger: &str, wanted: &[Option<&str>]) -> OpenElements {
        let triggers = vec![XmlPath::parse(trigger, PathTarget::Trigger).unwrap()];
        OpenElements::new(NameMatching::default(), triggers, wanted.iter().copied())
    }

    /// Names of the kept children of each element that a trigger leads to in
    /// `<r><x><a><b/><c/></a></x></r>`.
    fn kept(trigger: &str, wanted: &[Option<&str>]) -> Vec<String> {
        let mut tree = elements(trigger, wanted);
        let mut kept = Vec::new();
        for name in ["r", "x", "a", "b", "/", "c", "/", "/", "/", "/"] {
            if name != "/" {
                tree.start(name, Vec::new());
                continue;
            }
            if let Some(ended) = tree.end_element() {
                let children = tree.node(ended.index).child_elements();
                let names: Vec<_> = children.map(XmlNodeRef::name).collect();
                kept.push(names.join(" "));
            }
            tree.close();
        }
        assert_eq!(tree.path(), "");
        assert!(tree.builder.tree().is_empty());
        kept
    }

    #[test]
    fn only_what_paths_name_is_kept() {
        assert_eq!(kept("/r/x/a", &[Some("c")]), ["c"]);
        assert_eq!(kept("/r/x/a", &[None, Some("c")]), ["b c"]);
        assert_eq!(kept("/r", &[Some("a")]), [""]);
        assert_eq!(kept("/r", &[Some("x"), Some("a")]), ["x"]);
        assert_eq!(kept("/x", &[None]), [""; 0]);
        // The inner element is a trigger, and not a part of the outer one.
        assert_eq!(kept("/r|/r/x/a", &[Some("b")]), ["b", ""]);
        assert_eq!(kept("//*", &[Some("a")]), ["", "", "", "a", ""]);
    }

    #[test]
    fn declarations_of_namespaces_are_no_attributes() {
        let attributes = ["xmlns", "xmlns:n", "n:a", "b"].map(|name| (name.into(), "v".into()));
        let names = NameMatching {
            ignore_namespaces: true,
            ..NameMatching::default()
        };
        let kept = attributes_of(attributes.to_vec(), names);
        let kept: Vec<_> = kept.iter().map(|(name, _)| &**name).collect();
        assert_eq!(kept, ["a", "b"]);
    }

    /// Own text of an element with these contents; `None` is a child that the tree does not keep.
    fn own_text(parts: &[Option<(&str, bool)>]) -> String {
        let mut tree = elements("/a", &[Some("kept")]);
        tree.start("a", Vec::new());
        for part in parts {
            match part {
                Some((text, is_literal)) => tree.add_text(text, *is_literal),
                None => {
                    tree.start("b", Vec::new());
                    assert!(tree.end_element().is_none());
                    tree.close();
                }
            }
        }
        let ended = tree.end_element().unwrap();
        tree.node(ended.index).own_text().into_owned()
    }

    fn text(text: &str) -> Option<(&str, bool)> {
        Some((text, false))
    }

    #[test]
    fn blanks_between_elements_are_layout() {
        let blank = text("\n ");
        assert_eq!(own_text(&[blank, None, blank, None, text("\n")]), "");
        let parts = [text(" x "), None, text(" "), text("y ")];
        assert_eq!(own_text(&parts), " x y ");
        assert_eq!(own_text(&[text(" "), None, text(" "), text("x")]), "x");
    }

    #[test]
    fn blanks_of_an_element_without_elements_are_its_text() {
        assert_eq!(own_text(&[text("  ")]), "  ");
        assert_eq!(own_text(&[text(" "), text("x"), text(" ")]), " x ");
    }

    #[test]
    fn blanks_in_cdata_are_text() {
        assert_eq!(own_text(&[None, Some((" ", true))]), " ");
    }

    #[test]
    fn own_text_is_that_of_the_parsed_document() {
        let tree = XmlTree::parse(b"<a>x<b>y</b>z</a>").unwrap();
        assert_eq!(tree.root_element().unwrap().own_text(), "xz");
        assert_eq!(own_text(&[text("x"), None, text("z")]), "xz");
    }
}
