//! In which instances of a composite a finding comes: a composite is typed once for each of its
//! invocations, and a mistake that only some of them make stands in the invocation, not in the body
//! where it shows.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use syntax::ast::Ident;
use syntax::{Diagnostic, Span};

/// Invocations that are named at most: those further out add little.
const LEVELS_MAX: usize = 4;

/// The instances around what is typed now, and what was found in which.
#[derive(Debug, Default)]
pub(crate) struct InstanceTrail {
    /// The outermost instance is the first one.
    around: RefCell<Vec<InstanceLevel>>,
    instance_count: Cell<u64>,
    /// Number of instances of each composite, by the place of its name.
    instances: RefCell<HashMap<Span, u64>>,
    /// By rule and place of a finding.
    findings: RefCell<HashMap<(&'static str, Span), FindingInstances>>,
}

/// An instance of a composite.
#[derive(Clone, Debug)]
struct InstanceLevel {
    number: u64,
    name: Arc<str>,
    /// Place of the composite's name in its definition.
    definition: Span,
    /// Place of the name where it is invoked; `None` for the main composite.
    invocation: Option<Span>,
}

/// The instances of one composite in which a finding came.
#[derive(Debug)]
struct FindingInstances {
    /// Place of the composite's name in its definition.
    definition: Span,
    /// The instance that it came in last.
    last: u64,
    /// Number of instances that it came in.
    count: u64,
    /// The first instance that it came in, and those around it, outermost first.
    first: Vec<InstanceLevel>,
}

impl InstanceTrail {
    /// Notes that what follows is about an instance of a composite.
    pub fn enter(&self, composite: &Ident, invocation: Option<Span>) {
        let number = self.instance_count.get();
        self.instance_count.set(number + 1);
        *self
            .instances
            .borrow_mut()
            .entry(composite.span)
            .or_default() += 1;
        self.around.borrow_mut().push(InstanceLevel {
            number,
            name: composite.text.clone(),
            definition: composite.span,
            invocation,
        });
    }

    /// Notes the end of the innermost instance.
    pub fn leave(&self) {
        self.around.borrow_mut().pop();
    }

    /// Notes a finding of a rule at a place.
    pub fn note(&self, rule: &'static str, place: Span) {
        let around = self.around.borrow();
        let Some(innermost) = around.last() else {
            return;
        };
        let mut findings = self.findings.borrow_mut();
        let known = findings
            .entry((rule, place))
            .or_insert_with(|| FindingInstances {
                definition: innermost.definition,
                last: innermost.number,
                count: 1,
                first: around.clone(),
            });
        if known.last != innermost.number && known.definition == innermost.definition {
            known.last = innermost.number;
            known.count += 1;
        }
    }

    /// Adds the invocation to a finding that did not come in all instances of the composite.
    pub fn explain(&self, mut finding: Diagnostic) -> Diagnostic {
        let findings = self.findings.borrow();
        let Some(known) = findings.get(&(finding.code, finding.span)) else {
            return finding;
        };
        let instances = self.instances.borrow();
        if instances.get(&known.definition).copied() == Some(known.count) {
            return finding;
        }
        for level in known.first.iter().rev().take(LEVELS_MAX) {
            if let Some(place) = level.invocation {
                finding = finding.label(place, format!("in this invocation of `{}`", level.name));
            }
        }
        finding
    }
}
