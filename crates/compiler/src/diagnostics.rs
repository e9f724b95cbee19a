//! Findings of one compilation, without repetitions.
//!
//! The compiler does not stop at the first error: each part reports its findings here and answers
//! `None`, and a caller that gets a `None` reports nothing. A composite is typed once per
//! invocation, so a finding may come many times: only the first of one rule at one place is kept.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use syntax::{Diagnostic, Severity, Span};

use crate::instance_trail::InstanceTrail;
use crate::poison::Poison;

/// The findings so far.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: RefCell<Vec<Diagnostic>>,
    seen: RefCell<HashSet<(&'static str, Span)>>,
    /// Rules, each with a declaration that breaks it and was reported.
    reported_causes: RefCell<HashSet<(&'static str, Span)>>,
    errors: Cell<usize>,
    /// Whether what is added is only counted.
    is_mute: Cell<bool>,
    /// Places about which nothing further is kept.
    poison: Rc<Poison>,
    /// The instances of composites around what is typed now.
    pub(crate) instances: InstanceTrail,
    /// Warnings that are kept only if the program is right.
    premature: RefCell<Vec<Diagnostic>>,
}

/// Guard until whose drop findings are counted and not kept.
#[derive(Debug)]
pub struct MuteGuard<'d> {
    diagnostics: &'d Diagnostics,
    was_mute: bool,
}

impl Drop for MuteGuard<'_> {
    fn drop(&mut self) {
        self.diagnostics.is_mute.set(self.was_mute);
    }
}

impl Diagnostics {
    /// Findings of loading a program with these poisoned places, of which they are the cause.
    pub(crate) fn new(found: Vec<Diagnostic>, poison: Rc<Poison>) -> Diagnostics {
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        let (errors, warnings): (Vec<_>, Vec<_>) = found.into_iter().partition(is_error);
        let mut diagnostics = Diagnostics::default();
        diagnostics.extend(errors);
        diagnostics.poison = poison;
        diagnostics.extend(warnings);
        diagnostics
    }

    /// Adds a finding, unless the same rule already found something at the same place.
    pub fn add(&self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        if self.is_mute.get() {
            return;
        }
        self.instances.note(diagnostic.code, diagnostic.span);
        let is_new = self
            .seen
            .borrow_mut()
            .insert((diagnostic.code, diagnostic.span));
        if is_new && !self.poison.holds(&diagnostic) {
            self.list.borrow_mut().push(diagnostic);
        }
    }

    /// Adds what is wrong with a name, or counts an error if the name is poisoned and nothing is
    /// said of it.
    pub(crate) fn add_or_note(&self, finding: Option<Diagnostic>) {
        match finding {
            Some(finding) => self.add(finding),
            None => self.note_poisoned(),
        }
    }

    /// Adds a finding whose cause is at `cause`, a declaration or the first use of a name, unless
    /// the same rule already found something with that cause: one mistake is reported once, however
    /// often it shows.
    pub fn add_once(&self, cause: Span, diagnostic: Diagnostic) {
        let is_told = self
            .reported_causes
            .borrow()
            .get(&(diagnostic.code, cause))
            .is_some();
        if is_told && diagnostic.severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        if is_told {
            if !self.is_mute.get() {
                self.instances.note(diagnostic.code, diagnostic.span);
            }
            return;
        }
        if !self.is_mute.get() {
            self.reported_causes
                .borrow_mut()
                .insert((diagnostic.code, cause));
        }
        self.add(diagnostic);
    }

    /// Notes that another rule has reported this cause: [`Diagnostics::add_once`] stays silent
    /// about it.
    pub fn mark_reported(&self, cause: Span, code: &'static str) {
        if !self.is_mute.get() {
            self.reported_causes.borrow_mut().insert((code, cause));
        }
    }

    /// Keeps no findings until the guard is dropped, if `mute` is set: they would follow from a
    /// finding that was reported.
    pub fn mute(&self, mute: bool) -> MuteGuard<'_> {
        let before = self.is_mute.replace(mute || self.is_mute.get());
        MuteGuard {
            diagnostics: self,
            was_mute: before,
        }
    }

    /// Adds several findings, one after the other.
    pub fn extend(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|d| self.add(d));
    }

    /// Adds a warning that holds only of a program without errors: of what seems to be unused, the
    /// use may be in code that is wrong.
    pub fn add_if_right(&self, warning: Diagnostic) {
        let is_kept = !self.is_mute.get();
        if is_kept && self.seen.borrow_mut().insert((warning.code, warning.span)) {
            self.premature.borrow_mut().push(warning);
        }
    }

    /// Counts an error that is not reported: it is about something poisoned, whose cause was
    /// reported.
    pub(crate) fn note_poisoned(&self) {
        self.errors.set(self.errors.get() + 1);
    }

    /// Number of errors (not warnings) that were added, with those that were not kept and uses of
    /// poisoned names. If it grows during a piece of work, something is wrong there. That it stays
    /// does not show the opposite: nothing is counted again for a broken statement or type, or for
    /// a definition that was found wrong before.
    pub fn error_count(&self) -> usize {
        self.errors.get()
    }

    /// Whether a rule has found something anywhere.
    pub fn has_found(&self, code: &str) -> bool {
        self.seen.borrow().iter().any(|(found, _)| *found == code)
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors.get() > 0
    }

    /// All findings, by file and place.
    pub fn into_sorted(self) -> Vec<Diagnostic> {
        if !self.has_errors() {
            self.list.borrow_mut().extend(self.premature.take());
        }
        let list = self.list.into_inner().into_iter();
        let mut list: Vec<_> = list
            .map(|finding| self.instances.explain(finding))
            .collect();
        list.sort_by_key(|d| (d.span.file, d.span.start, d.span.end));
        list
    }
}
