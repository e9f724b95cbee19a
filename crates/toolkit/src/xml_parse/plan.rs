//! The plan of an XMLParse: how output tuples are made of elements. It is read from parameters,
//! output clauses and output types, when the invocation is compiled and again when it is built.
//!
//! A value that comes from the document is a *slot*: first one for each call of an output function,
//! then one for each attribute without an assignment. Output tuples are expressions over slots.

use graph::{
    Expr, ExprKind, InvocationError, InvocationPart, OperatorNode, OutPort, OutputCall, ParamValue,
    PortIndex,
};
use tuple::{Type, Value};
use xml::{NameMatching, PathFault, PathTarget, XmlPath};

use super::extraction::{ElementValue, ExtractionForm, XmlExtraction};
use super::implicit_mapping::ImplicitMapping;
use crate::lower;

/// The plan of an invocation.
#[derive(Debug)]
pub struct XmlParsePlan {
    /// Rule by which names are equal.
    pub names: NameMatching,
    /// Plans of the output ports.
    pub ports: Vec<PortPlan>,
}

/// The plan of an output port.
#[derive(Debug)]
pub struct PortPlan {
    /// Path to the elements that make a tuple.
    pub trigger: XmlPath,
    /// Sources of the slots; `None` for a call that was replaced by its argument.
    pub extractions: Vec<Option<XmlExtraction>>,
    /// Types of the slots.
    pub types: Vec<Type>,
    /// Expressions within calls, which are evaluated for each element that the call's path finds.
    pub element_exprs: Vec<Expr>,
    /// Assignments of the output attributes.
    pub assign: Vec<Option<Expr>>,
    /// Slots that each attribute uses, at the element of the trigger.
    pub used_extractions: Vec<Vec<usize>>,
}

/// The plan of an invocation.
///
/// # Errors
/// If a path cannot be read, or an output attribute corresponds to nothing in an element.
pub fn plan(operator: &OperatorNode) -> Result<XmlParsePlan, InvocationError> {
    let triggers = triggers(operator)?;
    let mapping = ImplicitMapping::from_params(operator);
    let flag = |name| lower::constant_param(operator, name) == Some(&Value::Boolean(true));
    let names = NameMatching {
        ignore_case: flag("ignorecase"),
        ignore_namespaces: flag("ignoreNamespaces"),
    };
    let ports = operator.outputs.iter().zip(triggers).enumerate();
    let ports = ports.map(|(at, (out, trigger))| {
        PortPlanner::port(PortIndex(at as u32), out, trigger, &mapping)
    });
    let ports = ports.collect::<Result<_, _>>()?;
    Ok(XmlParsePlan { names, ports })
}

fn triggers(operator: &OperatorNode) -> Result<Vec<XmlPath>, InvocationError> {
    let exprs = match operator.param("trigger").map(|param| &param.value) {
        Some(ParamValue::Exprs(exprs)) => &exprs[..],
        _ => &[],
    };
    let part = InvocationPart::Param("trigger");
    let (count, ports) = (exprs.len(), operator.outputs.len());
    if count != ports {
        return Err(InvocationError {
            part,
            message: format!("the number of triggers is {count}, that of output ports {ports}"),
            help: "give a path for each output port, in their order".to_owned(),
        });
    }
    let paths = exprs.iter().map(|expr| {
        let path = constant_text(expr).unwrap_or_default();
        XmlPath::parse(&path, PathTarget::Trigger).map_err(|fault| misuse(part, fault))
    });
    paths.collect()
}

/// The text of a constant string.
pub fn constant_text(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Const(Value::RString(text)) => {
            Some(String::from_utf8_lossy(&text.0).into_owned())
        }
        _ => None,
    }
}

fn misuse(part: InvocationPart, fault: PathFault) -> InvocationError {
    let PathFault { message, help } = fault;
    InvocationError {
        part,
        message,
        help,
    }
}

/// Makes the plan of a port.
struct PortPlanner<'o> {
    calls: &'o [OutputCall],
    extractions: Vec<Option<XmlExtraction>>,
    types: Vec<Type>,
    element_exprs: Vec<Expr>,
    /// The output attribute that is being planned.
    part: InvocationPart,
}

