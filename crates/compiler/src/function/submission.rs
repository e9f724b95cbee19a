//! Submission-time and compile-time values, which the user gives by name.

use std::path::Path;

use graph::Arg;
use syntax::{Diagnostic, Span};
use tuple::{List, Type, Value};

use super::intrinsic::string_value;
use crate::expr::Typer;

impl Typer<'_, '_> {
    /// The value of `getSubmissionTimeValue` and its like. Name and default must be constants.
    pub(super) fn external_value(&self, function: &str, args: &[Arg], span: Span) -> Option<Value> {
        let constants: Option<Vec<Value>> = args
            .iter()
            .map(|arg| self.constant_arg(arg, span))
            .collect();
        let mut constants = constants?.into_iter();
        let name = match constants.next() {
            Some(Value::RString(name)) => name.to_string_lossy().into_owned(),
            _ => return None,
        };
        let default = constants.next();
        match function {
            "getCompileTimeValue" => self.compile_time_value(&name, default, span),
            "getCompileTimeListValue" => {
                self.session.requested_values.request_compile_time(&name);
                let values = self.session.options.compile_time_values.get(&name);
                let given = values.into_iter().flatten();
                Some(string_list(given.flat_map(|s| list_items(s))))
            }
            "getToolkitDirectory" => self.toolkit_directory(&name, span),
            "getSubmissionTimeValue" => {
                self.submission_value(&name, span, default, |one| string_value(one))
            }
            _ => self.submission_value(&name, span, default, |all| string_list(list_items(all))),
        }
    }

    fn constant_arg(&self, arg: &Arg, span: Span) -> Option<Value> {
        match arg {
            Arg::Value(expr) => self.fold(expr, span),
            Arg::Place(_) => None,
        }
    }

    fn compile_time_value(&self, name: &str, default: Option<Value>, span: Span) -> Option<Value> {
        self.session.requested_values.request_compile_time(name);
        let values = self.session.options.compile_time_values.get(name);
        if let Some(values) = values {
            return Some(string_value(values.join(",")));
        }
        default.or_else(|| {
            let message = format!("the compile-time value `{name}` is not given");
            let finding = Diagnostic::error("missing-compile-time-value", span, message);
            self.report(finding.help(format!("give `-D {name}=value`, an option before the file")))
        })
    }

    fn toolkit_directory(&self, name: &str, span: Span) -> Option<Value> {
        let application = self.session.symbols.application_dir();
        let is_application = Path::new(application).file_name() == Some(name.as_ref());
        match self.session.options.toolkit_dirs.get(name) {
            Some(dir) => Some(string_value(dir)),
            None if is_application => Some(string_value(application)),
            None => {
                let message = format!("there is no toolkit `{name}`");
                self.fail("unknown-toolkit", span, message)
            }
        }
    }

    /// A submission-time value: its external name is `name`, or `composite.name`.
    fn submission_value(
        &self,
        name: &str,
        span: Span,
        default: Option<Value>,
        read: impl Fn(&str) -> Value,
    ) -> Option<Value> {
        let values = &self.session.options.submission_values;
        let names = self.external_names(name);
        self.session.requested_values.request_submission(&names);
        let given = names.iter().find_map(|name| values.get(name));
        if let Some(given) = given {
            return Some(read(given));
        }
        if default.is_none() && self.session.values_pending.get() {
            return None;
        }
        default.or_else(|| {
            let message =
                format!("the submission-time value `{name}` is not given and has no default");
            let finding = Diagnostic::error("missing-submission-value", span, message);
            self.report(finding.help(format!("start the program with `{name}=value`")))
        })
    }

    fn external_names(&self, name: &str) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(composite_scope) = self.scope.composite_scope() {
            let composite = &composite_scope.ast.name.text;
            let qualified = self
                .session
                .symbols
                .qualified(composite_scope.unit, composite);
            if !composite_scope.instance.is_empty() {
                names.push(format!("{}.{name}", composite_scope.instance));
            }
            names.push(format!("{qualified}.{name}"));
            names.push(format!("{composite}.{name}"));
        }
        names.push(name.to_owned());
        names
    }
}

/// The values of a list as they are given: with commas between.
fn list_items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|_| !text.is_empty())
}

fn string_list<'s>(list: impl Iterator<Item = &'s str>) -> Value {
    Value::List(List::from_values(&Type::RString, list.map(string_value)))
}
