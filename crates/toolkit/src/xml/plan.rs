//! What an invocation of XMLParse makes of elements: read from its parameters, output clauses and
//! output types, when it is compiled and again when it is built.
//!
//! Whatever comes from the document is a *slot*: first one for each call of an output function, then
//! one for each attribute that nobody assigns. Output tuples are expressions over slots.

use graph::{Expr, ExprKind, Misuse, Operator, OutPort, OutputCall, ParamValue, Part};
use tuple::{Type, Value};

use super::implicit::Mapping;
use super::names::Names;
use super::path::{Path, PathFault, Wanted};
use crate::lower;

/// The plan of an invocation.
#[derive(Debug)]
pub struct Plan {
    /// Which names are the same.
    pub names: Names,
    /// The output ports.
    pub ports: Vec<Port>,
}

/// The plan of an output port.
#[derive(Debug)]
pub struct Port {
    /// The elements that make a tuple.
    pub trigger: Path,
    /// The slots; `None`: a call that was resolved otherwise.
    pub slots: Vec<Option<Source>>,
    /// Their types.
    pub types: Vec<Type>,
    /// Expressions inside of calls, one for each element that the call's path finds.
    pub inner: Vec<Expr>,
    /// The output tuple.
    pub assign: Vec<Option<Expr>>,
    /// The slots that each attribute is made of, at the element of the trigger.
    pub used: Vec<Vec<usize>>,
}

/// What a value is made of, seen from an element.
#[derive(Clone, Debug)]
pub struct Source {
    /// What is looked for.
    pub path: Path,
    /// What is made of it.
    pub form: Form,
    /// The type of the value.
    pub ty: Type,
}

/// What is made of nodes.
#[derive(Clone, Debug)]
pub enum Form {
    /// The last text, converted.
    Text,
    /// All texts, converted.
    Texts,
    /// The attributes of the last element.
    Attributes,
    /// Something of the last element.
    One(Inner),
    /// Something of each element.
    All(Inner),
}

/// What is made of an element.
#[derive(Clone, Debug)]
pub enum Inner {
    /// A tuple of these.
    Fields(Vec<Source>),
    /// [`Port::inner`] of a number, over these slots.
    Written(usize, Vec<usize>),
}

/// The plan of an invocation, or what is wrong with it.
pub fn plan(operator: &Operator) -> Result<Plan, Misuse> {
    let triggers = triggers(operator)?;
    let mapping = Mapping::of(operator);
    let flag = |name| constant(operator, name) == Some(&Value::Boolean(true));
    let names = Names {
        ignore_case: flag("ignorecase"),
        ignore_namespaces: flag("ignoreNamespaces"),
    };
    let ports = operator.outputs.iter().zip(triggers).enumerate();
    let ports = ports.map(|(at, (out, trigger))| Planner::port(at as u32, out, trigger, &mapping));
    let ports = ports.collect::<Result<_, _>>()?;
    Ok(Plan { names, ports })
}

/// The value of a parameter that is known when compiling.
pub fn constant<'o>(operator: &'o Operator, name: &str) -> Option<&'o Value> {
    match &lower::param(operator, name)?.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

fn triggers(operator: &Operator) -> Result<Vec<Path>, Misuse> {
    let exprs = match operator.param("trigger").map(|param| &param.value) {
        Some(ParamValue::Exprs(exprs)) => &exprs[..],
        _ => &[],
    };
    let part = Part::Param("trigger");
    let (count, ports) = (exprs.len(), operator.outputs.len());
    if count != ports {
        return Err(Misuse {
            part,
            message: format!("the number of triggers is {count}, that of output ports {ports}"),
            help: "give a path for each output port, in their order".to_owned(),
        });
    }
    let paths = exprs.iter().map(|expr| {
        let path = text(expr).unwrap_or_default();
        Path::parse(&path, Wanted::Trigger).map_err(|fault| misuse(part, fault))
    });
    paths.collect()
}

/// The text of a constant string.
pub fn text(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Const(Value::RString(text)) => {
            Some(String::from_utf8_lossy(&text.0).into_owned())
        }
        _ => None,
    }
}

fn misuse(part: Part, fault: PathFault) -> Misuse {
    let PathFault { message, help } = fault;
    Misuse {
        part,
        message,
        help,
    }
}

/// Makes the plan of a port.
struct Planner<'o> {
    calls: &'o [OutputCall],
    slots: Vec<Option<Source>>,
    types: Vec<Type>,
    inner: Vec<Expr>,
    /// The attribute at work.
    part: Part,
}

