//! Extraction of values from elements.

use std::sync::Arc;

use eval::{Fault, ops};
use runtime::abi::Projection;
use runtime::{EvaluationInputs, Outlet};
use tuple::{Layout, List, Map, RString, TupleBuf, TupleRef, Type, Value};
use xml::{NameMatching, SelectedNode, XmlNodeRef};

use super::extraction::{ElementValue, ExtractionForm, XmlExtraction};

/// Why an element gives no value.
#[derive(Debug)]
pub enum ExtractionFailure {
    /// A text cannot be cast to the type: the path, and why.
    Text(String),
    /// An expression of the program has failed.
    Fault(Fault),
}

impl From<Fault> for ExtractionFailure {
    fn from(fault: Fault) -> ExtractionFailure {
        ExtractionFailure::Fault(fault)
    }
}

/// Extracts the values of a port by its [plan](super::plan::PortPlan).
pub struct ValueExtractor<'a, 't> {
    /// Rule by which names are equal.
    pub names: NameMatching,
    /// Sources of the slots.
    pub extractions: &'a [Option<XmlExtraction>],
    /// Layout of the slots' values.
    pub layout: &'a Arc<Layout>,
    /// Expressions over the slots.
    pub element_projections: &'a mut [Projection],
    /// The input tuple that ended the element.
    pub tuple: TupleRef<'t>,
}

impl ValueExtractor<'_, '_> {
    /// The values of some slots at an element; the other slots have their defaults. `found` is
    /// called for each slot that the document has a value for.
    ///
    /// # Errors
    /// If a text cannot be cast to its type, or an expression fails.
    pub fn values(
        &mut self,
        slots: &[usize],
        at: XmlNodeRef<'_>,
        out: &mut dyn Outlet,
        found: &mut dyn FnMut(usize),
    ) -> Result<TupleBuf, ExtractionFailure> {
        let mut values = TupleBuf::default();
        values.begin(self.layout);
        let sources = self.extractions;
        for &slot in slots {
            let Some(source) = &sources[slot] else {
                continue;
            };
            if let Some(value) = self.value(source, at, out)? {
                values.set(self.layout, slot, &value);
                found(slot);
            }
        }
        Ok(values)
    }

    /// The value of a source at an element; `None` if the document has none.
    fn value(
        &mut self,
        source: &XmlExtraction,
        at: XmlNodeRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Option<Value>, ExtractionFailure> {
        let nodes = source.path.select(at, self.names);
        let (ty, last) = (non_optional(&source.ty), nodes.last());
        let value = match (&source.form, last) {
            (_, None) => return Ok(None),
            (ExtractionForm::Text, Some(SelectedNode::Text(text))) => convert(text, ty, source)?,
            (ExtractionForm::Attributes, Some(SelectedNode::Element(element))) => {
                attributes(*element, ty)?
            }
            (ExtractionForm::LastElement(inner), Some(SelectedNode::Element(element))) => {
                self.element_value(inner, ty, *element, out)?
            }
            (ExtractionForm::Texts, _) => {
                let texts = nodes.iter().filter_map(|node| match node {
                    SelectedNode::Text(text) => Some(convert(text, list_element_type(ty), source)),
                    SelectedNode::Element(_) => None,
                });
                list(texts.collect::<Result<Vec<_>, _>>()?, ty)
            }
            (ExtractionForm::EachElement(inner), _) => {
                let mut values = Vec::with_capacity(nodes.len());
                for node in &nodes {
                    if let SelectedNode::Element(element) = node {
                        values.push(self.element_value(
                            inner,
                            list_element_type(ty),
                            *element,
                            out,
                        )?);
                    }
                }
                list(values, ty)
            }
            (
                ExtractionForm::Text | ExtractionForm::Attributes | ExtractionForm::LastElement(_),
                _,
            ) => return Ok(None),
        };
        Ok(Some(match source.ty {
            Type::Optional(_) => Value::Optional(Some(Box::new(value))),
            _ => value,
        }))
    }

    fn element_value(
        &mut self,
        inner: &ElementValue,
        ty: &Type,
        at: XmlNodeRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Value, ExtractionFailure> {
        match inner {
            ElementValue::Fields(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for field in fields {
                    let value = self.value(field, at, out)?;
                    values.push(value.unwrap_or_else(|| Value::default_of(&field.ty)));
                }
                Ok(Value::Tuple(values.into()))
            }
            ElementValue::Expression(code, slots) => {
                let values = self.values(slots, at, out, &mut |_| {})?;
                let inputs = [Some(self.tuple)];
                let inputs = EvaluationInputs::new(&inputs).with_results(values.as_ref());
                let mut result = TupleBuf::default();
                let code = &mut self.element_projections[*code];
                code.write(&inputs, out, &mut result)?;
                Ok(ops::truncate_to_bound(
                    result.as_ref().get(&code.layout, 0),
                    ty,
                ))
            }
        }
    }
}

/// A type without `optional`.
fn non_optional(ty: &Type) -> &Type {
    match ty {
        Type::Optional(inner) => inner,
        _ => ty,
    }
}

/// The type of the elements of a list.
fn list_element_type(ty: &Type) -> &Type {
    match ty {
        Type::List(element, _) => element,
        _ => ty,
    }
}

fn list(values: Vec<Value>, ty: &Type) -> Value {
    ops::truncate_to_bound(
        Value::List(List::from_values(list_element_type(ty), values)),
        ty,
    )
}

fn attributes(of: XmlNodeRef<'_>, ty: &Type) -> Result<Value, Fault> {
    let Type::Map(entry, _) = ty else {
        return Ok(Value::Map(Map::new()));
    };
    let mut map = Map::new();
    for attribute in of.attributes() {
        let key = string(attribute.name(), &entry.0)?;
        map.insert(key, string(attribute.value(), &entry.1)?);
    }
    Ok(ops::truncate_to_bound(Value::Map(map), ty))
}

fn string(text: &str, ty: &Type) -> Result<Value, Fault> {
    ops::cast(&Value::RString(RString::from(text)), &Type::RString, ty)
}

/// A text as a value of a type.
fn convert(text: &str, ty: &Type, source: &XmlExtraction) -> Result<Value, ExtractionFailure> {
    string(text, ty)
        .map_err(|fault| ExtractionFailure::Text(format!("{}: {fault}", source.path.text)))
}