impl PortPlanner<'_> {
    fn port(
        at: PortIndex,
        out: &OutPort,
        trigger: XmlPath,
        mapping: &ImplicitMapping,
    ) -> Result<PortPlan, InvocationError> {
        let mut planner = PortPlanner {
            calls: &out.calls,
            extractions: vec![None; out.calls.len()],
            types: out.calls.iter().map(|call| call.ty.clone()).collect(),
            element_exprs: Vec::new(),
            part: InvocationPart::Output(at),
        };
        let (mut assign, mut used) = (Vec::new(), Vec::new());
        for (index, attribute) in out.schema.attributes.iter().enumerate() {
            planner.part = InvocationPart::Attribute(at, index as u32);
            let written = out.assign.get(index).and_then(Option::as_ref);
            let expr = match written {
                Some(expr) => planner.plan_expr(expr)?,
                None => {
                    let source = mapping.attribute(&attribute.name, &attribute.ty);
                    let source = source.map_err(|fault| misuse(planner.part, fault))?;
                    planner.add_extraction(source)
                }
            };
            used.push(extractions_in(&expr));
            assign.push(Some(expr));
        }
        Ok(PortPlan {
            trigger,
            extractions: planner.extractions,
            types: planner.types,
            element_exprs: planner.element_exprs,
            assign,
            used_extractions: used,
        })
    }

    /// Adds a slot, and returns it as an expression.
    fn add_extraction(&mut self, source: XmlExtraction) -> Expr {
        let ty = source.ty.clone();
        let kind = ExprKind::OutputCall(self.extractions.len() as u32);
        self.types.push(ty.clone());
        self.extractions.push(Some(source));
        Expr::new(kind, ty)
    }

    /// An expression over slots, with a slot for each of its calls.
    fn plan_expr(&mut self, expr: &Expr) -> Result<Expr, InvocationError> {
        let expr = self.resolve_calls(expr);
        for slot in extractions_in(&expr) {
            let source = self.call_extraction(slot)?;
            self.extractions[slot] = Some(source);
        }
        Ok(expr)
    }

    /// The expression with `AsIs(e)` as e, and with conversions of what a call finds done by the
    /// call: so that what it does not find is the default of the type that is wanted.
    fn resolve_calls(&mut self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        expr.for_each(&mut |part| match &part.kind {
            ExprKind::OutputCall(call) => {
                let call = &self.calls[*call as usize];
                if let ("AsIs", [inside]) = (&*call.function, &call.args[..]) {
                    *part = self.resolve_calls(inside);
                }
            }
            ExprKind::Cast(of) | ExprKind::Wrap(of) => {
                let is_cast = matches!(part.kind, ExprKind::Cast(_));
                let ExprKind::OutputCall(call) = of.kind else {
                    return;
                };
                if self.can_convert(call, is_cast, &part.ty) {
                    self.types[call as usize] = part.ty.clone();
                    part.kind = ExprKind::OutputCall(call);
                }
            }
            _ => {}
        });
        expr
    }

    /// Whether a call can give its result as this type itself.
    fn can_convert(&self, call: u32, is_cast: bool, ty: &Type) -> bool {
        let call = &self.calls[call as usize];
        match (&*call.function, call.args.len()) {
            ("XPath", 1) => true,
            ("XPath", _) => !is_cast,
            ("XPathList", 1) => is_cast && matches!(ty, Type::List(..)),
            _ => false,
        }
    }

    /// The source of a call's slot.
    fn call_extraction(&mut self, slot: usize) -> Result<XmlExtraction, InvocationError> {
        let call = &self.calls[slot];
        let inner = call.args.get(1);
        let (wanted, is_list) = match (&*call.function, inner) {
            ("XPathMap", _) => (PathTarget::Attributes, false),
            (name, None) => (PathTarget::Text, name == "XPathList"),
            (name, Some(_)) => (PathTarget::Element, name == "XPathList"),
        };
        let path = self.path(call, wanted)?;
        let form = match (inner, is_list) {
            _ if wanted == PathTarget::Attributes => ExtractionForm::Attributes,
            (None, false) => ExtractionForm::Text,
            (None, true) => ExtractionForm::Texts,
            (Some(expr), false) => ExtractionForm::LastElement(self.element_value(expr)?),
            (Some(expr), true) => ExtractionForm::EachElement(self.element_value(expr)?),
        };
        let ty = self.types[slot].clone();
        Ok(XmlExtraction { path, form, ty })
    }

    fn element_value(&mut self, expr: &Expr) -> Result<ElementValue, InvocationError> {
        let expr = self.plan_expr(expr)?;
        let slots = extractions_in(&expr);
        self.element_exprs.push(expr);
        Ok(ElementValue::Expression(
            self.element_exprs.len() - 1,
            slots,
        ))
    }

    fn path(&self, call: &OutputCall, wanted: PathTarget) -> Result<XmlPath, InvocationError> {
        let Some(text) = call.args.first().and_then(constant_text) else {
            return Err(InvocationError {
                part: self.part,
                message: format!("the path of {} is not known when compiling", call.function),
                help: "give it as a string literal".to_owned(),
            });
        };
        XmlPath::parse(&text, wanted).map_err(|fault| misuse(self.part, fault))
    }
}

impl PortPlan {
    /// Names of all elements that the tree must keep for this port; `None` stands for any.
    pub fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.extractions
            .iter()
            .flatten()
            .flat_map(XmlExtraction::element_names)
    }
}

/// The slots that an expression reads.
fn extractions_in(expr: &Expr) -> Vec<usize> {
    let mut slots = Vec::new();
    expr.clone().for_each(&mut |part| {
        if let ExprKind::OutputCall(slot) = part.kind {
            slots.push(slot as usize);
        }
    });
    slots
}
