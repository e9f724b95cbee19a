//! What a plan does otherwise than its program asks.

use std::collections::HashMap;

use graph::{CongestionPolicy, OperatorId, PeAssignment, Plan, Pos, Program, StreamConsumers};

use super::error::position_text;
use super::placement::{OperatorPlacement, PlacementValue};
use super::{FusionPolicy, PlanOptions, ThreadingPolicy, thread};

/// Something that is not as the program says, though the plan is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNote {
    /// A sentence without a full stop.
    pub message: String,
    /// Where the program says something else.
    pub pos: Pos,
}

impl PlanNote {
    /// `file:line:column: message`
    pub fn text(&self, program: &Program) -> String {
        format!("{}: {}", position_text(program, self.pos), self.message)
    }
}

/// What is to be said of a plan: a note for each kind of config that it does not follow.
pub fn notes(program: &Program, options: &PlanOptions<'_>, plan: &Plan) -> Vec<PlanNote> {
    let noting = PlanNoteFinder {
        program,
        options,
        placements: &OperatorPlacement::all(program),
        pe_assignment: &PeAssignment::new(plan, program.operators.len()),
        plan,
    };
    let parts = [noting.colocation(), noting.exlocation(), noting.isolation()];
    let hosts = noting
        .hosts()
        .filter(|_| matches!(options.fusion, FusionPolicy::Spl));
    let threads = [noting.scheduler(), noting.loops()];
    parts
        .into_iter()
        .chain([hosts])
        .chain(threads)
        .chain([noting.batches()])
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

/// Operators with what each says.
type PlacementClaims<'a> = Vec<(usize, PlacementValue<'a>)>;

impl<'a> PlanNoteFinder<'_, 'a> {
    fn colocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut claims = self.claims(|p| p.colocation);
        claims.retain(|&(at, said)| {
            let home = self.pe_of(at);
            *first.entry(said.value).or_insert(home) != home
        });
        self.note(
            &claims,
            "the operators of one id are in different processes",
        )
    }

    fn exlocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut claims = self.claims(|p| p.exlocation);
        claims.retain(|&(at, said)| first.insert((said.value, self.pe_of(at)), at).is_some());
        self.note(&claims, "operators of one id share a process")
    }

    fn isolation(&self) -> Option<PlanNote> {
        let mut claims = self.claims(|p| p.isolation);
        claims.retain(|&(at, _)| {
            let home = self.pe_of(at).unwrap_or_default();
            self.plan.pes[home as usize].operators.len() > 1
        });
        self.note(&claims, "it shares a process with others")
    }

    fn hosts(&self) -> Option<PlanNote> {
        let claims = self.claims(OperatorPlacement::host_value);
        self.note(&claims, "all processes run on this host")
    }

    /// Operators that are to run on a shared scheduler.
    fn scheduler(&self) -> Option<PlanNote> {
        let mut queued = self.plan.pes.iter().flat_map(|pe| &pe.threaded_ports);
        let operator = queued.find_map(|queue| {
            let operator = &self.program.operators[queue.operator.0 as usize];
            let model = thread::threading_model(operator, self.options);
            let mut asked = thread::configured_ports(queue.operator, operator);
            let is_asked = asked.any(|asked| asked.port == queue.port);
            let is_dynamic = matches!(model, ThreadingPolicy::Dynamic | ThreadingPolicy::Automatic);
            (is_dynamic && !is_asked).then_some(operator)
        })?;
        let name = &operator.name;
        Some(PlanNote {
            message: format!(
                "`{name}` is to be threaded dynamically: without a shared scheduler its input ports \
                 have a thread each"
            ),
            pos: operator.pos,
        })
    }

    /// Queues that loops come back to.
    fn loops(&self) -> Option<PlanNote> {
        let loops = StreamConsumers::new(self.program).loops();
        let mut queued = self.plan.pes.iter().flat_map(|pe| &pe.threaded_ports);
        let queue = queued.find(|queue| {
            let at = queue.operator.0 as usize;
            let sources = &self.program.operators[at].inputs[queue.port as usize].sources;
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

    /// What is said of batches to a medium that has none.
    fn batches(&self) -> Option<PlanNote> {
        let without = self.options.media.iter().filter(|medium| !medium.batches);
        let mut said = self.plan.crossings.iter().filter(|c| c.batch.is_some());
        let (crossing, medium) = said.find_map(|crossing| {
            let medium = without.clone().find(|m| *m.name == *crossing.medium)?;
            Some((crossing, medium.name))
        })?;
        let name = self.program.stream_name(crossing.from);
        let message = format!("`{name}` crosses by {medium}, which has no batches to set");
        let pos = self.program.operators[crossing.from.operator.0 as usize].pos;
        Some(PlanNote { message, pos })
    }

    fn note(&self, claims: &PlacementClaims<'_>, why: &str) -> Option<PlanNote> {
        let (at, said) = claims.first()?;
        let more = match claims.len() - 1 {
            0 => String::new(),
            1 => " and of another operator".to_owned(),
            n => format!(" and of {n} more operators"),
        };
        let name = &self.program.operators[*at].name;
        let value = said.value;
        Some(PlanNote {
            message: format!("{value} of `{name}`{more} is not kept: {why}"),
            pos: said.pos,
        })
    }

    fn claims(
        &self,
        of: fn(&OperatorPlacement<'a>) -> Option<PlacementValue<'a>>,
    ) -> PlacementClaims<'a> {
        let all = self.placements.iter().enumerate();
        all.filter_map(|(at, placement)| Some((at, of(placement)?)))
            .collect()
    }

    fn pe_of(&self, at: usize) -> Option<u32> {
        self.pe_assignment.pe_of(OperatorId(at as u32))
    }
}
