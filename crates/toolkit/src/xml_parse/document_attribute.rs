//! The input attribute that XMLParse reads documents from.

use graph::{ExprKind, InvocationError, InvocationPart, OperatorNode, PortIndex};
use tuple::Type;

use crate::lower;

/// Index of the input attribute with the XML text: `xmlInput`, or the only attribute of a suitable
/// type.
///
/// # Errors
/// If `xmlInput` names an attribute of another type, or is missing and no or several attributes are
/// suitable.
pub fn document_attribute(operator: &OperatorNode) -> Result<usize, InvocationError> {
    let attributes = &operator.inputs[0].schema.attributes;
    if let Some(given) = lower::param(operator, "xmlInput") {
        return match given.kind {
            ExprKind::Attribute { index, .. } if holds_text(&given.ty) => Ok(index as usize),
            _ => Err(InvocationError {
                part: InvocationPart::Param("xmlInput"),
                message: format!("an attribute of type {} holds no XML text", given.ty),
                help: "give one of type xml, rstring, ustring or blob".to_owned(),
            }),
        };
    }
    let suitable = attributes.iter().enumerate();
    let suitable: Vec<_> = suitable.filter(|(_, a)| holds_text(&a.ty)).collect();
    let names: Vec<_> = suitable
        .iter()
        .map(|(_, a)| format!("`{}`", a.name))
        .collect();
    match &suitable[..] {
        [(only, _)] => Ok(*only),
        [] => Err(InvocationError {
            part: InvocationPart::Input(PortIndex(0)),
            message: "no attribute of the input stream holds text".to_owned(),
            help: "XML text comes in an attribute of type xml, rstring, ustring or blob".to_owned(),
        }),
        _ => Err(InvocationError {
            part: InvocationPart::Input(PortIndex(0)),
            message: "it is not said which attribute holds the XML text: no `xmlInput`".to_owned(),
            help: format!("give one of {} as `xmlInput`", names.join(", ")),
        }),
    }
}

fn holds_text(ty: &Type) -> bool {
    ty.is_xml() || ty.is_string() || *ty == Type::Blob
}
