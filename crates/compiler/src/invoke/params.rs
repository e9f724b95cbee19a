//! The param clause of a primitive operator.

use graph::{
    Expr, OperatorModel, Param, ParamMode, ParamModel, ParamValue, TuplePort, Unsupported,
};
use syntax::ast::{self, Actual, ExprKind};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::Type;

use super::filter;
use super::value_type::{ParamType, param_type};
use crate::expr::{ReadableInputs, Typer, TypingContext};
use crate::instance::InvocationContext;
use crate::name_index::NameMeaning;
use crate::names::{Scope, did_you_mean, foreign_param, nearest};
use crate::subscription::{Subscription, parse_subscription};

/// Types the parameters; reports those that are unknown, missing, given twice, or wrong.
pub(super) fn params(invocation: &InvocationContext<'_, '_>) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::with_capacity(invocation.ast.params.len());
    for (at, param) in invocation.ast.params.iter().enumerate() {
        let name = &param.name;
        if let Some(first) = invocation.ast.params[..at]
            .iter()
            .find(|p| p.name.text == name.text)
        {
            let message = format!("parameter `{}` is given twice", name.text);
            let finding = Diagnostic::error("duplicate-param", name.span, message);
            invocation
                .session
                .report(finding.label(first.name.span, "first here"));
            continue;
        }
        let model = invocation
            .model
            .params
            .iter()
            .find(|m| *m.name == *name.text);
        if let Some(model) = model {
            let meaning = NameMeaning::Parameter {
                operator: invocation.model.name,
                doc: model.doc,
            };
            invocation.session.note_meaning(name.span, meaning, None);
        }
        let value = match model {
            Some(model) => param_value(invocation, param, model),
            None if invocation.model.allow_any_param => {
                param_value(invocation, param, &UNDECLARED_PARAM)
            }
            None => report_unknown(invocation, param),
        };
        if let Some(value) = value {
            let (name, pos) = (name.text.clone(), invocation.session.pos(param.span));
            params.push(Param { name, value, pos });
        }
    }
    if invocation.is_incomplete() {
        return params;
    }
    for model in invocation.model.params.iter().filter(|m| m.mandatory) {
        if !invocation
            .ast
            .params
            .iter()
            .any(|p| is_misspelling(invocation, p, model.name))
        {
            let message = format!(
                "{} needs the parameter `{}`",
                invocation.model.name, model.name
            );
            let finding = Diagnostic::error("missing-param", invocation.ast.head, message);
            invocation
                .session
                .report(finding.help(format!("`{}`: {}", model.name, model.doc)));
        }
    }
    params
}

/// Whether a parameter that is given has a name, or is a misspelt one that can only mean it.
pub(super) fn is_misspelling(
    invocation: &InvocationContext<'_, '_>,
    param: &ast::Param,
    name: &str,
) -> bool {
    let written = &*param.name.text;
    let mut names = invocation.model.params.iter().map(|m| m.name);
    written == name
        || (!names.any(|n| n == written) && misspelt_param(invocation, written) == Some(name))
}

/// The parameter that a name which none has can only mean: one that is spelt alike, or the only one
/// that must be given and is a part of it, as `file` is of `filename`.
fn misspelt_param(invocation: &InvocationContext<'_, '_>, written: &str) -> Option<&'static str> {
    let models = invocation.model.params;
    let is_there = |meant: &&str| models.iter().any(|model| model.name == *meant);
    let foreign = || foreign_param(written).filter(is_there);
    let near = nearest(written, models.iter().map(|m| m.name));
    near.or_else(foreign).or_else(|| {
        let written = written.to_lowercase();
        let is_part = |m: &&ParamModel| m.mandatory && written.contains(&m.name.to_lowercase());
        let mut parts = models.iter().filter(is_part).map(|m| m.name);
        parts.next().filter(|_| parts.next().is_none())
    })
}

/// The subscription of an operator that imports; reports an expression that is none.
pub(super) fn subscription(invocation: &InvocationContext<'_, '_>) -> Option<Subscription> {
    let (expr, scope) = import_param(invocation, ParamMode::Subscription)?;
    parse_subscription(invocation.session, &scope, expr)
}

/// The text of the condition over tuples that it imports by.
pub(super) fn filter(invocation: &InvocationContext<'_, '_>) -> Option<String> {
    let (expr, _) = import_param(invocation, ParamMode::Filter)?;
    let written = || {
        invocation
            .session
            .symbols
            .sources()
            .text(expr.span)
            .to_owned()
    };
    Some(
        invocation
            .filter_text
            .get()
            .cloned()
            .unwrap_or_else(written),
    )
}

/// The expression of the parameter of a mode, and where it was written.
fn import_param<'w>(
    invocation: &InvocationContext<'_, 'w>,
    mode: ParamMode,
) -> Option<(&'w ast::Expr, Scope<'w>)> {
    let mut models = invocation.model.params.iter();
    let model = models.find(|model| model.mode == mode)?;
    let mut params = invocation.ast.params.iter();
    let param = params.find(|param| *param.name.text == *model.name)?;
    let Actual::Exprs(exprs) = &param.actual else {
        return None;
    };
    let typer = Typer::new(invocation.session, invocation.scope.clone(), context(model));
    typer.flatten(exprs).into_iter().next()
}