impl Planner<'_> {
    fn port(at: u32, out: &OutPort, trigger: Path, mapping: &Mapping) -> Result<Port, Misuse> {
        let mut planner = Planner {
            calls: &out.calls,
            slots: vec![None; out.calls.len()],
            types: out.calls.iter().map(|call| call.ty.clone()).collect(),
            inner: Vec::new(),
            part: Part::Output(at),
        };
        let (mut assign, mut used) = (Vec::new(), Vec::new());
        for (index, attribute) in out.schema.attributes.iter().enumerate() {
            planner.part = Part::Attribute(at, index as u32);
            let written = out.assign.get(index).and_then(Option::as_ref);
            let expr = match written {
                Some(expr) => planner.written(expr)?,
                None => {
                    let source = mapping.attribute(&attribute.name, &attribute.ty);
                    let source = source.map_err(|fault| misuse(planner.part, fault))?;
                    planner.slot(source)
                }
            };
            used.push(slots_of(&expr));
            assign.push(Some(expr));
        }
        Ok(Port {
            trigger,
            slots: planner.slots,
            types: planner.types,
            inner: planner.inner,
            assign,
            used,
        })
    }

    /// A further slot, as an expression.
    fn slot(&mut self, source: Source) -> Expr {
        let ty = source.ty.clone();
        let kind = ExprKind::OutputCall(self.slots.len() as u32);
        self.types.push(ty.clone());
        self.slots.push(Some(source));
        Expr::new(kind, ty)
    }

    /// An expression over slots, with a slot for each of its calls.
    fn written(&mut self, expr: &Expr) -> Result<Expr, Misuse> {
        let expr = self.resolved(expr);
        for slot in slots_of(&expr) {
            let source = self.source(slot)?;
            self.slots[slot] = Some(source);
        }
        Ok(expr)
    }

    /// The expression with `AsIs(e)` as e, and with conversions of what a call finds done by the
    /// call: so that what it does not find is the default of the type that is wanted.
    fn resolved(&mut self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        expr.each(&mut |part| match &part.kind {
            ExprKind::OutputCall(call) => {
                let call = &self.calls[*call as usize];
                if let ("AsIs", [inside]) = (&*call.function, &call.args[..]) {
                    *part = self.resolved(inside);
                }
            }
            ExprKind::Cast(of) | ExprKind::Wrap(of) => {
                let is_cast = matches!(part.kind, ExprKind::Cast(_));
                let ExprKind::OutputCall(call) = of.kind else {
                    return;
                };
                if self.converts(call, is_cast, &part.ty) {
                    self.types[call as usize] = part.ty.clone();
                    part.kind = ExprKind::OutputCall(call);
                }
            }
            _ => {}
        });
        expr
    }

    /// Whether a call can give its result as this type itself.
    fn converts(&self, call: u32, is_cast: bool, ty: &Type) -> bool {
        let call = &self.calls[call as usize];
        match (&*call.function, call.args.len()) {
            ("XPath", 1) => true,
            ("XPath", _) => !is_cast,
            ("XPathList", 1) => is_cast && matches!(ty, Type::List(..)),
            _ => false,
        }
    }

    /// What a call gives.
    fn source(&mut self, slot: usize) -> Result<Source, Misuse> {
        let call = &self.calls[slot];
        let inner = call.args.get(1);
        let (wanted, is_list) = match (&*call.function, inner) {
            ("XPathMap", _) => (Wanted::Attributes, false),
            (name, None) => (Wanted::Text, name == "XPathList"),
            (name, Some(_)) => (Wanted::Element, name == "XPathList"),
        };
        let path = self.path(call, wanted)?;
        let form = match (inner, is_list) {
            _ if wanted == Wanted::Attributes => Form::Attributes,
            (None, false) => Form::Text,
            (None, true) => Form::Texts,
            (Some(expr), false) => Form::One(self.inner(expr)?),
            (Some(expr), true) => Form::All(self.inner(expr)?),
        };
        let ty = self.types[slot].clone();
        Ok(Source { path, form, ty })
    }

    fn inner(&mut self, expr: &Expr) -> Result<Inner, Misuse> {
        let expr = self.written(expr)?;
        let slots = slots_of(&expr);
        self.inner.push(expr);
        Ok(Inner::Written(self.inner.len() - 1, slots))
    }

    fn path(&self, call: &OutputCall, wanted: Wanted) -> Result<Path, Misuse> {
        let Some(text) = call.args.first().and_then(text) else {
            return Err(Misuse {
                part: self.part,
                message: format!("the path of {} is not known when compiling", call.function),
                help: "give it as a string literal".to_owned(),
            });
        };
        Path::parse(&text, wanted).map_err(|fault| misuse(self.part, fault))
    }
}

impl Port {
    /// The names on paths from the trigger; `None` for any.
    pub fn steps(&self) -> impl Iterator<Item = Option<&str>> {
        self.slots.iter().flatten().flat_map(Source::steps)
    }
}

impl Source {
    fn steps(&self) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
        let inner = match &self.form {
            Form::One(Inner::Fields(fields)) | Form::All(Inner::Fields(fields)) => &fields[..],
            _ => &[],
        };
        Box::new(
            self.path
                .steps()
                .chain(inner.iter().flat_map(Source::steps)),
        )
    }
}

/// The slots that an expression reads.
fn slots_of(expr: &Expr) -> Vec<usize> {
    let mut slots = Vec::new();
    expr.clone().each(&mut |part| {
        if let ExprKind::OutputCall(slot) = part.kind {
            slots.push(slot as usize);
        }
    });
    slots
}
