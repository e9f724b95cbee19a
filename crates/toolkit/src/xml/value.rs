//! Values out of elements.

use std::sync::Arc;

use graph::{Fault, ops};
use runtime::abi::Projection;
use runtime::{Outlet, Row};
use tuple::{Layout, List, Map, RString, TupleBuf, TupleRef, Type, Value};

use super::element::Element;
use super::names::Names;
use super::path::Node;
use super::plan::{Form, Inner, Source};

/// Why there is no value.
#[derive(Debug)]
pub enum Wrong {
    /// A text is no value of the type that is wanted: where, and why.
    Text(String),
    /// An expression of the program has failed.
    Fault(Fault),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Wrong {
        Wrong::Fault(fault)
    }
}

/// What makes values of a port: see [`super::plan::Port`].
pub struct Reader<'a, 't> {
    /// Which names are the same.
    pub names: Names,
    /// The slots.
    pub slots: &'a [Option<Source>],
    /// How their values lie.
    pub layout: &'a Arc<Layout>,
    /// Expressions over them.
    pub inner: &'a mut [Projection],
    /// The input tuple.
    pub tuple: TupleRef<'t>,
}

impl Reader<'_, '_> {
    /// The values of slots, seen from an element; the others have their defaults. `found` is told of
    /// each slot that the document says something of.
    pub fn values(
        &mut self,
        slots: &[usize],
        at: &Element,
        out: &mut dyn Outlet,
        found: &mut dyn FnMut(usize),
    ) -> Result<TupleBuf, Wrong> {
        let mut values = TupleBuf::default();
        values.begin(self.layout);
        let sources = self.slots;
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

    /// `None`: the document says nothing of it.
    fn value(
        &mut self,
        source: &Source,
        at: &Element,
        out: &mut dyn Outlet,
    ) -> Result<Option<Value>, Wrong> {
        let nodes = source.path.select(at, self.names);
        let (ty, last) = (held(&source.ty), nodes.last());
        let value = match (&source.form, last) {
            (_, None) => return Ok(None),
            (Form::Text, Some(Node::Text(text))) => convert(text, ty, source)?,
            (Form::Attributes, Some(Node::Element(element))) => attributes(element, ty)?,
            (Form::One(inner), Some(Node::Element(element))) => {
                self.inner(inner, ty, element, out)?
            }
            (Form::Texts, _) => {
                let texts = nodes.iter().filter_map(|node| match node {
                    Node::Text(text) => Some(convert(text, element_of(ty), source)),
                    Node::Element(_) => None,
                });
                list(texts.collect::<Result<Vec<_>, _>>()?, ty)
            }
            (Form::All(inner), _) => {
                let mut values = Vec::with_capacity(nodes.len());
                for node in &nodes {
                    if let Node::Element(element) = node {
                        values.push(self.inner(inner, element_of(ty), element, out)?);
                    }
                }
                list(values, ty)
            }
            (Form::Text | Form::Attributes | Form::One(_), _) => return Ok(None),
        };
        Ok(Some(match source.ty {
            Type::Optional(_) => Value::Optional(Some(Box::new(value))),
            _ => value,
        }))
    }

    fn inner(
        &mut self,
        inner: &Inner,
        ty: &Type,
        at: &Element,
        out: &mut dyn Outlet,
    ) -> Result<Value, Wrong> {
        match inner {
            Inner::Fields(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for field in fields {
                    let value = self.value(field, at, out)?;
                    values.push(value.unwrap_or_else(|| Value::default_of(&field.ty)));
                }
                Ok(Value::Tuple(values.into()))
            }
            Inner::Written(code, slots) => {
                let values = self.values(slots, at, out, &mut |_| {})?;
                let row = [Some(self.tuple)];
                let row = Row::new(&row).with(values.as_ref());
                let mut result = TupleBuf::default();
                let code = &mut self.inner[*code];
                code.write(&row, out, &mut result)?;
                Ok(ops::fit(result.as_ref().get(&code.layout, 0), ty))
            }
        }
    }
}

/// A type without `optional`.
fn held(ty: &Type) -> &Type {
    match ty {
        Type::Optional(held) => held,
        _ => ty,
    }
}

/// The type of the elements of a list.
fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::List(element, _) => element,
        _ => ty,
    }
}

fn list(values: Vec<Value>, ty: &Type) -> Value {
    ops::fit(Value::List(List::from_values(element_of(ty), values)), ty)
}

fn attributes(of: &Element, ty: &Type) -> Result<Value, Fault> {
    let Type::Map(entry, _) = ty else {
        return Ok(Value::Map(Map::new()));
    };
    let mut map = Map::new();
    for (name, value) in &of.attributes {
        map.insert(string(name, &entry.0)?, string(value, &entry.1)?);
    }
    Ok(ops::fit(Value::Map(map), ty))
}

fn string(text: &str, ty: &Type) -> Result<Value, Fault> {
    ops::cast(&Value::RString(RString::from(text)), &Type::RString, ty)
}

/// A text as a value of a type.
fn convert(text: &str, ty: &Type, source: &Source) -> Result<Value, Wrong> {
    string(text, ty).map_err(|fault| Wrong::Text(format!("{}: {fault}", source.path.text)))
}
