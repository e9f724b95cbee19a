//! The param clause of a primitive operator.

use graph::{Expr, Param, ParamMode, ParamModel, ParamValue, Unsupported};
use syntax::ast::{self, Actual, ExprKind};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::value_type::{Wanted, wanted};
use super::{Work, filter};
use crate::boundary::{self, Subscription};
use crate::expr::{Context, Inputs, Typer};
use crate::names::{Scope, did_you_mean, nearest};

/// Types the parameters; reports those that are unknown, missing, given twice, or wrong.
pub(super) fn params(work: &Work<'_, '_>) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::with_capacity(work.ast.params.len());
    for (at, param) in work.ast.params.iter().enumerate() {
        let name = &param.name;
        if let Some(first) = work.ast.params[..at]
            .iter()
            .find(|p| p.name.text == name.text)
        {
            let message = format!("parameter `{}` is given twice", name.text);
            let finding = Diagnostic::error("duplicate-param", name.span, message);
            work.session
                .report(finding.label(first.name.span, "first here"));
            continue;
        }
        let model = work.model.params.iter().find(|m| *m.name == *name.text);
        let value = match model {
            Some(model) => given(work, param, model),
            None if work.model.allow_any_param => given(work, param, &FREE),
            None => unknown(work, param),
        };
        if let Some(value) = value {
            let (name, pos) = (name.text.clone(), work.session.pos(param.span));
            params.push(Param { name, value, pos });
        }
    }
    for model in work.model.params.iter().filter(|m| m.mandatory) {
        if !work
            .ast
            .params
            .iter()
            .any(|p| is_meant(work, p, model.name))
        {
            let message = format!("{} needs the parameter `{}`", work.model.name, model.name);
            let finding = Diagnostic::error("missing-param", work.ast.head, message);
            work.session
                .report(finding.help(format!("`{}`: {}", model.name, model.doc)));
        }
    }
    params
}

/// Whether a parameter that is given has a name, or is a misspelt one that can only mean it.
fn is_meant(work: &Work<'_, '_>, param: &ast::Param, name: &str) -> bool {
    let written = &*param.name.text;
    let mut names = work.model.params.iter().map(|m| m.name);
    written == name || (!names.any(|n| n == written) && meant(work, written) == Some(name))
}

/// The parameter that a name which none has can only mean: one that is spelt alike, or the only one
/// that must be given and is a part of it, as `file` is of `filename`.
fn meant(work: &Work<'_, '_>, written: &str) -> Option<&'static str> {
    let models = work.model.params;
    nearest(written, models.iter().map(|m| m.name)).or_else(|| {
        let written = written.to_lowercase();
        let is_part = |m: &&ParamModel| m.mandatory && written.contains(&m.name.to_lowercase());
        let mut parts = models.iter().filter(is_part).map(|m| m.name);
        parts.next().filter(|_| parts.next().is_none())
    })
}

/// What the operator imports, if it has a parameter that says so; reports what is wrong with it.
pub(super) fn subscription(work: &Work<'_, '_>) -> Option<Subscription> {
    let (expr, scope) = imported(work, ParamMode::Subscription)?;
    boundary::read(work.session, &scope, expr)
}

/// The text of the condition over tuples that it imports by.
pub(super) fn filter(work: &Work<'_, '_>) -> Option<String> {
    let (expr, _) = imported(work, ParamMode::Filter)?;
    let written = || work.session.world.sources().text(expr.span).to_owned();
    Some(work.filter_text.get().cloned().unwrap_or_else(written))
}

/// The expression of the parameter of a mode, and where it was written.
fn imported<'w>(work: &Work<'_, 'w>, mode: ParamMode) -> Option<(&'w ast::Expr, Scope<'w>)> {
    let mut models = work.model.params.iter();
    let model = models.find(|model| model.mode == mode)?;
    let mut params = work.ast.params.iter();
    let param = params.find(|param| *param.name.text == *model.name)?;
    let Actual::Exprs(exprs) = &param.actual else {
        return None;
    };
    let typer = Typer::new(work.session, work.scope.clone(), context(model));
    typer.flatten(exprs).into_iter().next()
}

/// A parameter that no model lists, of an operator that accepts any.
const FREE: ParamModel = ParamModel {
    mode: ParamMode::Expression,
    list: true,
    ..ParamModel::DEFAULT
};

fn unknown(work: &Work<'_, '_>, param: &ast::Param) -> Option<ParamValue> {
    let name = &param.name;
    let mut refused = work.model.unsupported_params.iter();
    if let Some((_, Unsupported { why, instead })) = refused.find(|(of, _)| *of == &*name.text) {
        let message = format!("parameter `{}` is not supported: {why}", name.text);
        let finding = Diagnostic::error("unsupported-param", name.span, message);
        work.session.report(finding.help(*instead));
        return None;
    }
    let message = format!("{} has no parameter `{}`", work.model.name, name.text);
    let finding = Diagnostic::error("unknown-param", name.span, message);
    work.session.report(match meant(work, &name.text) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding,
    });
    None
}

