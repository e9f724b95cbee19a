//! How a value is taken from an element: a path, and what becomes of its finds.

use tuple::Type;
use xml::XmlPath;

/// What a value is made of, seen from an element.
#[derive(Clone, Debug)]
pub struct XmlExtraction {
    /// What is looked for.
    pub path: XmlPath,
    /// What is made of it.
    pub form: ExtractionForm,
    /// The type of the value.
    pub ty: Type,
}

/// What is made of nodes.
#[derive(Clone, Debug)]
pub enum ExtractionForm {
    /// The last text, converted.
    Text,
    /// All texts, converted.
    Texts,
    /// The attributes of the last element.
    Attributes,
    /// Something of the last element.
    LastElement(ElementValue),
    /// Something of each element.
    EachElement(ElementValue),
}

/// What is made of an element.
#[derive(Clone, Debug)]
pub enum ElementValue {
    /// A tuple of these.
    Fields(Vec<XmlExtraction>),
    /// [`PortPlan::inner`] of a number, over these slots.
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
