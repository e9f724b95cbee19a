//! Paths to nodes of a document: the part of XPath that XMLParse has.
//!
//! ```text
//! path        = alternative ('|' alternative)*
//! alternative = '/'? '/'? step ('/' '/'? step)*     a leading '/': from the document;
//!                                                   '//': at any depth
//! step        = '.' | name condition* | '*' condition*
//!             | 'text()' | '@' name | '@*'          only at the end
//! condition   = '[' ... ']'                         see `condition`
//! ```

use super::alternative::{PathAlternative, PathStep, PathTail};

/// A parsed path, as parameters of XMLParse write it.
///
/// # Example
/// ```
/// use thalweg_xml::{NameMatching, PathTarget, SelectedNode, XmlPath, XmlTree};
///
/// let tree = XmlTree::parse(b"<r><a id='1'>x</a><a id='2'>y</a></r>")?;
/// let root = tree.root_element().ok_or("a document has a root element")?;
/// let path = XmlPath::parse("a[@id = '2']/text()", PathTarget::Text).map_err(|why| why.message)?;
/// let found = path.select(root, NameMatching::default());
/// assert!(matches!(&found[..], [SelectedNode::Text(text)] if text == "y"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlPath {
    /// The path as it was written.
    pub text: String,
    pub(super) alternatives: Vec<PathAlternative>,
}

/// Kind of nodes that a path must lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTarget {
    /// An element, by a path from the document.
    Trigger,
    /// An element, by a path from another one.
    Element,
    /// A text: `text()` or `@name`.
    Text,
    /// All attributes of an element: `@*`, or the element itself.
    Attributes,
}

impl XmlPath {
    /// The path to the texts of children of one name.
    pub fn child_text(name: &str) -> XmlPath {
        XmlPath::from_steps(
            format!("{name}/text()"),
            vec![PathStep::child(name)],
            PathTail::Text,
        )
    }

    /// The path to children of one name.
    pub fn child(name: &str) -> XmlPath {
        XmlPath::from_steps(
            name.to_owned(),
            vec![PathStep::child(name)],
            PathTail::Element,
        )
    }

    /// The path to an attribute of the element itself.
    pub fn attribute(name: &str) -> XmlPath {
        let tail = PathTail::Attribute(name.to_owned());
        XmlPath::from_steps(format!("@{name}"), Vec::new(), tail)
    }

    /// The path to the own text of the element itself.
    pub fn text() -> XmlPath {
        XmlPath::from_steps("text()".to_owned(), Vec::new(), PathTail::Text)
    }

    /// The path to all attributes of the element itself.
    pub fn attributes() -> XmlPath {
        XmlPath::from_steps("@*".to_owned(), Vec::new(), PathTail::Attributes)
    }

    fn from_steps(text: String, steps: Vec<PathStep>, tail: PathTail) -> XmlPath {
        let alternative = PathAlternative {
            steps,
            tail,
            is_deep: false,
        };
        XmlPath {
            text,
            alternatives: vec![alternative],
        }
    }

    /// The names of all elements that the tree must keep for this path; `None` stands for any.
    pub fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.alternatives
            .iter()
            .flat_map(PathAlternative::element_names)
    }
}
