//! Rules between the keys of one annotation, and between the annotations of one operator.

use std::sync::Arc;

use syntax::ast::{Annotation, Expr};
use syntax::{Diagnostic, Span};
use tuple::{Type, Value};

use super::parallel::port_of_both;
use super::target::{AnnotationCheck, AnnotationTarget};
use crate::instance::CheckedAnnotation;

/// Checks an annotation whose keys are right one by one.
pub(super) fn check(
    check: &AnnotationCheck<'_, '_>,
    annotation: &Annotation,
    args: &[(Arc<str>, Value)],
) {
    let errors = check.session.diagnostics.error_count();
    let one = AnnotationRuleCheck {
        check,
        annotation,
        args,
        errors,
    };
    match &*annotation.name.text {
        "parallel" => one.parallel(),
        "threading" => one.threading(),
        "consistent" => one.consistent(),
        "view" => one.view(),
        "eventTime" => one.event_time(),
        _ => {}
    }
}

/// Annotations of which an operator has at most one.
pub(super) const EXCLUSIVE: [&str; 2] = ["consistent", "autonomous"];

/// Checks annotations that exclude each other.
pub(super) fn check_combinations(
    check: &AnnotationCheck<'_, '_>,
    annotations: &[Annotation],
    checked: &[CheckedAnnotation],
) {
    let has = |name: &str| checked.iter().any(|(n, _)| &**n == name);
    if EXCLUSIVE.into_iter().all(has) {
        let place = annotations.iter().find(|a| &*a.name.text == "autonomous");
        if let Some(place) = place {
            let message = "`@consistent` and `@autonomous` exclude each other";
            check.session.report(Diagnostic::error(
                "annotation-conflict",
                place.span,
                message,
            ));
        }
    }
}

struct AnnotationRuleCheck<'a, 'b, 'w> {
    check: &'a AnnotationCheck<'b, 'w>,
    annotation: &'a Annotation,
    args: &'a [(Arc<str>, Value)],
    /// Errors before this annotation.
    errors: usize,
}

impl AnnotationRuleCheck<'_, '_, '_> {
    fn parallel(&self) {
        let Some(Value::Int32(width)) = self.value("width") else {
            return;
        };
        if *width < 1 {
            self.error(
                self.span("width"),
                format!("a parallel region has at least one channel, not {width}"),
            );
        }
        if let Some(port) = port_of_both(self.args, self.check.ports) {
            self.error(
                self.span("broadcast"),
                format!(
                    "`partitionBy` sends a tuple of `{port}` to one channel, `broadcast` to all"
                ),
            );
        }
    }

    fn threading(&self) {
        if self.word("model") == "dynamic" {
            if let Some(Value::Int32(threads)) = self.value("threads")
                && *threads < 1
            {
                self.error(
                    self.span("threads"),
                    format!("at least one thread is needed, not {threads}"),
                );
            }
            return;
        }
        for key in ["threads", "elastic"] {
            if self.value(key).is_some() {
                self.error(self.span(key), format!("`{key}` needs `model = dynamic`"));
            }
        }
    }

    fn consistent(&self) {
        match (self.word("trigger"), self.value("period")) {
            ("periodic", None) => {
                self.error(
                    self.annotation.span,
                    "`trigger = periodic` needs the key `period`",
                );
            }
            ("operatorDriven", Some(_)) => {
                self.error(self.span("period"), "`period` needs `trigger = periodic`");
            }
            _ => {}
        }
        for key in ["period", "drainTimeout", "resetTimeout"] {
            if let Some(Value::Float64(seconds)) = self.value(key)
                && (*seconds <= 0.0 || !seconds.is_finite())
            {
                self.error(
                    self.span(key),
                    format!("`{key}` is a time of more than zero seconds"),
                );
            }
        }
        if let Some(Value::Int32(attempts)) = self.value("maxConsecutiveResetAttempts")
            && *attempts < 1
        {
            self.error(
                self.span("maxConsecutiveResetAttempts"),
                "at least one attempt is needed",
            );
        }
        if let (AnnotationTarget::Primitive(model), "operatorDriven") =
            (self.check.target, self.word("trigger"))
            && !model.starts_consistent_region
        {
            let message = format!("{} cannot start a consistent region by itself", model.name);
            self.error(self.span("trigger"), message);
        }
        self.warning(
            "no-consistent-region",
            "consistent regions are not available: this one does nothing".into(),
        );
    }

    fn view(&self) {
        match (self.value("bufferSize"), self.value("bufferTime")) {
            (None, None) => {
                self.error(
                    self.annotation.span,
                    "`@view` needs `bufferSize` or `bufferTime`",
                );
            }
            (Some(_), Some(_)) => {
                let message = "`bufferSize` and `bufferTime` exclude each other";
                self.error(self.span("bufferTime"), message);
            }
            _ => self.warning("no-view", "views show nothing in a single process".into()),
        }
    }

    fn event_time(&self) {
        let name = self.word("eventTimeAttribute");
        let attributes = self
            .check
            .ports
            .outputs
            .iter()
            .filter_map(|port| port.schema.as_ref());
        let found = attributes
            .filter_map(|schema| schema.find(name))
            .map(|(_, a)| &a.ty)
            .next();
        match found {
            Some(Type::Timestamp) if self.value("resolution").is_some() => {
                if self.word("resolution") != "Nanoseconds" {
                    let message = "the resolution of a timestamp is Nanoseconds";
                    self.error(self.span("resolution"), message);
                }
            }
            Some(Type::Timestamp | Type::Int64 | Type::Uint64) | None => {}
            Some(ty) => {
                let message = format!("event time is a timestamp, int64 or uint64, not {ty}");
                let place = self.span("eventTimeAttribute");
                let finding = Diagnostic::error("annotation-value", place, message);
                self.check.session.report(match ty {
                    Type::RString | Type::UString | Type::BoundedRString(_) => {
                        finding.help("`parseISO8601` or `toTimestamp` makes a timestamp of a text")
                    }
                    _ => finding,
                });
            }
        }
        for key in ["minimumGap", "lag"] {
            if let Some(Value::Float64(seconds)) = self.value(key)
                && (*seconds < 0.0 || !seconds.is_finite())
            {
                self.error(
                    self.span(key),
                    format!("`{key}` is a time of zero or more seconds"),
                );
            }
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.args
            .iter()
            .find(|(name, _)| &**name == key)
            .map(|(_, value)| value)
    }

    fn word(&self, key: &str) -> &str {
        match self.value(key) {
            Some(Value::RString(text)) => std::str::from_utf8(&text.0).unwrap_or(""),
            _ => "",
        }
    }

    fn span(&self, key: &str) -> Span {
        let arg = self
            .annotation
            .args
            .iter()
            .find(|(name, _)| &*name.text == key);
        arg.map_or(self.annotation.span, |(_, value): &(_, Expr)| value.span)
    }

    fn error(&self, span: Span, message: impl Into<String>) {
        self.check
            .session
            .report(Diagnostic::error("annotation-value", span, message));
    }

    /// Warns of an annotation that is right but does nothing.
    fn warning(&self, code: &'static str, message: String) {
        if self.check.session.diagnostics.error_count() > self.errors {
            return;
        }
        let place = self.annotation.span;
        self.check
            .session
            .report(Diagnostic::warning(code, place, message));
    }
}
