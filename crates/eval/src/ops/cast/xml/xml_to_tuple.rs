//! A tuple from an XML document.

use tuple::{List, Map, RString, Set, TupleType, Type, Value, text};
use xml::{XmlNodeRef, XmlTree};

use super::super::super::truncate_to_bound;
use super::tuple_to_xml::name_of;
use crate::Fault;

/// The tuple in a document of [this form](super).
///
/// # Errors
/// If the text is not a well-formed document, has another form, or lacks an attribute of the tuple.
pub(in super::super) fn to_tuple(text: &RString, to: &Type) -> Result<Value, Fault> {
    let read_document = || {
        let tree = XmlTree::parse(&text.0)?;
        let root = tree.root_element().ok_or("it has no element")?;
        read(root, to)
    };
    read_document().map_err(|why: String| fault(to, &why))
}

fn fault(to: &Type, why: &str) -> Fault {
    Fault::value(format!("the xml cannot be cast to {to}: {why}"))
}

fn read(element: XmlNodeRef<'_>, ty: &Type) -> Result<Value, String> {
    if let Type::Optional(inner) = ty {
        let is_null = local_name(element) == "null";
        let value = if is_null {
            None
        } else {
            Some(Box::new(read(element, inner)?))
        };
        return Ok(Value::Optional(value));
    }
    let (expected, name) = (name_of(ty), local_name(element));
    if name != expected {
        return Err(format!("<{name}> where <{expected}> is needed"));
    }
    let whole = match ty {
        Type::Tuple(schema) => return read_tuple(element, schema),
        Type::List(of, _) => {
            let mut list = List::with_capacity(of, element.child_elements().count());
            for child in element.child_elements() {
                list.push(read(child, of)?);
            }
            Value::List(list)
        }
        Type::Set(of, _) => {
            let elements = element.child_elements().map(|child| read(child, of));
            Value::Set(elements.collect::<Result<Set, String>>()?)
        }
        Type::Map(entry, _) => {
            let entries = element
                .child_elements()
                .map(|child| read_entry(child, entry));
            Value::Map(entries.collect::<Result<Map, String>>()?)
        }
        _ => text::parse_whole(element.own_text().as_bytes(), ty).map_err(|why| why.to_string())?,
    };
    Ok(truncate_to_bound(whole, ty))
}

fn read_entry(
    element: XmlNodeRef<'_>,
    (key, value): &(Type, Type),
) -> Result<(Value, Value), String> {
    let children: Vec<_> = element.child_elements().collect();
    match children[..] {
        [first, second] if local_name(element) == "entry" => {
            Ok((read(first, key)?, read(second, value)?))
        }
        _ => Err(format!("<{}> is not an entry of a map", element.name())),
    }
}

fn read_tuple(element: XmlNodeRef<'_>, schema: &TupleType) -> Result<Value, String> {
    let attributes = schema.attributes.iter().map(|attribute| {
        let is_it = |child: &XmlNodeRef<'_>| {
            local_name(*child) == "attr" && child.attribute("name") == Some(&attribute.name)
        };
        let values = element.child_elements().find(is_it);
        let values = values.map(|child| child.child_elements().collect::<Vec<_>>());
        match values.as_deref() {
            Some([value]) => read(*value, &attribute.ty),
            Some(_) => Err(format!(
                "the attribute {} does not have one value",
                attribute.name
            )),
            None => Err(format!("the attribute {} is missing", attribute.name)),
        }
    });
    Ok(Value::Tuple(attributes.collect::<Result<_, String>>()?))
}

/// Name of an element without its prefix.
fn local_name(element: XmlNodeRef<'_>) -> &str {
    element.name().rsplit(':').next().unwrap_or_default()
}
