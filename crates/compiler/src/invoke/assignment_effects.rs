//! Side effects between the assignments of one output clause.
//!
//! Assignments have no order that a program may rely on; so a state variable that one of them
//! changes should not occur in another, and two of them should not call stateful functions. The
//! option `output_side_effects` sets how it is reported.

use std::collections::{HashMap, HashSet};

use graph::{Arg, Expr, ExprKind, OutputCall, Place, PlaceRoot, PlaceStep, StateId};
use syntax::ast::{self, Ident, PortClause};
use syntax::{Diagnostic, Span};

use crate::{Session, SideEffectRule};

/// Looks for a state variable that one assignment changes and another uses. `places` says where
/// each attribute is assigned.
pub(super) fn check(
    session: &Session<'_>,
    clause: &PortClause<Vec<(Ident, ast::Expr)>>,
    places: &[Option<Span>],
    assigned: &[Option<Expr>],
    calls: &[OutputCall],
) {
    if session.options.output_side_effects == SideEffectRule::Ignore {
        return;
    }
    let places = places.iter().enumerate();
    let of: HashMap<Span, usize> = places.filter_map(|(at, p)| Some(((*p)?, at))).collect();
    let mut before = EarlierAssignments::default();
    for (at, (name, _)) in clause.body.iter().enumerate() {
        let Some(Some(value)) = of.get(&name.span).map(|&at| &assigned[at]) else {
            continue;
        };
        let mut effects = StateEffects {
            calls,
            ..StateEffects::default()
        };
        effects.expr(value);
        if let Some(other) = before.first_conflict(&effects) {
            let (other, _) = &clause.body[other];
            session.report(conflict_finding(
                session.options.output_side_effects,
                name,
                other,
            ));
        }
        before.add(at, &effects);
    }
}

/// The first assignment of a clause that uses each state variable, and the first that changes it.
#[derive(Default)]
struct EarlierAssignments {
    uses: HashMap<StateId, usize>,
    changes: HashMap<StateId, usize>,
}

impl EarlierAssignments {
    /// The first assignment that uses what this one changes, or changes what this one uses.
    fn first_conflict(&self, effects: &StateEffects<'_>) -> Option<usize> {
        let StateEffects { reads, writes, .. } = effects;
        let changing = reads
            .iter()
            .chain(writes)
            .filter_map(|id| self.changes.get(id));
        let using = writes.iter().filter_map(|id| self.uses.get(id));
        changing.chain(using).min().copied()
    }

    fn add(&mut self, at: usize, effects: &StateEffects<'_>) {
        for id in &effects.writes {
            self.changes.entry(*id).or_insert(at);
        }
        for id in effects.reads.iter().chain(&effects.writes) {
            self.uses.entry(*id).or_insert(at);
        }
    }
}

/// Looks for two assignments that call stateful functions; `calls` has the first call of each
/// assignment that has one.
pub(super) fn check_calls(session: &Session<'_>, calls: &[(Span, String)]) {
    let rule = session.options.output_side_effects;
    if rule == SideEffectRule::Ignore {
        return;
    }
    if let [(first, a), (second, b), ..] = calls {
        let message = match a == b {
            true => format!("stateful function `{a}` is called twice in one output clause"),
            false => format!("stateful functions `{a}` and `{b}` are called in one output clause"),
        };
        let finding = finding(rule, *second, message)
            .label(*first, "the first call")
            .help(
                "assignments have no order; call them one after the other in the logic of a Custom",
            );
        session.report(finding);
    }
}

fn conflict_finding(rule: SideEffectRule, name: &Ident, other: &Ident) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` use a state variable that one of them changes",
        other.text, name.text
    );
    finding(rule, name.span, message)
        .label(other.span, "the other assignment")
        .help("change the variable in `logic onTuple`, or in one assignment alone")
}

fn finding(rule: SideEffectRule, span: Span, message: String) -> Diagnostic {
    let code = "output-side-effects";
    match rule {
        SideEffectRule::Error => Diagnostic::error(code, span, message),
        SideEffectRule::Ignore | SideEffectRule::Warn => Diagnostic::warning(code, span, message),
    }
}

/// The state variables that an expression reads and changes.
#[derive(Default)]
struct StateEffects<'a> {
    calls: &'a [OutputCall],
    reads: HashSet<StateId>,
    writes: HashSet<StateId>,
}

impl StateEffects<'_> {
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::State(id) => {
                self.reads.insert(*id);
            }
            ExprKind::OutputCall(at) => {
                let calls = self.calls;
                calls
                    .get(*at as usize)
                    .into_iter()
                    .flat_map(|c| &c.args)
                    .for_each(|e| self.expr(e));
            }
            ExprKind::Call(_, args) => args.iter().for_each(|arg| match arg {
                Arg::Value(e) => self.expr(e),
                Arg::Place(place) => self.change(place),
            }),
            ExprKind::Assign(place, value) | ExprKind::AssignOp(_, place, value) => {
                self.change(place);
                self.expr(value);
            }
            ExprKind::Increment { place, .. } => self.change(place),
            _ => e.for_each_child_ref(&mut |part| self.expr(part)),
        }
    }

    fn change(&mut self, place: &Place) {
        if let PlaceRoot::State(id) = place.root {
            self.writes.insert(id);
        }
        for step in &place.steps {
            if let PlaceStep::Index(index) = step {
                self.expr(index);
            }
        }
    }
}
