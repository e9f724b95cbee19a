//! The elements that are open, and what is kept of them: those below a trigger, as far as some path
//! may ask for them.

use super::element::Element;
use super::names::Names;
use super::path::Path;

/// What is open.
#[derive(Debug)]
pub struct Tree {
    names: Names,
    triggers: Vec<Path>,
    /// Some trigger asks for attributes of elements on its way.
    asks_attributes: bool,
    /// The elements that paths from triggers name; `None`: any.
    wanted: Option<Vec<String>>,
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    name: String,
    /// Its attributes, if triggers ask for them.
    attributes: Vec<(String, String)>,
    /// What is kept of it.
    element: Option<Element>,
    /// The ports whose trigger it is.
    ports: Vec<usize>,
}

/// An element that has ended.
#[derive(Debug)]
pub struct Closed {
    /// What was kept of it.
    pub element: Element,
    /// The ports whose trigger it is.
    pub ports: Vec<usize>,
}

impl Tree {
    /// Nothing is open. `wanted` are the names on paths from triggers, `None` among them for any.
    pub fn new<'n>(
        names: Names,
        triggers: Vec<Path>,
        wanted: impl Iterator<Item = Option<&'n str>>,
    ) -> Tree {
        let wanted = wanted.map(|name| name.map(str::to_owned));
        Tree {
            names,
            asks_attributes: triggers.iter().any(Path::asks_attributes),
            triggers,
            wanted: wanted.collect(),
            open: Vec::new(),
        }
    }

    /// Forgets what is open.
    pub fn restart(&mut self) {
        self.open.clear();
    }

    /// An element begins.
    pub fn start(&mut self, name: &str, attributes: Vec<(String, String)>) {
        let name = self.names.shown(name).to_owned();
        let is_kept = match self.open.last_mut().and_then(|open| open.element.as_mut()) {
            None => false,
            Some(parent) => {
                parent.begin_child();
                self.is_wanted(&name)
            }
        };
        let asked = match self.asks_attributes {
            true => attributes_of(attributes.clone(), self.names),
            false => Vec::new(),
        };
        self.open.push(Open {
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
                open.element = Some(Element::new(
                    &open.name,
                    attributes_of(attributes, self.names),
                ));
            }
            open.ports = ports;
        }
    }

    fn is_wanted(&self, name: &str) -> bool {
        match &self.wanted {
            None => true,
            Some(wanted) => wanted.iter().any(|one| self.names.same(one, name)),
        }
    }

    /// Text of the innermost element.
    pub fn text(&mut self, text: &str, is_literal: bool) {
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

    /// The innermost element ends; it is still open. [`Tree::close`] follows.
    pub fn end(&mut self) -> Option<Closed> {
        let open = self.open.last_mut()?;
        let mut element = open.element.take()?;
        element.finish();
        let ports = std::mem::take(&mut open.ports);
        Some(Closed { element, ports })
    }

    /// Closes the innermost element; what was kept of it becomes a part of the one around it.
    pub fn close(&mut self, element: Option<Element>) {
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
fn attributes_of(attributes: Vec<(String, String)>, names: Names) -> Vec<(String, String)> {
    let is_attribute = |name: &str| name != "xmlns" && !name.starts_with("xmlns:");
    let attributes = attributes.into_iter();
    let attributes = attributes.filter(|(name, _)| is_attribute(name));
    attributes
        .map(|(name, value)| (names.shown(&name).to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::path::Wanted;
    use super::*;

    /// Sends `<r><x><a><b/><c/></a></x></r>` through a tree with a trigger; what is kept of it.
    fn kept(trigger: &str, wanted: &[Option<&str>]) -> Vec<Element> {
        let triggers = vec![Path::parse(trigger, Wanted::Trigger).unwrap()];
        let mut tree = Tree::new(Names::default(), triggers, wanted.iter().copied());
        let mut kept = Vec::new();
        for name in ["r", "x", "a", "b", "/", "c", "/", "/", "/", "/"] {
            if name != "/" {
                tree.start(name, Vec::new());
                continue;
            }
            let closed = tree.end();
            if let Some(closed) = &closed
                && !closed.ports.is_empty()
            {
                let children = closed.element.children.iter().map(|c| &*c.name);
                let names: Vec<_> = children.collect();
                kept.push(Element::new(&names.join(" "), Vec::new()));
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
        let names = Names {
            ignore_namespaces: true,
            ..Names::default()
        };
        let kept = attributes_of(attributes.to_vec(), names);
        let kept: Vec<_> = kept.iter().map(|(name, _)| &**name).collect();
        assert_eq!(kept, ["a", "b"]);
    }
}
