//! Names under which a program asks for values of the user. A value under another name is
//! misspelled: the default counts instead of it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use syntax::{Diagnostic, Span};

use crate::CompileOptions;
use crate::names::nearest;

/// The names so far.
#[derive(Debug, Default)]
pub(crate) struct RequestedValues {
    submission: RefCell<BTreeSet<String>>,
    compile_time: RefCell<BTreeSet<String>>,
}

impl RequestedValues {
    /// A submission-time value has these external names.
    pub fn request_submission(&self, names: &[String]) {
        self.submission.borrow_mut().extend(names.iter().cloned());
    }

    /// A compile-time value has this name.
    pub fn request_compile_time(&self, name: &str) {
        self.compile_time.borrow_mut().insert(name.to_owned());
    }

    /// A warning of the values that the user gave and the program did not ask for.
    pub fn warn_unrequested(&self, options: &CompileOptions, main: Span) -> Option<Diagnostic> {
        let (submission, compile_time) = (self.submission.borrow(), self.compile_time.borrow());
        let wrong = not_requested(options.submission_values.keys(), &submission);
        let wrong = [
            wrong,
            not_requested(options.compile_time_values.keys(), &compile_time),
        ]
        .concat();
        let list: Vec<_> = wrong.iter().map(|name| format!("`{name}`")).collect();
        if list.is_empty() {
            return None;
        }
        let message = format!("no value is asked for by the name {}", list.join(" or "));
        let warning = Diagnostic::warning("unused-value", main, message);
        let asked = || submission.iter().chain(&*compile_time);
        let near = wrong
            .iter()
            .find_map(|name| nearest(name, asked().map(String::as_str)));
        Some(match near {
            Some(near) => warning.help(format!("did you mean `{near}`?")),
            None => warning,
        })
    }
}

/// The names of values that are given and not asked for.
fn not_requested<'o>(
    given: impl Iterator<Item = &'o String>,
    asked: &BTreeSet<String>,
) -> Vec<&'o str> {
    let given: BTreeSet<&str> = given.map(String::as_str).collect();
    given
        .into_iter()
        .filter(|&name| !asked.contains(name))
        .collect()
}
