//! The elements that are open, and what is kept of them: those below a trigger, as far as some path
//! may ask for them.

use super::name_matching::NameMatching;
use super::path::XmlPath;
use super::xml_element::XmlElement;

/// What is open.
#[derive(Debug)]
pub struct OpenElements {
    names: NameMatching,
    triggers: Vec<XmlPath>,
    /// Some trigger asks for attributes of elements on its way.
    needs_attributes: bool,
    /// The elements that paths from triggers name; `None`: any.
    wanted_names: Option<Vec<String>>,
    open: Vec<OpenElement>,
}

#[derive(Debug)]
struct OpenElement {
    name: String,
    /// Its attributes, if triggers ask for them.
    attributes: Vec<(String, String)>,
    /// What is kept of it.
    element: Option<XmlElement>,
    /// The ports whose trigger it is.
    ports: Vec<usize>,
}

/// An element that has ended.
#[derive(Debug)]
pub struct ClosedElement {
    /// What was kept of it.
    pub element: XmlElement,
    /// The ports whose trigger it is.
    pub ports: Vec<usize>,
}

impl OpenElements {
    /// Nothing is open. `wanted_names` are the names on paths from triggers, `None` among them for
    /// any.
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
        }
    }

    /// Forgets what is open.
    pub fn restart(&mut self) {
        self.open.clear();
    }

    /// An element begins.
    pub fn start(&mut self, name: &str, attributes: Vec<(String, String)>) {
        let name = self.names.comparable_name(name).to_owned();
        let is_kept = match self.open.last_mut().and_then(|open| open.element.as_mut()) {
            None => false,
            Some(parent) => {
                parent.begin_child();
                self.is_wanted(&name)
            }
        };
        let asked = match self.needs_attributes {
            true => attributes_of(attributes.clone(), self.names),
            false => Vec::new(),
        };
        self.open.push(OpenElement {
            name,
            attributes: asked,
            element: None,
            ports: Vec::new(),
        });
        let way = self
            .open
            .iter()
            .map(|open| (&*open.name, &*open.attributes));
        let way: Vec<_> = way.collect();
        let triggers = self.triggers.iter().enumerate();
        let ports = triggers.filter(|(_, trigger)| trigger.leads_to(&way, self.names));
        let ports: Vec<_> = ports.map(|(port, _)| port).collect();
        if let Some(open) = self.open.last_mut() {
            if is_kept || !ports.is_empty() {
                open.element = Some(XmlElement::new(
                    &open.name,
                    attributes_of(attributes, self.names),
                ));
            }
            open.ports = ports;
        }
    }

    fn is_wanted(&self, name: &str) -> bool {
        match &self.wanted_names {
            None => true,
            Some(wanted) => wanted.iter().any(|one| self.names.matches(one, name)),
        }
    }

    /// Text of the innermost element.
    pub fn add_text(&mut self, text: &str, is_literal: bool) {
        if let Some(element) = self.open.last_mut().and_then(|open| open.element.as_mut()) {
            element.add_text(text, is_literal);
        }
    }

    /// The way to the innermost element.
    pub fn path(&self) -> String {
        self.open
            .iter()
            .map(|open| format!("/{}", open.name))
            .collect()
    }

    /// The innermost element ends; it is still open. [`OpenElements::close`] follows.
    pub fn end_element(&mut self) -> Option<ClosedElement> {
        let open = self.open.last_mut()?;
        let mut element = open.element.take()?;
        element.finish();
        let ports = std::mem::take(&mut open.ports);
        Some(ClosedElement { element, ports })
    }

    /// Closes the innermost element; what was kept of it becomes a part of the one around it.
    pub fn close(&mut self, element: Option<XmlElement>) {
        self.open.pop();
        let Some(element) = element.filter(|element| self.is_wanted(&element.name)) else {
            return;
        };
        if let Some(parent) = self.open.last_mut().and_then(|open| open.element.as_mut()) {
            parent.children.push(element);
        }
    }
}

/// Attributes by the names that count; declarations of namespaces are none.
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
    use super::super::path::PathTarget;
    use super::*;

    /// Sends `<r><x><a><b/><c/></a></x></r>` through a tree with a trigger; what is kept of it.
    fn kept(trigger: &str, wanted: &[Option<&str>]) -> Vec<XmlElement> {
        let triggers = vec![XmlPath::parse(trigger, PathTarget::Trigger).unwrap()];
        let mut tree = OpenElements::new(NameMatching::default(), triggers, wanted.iter().copied());
        let mut kept = Vec::new();
        for name in ["r", "x", "a", "b", "/", "c", "/", "/", "/", "/"] {
            if name != "/" {
                tree.start(name, Vec::new());
                continue;
            }
            let closed = tree.end_element();
            if let Some(closed) = &closed
                && !closed.ports.is_empty()
            {
                let children = closed.element.children.iter().map(|c| &*c.name);
                let names: Vec<_> = children.collect();
                kept.push(XmlElement::new(&names.join(" "), Vec::new()));
            }
            tree.close(closed.map(|closed| closed.element));
        }
        assert_eq!(tree.path(), "");
        kept
    }

    #[test]
    fn only_what_paths_name_is_kept() {
        let names = |trigger, wanted: &[Option<&str>]| -> Vec<String> {
            let kept = kept(trigger, wanted);
            kept.into_iter().map(|element| element.name).collect()
        };
        assert_eq!(names("/r/x/a", &[Some("c")]), ["c"]);
        assert_eq!(names("/r/x/a", &[None, Some("c")]), ["b c"]);
        assert_eq!(names("/r", &[Some("a")]), [""]);
        assert_eq!(names("/r", &[Some("x"), Some("a")]), ["x"]);
        assert_eq!(names("/x", &[None]), [""; 0]);
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
}
