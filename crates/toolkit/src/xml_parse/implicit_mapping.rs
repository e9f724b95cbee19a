//! Output attributes without an assignment: the part of an element that corresponds to each by its
//! name.
//!
//! | attribute | `flatten` | is |
//! | --- | --- | --- |
//! | `_text` | | the element's own text |
//! | `map<rstring, rstring> _attrs` | | its attributes |
//! | `tuple<...> x` | | its child `x`, by the same rules |
//! | `list<tuple<...>> x` | | all of its children `x` |
//! | `rstring x`, or another type without parts | `elements` | the text of its child `x` |
//! | | `attributes` | its attribute `x` |
//! | `list<rstring> x` and the like | `elements` | the texts of all of its children `x` |
//! | | `attributes` | its attribute `x`, if it has it |
//! | `optional<...>` | | the same, or null |

use graph::OperatorNode;
use tuple::{TupleType, Type, Value};
use xml::{PathFault, XmlPath};

use super::extraction::{ElementValue, ExtractionForm, XmlExtraction};
use crate::lower;

/// The parameters that govern the mapping.
#[derive(Debug)]
pub struct ImplicitMapping {
    flatten: FlattenMode,
    /// Name of the attribute for the own text of an element.
    text: String,
    /// Name of the attribute for the map of an element's attributes.
    attributes: String,
    /// Prefix that is removed from names of attributes.
    prefix: String,
}

/// Source of attributes whose type has no parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlattenMode {
    None,
    Attributes,
    Elements,
}

impl ImplicitMapping {
    /// The mapping that the parameters of an invocation describe.
    pub fn from_params(operator: &OperatorNode) -> ImplicitMapping {
        let name = |param, default: &str| match lower::constant_param(operator, param) {
            Some(Value::RString(name)) => String::from_utf8_lossy(&name.0).into_owned(),
            _ => default.to_owned(),
        };
        ImplicitMapping {
            flatten: match lower::literal(operator, "flatten") {
                Some("attributes") => FlattenMode::Attributes,
                Some("elements") => FlattenMode::Elements,
                _ => FlattenMode::None,
            },
            text: name("textName", "_text"),
            attributes: name("attributesName", "_attrs"),
            prefix: name("ignorePrefix", ""),
        }
    }

    /// How an attribute of an output tuple is taken from the element of the trigger.
    ///
    /// # Errors
    /// If nothing in an element corresponds to an attribute of this name and type.
    pub fn attribute(&self, name: &str, ty: &Type) -> Result<XmlExtraction, PathFault> {
        let inner = match ty {
            Type::Optional(inner) => inner,
            _ => ty,
        };
        let Some((path, form)) = self.path_and_form(name, inner)? else {
            return Err(self.not_mapped(name, ty));
        };
        let ty = ty.clone();
        Ok(XmlExtraction { path, form, ty })
    }

    fn path_and_form(
        &self,
        name: &str,
        ty: &Type,
    ) -> Result<Option<(XmlPath, ExtractionForm)>, PathFault> {
        let in_xml = name.strip_prefix(&*self.prefix).unwrap_or(name);
        Ok(match ty {
            Type::Map(entry, _) => {
                let is_it = name == self.attributes && entry.0.is_string() && entry.1.is_string();
                is_it.then(|| (XmlPath::attributes(), ExtractionForm::Attributes))
            }
            Type::Tuple(schema) => {
                let fields = self.tuple_fields(schema)?;
                Some((XmlPath::child(in_xml), ExtractionForm::LastElement(fields)))
            }
            Type::List(element, _) => match &**element {
                Type::Tuple(schema) => {
                    let fields = self.tuple_fields(schema)?;
                    Some((XmlPath::child(in_xml), ExtractionForm::EachElement(fields)))
                }
                element if is_simple(element) => {
                    let path = self.simple_path(name, in_xml);
                    path.map(|path| (path, ExtractionForm::Texts))
                }
                _ => None,
            },
            _ if is_simple(ty) => self
                .simple_path(name, in_xml)
                .map(|path| (path, ExtractionForm::Text)),
            _ => None,
        })
    }

