//! Reports of calls that fit no function of their name.

use std::rc::Rc;

use syntax::ast;
use syntax::{Diagnostic, SourceMap, Span};

use super::overload::{OverloadArgument, OverloadRefusal};
use crate::expr::literal_advice;
use crate::tables::Signature;

/// How many candidates are shown.
const CANDIDATES_SHOWN_MAX: usize = 6;

/// A call as it is written and typed.
pub(super) struct RefusedCall<'a> {
    pub name: &'a str,
    /// Place of the function's name.
    pub span: Span,
    pub asts: &'a [ast::Expr],
    pub args: &'a [OverloadArgument<'a>],
    pub sources: &'a SourceMap,
}

/// The report. With one candidate it points at the argument that does not fit; of several those
/// count that take the most of the arguments before it.
pub(super) fn none_fits(
    call: &RefusedCall<'_>,
    refusals: &[(Rc<Signature>, OverloadRefusal)],
) -> Diagnostic {
    let RefusedCall {
        name, span, asts, ..
    } = *call;
    let of_count = |(s, _): &&(Rc<Signature>, OverloadRefusal)| s.formals.len() == asts.len();
    let mut close: Vec<_> = refusals.iter().filter(of_count).collect();
    let furthest = close.iter().map(|(_, refusal)| refusal.argument).max();
    close.retain(|(_, refusal)| Some(refusal.argument) == furthest);
    if let [(signature, refusal)] = &close[..] {
        return one_candidate(call, signature, refusal);
    }
    let span = match furthest.flatten() {
        Some(at @ 1..) => asts.get(at).map_or(span, |ast| ast.span),
        _ => span,
    };
    if let [(signature, _)] = refusals {
        let wanted = signature.formals.len();
        let s = if wanted == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {wanted} argument{s}, not {}", asts.len());
        return Diagnostic::error("wrong-argument-count", span, message)
            .help(format!("its prototype is {signature}"));
    }
    let types: Vec<String> = call.args.iter().map(argument_text).collect();
    let message = format!("no function `{name}` takes ({})", types.join(", "));
    let finding = Diagnostic::error("no-overload", span, message);
    let list = if close.is_empty() {
        refusals.iter().collect()
    } else {
        close
    };
    let mut finding =
        list.iter()
            .take(CANDIDATES_SHOWN_MAX)
            .fold(finding, |finding, (signature, refusal)| {
                finding.help(format!("candidate: {signature}: {}", refusal.sentence))
            });
    if list.len() > CANDIDATES_SHOWN_MAX {
        finding = finding.help(format!("and {} more", list.len() - CANDIDATES_SHOWN_MAX));
    }
    finding
}

fn one_candidate(
    call: &RefusedCall<'_>,
    signature: &Signature,
    refusal: &OverloadRefusal,
) -> Diagnostic {
    let at = refusal
        .argument
        .and_then(|at| call.asts.get(at))
        .map_or(call.span, |ast| ast.span);
    let name = call.name;
    let message = format!("`{name}` does not take this: {}", refusal.sentence);
    let finding = Diagnostic::error("argument-mismatch", at, message);
    let finding = match (refusal.argument.map(|at| &call.args[at]), &refusal.wanted) {
        (Some(OverloadArgument::Typed(arg)), Some(wanted)) => {
            literal_advice(finding, (arg, call.sources.text(at)), wanted)
        }
        _ => finding,
    };
    let finding = finding.help(format!("its prototype is {signature}"));
    match signature.span {
        Some(defined) => finding.label(defined, "defined here"),
        None => finding,
    }
}

fn argument_text(arg: &OverloadArgument<'_>) -> String {
    match arg {
        OverloadArgument::Typed(arg) => arg.ty.to_string(),
        OverloadArgument::Untyped(_) => "a literal without type".to_owned(),
    }
}
