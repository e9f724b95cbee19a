//! Typing of calls: arguments, the choice of the function, and the typed call.

use eval::PortSide;
use graph::{Arg, Callee, ExprKind, OutputCall, Unsupported};
use syntax::ast;
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{Type, Value};

use super::candidates::FunctionCandidates;
use super::overload::{OverloadArgument, OverloadChoice, OverloadFit, choose};
use crate::expr::{ExprEffects, PlaceUse, StatefulCalls, Typer, cast_to, is_place, needs_context};
use crate::name_index::NameMeaning;
use crate::names::sends;
use crate::tables::{FunctionOwner, Signature, TypePattern};

/// The arguments of a call, typed as far as they can be before the function is known.
struct TypedArguments<'w> {
    asts: &'w [ast::Expr],
    typed: Vec<OverloadArgument<'w>>,
    /// Variables that each argument reads and writes.
    effects: Vec<ExprEffects>,
}

impl<'w> Typer<'_, 'w> {
    pub(crate) fn call(
        &mut self,
        callee: &'w ast::Expr,
        args: &'w [ast::Expr],
        span: Span,
    ) -> Option<graph::Expr> {
        let Some((name, scope)) = self.callee(callee) else {
            self.arguments(args);
            return None;
        };
        if let Some(result) = self.intrinsic_call(name, args, span) {
            return result;
        }
        let candidates = self.candidates(name, &scope);
        if let Some(refused) = candidates.as_ref().and_then(|all| all.unsupported) {
            // Whatever is wrong with the arguments does not matter.
            let mute_guard = self.session.diagnostics.mute(true);
            self.arguments(args);
            drop(mute_guard);
            return self.refuse(&name.name.text, refused, span);
        }
        let is_output = candidates
            .as_ref()
            .is_some_and(FunctionCandidates::is_output);
        if is_output {
            self.check_nesting(&name.name.text, span)?;
        }
        // The stream to which such a call sends is no value, and the call is reported.
        let names_output = |arg: &ast::Expr| self.output_named(arg).is_some();
        let sends =
            candidates.is_none() && (sends(&name.name.text) || args.iter().any(names_output));
        let mute_guard = sends.then(|| self.session.diagnostics.mute(true));
        self.call_depth += 1;
        let args = self.arguments(args);
        drop(mute_guard);
        let result = self.resolved_call(candidates, args, (name, callee.span), span);
        self.call_depth -= 1;
        result
    }

    /// A function that is known by name only.
    fn refuse<T>(&self, name: &str, refused: Unsupported, span: Span) -> Option<T> {
        let message = format!("`{name}` is not supported: {}", refused.reason);
        let finding = Diagnostic::error("unsupported-function", span, message);
        self.report(finding.help(refused.alternative))
    }

    fn resolved_call(
        &mut self,
        candidates: Option<FunctionCandidates>,
        args: Option<TypedArguments<'w>>,
        (name, name_span): (&ast::QName, Span),
        span: Span,
    ) -> Option<graph::Expr> {
        let (candidates, args) = (candidates?, args?);
        match choose(&candidates.list, &args.typed) {
            OverloadChoice::One(fit) => {
                self.note_function(&fit, name.name.span);
                self.build_call(&fit, args, span)
            }
            // The definitions have their own reports.
            OverloadChoice::Several(fits) if are_duplicates(&fits) => {
                self.build_call(&fits[0], args, span)
            }
            OverloadChoice::Several(fits) => {
                self.report(ambiguous(&name.name.text, &fits, name_span))
            }
            OverloadChoice::None(_) if candidates.is_broken => {
                // The broken overload may be the one that is meant.
                self.session.diagnostics.note_poisoned();
                None
            }
            OverloadChoice::None(refusals) => {
                let text = &*name.name.text;
                if self.session.note_poisoned(DeclarationKind::Function, text) {
                    return None;
                }
                let call = super::refusal::RefusedCall {
                    name: text,
                    span: name_span,
                    asts: args.asts,
                    args: &args.typed,
                    sources: self.session.symbols.sources(),
                };
                let finding = super::refusal::none_fits(&call, &refusals);
                let outputs = self.context.output_functions.iter();
                let mut named = outputs.flat_map(|functions| functions.names());
                let meant = named.find(|name| *name != text && name.eq_ignore_ascii_case(text));
                self.report(match meant {
                    Some(name) => {
                        finding.help(format!("did you mean the output function `{name}`?"))
                    }
                    None => finding,
                })
            }
        }
    }

    /// Notes which function a name means.
    fn note_function(&self, fit: &OverloadFit, name: Span) {
        let meaning = match (fit.signature.owner, fit.signature.span) {
            (FunctionOwner::User(_), Some(span)) => NameMeaning::Declared(span),
            (FunctionOwner::Native(id), _) => NameMeaning::Native(id),
            _ => return,
        };
        self.session.note_meaning(name, meaning, Some(&fit.result));
    }

    fn arguments(&mut self, asts: &'w [ast::Expr]) -> Option<TypedArguments<'w>> {
        let mut sound = true;
        let mut arguments = TypedArguments {
            asts,
            typed: Vec::new(),
            effects: Vec::new(),
        };
        for expr in asts {
            let start = self.effects.mark();
            if needs_context(expr) {
                arguments.typed.push(OverloadArgument::Untyped(expr));
            } else if let Some(typed) = self.argument(expr) {
                arguments.typed.push(OverloadArgument::Typed(typed));
            } else {
                sound = false;
            }
            arguments.effects.push(self.effects.take(start));
        }
        sound.then_some(arguments)
    }

    fn argument(&mut self, expr: &'w ast::Expr) -> Option<graph::Expr> {
        let typed = self.infer(expr, None)?;
        if typed.ty == Type::Void {
            return self.fail(
                "void-value",
                expr.span,
                "this has no value (its type is void)",
            );
        }
        Some(typed)
    }

    fn build_call(
        &mut self,
        fit: &OverloadFit,
        args: TypedArguments<'w>,
        span: Span,
    ) -> Option<graph::Expr> {
        let signature = &*fit.signature;
        let mut list = Vec::with_capacity(args.typed.len());
        let first = first_collection(signature, &args.typed);
        let mut sound = true;
        let parts = args.asts.iter().zip(args.typed).zip(args.effects);
        for (at, ((ast, typed), effects)) in parts.enumerate() {
            let start = self.effects.mark();
            let arg = if signature.formals[at].mutable {
                self.mutable_argument(signature, at, ast)
            } else {
                self.effects.append(effects);
                self.value_argument(typed, &fit.types[at], ast.span)
            };
            match arg {
                Some(arg) => list.push(arg),
                None => sound = false,
            }
            if signature.is_stepwise() {
                self.check_effects(start);
            }
        }
        self.log_stateful(signature, span);
        self.check_pane(signature, span);
        sound &= self.check_port(signature, &list, args.asts).is_some();
        sound &= self.check_constants(signature, &list, args.asts).is_some();
        let call = sound.then(|| self.finish_call(fit, list, span))??;
        Some(bounded_like(call, first))
    }

    /// An argument by value.
    fn value_argument(&mut self, arg: OverloadArgument<'w>, ty: &Type, span: Span) -> Option<Arg> {
        let typed = match arg {
            OverloadArgument::Typed(typed) => typed,
            OverloadArgument::Untyped(ast) => self.infer(ast, Some(ty))?,
        };
        if typed.ty.is_rstring() && matches!(ty, Type::BoundedRString(_)) && typed.ty != *ty {
            return Some(Arg::Value(cast_to(typed, ty)));
        }
        if is_bounded_form(&typed.ty, ty) {
            return Some(Arg::Value(typed));
        }
        self.coerced(typed, ty, span).map(Arg::Value)
    }

    /// An argument that is changed in place.
    fn mutable_argument(
        &mut self,
        signature: &Signature,
        at: usize,
        ast: &'w ast::Expr,
    ) -> Option<Arg> {
        if is_place(ast) {
            return self.place(ast, PlaceUse::Change).map(Arg::Place);
        }
        let (name, number) = (&signature.name, at + 1);
        let message =
            format!("`{name}` changes argument {number}, which must be a mutable variable");
        let finding = Diagnostic::error("immutable-argument", ast.span, message);
        self.report(finding.help(format!("its prototype is {signature}")))
    }

    /// Reports a constant argument with which a library function must fail.
    fn check_constants(
        &self,
        signature: &Signature,
        args: &[Arg],
        asts: &[ast::Expr],
    ) -> Option<()> {
        let FunctionOwner::Native(id) = signature.owner else {
            return Some(());
        };
        let Some(check) = self.session.symbols.native(id).check else {
            return Some(());
        };
        // With an argument missing the others would be taken for their neighbours.
        if args.len() != asts.len() {
            return Some(());
        }
        let value = |arg: &Arg| match arg {
            Arg::Value(value) => self.session.try_fold(value),
            Arg::Place(_) => None,
        };
        let values: Vec<_> = args.iter().map(value).collect();
        let wrong = match check(&values) {
            Ok(()) => return Some(()),
            Err(wrong) => wrong,
        };
        let span = asts.get(wrong.argument)?.span;
        let finding = Diagnostic::error("wrong-argument", span, wrong.message);
        self.report(match wrong.help {
            "" => finding,
            help => finding.help(help),
        })
    }

    /// Reports a constant number of a port that the operator does not have.
    fn check_port(&self, signature: &Signature, args: &[Arg], asts: &[ast::Expr]) -> Option<()> {
        let (FunctionOwner::Native(id), Some(site)) = (signature.owner, &self.operator) else {
            return Some(());
        };
        let side = self.session.symbols.native(id).port;
        // With an argument missing the others would be taken for their neighbours.
        let first = args.first().filter(|_| args.len() == asts.len());
        let (Some(side), Some(Arg::Value(first))) = (side, first) else {
            return Some(());
        };
        let (direction, count) = match side {
            PortSide::Input => ("input", site.inputs.len()),
            PortSide::Output => ("output", site.outputs.len()),
        };
        let Some(Value::Uint32(port)) = self.session.try_fold(first) else {
            return Some(());
        };
        if (port as usize) < count {
            return Some(());
        }
        let message = format!("this operator has no {direction} port {port}");
        let help = match count {
            0 => format!("it has no {direction} ports at all"),
            1 => format!("its only {direction} port is number 0"),
            _ => format!("its {direction} ports are numbered from 0 to {}", count - 1),
        };
        let finding = Diagnostic::error("port-out-of-range", asts.first()?.span, message);
        self.report(finding.help(help))
    }

    fn log_stateful(&mut self, signature: &Signature, span: Span) {
        if !signature.stateful {
            return;
        }
        self.effects.stateful_call(span, &signature.name);
        let name = &signature.name;
        let (place, help) = match self.context.stateful {
            StatefulCalls::Allowed => return,
            StatefulCalls::NotDeclared => (
                "is called in a function that is not stateful",
                "declare the function `stateful`",
            ),
            StatefulCalls::InCondition => (
                "is called in a condition that is text",
                "only functions that are not stateful can be called there",
            ),
        };
        let message = format!("stateful function `{name}` {place}");
        let finding = Diagnostic::error("stateful-call", span, message);
        self.session.report(finding.help(help));
    }

    /// Reports a function of the pane that fires where none does.
    fn check_pane(&self, signature: &Signature, span: Span) {
        let FunctionOwner::Native(id) = signature.owner else {
            return;
        };
        if self.context.panes || !self.session.symbols.native(id).needs_pane {
            return;
        }
        let name = &signature.name;
        let message = format!("`{name}` asks for the pane that fires, and none fires here");
        let finding = Diagnostic::error("no-pane", span, message);
        let help = "call it in the output clause of an operator whose window is timeInterval or \
                    session";
        self.session.report(finding.help(help));
    }

    fn finish_call(
        &mut self,
        fit: &OverloadFit,
        args: Vec<Arg>,
        span: Span,
    ) -> Option<graph::Expr> {
        let signature = &*fit.signature;
        let ty = fit.result.clone();
        let pos = self.session.pos(span);
        let callee = match signature.owner {
            FunctionOwner::User(id) => Callee::User(self.session.function_id(id)),
            FunctionOwner::Output { .. } => {
                let values = args.into_iter().filter_map(|arg| match arg {
                    Arg::Value(value) => Some(value),
                    Arg::Place(_) => None,
                });
                let args = values.map(|value| self.known_string(value)).collect();
                let function = signature.name.clone();
                self.calls.push(OutputCall {
                    function,
                    args,
                    ty: ty.clone(),
                    pos,
                });
                let kind = ExprKind::OutputCall(self.calls.len() as u32 - 1);
                return Some(graph::Expr { kind, ty, pos });
            }
            FunctionOwner::Native(id) => {
                if let Some(result) = self.folded_call(signature, &args, &ty, span) {
                    return result;
                }
                Callee::Native(id)
            }
            FunctionOwner::Intrinsic => {
                let name = &signature.name;
                return self
                    .folded_call(signature, &args, &ty, span)
                    .unwrap_or_else(|| {
                        let message =
                            format!("`{name}` cannot be called here: its value is not known");
                        self.fail("intrinsic-not-allowed", span, message)
                    });
            }
        };
        Some(graph::Expr {
            kind: ExprKind::Call(callee, args),
            ty,
            pos,
        })
    }

    /// A string that is known when compiling as a constant, so that an operator can read it then.
    fn known_string(&self, expr: graph::Expr) -> graph::Expr {
        if !expr.ty.is_string() {
            return expr;
        }
        match self.session.try_fold(&expr) {
            Some(value) => graph::Expr::constant(value, expr.ty).with_pos(expr.pos),
            None => expr,
        }
    }

    /// Output functions stand alone, unless the operator's model lets them be part of expressions.
    fn check_nesting(&self, name: &str, span: Span) -> Option<()> {
        let nested = self
            .context
            .output_functions
            .as_ref()
            .is_some_and(|f| f.nested);
        if self.call_depth == 0 || nested {
            return Some(());
        }
        let message =
            format!("output function `{name}` cannot be part of a larger expression here");
        let finding = Diagnostic::error("nested-output-function", span, message);
        let help =
            "assign it to an attribute by itself and compute with that in a Functor after it";
        self.report(finding.help(help))
    }
}