/// A parameter that no model lists, of an operator that accepts any.
const UNDECLARED_PARAM: ParamModel = ParamModel {
    mode: ParamMode::Expression,
    is_list: true,
    ..ParamModel::DEFAULT
};

fn report_unknown(
    invocation: &InvocationContext<'_, '_>,
    param: &ast::Param,
) -> Option<ParamValue> {
    let name = &param.name;
    if invocation
        .session
        .note_poisoned(DeclarationKind::Formal, &name.text)
    {
        return None;
    }
    let mut refused = invocation.model.unsupported_params.iter();
    if let Some((
        _,
        Unsupported {
            reason: why,
            alternative: instead,
        },
    )) = refused.find(|(of, _)| *of == &*name.text)
    {
        let message = format!("parameter `{}` is not supported: {why}", name.text);
        let finding = Diagnostic::error("unsupported-param", name.span, message);
        invocation.session.report(finding.help(*instead));
        return None;
    }
    let message = format!("{} has no parameter `{}`", invocation.model.name, name.text);
    let finding = Diagnostic::error("unknown-param", name.span, message);
    if invocation.operator_scope.output(&name.text).is_some() {
        let help = "assignments to an output stream are written after the word `output`";
        invocation.session.report(finding.help(help));
        return None;
    }
    invocation
        .session
        .report(match misspelt_param(invocation, &name.text) {
            Some(meant) => finding.help(format!("did you mean `{meant}`?")),
            None => finding.help(listed_params(invocation.model)),
        });
    None
}

/// The names of an operator's parameters, as far as a line holds them.
fn listed_params(model: &OperatorModel) -> String {
    const LISTED_MAX: usize = 10;
    let names: Vec<_> = model
        .params
        .iter()
        .map(|param| format!("`{}`", param.name))
        .collect();
    let name = model.name;
    match &names[..] {
        [] => format!("{name} takes no parameters"),
        [only] => format!("its only parameter is {only}"),
        names if names.len() <= LISTED_MAX => format!("its parameters are {}", names.join(", ")),
        _ => format!("`thalweg doc {name}` lists its parameters"),
    }
}

fn param_value<'w>(
    invocation: &InvocationContext<'_, 'w>,
    param: &'w ast::Param,
    model: &'static ParamModel,
) -> Option<ParamValue> {
    let name = &param.name.text;
    let exprs = match &param.actual {
        Actual::Exprs(exprs) => exprs,
        Actual::Type(ty) => {
            let message = format!("parameter `{name}` needs a value, not a type");
            return invocation.session.fail("wrong-mode", ty.span, message);
        }
    };
    let scope = match model.mode {
        ParamMode::Filter => invocation.scope_of_output(&invocation.scope),
        _ => invocation.scope.clone(),
    };
    let mut typer = Typer::new(invocation.session, scope, context(model));
    let values = typer.flatten(exprs);
    if let (false, Some((second, _))) = (model.is_list, values.get(1)) {
        let message = format!(
            "parameter `{name}` takes one value, but {} are given",
            values.len()
        );
        // Values that come from a composite's parameter have their place elsewhere.
        let place = if exprs.len() > 1 {
            second.span
        } else {
            exprs[0].span
        };
        return invocation.session.fail("param-cardinality", place, message);
    }
    if model.mode == ParamMode::Subscription {
        let sources = invocation.session.symbols.sources();
        let words = exprs.iter().map(|expr| sources.text(expr.span).into());
        return Some(ParamValue::Literals(words.collect()));
    }
    let wanted = param_type(invocation.model, model);
    if let (ParamMode::Literal, ParamType::Literal(allowed)) = (model.mode, &wanted) {
        let words = values
            .iter()
            .map(|(expr, _)| literal(invocation, expr, name, allowed));
        return words
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<_>>()
            .map(ParamValue::Literals);
    }
    let typed = values.iter().map(|(expr, scope)| {
        let mut one = ParamTyper {
            invocation,
            typer: &mut typer,
            model,
            name,
        };
        one.value(expr, scope, &wanted)
    });
    let typed: Vec<_> = typed.collect();
    typed
        .into_iter()
        .collect::<Option<_>>()
        .map(ParamValue::Exprs)
}

fn context(model: &ParamModel) -> TypingContext {
    match model.mode {
        ParamMode::Constant | ParamMode::Literal | ParamMode::Subscription => {
            TypingContext::constant()
        }
        ParamMode::AttributeFree => TypingContext {
            inputs: ReadableInputs::Refused(
                "this parameter: it is evaluated once, before any tuple",
            ),
            ..TypingContext::attribute_free()
        },
        ParamMode::Expression | ParamMode::Attribute | ParamMode::Filter => TypingContext {
            inputs: model.port.map_or(ReadableInputs::All, ReadableInputs::Port),
            open_numbers: model.mode == ParamMode::Filter,
            ..TypingContext::expression()
        },
    }
}

