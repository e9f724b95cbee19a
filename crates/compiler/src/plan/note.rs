//! What a plan does otherwise than its program asks.

use std::collections::HashMap;

use graph::{Congestion, Flow, Homes, OperatorId, Plan, Pos, Program};

use super::error::place;
use super::placement::{Placement, Said};
use super::{Choice, Fuse, Threading, thread};

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
        format!("{}: {}", place(program, self.pos), self.message)
    }
}

/// What is to be said of a plan: a note for each kind of config that it does not follow.
pub fn notes(program: &Program, choice: &Choice<'_>, plan: &Plan) -> Vec<PlanNote> {
    let noting = Noting {
        program,
        choice,
        placements: &Placement::all(program),
        homes: &Homes::new(plan, program.operators.len()),
        plan,
    };
    let parts = [noting.colocation(), noting.exlocation(), noting.isolation()];
    let hosts = noting.hosts().filter(|_| matches!(choice.fuse, Fuse::Spl));
    let threads = [noting.scheduler(), noting.loops()];
    parts
        .into_iter()
        .chain([hosts])
        .chain(threads)
        .chain([noting.batches()])
        .flatten()
        .collect()
}

struct Noting<'p, 'a> {
    program: &'p Program,
    choice: &'p Choice<'p>,
    placements: &'p [Placement<'a>],
    homes: &'p Homes,
    plan: &'p Plan,
}

/// Operators with what each says.
type Voices<'a> = Vec<(usize, Said<'a>)>;

impl<'a> Noting<'_, 'a> {
    fn colocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut voices = self.voices(|p| p.colocation);
        voices.retain(|&(at, said)| {
            let home = self.home(at);
            *first.entry(said.value).or_insert(home) != home
        });
        self.note(
            &voices,
            "the operators of one id are in different processes",
        )
    }

    fn exlocation(&self) -> Option<PlanNote> {
        let mut first = HashMap::new();
        let mut voices = self.voices(|p| p.exlocation);
        voices.retain(|&(at, said)| first.insert((said.value, self.home(at)), at).is_some());
        self.note(&voices, "operators of one id share a process")
    }

    fn isolation(&self) -> Option<PlanNote> {
        let mut voices = self.voices(|p| p.isolation);
        voices.retain(|&(at, _)| {
            let home = self.home(at).unwrap_or_default();
            self.plan.pes[home as usize].operators.len() > 1
        });
        self.note(&voices, "it shares a process with others")
    }

    fn hosts(&self) -> Option<PlanNote> {
        let voices = self.voices(Placement::of_hosts);
        self.note(&voices, "all processes run on this host")
    }

    /// Operators that are to run on a shared scheduler.
    fn scheduler(&self) -> Option<PlanNote> {
        let mut queued = self.plan.pes.iter().flat_map(|pe| &pe.threaded);
        let operator = queued.find_map(|queue| {
            let operator = &self.program.operators[queue.operator.0 as usize];
            let model = thread::model(operator, self.choice);
            let mut asked = thread::asked(queue.operator, operator);
            let is_asked = asked.any(|asked| asked.port == queue.port);
            let is_dynamic = matches!(model, Threading::Dynamic | Threading::Automatic);
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
        let loops = Flow::new(self.program).loops();
        let mut queued = self.plan.pes.iter().flat_map(|pe| &pe.threaded);
        let queue = queued.find(|queue| {
            let at = queue.operator.0 as usize;
            let sources = &self.program.operators[at].inputs[queue.port as usize].sources;
            let mut sources = sources.iter().map(|from| loops[from.operator.0 as usize]);
            queue.congestion == Congestion::Wait
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
        let without = self.choice.media.iter().filter(|medium| !medium.batches);
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

    fn note(&self, voices: &Voices<'_>, why: &str) -> Option<PlanNote> {
        let (at, said) = voices.first()?;
        let more = match voices.len() - 1 {
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

    fn voices(&self, of: fn(&Placement<'a>) -> Option<Said<'a>>) -> Voices<'a> {
        let all = self.placements.iter().enumerate();
        all.filter_map(|(at, placement)| Some((at, of(placement)?)))
            .collect()
    }

    fn home(&self, at: usize) -> Option<u32> {
        self.homes.of(OperatorId(at as u32))
    }
}