    fn tuple_fields(&self, schema: &TupleType) -> Result<ElementValue, PathFault> {
        let fields = schema.attributes.iter();
        let fields = fields.map(|a| self.attribute(&a.name, &a.ty));
        Ok(ElementValue::Fields(fields.collect::<Result<_, _>>()?))
    }

    /// Path to a value whose type has no parts.
    fn simple_path(&self, name: &str, in_xml: &str) -> Option<XmlPath> {
        match self.flatten {
            _ if name == self.text => Some(XmlPath::text()),
            FlattenMode::None => None,
            FlattenMode::Attributes => Some(XmlPath::attribute(in_xml)),
            FlattenMode::Elements => Some(XmlPath::child_text(in_xml)),
        }
    }

    fn not_mapped(&self, name: &str, ty: &Type) -> PathFault {
        let (text, attributes) = (&self.text, &self.attributes);
        let inner = match ty {
            Type::Optional(inner) | Type::List(inner, _) => inner,
            _ => ty,
        };
        let help = if is_simple(inner) {
            format!(
                "give `flatten : elements` or `flatten : attributes`; or make it a tuple<rstring \
                 {text}>; or assign it, as in `{name} = XPath(\"{name}/text()\")`"
            )
        } else {
            format!(
                "an element is a tuple, several are a list of tuples, the attributes of one are a \
                 map<rstring, rstring> with the name `{attributes}`"
            )
        };
        let message = format!("nothing in an element corresponds to `{name}` of type {ty}");
        PathFault { message, help }
    }
}

fn is_simple(ty: &Type) -> bool {
    let has_parts = matches!(
        ty,
        Type::List(..)
            | Type::Set(..)
            | Type::Map(..)
            | Type::Tuple(_)
            | Type::Optional(_)
            | Type::Void
    );
    !has_parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(flatten: FlattenMode) -> ImplicitMapping {
        ImplicitMapping {
            flatten,
            text: "_text".to_owned(),
            attributes: "_attrs".to_owned(),
            prefix: "x_".to_owned(),
        }
    }

    /// The path of an attribute, with those of its parts.
    fn path(flatten: FlattenMode, name: &str, ty: &Type) -> Option<String> {
        let source = mapping(flatten).attribute(name, ty).ok()?;
        Some(match source.form {
            ExtractionForm::LastElement(ElementValue::Fields(fields))
            | ExtractionForm::EachElement(ElementValue::Fields(fields)) => {
                let parts: Vec<_> = fields.iter().map(|f| &*f.path.text).collect();
                format!("{} {}", source.path.text, parts.join(" "))
            }
            _ => source.path.text,
        })
    }

    #[test]
    fn names_and_types_say_what_corresponds() {
        let list = |ty: &Type| Type::List(ty.clone().into(), None);
        let map = Type::Map((Type::RString, Type::RString).into(), None);
        let parts = [
            ("_text", Type::RString),
            ("_attrs", map.clone()),
            ("x_b", Type::Int32),
        ];
        let tuple = Type::Tuple(TupleType::new(parts).into());
        let int = Type::Optional(Type::Int32.into());
        for (name, ty, elements, attributes) in [
            ("a", &Type::Int32, Some("a/text()"), Some("@a")),
            ("x_a", &int, Some("a/text()"), Some("@a")),
            ("a", &list(&Type::Int32), Some("a/text()"), Some("@a")),
            (
                "a",
                &tuple,
                Some("a text() @* b/text()"),
                Some("a text() @* @b"),
            ),
            (
                "x_a",
                &list(&tuple),
                Some("a text() @* b/text()"),
                Some("a text() @* @b"),
            ),
            ("a", &map, None, None),
            ("a", &list(&list(&Type::Int32)), None, None),
        ] {
            assert_eq!(path(FlattenMode::Elements, name, ty).as_deref(), elements);
            assert_eq!(
                path(FlattenMode::Attributes, name, ty).as_deref(),
                attributes
            );
            assert_eq!(path(FlattenMode::None, name, ty), None, "{name} {ty}");
        }
        let text = path(FlattenMode::None, "_text", &Type::UString);
        assert_eq!(text.as_deref(), Some("text()"));
    }
}
