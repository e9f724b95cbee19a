//! Checks the annotations before one definition or invocation, and answers those that operators
//! get.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Annotation, Composite, Ident};
use tuple::Value;

use super::parallel::ParallelRegion;
use super::ports::AnnotatedPorts;
use super::table::{ANNOTATIONS, AnnotationKey, AnnotationSpec};
use super::target::{AnnotationCheck, AnnotationTarget};
use super::{rules, value};
use crate::Session;
use crate::instance::{CheckedAnnotation, InheritedClauses, InvocationContext};
use crate::names::{Scope, nearest};

/// Checks the annotations before a composite's definition; answers those that its operators
/// inherit.
pub(crate) fn of_definition<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    composite: &'w Composite,
) -> Vec<CheckedAnnotation> {
    let (target, ports) = (AnnotationTarget::Definition, &AnnotatedPorts::default());
    let check = AnnotationCheck {
        session,
        scope,
        target,
        ports,
    };
    check
        .all(&composite.annotations)
        .into_iter()
        .filter(is_inherited)
        .collect()
}

/// Checks the annotations before a composite's invocation; answers those that its operators
/// inherit.
pub(crate) fn of_composite<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    annotations: &'w [Annotation],
    ports: &AnnotatedPorts,
) -> Vec<CheckedAnnotation> {
    let check = AnnotationCheck {
        session,
        scope,
        target: AnnotationTarget::Composite,
        ports,
    };
    check
        .all(annotations)
        .into_iter()
        .filter(is_inherited)
        .collect()
}

/// The annotations of an operator: its own and what it inherits.
pub(crate) fn of_operator(
    invocation: &InvocationContext<'_, '_>,
    inherited: &InheritedClauses,
) -> Vec<CheckedAnnotation> {
    let (target, ports) = (
        AnnotationTarget::Primitive(invocation.model),
        &AnnotatedPorts::of_operator(&invocation.operator_scope),
    );
    let check = AnnotationCheck {
        session: invocation.session,
        scope: &invocation.scope,
        target,
        ports,
    };
    let mut all = inherited.annotations.clone();
    override_with(&mut all, check.all(&invocation.ast.annotations));
    all
}

/// The parallel region that an invocation with `@parallel` becomes. What is wrong with the
/// annotations is reported when they are checked for the operator or composite, whose ports they
/// may name.
pub(crate) fn parallel_region<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    annotations: &'w [Annotation],
    target: AnnotationTarget<'_>,
    ports: &AnnotatedPorts,
) -> Option<ParallelRegion> {
    let is_parallel = |annotation: &Annotation| &*annotation.name.text == "parallel";
    if !annotations.iter().any(is_parallel) {
        return None;
    }
    let check = AnnotationCheck {
        session,
        scope,
        target,
        ports,
    };
    let mute_guard = session.diagnostics.mute(true);
    let checked = check.all(annotations);
    drop(mute_guard);
    let (_, keys) = checked.iter().find(|(name, _)| &**name == "parallel")?;
    ParallelRegion::from_keys(keys, ports)
}

/// Puts inner annotations over outer ones of the same name, and over those that they exclude.
pub(crate) fn override_with(all: &mut Vec<CheckedAnnotation>, inner: Vec<CheckedAnnotation>) {
    let replaced = |outer: &str| {
        let mut names = inner.iter().map(|(name, _)| &**name);
        names
            .any(|name| name == outer || rules::EXCLUSIVE.iter().all(|n| [name, outer].contains(n)))
    };
    all.retain(|(outer, _)| !replaced(outer));
    all.extend(inner);
}

/// Whether the operators of a composite have an annotation of the composite too.
fn is_inherited((name, _): &CheckedAnnotation) -> bool {
    matches!(&**name, "threading" | "catch" | "consistent" | "autonomous")
}

