//! A tuple from an XML document.

use tuple::{List, Map, RString, Set, TupleType, Type, Value, text};

use crate::Fault;

use super::super::super::truncate_to_bound;
use super::document::{self, XmlTreeElement};
use super::tuple_to_xml::name_of;

/// The tuple that a document of [this form](super) holds.
pub(in super::super) fn to_tuple(text: &RString, to: &Type) -> Result<Value, Fault> {
    let root = document::parse(&text.0).map_err(|why| fault(to, &why))?;
    read(&root, to).map_err(|why| fault(to, &why))
}

fn fault(to: &Type, why: &str) -> Fault {
    Fault::value(format!("the xml cannot be cast to {to}: {why}"))
}

fn read(element: &XmlTreeElement, ty: &Type) -> Result<Value, String> {
    if let Type::Optional(held) = ty {
        let is_null = element.local_name() == "null";
        let value = if is_null {
            None
        } else {
            Some(Box::new(read(element, held)?))
        };
        return Ok(Value::Optional(value));
    }
    let (expected, name) = (name_of(ty), element.local_name());
    if name != expected {
        return Err(format!("<{name}> where <{expected}> is needed"));
    }
    let whole = match ty {
        Type::Tuple(schema) => return read_tuple(element, schema),
        Type::List(of, _) => {
            let mut list = List::with_capacity(of, element.children.len());
            for child in &element.children {
                list.push(read(child, of)?);
            }
            Value::List(list)
        }
        Type::Set(of, _) => {
            let elements = element.children.iter().map(|child| read(child, of));
            Value::Set(elements.collect::<Result<Set, String>>()?)
        }
        Type::Map(entry, _) => {
            let entries = element
                .children
                .iter()
                .map(|child| read_entry(child, entry));
            Value::Map(entries.collect::<Result<Map, String>>()?)
        }
        _ => text::parse_whole(element.text.as_bytes(), ty).map_err(|why| why.to_string())?,
    };
    Ok(truncate_to_bound(whole, ty))
}

fn read_entry(
    element: &XmlTreeElement,
    (key, value): &(Type, Type),
) -> Result<(Value, Value), String> {
    match &element.children[..] {
        [first, second] if element.local_name() == "entry" => {
            Ok((read(first, key)?, read(second, value)?))
        }
        _ => Err(format!("<{}> is not an entry of a map", element.name)),
    }
}

fn read_tuple(element: &XmlTreeElement, schema: &TupleType) -> Result<Value, String> {
    let attributes = schema.attributes.iter().map(|attribute| {
        let is_it = |child: &&XmlTreeElement| {
            child.local_name() == "attr" && child.attribute("name") == Some(&attribute.name)
        };
        match element
            .children
            .iter()
            .find(is_it)
            .map(|child| &child.children[..])
        {
            Some([value]) => read(value, &attribute.ty),
            Some(_) => Err(format!(
                "the attribute {} does not have one value",
                attribute.name
            )),
            None => Err(format!("the attribute {} is missing", attribute.name)),
        }
    });
    Ok(Value::Tuple(attributes.collect::<Result<_, String>>()?))
}
