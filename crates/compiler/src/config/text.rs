//! Values of config clauses that are words or constants, and their text.

use syntax::Span;
use syntax::ast::{Config, Expr, ExprKind};
use tuple::{Type, Value};

use super::clause::ConfigCheck;
use crate::expr::{Typer, TypingContext};
use crate::names::did_you_mean;

/// The one transport that SPL names.
const TCP: &str = "TCP";

impl<'w> ConfigCheck<'_, 'w> {
    /// Reports a wrong value.
    pub fn fail<T>(&self, span: Span, message: impl Into<String>) -> Option<T> {
        self.session.fail("config-value", span, message)
    }

    /// The one value of an entry.
    pub fn single(&self, config: &'w Config) -> Option<&'w Expr> {
        match &config.values[..] {
            [one] => Some(one),
            [] => None,
            [_, second, ..] => self.fail(
                second.span,
                format!("config `{}` takes one value", config.name.text),
            ),
        }
    }

    /// A constant of one type.
    pub fn constant(&self, expr: &'w Expr, ty: &Type) -> Option<Value> {
        let mut typer = Typer::new(self.session, self.scope.clone(), TypingContext::constant());
        typer.constant(expr, Some(ty))
    }

    /// A constant whatever its type.
    pub fn any_constant(&self, expr: &'w Expr) -> Option<(Value, Type)> {
        let mut typer = Typer::new(self.session, self.scope.clone(), TypingContext::constant());
        let typed = typer.expr(expr, None)?;
        Some((typer.fold(&typed, expr.span)?, typed.ty))
    }

    /// One of some bare words.
    pub fn word(&self, config: &'w Config, allowed: &[&str]) -> Option<String> {
        self.word_with_help(config, allowed, &allowed.join(", "), "")
    }

    /// One of some bare words, which a message lists as `list`, with a help for another one; empty:
    /// none.
    fn word_with_help(
        &self,
        config: &'w Config,
        allowed: &[&str],
        list: &str,
        help: &str,
    ) -> Option<String> {
        let expr = self.single(config)?;
        let word = bare_word(expr);
        if let Some(word) = word.filter(|word| allowed.contains(word)) {
            return Some(word.to_owned());
        }
        let name = &config.name.text;
        let message = match allowed {
            [one] => format!("config `{name}` can only be {one}"),
            _ => format!("config `{name}` is one of {list}"),
        };
        let mut finding = syntax::Diagnostic::error("config-value", expr.span, message);
        if !help.is_empty() {
            finding = finding.help(help);
        }
        let near = word.unwrap_or("");
        self.session
            .report(did_you_mean(finding, near, allowed.iter().copied()));
        None
    }

    /// One of some enumerators of `Sys`; `message` lists them.
    pub fn enumerator(
        &self,
        expr: &Expr,
        allowed: &[&'static str],
        message: &str,
    ) -> Option<&'static str> {
        let known = |word: &str| allowed.iter().copied().find(|one| *one == word);
        if let Some(word) = sys_word(expr).and_then(known) {
            return Some(word);
        }
        let finding = syntax::Diagnostic::error("config-value", expr.span, message);
        self.session.report(match bare_word(expr).and_then(known) {
            Some(word) => finding.help(format!("write `Sys.{word}`")),
            None => finding,
        });
        None
    }

    /// A medium: TCP, as SPL has it, or another one that there is, in letters of either case.
    pub fn transport(&self, config: &'w Config) -> Option<String> {
        let media = self.session.options.media.iter().map(String::as_str);
        let others = media.filter(|medium| !medium.eq_ignore_ascii_case(TCP));
        let allowed: Vec<&str> = std::iter::once(TCP).chain(others).collect();
        let word = bare_word(self.single(config)?).unwrap_or("");
        if let Some(medium) = allowed.iter().find(|one| one.eq_ignore_ascii_case(word)) {
            return Some((*medium).to_owned());
        }
        // A name with a hyphen, which is no word, has another one.
        let meaning = |word: &&str| match planner::own_medium_name(word) {
            own if own == *word => own.to_owned(),
            own => format!("{word} ({own})"),
        };
        let list = allowed.iter().map(meaning).collect::<Vec<_>>();
        let help = &self.session.options.media_search;
        self.word_with_help(config, &allowed, &list.join(", "), help)
    }

    /// Text of a constant boolean: `true` or `false`.
    pub fn boolean(&self, config: &'w Config) -> Option<String> {
        let value = self.constant(self.single(config)?, &Type::Boolean)?;
        matches!(value, Value::Boolean(true))
            .then_some("true")
            .or(Some("false"))
            .map(str::to_owned)
    }

    /// Text of a constant string, in quotes.
    pub fn string(&self, config: &'w Config) -> Option<String> {
        self.quoted(self.single(config)?)
    }

    /// A constant string, quoted.
    pub fn quoted(&self, expr: &'w Expr) -> Option<String> {
        Some(quote(&self.text(expr)?))
    }

    /// The content of a constant string.
    pub fn text(&self, expr: &'w Expr) -> Option<String> {
        match self.constant(expr, &Type::RString)? {
            Value::RString(text) => Some(String::from_utf8_lossy(&text.0).into_owned()),
            _ => None,
        }
    }

    /// A whole number from `least` on, of type int32 or uint32.
    pub fn whole_number(&self, expr: &'w Expr, what: &str, least: i64) -> Option<i64> {
        let (value, ty) = self.any_constant(expr)?;
        let number = match value {
            Value::Int32(n) => i64::from(n),
            Value::Uint32(n) => i64::from(n),
            _ => return self.fail(expr.span, format!("{what} is an integer, not {ty}")),
        };
        if number < least {
            return self.fail(
                expr.span,
                format!("{what} is at least {least}, not {number}"),
            );
        }
        Some(number)
    }

    /// Text of config `checkpoint`: `periodic(seconds)` or `operatorDriven`.
    pub fn checkpoint(&self, config: &'w Config) -> Option<String> {
        let expr = self.single(config)?;
        match (bare_word(expr), call(expr)) {
            (Some("operatorDriven"), _) => Some("operatorDriven".to_owned()),
            (_, Some(("periodic", [seconds]))) => match self.constant(seconds, &Type::Float64)? {
                Value::Float64(s) if s > 0.0 && s.is_finite() => Some(format!("periodic({s:?})")),
                _ => self.fail(
                    seconds.span,
                    "the period is a time of more than zero seconds",
                ),
            },
            _ => self.fail(
                expr.span,
                "config `checkpoint` is `periodic(seconds)` or `operatorDriven`",
            ),
        }
    }

    /// Text of config `defaultPoolSize`: a whole number from 0 on.
    pub fn pool_size(&self, config: &'w Config) -> Option<String> {
        let size = self.whole_number(self.single(config)?, "the size of the default pool", 0)?;
        Some(size.to_string())
    }

    /// Text of config `stateBytesMax`: a number of bytes.
    pub fn state_bytes_max(&self, config: &'w Config) -> Option<String> {
        let expr = self.single(config)?;
        let (value, ty) = self.any_constant(expr)?;
        let what = "the bound of the state in bytes";
        match value.as_integer() {
            Some(bytes @ 1..) => Some(bytes.to_string()),
            Some(bytes) => self.fail(expr.span, format!("{what} is at least 1, not {bytes}")),
            None => self.fail(expr.span, format!("{what} is an integer, not {ty}")),
        }
    }
}

/// A name without namespace.
pub(super) fn bare_word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) if name.namespace.is_none() => Some(&name.name.text),
        _ => None,
    }
}

/// The name and the arguments of a call.
pub(super) fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    match &expr.kind {
        ExprKind::Call(callee, args) => Some((bare_word(callee)?, args)),
        _ => None,
    }
}

/// The enumerator of `Sys.Name`.
fn sys_word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Field(base, name) if bare_word(base) == Some("Sys") => Some(&name.text),
        _ => None,
    }
}

/// A string as SPL writes it.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