fn given<'w>(
    work: &Work<'_, 'w>,
    param: &'w ast::Param,
    model: &'static ParamModel,
) -> Option<ParamValue> {
    let name = &param.name.text;
    let exprs = match &param.actual {
        Actual::Exprs(exprs) => exprs,
        Actual::Type(ty) => {
            let message = format!("parameter `{name}` needs a value, not a type");
            return work.session.fail("wrong-mode", ty.span, message);
        }
    };
    let scope = match model.mode {
        ParamMode::Filter => work.scope_of_output(&work.scope),
        _ => work.scope.clone(),
    };
    let mut typer = Typer::new(work.session, scope, context(model));
    let values = typer.flatten(exprs);
    if let (false, Some((second, _))) = (model.list, values.get(1)) {
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
        return work.session.fail("param-cardinality", place, message);
    }
    if model.mode == ParamMode::Subscription {
        let sources = work.session.world.sources();
        let words = exprs.iter().map(|expr| sources.text(expr.span).into());
        return Some(ParamValue::Literals(words.collect()));
    }
    let wanted = wanted(work.model, model);
    if let (ParamMode::Literal, Wanted::Literal(allowed)) = (model.mode, &wanted) {
        let words = values
            .iter()
            .map(|(expr, _)| literal(work, expr, name, allowed));
        return words
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<_>>()
            .map(ParamValue::Literals);
    }
    let typed = values.iter().map(|(expr, scope)| {
        let mut one = One {
            work,
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

fn context(model: &ParamModel) -> Context {
    match model.mode {
        ParamMode::Constant | ParamMode::Literal | ParamMode::Subscription => Context::constant(),
        ParamMode::AttributeFree => Context {
            inputs: Inputs::Refused("this parameter: it is evaluated once, before any tuple"),
            ..Context::attribute_free()
        },
        ParamMode::Expression | ParamMode::Attribute | ParamMode::Filter => Context {
            inputs: model.port.map_or(Inputs::All, Inputs::Port),
            open_numbers: model.mode == ParamMode::Filter,
            ..Context::expression()
        },
    }
}

/// One value of a parameter.
struct One<'a, 'b, 'w> {
    work: &'a Work<'b, 'w>,
    typer: &'a mut Typer<'b, 'w>,
    model: &'static ParamModel,
    name: &'a str,
}

impl<'w> One<'_, '_, 'w> {
    fn value(&mut self, expr: &'w ast::Expr, scope: &Scope<'w>, wanted: &Wanted) -> Option<Expr> {
        let span = expr.span;
        if self.model.mode == ParamMode::Attribute {
            return self.attribute(expr, scope, wanted);
        }
        let typed = match wanted {
            // A filter may be a text as well.
            Wanted::OneOf(types) if types.len() == 1 && self.model.mode != ParamMode::Filter => {
                self.typer.expr_in(scope, expr, Some(&types[0]))?
            }
            _ => self.typer.expr_in(scope, expr, None)?,
        };
        if self.model.mode == ParamMode::Filter && typed.ty.is_rstring() {
            return filter::condition(self.work, &typed, span);
        }
        self.is_wanted(&typed.ty, span, wanted)?;
        if self.model.mode == ParamMode::AttributeFree {
            let value = self.work.session.try_fold(&typed);
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

    fn attribute(
        &mut self,
        expr: &'w ast::Expr,
        scope: &Scope<'w>,
        wanted: &Wanted,
    ) -> Option<Expr> {
        let typed = self.typer.expr_in(scope, expr, None)?;
        if self.work.session.is_pending(&typed) {
            return None;
        }
        if !matches!(typed.kind, graph::ExprKind::Attribute { history: 0, .. }) {
            let message = format!(
                "parameter `{}` needs an attribute of an input stream",
                self.name
            );
            return self.work.session.fail("wrong-mode", expr.span, message);
        }
        self.is_wanted(&typed.ty, expr.span, wanted)?;
        Some(typed)
    }

    fn is_wanted(&self, found: &Type, span: Span, wanted: &Wanted) -> Option<()> {
        if *found == Type::Void {
            let message = format!("parameter `{}` needs a value", self.name);
            return self.work.session.fail("type-mismatch", span, message);
        }
        let Wanted::OneOf(types) = wanted else {
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
        self.work.session.fail("type-mismatch", span, message)
    }
}

/// A custom literal, written as a bare word.
fn literal(
    work: &Work<'_, '_>,
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
    work.session.report(finding);
    None
}