impl<'w> AnnotationCheck<'_, 'w> {
    fn all(&self, annotations: &'w [Annotation]) -> Vec<CheckedAnnotation> {
        let mut checked = Vec::with_capacity(annotations.len());
        for (at, annotation) in annotations.iter().enumerate() {
            let name = &annotation.name;
            let Some(spec) = ANNOTATIONS.iter().find(|spec| *spec.name == *name.text) else {
                let message = format!("there is no annotation `@{}`; it is ignored", name.text);
                let finding = Diagnostic::warning("unknown-annotation", name.span, message);
                let near = nearest(&name.text, ANNOTATIONS.iter().map(|spec| spec.name));
                let help = near.map(|near| format!("did you mean `@{near}`?"));
                let finding = help.into_iter().fold(finding, Diagnostic::help);
                self.session.report(finding);
                continue;
            };
            let first = annotations[..at].iter().find(|a| a.name.text == name.text);
            if let (true, Some(first)) = (spec.once, first) {
                let message = format!("`@{}` is given twice", name.text);
                let finding = Diagnostic::error("duplicate-annotation", name.span, message);
                self.session
                    .report(finding.label(first.name.span, "first here"));
                continue;
            }
            if !self.may_stand_here(annotation, spec) {
                continue;
            }
            if let Some(args) = self.args(annotation, spec) {
                rules::check(self, annotation, &args);
                checked.push((name.text.clone(), args));
            }
        }
        rules::check_combinations(self, annotations, &checked);
        checked
    }

    fn may_stand_here(&self, annotation: &Annotation, spec: &AnnotationSpec) -> bool {
        let Some(why) = spec.allowed.refuses(self.target) else {
            return true;
        };
        let message = format!("`@{}` {why}", spec.name);
        self.session.report(Diagnostic::error(
            "misplaced-annotation",
            annotation.span,
            message,
        ));
        false
    }

    /// The keys with their values; reports what is unknown, missing, given twice, or wrong.
    fn args(
        &self,
        annotation: &'w Annotation,
        spec: &'static AnnotationSpec,
    ) -> Option<Vec<(Arc<str>, Value)>> {
        let mut args = Vec::with_capacity(annotation.args.len());
        let mut is_sound = true;
        let is_known = |name: &Ident| spec.keys.iter().any(|key| *key.name == *name.text);
        let has_unknown = annotation.args.iter().any(|(name, _)| !is_known(name));
        for (at, (name, value)) in annotation.args.iter().enumerate() {
            let Some(key) = self.key(annotation, at, name, spec) else {
                is_sound = false;
                continue;
            };
            match value::value(self, key, value) {
                Some(value) => args.push((name.text.clone(), value)),
                None => is_sound = false,
            }
        }
        for key in spec.keys.iter().filter(|key| key.required && !has_unknown) {
            if !annotation
                .args
                .iter()
                .any(|(name, _)| *name.text == *key.name)
            {
                let message = format!("`@{}` needs the key `{}`", spec.name, key.name);
                let place = annotation.span;
                self.session
                    .report(Diagnostic::error("missing-key", place, message));
                is_sound = false;
            }
        }
        is_sound.then_some(args)
    }

    fn key(
        &self,
        annotation: &Annotation,
        at: usize,
        name: &Ident,
        spec: &'static AnnotationSpec,
    ) -> Option<&'static AnnotationKey> {
        let before = &annotation.args[..at];
        if let Some((first, _)) = before.iter().find(|(other, _)| other.text == name.text) {
            let message = format!("the key `{}` is given twice", name.text);
            let finding = Diagnostic::error("duplicate-key", name.span, message);
            self.session.report(finding.label(first.span, "first here"));
            return None;
        }
        let key = spec.keys.iter().find(|key| *key.name == *name.text);
        if key.is_none() {
            let message = format!("`@{}` has no key `{}`", spec.name, name.text);
            let finding = Diagnostic::error("unknown-key", name.span, message);
            let names = spec.keys.iter().map(|key| key.name);
            let names: Vec<_> = names.collect();
            self.session
                .report(match nearest(&name.text, names.iter().copied()) {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None if names.is_empty() => finding.help("it has no keys"),
                    None => finding.help(format!("its keys are {}", names.join(", "))),
                });
        }
        key
    }
}
