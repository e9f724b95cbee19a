//! How a value is taken from an element: a path, and what becomes of its finds.

use tuple::Type;
use xml::XmlPath;

/// How a value is taken from an element.
#[derive(Clone, Debug)]
pub struct XmlExtraction {
    /// Path from the element to the nodes of the value.
    pub path: XmlPath,
    /// Conversion of the nodes to the value.
    pub form: ExtractionForm,
    /// Type of the value.
    pub ty: Type,
}

/// Conversion of the nodes that a path finds.
#[derive(Clone, Debug)]
pub enum ExtractionForm {
    /// The last text, cast to the type.
    Text,
    /// All texts, each cast to the element type of a list.
    Texts,
    /// The attributes of the last element.
    Attributes,
    /// A value made of the last element.
    LastElement(ElementValue),
    /// A list of values, one for each element.
    EachElement(ElementValue),
}

/// How a value is made of an element.
#[derive(Clone, Debug)]
pub enum ElementValue {
    /// A tuple of these values.
    Fields(Vec<XmlExtraction>),
    /// The expression of this index in [`PortPlan::element_exprs`](super::plan::PortPlan), over
    /// these slots.
    Expression(usize, Vec<usize>),
}

impl XmlExtraction {
    /// The names of all elements that the tree must keep for this value; `None` stands for any.
    pub fn element_names(&self) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
        let inner = match &self.form {
            ExtractionForm::LastElement(ElementValue::Fields(fields))
            | ExtractionForm::EachElement(ElementValue::Fields(fields)) => &fields[..],
            _ => &[],
        };
        Box::new(
            self.path
                .element_names()
                .chain(inner.iter().flat_map(XmlExtraction::element_names)),
        )
    }
}