/// One value of a parameter.
struct ParamTyper<'a, 'b, 'w> {
    invocation: &'a InvocationContext<'b, 'w>,
    typer: &'a mut Typer<'b, 'w>,
    model: &'static ParamModel,
    name: &'a str,
}

impl<'w> ParamTyper<'_, '_, 'w> {
    fn value(
        &mut self,
        expr: &'w ast::Expr,
        scope: &Scope<'w>,
        wanted: &ParamType,
    ) -> Option<Expr> {
        let span = expr.span;
        if self.model.mode == ParamMode::Attribute {
            return self.attribute(expr, scope, wanted);
        }
        let typed = self
            .typer
            .expr_in(scope, expr, self.expected(wanted).as_ref())?;
        if self.model.mode == ParamMode::Filter && typed.ty.is_rstring() {
            return filter::filter_condition(self.invocation, &typed, span);
        }
        self.check_type(&typed.ty, span, wanted)?;
        if self.model.mode == ParamMode::AttributeFree {
            let value = self.invocation.session.try_fold(&typed);
            let kind = value.map_or(typed.kind.clone(), graph::ExprKind::Const);
            return Some(Expr { kind, ..typed });
        }
        if self.model.mode != ParamMode::Constant {
            return Some(typed);
        }
        let value = self.typer.fold(&typed, span)?;
        Some(Expr {
            kind: graph::ExprKind::Const(value),
            ..typed
        })
    }

    /// The type that the value has to have, if there is only one.
    fn expected(&self, wanted: &ParamType) -> Option<Type> {
        let ports = &self.invocation.operator_scope;
        if let Some(port) = self.model.tuple_of {
            let schema = match port {
                TuplePort::Input(port) => ports.inputs.get(port.index())?.schema.clone(),
                TuplePort::Output(port) => ports.outputs.get(port.index())?.schema.clone(),
            };
            return schema.map(Type::Tuple);
        }
        match wanted {
            // A filter may be a text as well.
            ParamType::OneOf(types) if types.len() == 1 && self.model.mode != ParamMode::Filter => {
                Some(types[0].clone())
            }
            _ => None,
        }
    }

    fn attribute(
        &mut self,
        expr: &'w ast::Expr,
        scope: &Scope<'w>,
        wanted: &ParamType,
    ) -> Option<Expr> {
        let typed = self.typer.expr_in(scope, expr, None)?;
        if self.invocation.session.is_pending(&typed) {
            return None;
        }
        if !matches!(typed.kind, graph::ExprKind::Attribute { history: 0, .. }) {
            let message = format!(
                "parameter `{}` needs an attribute of an input stream",
                self.name
            );
            return self
                .invocation
                .session
                .fail("wrong-mode", expr.span, message);
        }
        self.check_type(&typed.ty, expr.span, wanted)?;
        Some(typed)
    }

    fn check_type(&self, found: &Type, span: Span, wanted: &ParamType) -> Option<()> {
        if *found == Type::Void {
            let message = format!("parameter `{}` needs a value", self.name);
            return self.invocation.session.fail("type-mismatch", span, message);
        }
        let ParamType::OneOf(types) = wanted else {
            return Some(());
        };
        if types.contains(found) {
            return Some(());
        }
        let types: Vec<_> = types.iter().map(Type::to_string).collect();
        let message = format!(
            "parameter `{}` is of type {}, not {found}",
            self.name,
            types.join(" or ")
        );
        self.invocation.session.fail("type-mismatch", span, message)
    }
}

/// A custom literal, written as a bare word.
fn literal(
    invocation: &InvocationContext<'_, '_>,
    expr: &ast::Expr,
    name: &str,
    allowed: &'static [&'static str],
) -> Option<std::sync::Arc<str>> {
    let word = match &expr.kind {
        ExprKind::Name(q) if q.namespace.is_none() => Some(&q.name.text),
        ExprKind::Error => return None,
        _ => None,
    };
    if let Some(word) = word
        && allowed.contains(&&**word)
    {
        return Some(word.clone());
    }
    let choices = allowed.join(", ");
    let finding = match word {
        Some(word) => {
            let message = format!("`{word}` is not a value of parameter `{name}`");
            let finding = Diagnostic::error("unknown-literal", expr.span, message);
            did_you_mean(finding, word, allowed.iter().copied())
        }
        None => {
            let message = format!("parameter `{name}` takes one of the words {choices}");
            let finding = Diagnostic::error("unknown-literal", expr.span, message);
            match &expr.kind {
                ExprKind::String(text, _) if allowed.contains(&&**text) => {
                    finding.help(format!("write `{text}` without quotes"))
                }
                _ => finding,
            }
        }
    };
    let finding = match word {
        Some(_) => finding.help(format!("it takes one of {choices}")),
        None => finding,
    };
    invocation.session.report(finding);
    None
}
