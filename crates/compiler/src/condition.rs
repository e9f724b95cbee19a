//! Conditions that are text until the program runs: one boolean expression over the attributes of
//! one tuple.
//!
//! The rules are those of Import's `filter`, with the same diagnostics: a number without a suffix
//! is of the type of its other operand (`"number > 0"` may be about an int64), and numbers of
//! different types are compared by value. A condition does not see the program's own functions,
//! types, streams and variables. It changes nothing: there is no variable, attributes are not
//! mutable, stateful functions are refused.

use std::rc::Rc;
use std::sync::Arc;

use eval::{ConditionError, ConditionErrorKind, NativeFn};
use graph::{Expr, PortIndex};
use syntax::{Diagnostic, Severity, SourceMap, Span, ast};
use tuple::{TupleType, Type};

use crate::expr::{ReadableInputs, StatefulCalls, Typer, TypingContext};
use crate::names::{
    ChannelPosition, Enumerator, OperatorScope, Scope, ScopeInputPort, ScopeLevel, SymbolTable,
    UnitId,
};
use crate::tables::ConditionSymbols;
use crate::{CompileOptions, Session};

/// Bytes that the text of a condition may have: far more than a condition needs, and a bound on
/// what a cache of conditions holds.
pub const CONDITION_BYTES_MAX: usize = 64 * 1024;

/// Types a condition over tuples of a type. Attributes of the tuple are those of input port 0 in
/// what comes out. Typing recurses as deep as the text nests: leave it the stack of a compilation.
///
/// # Errors
/// The first thing that is wrong with it.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_compiler::compile_condition;
/// use tuple::{Attribute, TupleType, Type};
///
/// let price = Attribute { name: "price".into(), ty: Type::Float64 };
/// let over = Arc::new(TupleType { attributes: vec![price] });
/// assert!(compile_condition("price > 5", &over, toolkit::functions()).is_ok());
/// let error = compile_condition("prize > 5", &over, toolkit::functions());
/// assert!(error.unwrap_err().message.contains("prize"));
/// ```
pub fn compile_condition(
    text: &str,
    over: &Arc<TupleType>,
    natives: &'static [NativeFn],
) -> Result<Expr, ConditionError> {
    compile_with(&mut ConditionSymbols::new(natives), text, over)
}

/// Types a condition as [`compile_condition`] does, with symbols that many conditions share.
///
/// # Errors
/// The first thing that is wrong with it.
pub(crate) fn compile_with(
    condition: &mut ConditionSymbols,
    text: &str,
    over: &Arc<TupleType>,
) -> Result<Expr, ConditionError> {
    if text.len() > CONDITION_BYTES_MAX {
        let sentence = format!(
            "it has {} bytes, and no condition may have more than {CONDITION_BYTES_MAX}",
            text.len()
        );
        return Err(ConditionError::new(ConditionErrorKind::Syntax, sentence));
    }
    let symbols = condition.with_text(text);
    match syntax::parse_expr(text) {
        Ok(ast) => type_condition(&ast, over, symbols),
        Err(found) => Err(first_error(&found, symbols.sources(), true)),
    }
}

fn type_condition(
    ast: &ast::Expr,
    over: &Arc<TupleType>,
    symbols: &SymbolTable,
) -> Result<Expr, ConditionError> {
    let options = CompileOptions::default();
    let session = Session::new(symbols, &options, "");
    let level = ScopeLevel::Operator(Rc::new(operator_scope(over)));
    let scope = Scope::unit(UnitId(0)).enter(level);
    let context = TypingContext {
        inputs: ReadableInputs::Port(PortIndex(0)),
        stateful: StatefulCalls::InCondition,
        open_numbers: true,
        ..TypingContext::default()
    };
    let typed = Typer::new(&session, scope, context).expr(ast, None);
    let is_sound = !session.diagnostics.has_errors();
    let found = session.diagnostics.into_sorted();
    match typed {
        Some(expr) if is_sound && expr.ty == Type::Boolean => Ok(expr),
        Some(expr) if is_sound => {
            let sentence = format!("it is of type {}, and a condition is a boolean", expr.ty);
            Err(ConditionError::new(
                ConditionErrorKind::NotBoolean,
                sentence,
            ))
        }
        _ => Err(first_error(&found, symbols.sources(), false)),
    }
}

/// An operator with one port, which conditions have no name for.
fn operator_scope(over: &Arc<TupleType>) -> OperatorScope {
    let port = ScopeInputPort {
        name: "tup".into(),
        names: Vec::new(),
        streams: Vec::new(),
        schema: Some(over.clone()),
        mutable: false,
        span: Span::default(),
        alias: None,
    };
    let operator_scope =
        OperatorScope::new("", "", vec![port], Vec::new(), ChannelPosition::default());
    for attribute in &over.attributes {
        add_enumerators(&operator_scope, &attribute.ty);
    }
    operator_scope
}

/// Makes the enumerators of a type known, however deep. Of two enums with the same name in them the
/// first has it.
fn add_enumerators(operator_scope: &OperatorScope, ty: &Type) {
    match ty {
        Type::Enum(ty) => {
            for (ordinal, name) in ty.names.iter().enumerate() {
                let enumerator = Enumerator {
                    ty: ty.clone(),
                    ordinal: ordinal as u32,
                    span: Span::default(),
                };
                let _ = operator_scope.add_enumerator(name, enumerator);
            }
        }
        Type::List(inner, _) | Type::Set(inner, _) | Type::Optional(inner) => {
            add_enumerators(operator_scope, inner);
        }
        Type::Map(entry, _) => {
            add_enumerators(operator_scope, &entry.0);
            add_enumerators(operator_scope, &entry.1);
        }
        Type::Tuple(inner) => {
            for attribute in &inner.attributes {
                add_enumerators(operator_scope, &attribute.ty);
            }
        }
        _ => {}
    }
}

/// The first error in the order of the text.
fn first_error(found: &[Diagnostic], sources: &SourceMap, is_syntax: bool) -> ConditionError {
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    let first = errors.min_by_key(|d| d.span.start);
    let flaw = match first.map(|d| d.code) {
        _ if is_syntax => ConditionErrorKind::Syntax,
        Some("not-a-value") => ConditionErrorKind::UnknownName,
        Some(code) if code.starts_with("unknown-") => ConditionErrorKind::UnknownName,
        _ => ConditionErrorKind::RuleViolation,
    };
    let Some(first) = first else {
        return ConditionError::new(flaw, "it is no expression");
    };
    let at = sources.position(first.span);
    let help = first.help.first().map(|help| format!(" ({help})"));
    let (message, help) = (&first.message, help.unwrap_or_default());
    let sentence = format!("{}:{}: {message}{help}", at.line, at.column);
    ConditionError::new(flaw, sentence)
}
