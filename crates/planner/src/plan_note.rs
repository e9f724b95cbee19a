//! Notes on a plan that does not do all that its program asks.

use std::collections::HashMap;

use graph::{CongestionPolicy, OperatorId, PeAssignment, PeId, Plan, Pos, Program};

use crate::choice::{FusionPolicy, PlanOptions, position_text};
use crate::fusion::{OperatorPlacement, PlacementValue};
use crate::streams::StreamConsumers;

/// A request of the program that a plan does not follow, though the plan is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNote {
    /// The note: a sentence without a full stop.
    pub message: String,
    /// The place of the request in the program.
    pub pos: Pos,
}

impl PlanNote {
    /// The note as text: `file:line:column: message`.
    pub fn text(&self, program: &Program) -> String {
        format!("{}: {}", position_text(program, self.pos), self.message)
    }
}

/// The notes on a plan: at most one for each kind of config that it does not follow.
pub fn notes(program: &Program, options: &PlanOptions<'_>, plan: &Plan) -> Vec<PlanNote> {
    let finder = PlanNoteFinder {
        program,
        options,
        placements: &OperatorPlacement::all(program),
        pe_assignment: &PeAssignment::new(plan, program.operators.len()),
        plan,
    };
    let parts = [finder.colocation(), finder.exlocation(), finder.isolation()];
    let hosts = finder
        .hosts()
        .filter(|_| matches!(options.fusion, FusionPolicy::Spl | FusionPolicy::Cola(_)));
    parts
        .into_iter()
        .chain([hosts, finder.loops(), finder.batches()])
        .flatten()
        .collect()
}

struct PlanNoteFinder<'p, 'a> {
    program: &'p Program,
    options: &'p PlanOptions<'p>,
    placements: &'p [OperatorPlacement<'a>],
    pe_assignment: &'p PeAssignment,
    plan: &'p Plan,
}

/// Operators, each with the placement that its config asks for.
type OperatorConstraints<'a> = Vec<(usize, PlacementValue<'a>)>;

impl<'a> PlanNoteFinder<'_, 'a> {
    fn colocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut constraints = self.constraints(|p| p.colocation);
        constraints.retain(|&(at, constraint)| {
            let pe = self.pe_of(at);
            *first.entry(constraint.value).or_insert(pe) != pe
        });
        self.note(
            &constraints,
            "the operators of one id are in different processes",
        )
    }

    fn exlocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut constraints = self.constraints(|p| p.exlocation);
        constraints.retain(|&(at, constraint)| {
            first
                .insert((constraint.value, self.pe_of(at)), at)
                .is_some()
        });
        self.note(&constraints, "operators of one id share a process")
    }

    fn isolation(&self) -> Option<PlanNote> {
        let mut constraints = self.constraints(|p| p.isolation);
        constraints.retain(|&(at, _)| {
            let pe = self.pe_of(at).map(|pe| self.plan.pe(pe));
            pe.is_some_and(|pe| pe.operators.len() > 1)
        });
        self.note(&constraints, "it shares a process with others")
    }

    fn hosts(&self) -> Option<PlanNote> {
        if self.plan.pes.iter().any(|pe| pe.host.is_some()) {
            return None;
        }
        let constraints = self.constraints(OperatorPlacement::host_value);
        self.note(&constraints, "all processes run on this host")
    }

    /// The note on a queue that a loop comes back to and that blocks when it is full.
    fn loops(&self) -> Option<PlanNote> {
        let loops = StreamConsumers::new(self.program).loops();
        let mut queued = self.plan.pes.iter().flat_map(|pe| &pe.threaded_ports);
        let queue = queued.find(|queue| {
            let at = queue.operator.0 as usize;
            let sources = &self.program.operators[at].inputs[queue.port.index()].sources;
            let mut sources = sources.iter().map(|from| loops[from.operator.0 as usize]);
            queue.congestion == CongestionPolicy::Wait
                && loops[at].is_some()
                && sources.any(|other| other == loops[at])
        })?;
        let name = self.program.queue_name(queue);
        Some(PlanNote {
            message: format!("the {name} is in a loop: when it is full, the loop waits for itself"),
            pos: self.program.operators[queue.operator.0 as usize].pos,
        })
    }

    /// The note on batch settings for a medium that has no batches. With settings of its own a
    /// medium may have some.
    fn batches(&self) -> Option<PlanNote> {
        let without = self.options.media.iter().filter(|medium| !medium.batches);
        let batched = self.plan.crossings.iter();
        let mut batched = batched.filter(|c| c.batch.is_some() && c.medium_settings.is_empty());
        let (crossing, medium) = batched.find_map(|crossing| {
            let medium = without.clone().find(|m| *m.name == *crossing.medium)?;
            Some((crossing, medium.name))
        })?;
        let name = self.program.stream_name(crossing.from);
        let message = format!("`{name}` crosses by {medium}, which has no batches to set");
        let pos = self.program.operators[crossing.from.operator.0 as usize].pos;
        Some(PlanNote { message, pos })
    }

    fn note(&self, constraints: &OperatorConstraints<'_>, why: &str) -> Option<PlanNote> {
        let (at, constraint) = constraints.first()?;
        let more = match constraints.len() - 1 {
            0 => String::new(),
            1 => " and of another operator".to_owned(),
            n => format!(" and of {n} more operators"),
        };
        let name = &self.program.operators[*at].name;
        let value = constraint.value;
        Some(PlanNote {
            message: format!("{value} of `{name}`{more} is not kept: {why}"),
            pos: constraint.pos,
        })
    }

    fn constraints(
        &self,
        of: fn(&OperatorPlacement<'a>) -> Option<PlacementValue<'a>>,
    ) -> OperatorConstraints<'a> {
        let all = self.placements.iter().enumerate();
        all.filter_map(|(at, placement)| Some((at, of(placement)?)))
            .collect()
    }

    fn pe_of(&self, at: usize) -> Option<PeId> {
        self.pe_assignment.pe_of(OperatorId(at as u32))
    }
}
