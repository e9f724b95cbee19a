//! What a plan does otherwise than its program asks.

use std::collections::HashMap;

use graph::{Homes, OperatorId, Plan, Pos, Program};

use super::error::place;
use super::placement::{Placement, Said};
use super::{Choice, Fuse};

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
        placements: &Placement::all(program),
        homes: &Homes::new(plan, program.operators.len()),
        plan,
    };
    let parts = [noting.colocation(), noting.exlocation(), noting.isolation()];
    let hosts = noting.hosts().filter(|_| matches!(choice.fuse, Fuse::Spl));
    parts.into_iter().chain([hosts]).flatten().collect()
}

struct Noting<'p, 'a> {
    program: &'p Program,
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