impl FunctionCandidates {
    fn is_output(&self) -> bool {
        self.list
            .iter()
            .any(|(_, s)| matches!(s.owner, FunctionOwner::Output { .. }))
    }
}

/// The bounded type of the first argument, if the function gives back what it takes there: the
/// result of `sort(list<T>[N])` is a `list<T>[N]`.
fn first_collection(signature: &Signature, args: &[OverloadArgument<'_>]) -> Option<Type> {
    let (Some(formal), Some(OverloadArgument::Typed(arg))) =
        (signature.formals.first(), args.first())
    else {
        return None;
    };
    let bounded = matches!(
        arg.ty,
        Type::List(_, Some(_)) | Type::Set(_, Some(_)) | Type::Map(_, Some(_))
    );
    let same = formal.ty == signature.result && !matches!(formal.ty, TypePattern::Formal(_));
    (bounded && same && signature.is_lenient()).then(|| arg.ty.clone())
}

fn bounded_like(call: graph::Expr, ty: Option<Type>) -> graph::Expr {
    match ty {
        Some(ty) => cast_to(call, &ty),
        None => call,
    }
}

/// Whether a type is a bounded form of another; the library takes such values as they are.
fn is_bounded_form(found: &Type, wanted: &Type) -> bool {
    match (found, wanted) {
        (Type::BoundedRString(_), Type::RString) => true,
        (Type::List(a, Some(_)), Type::List(b, None))
        | (Type::Set(a, Some(_)), Type::Set(b, None)) => a == b || is_bounded_form(a, b),
        (Type::Map(a, Some(_)), Type::Map(b, None)) => a == b,
        (Type::List(a, None), Type::List(b, None)) | (Type::Set(a, None), Type::Set(b, None)) => {
            is_bounded_form(a, b)
        }
        _ => false,
    }
}

/// Whether functions of one file have the same parameters, so that one is defined twice.
fn are_duplicates(fits: &[OverloadFit]) -> bool {
    let types = |fit: &OverloadFit| -> Vec<_> {
        let formals = fit.signature.formals.iter();
        formals.map(|formal| formal.ty.clone()).collect()
    };
    let file = |fit: &OverloadFit| fit.signature.span.map(|span| span.file);
    let same = |fit: &OverloadFit| {
        types(fit) == types(&fits[0]) && file(fit).is_some() && file(fit) == file(&fits[0])
    };
    fits.iter().all(same)
}

fn ambiguous(name: &str, fits: &[OverloadFit], span: Span) -> Diagnostic {
    let message = format!("the call of `{name}` is ambiguous: several functions fit");
    let finding = Diagnostic::error("ambiguous-call", span, message);
    fits.iter().fold(finding, |finding, fit| {
        let text = format!("candidate: {}", fit.signature);
        match fit.signature.span {
            Some(at) => finding.label(at, "candidate").help(text),
            None => finding.help(text),
        }
    })
}
