//! The crossings of a plan: which streams leave a PE, where they go, and by which medium.
//!
//! A medium is asked for by config `outputTransport` of the sending operator or `inputTransport` of
//! the receiving one, else by the choice for the job, else the fastest that gets there is taken. A
//! stream has one crossing for each medium that it goes by.
//!
//! # Cost
//! One walk over the edges.

use graph::{Consumer, Crossing, Edge, Flow, Homes, OperatorId, Pos, Program};

use super::{Choice, MediumFacts, PlanError, Transport};
use crate::names::nearest;

/// All crossings, in order of the program.
pub(super) fn crossings(
    program: &Program,
    choice: &Choice<'_>,
    flow: &Flow,
    homes: &Homes,
) -> Result<Vec<Crossing>, Vec<PlanError>> {
    let router = Router {
        program,
        choice,
        flow,
        homes,
    };
    let mut crossings = Vec::new();
    let mut errors: Vec<PlanError> = Vec::new();
    for operator in (0..program.operators.len() as u32).map(OperatorId) {
        for stream in flow.streams(operator) {
            match router.stream(stream) {
                Ok(found) => crossings.extend(found),
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
    }
    if errors.is_empty() {
        Ok(crossings)
    } else {
        Err(errors)
    }
}

struct Router<'a> {
    program: &'a Program,
    choice: &'a Choice<'a>,
    flow: &'a Flow,
    homes: &'a Homes,
}

/// A medium that config asks for, and where.
#[derive(Clone, Copy)]
struct Wish<'a> {
    medium: MediumFacts<'a>,
    pos: Pos,
}

impl<'a> Router<'a> {
    /// The crossings of a stream.
    fn stream(&self, stream: Edge) -> Result<Vec<Crossing>, PlanError> {
        let mut crossings: Vec<Crossing> = Vec::new();
        let mut free: Vec<u32> = Vec::new();
        for pe in self.receivers(stream) {
            match self.wished(stream, pe)? {
                Some(medium) => self.add(&mut crossings, stream, pe, medium),
                None => free.push(pe),
            }
        }
        if !free.is_empty() {
            let medium = self.chosen(free.len())?;
            for pe in free {
                self.add(&mut crossings, stream, pe, medium);
            }
        }
        crossings
            .iter_mut()
            .for_each(|crossing| crossing.to.sort_unstable());
        crossings.sort_by_key(|crossing| crossing.to.first().copied());
        Ok(crossings)
    }

    fn add(&self, all: &mut Vec<Crossing>, from: Edge, pe: u32, medium: MediumFacts<'_>) {
        match all
            .iter_mut()
            .find(|crossing| *crossing.medium == *medium.name)
        {
            Some(crossing) => crossing.to.push(pe),
            None => all.push(Crossing {
                from,
                to: vec![pe],
                medium: medium.name.into(),
                codec: self.choice.codec,
                ring_bytes: None,
                batch: None,
            }),
        }
    }

    /// The PEs that a stream goes to, in order.
    fn receivers(&self, stream: Edge) -> Vec<u32> {
        let home = self.homes.of(stream.operator);
        let consumers = self.flow.of(stream).iter();
        let pes = consumers.filter_map(|to| self.homes.of(to.operator));
        let mut pes: Vec<u32> = pes.filter(|&pe| Some(pe) != home).collect();
        pes.sort_unstable();
        pes.dedup();
        pes
    }

    /// The medium that the operators at both ends of an edge ask for.
    fn wished(&self, stream: Edge, pe: u32) -> Result<Option<MediumFacts<'a>>, PlanError> {
        let sent = self.config(stream.operator, "outputTransport")?;
        let mut wish = sent;
        let consumers = self.flow.of(stream).iter();
        for Consumer { operator, .. } in
            consumers.filter(|to| self.homes.of(to.operator) == Some(pe))
        {
            let Some(other) = self.config(*operator, "inputTransport")? else {
                continue;
            };
            match wish {
                Some(wish) if wish.medium != other.medium => {
                    return Err(self.conflict(stream, &wish, &other));
                }
                _ => wish = Some(other),
            }
        }
        Ok(wish.map(|wish| wish.medium))
    }

    fn conflict(&self, stream: Edge, one: &Wish<'_>, other: &Wish<'_>) -> PlanError {
        let name = self.program.stream_name(stream);
        let message = format!(
            "stream `{name}` cannot cross by both {} and {}",
            one.medium.name, other.medium.name
        );
        PlanError::new(message)
            .at(other.pos)
            .label(one.pos, format!("{} is asked for here", one.medium.name))
            .help("ask for one medium, or only at one end")
    }

    fn config(&self, operator: OperatorId, name: &str) -> Result<Option<Wish<'a>>, PlanError> {
        let operator = &self.program.operators[operator.0 as usize];
        let entry = operator.config.iter().find(|entry| &*entry.name == name);
        let Some((entry, word)) = entry.and_then(|entry| Some((entry, entry.values.first()?)))
        else {
            return Ok(None);
        };
        let pos = entry.pos;
        let medium = self.medium(word).map_err(|error| error.at(pos))?;
        Ok(Some(Wish { medium, pos }))
    }

    /// The medium for what nobody asks anything for.
    fn chosen(&self, receivers: usize) -> Result<MediumFacts<'a>, PlanError> {
        if let Transport::Medium(name) = self.choice.transport {
            return self.medium(name);
        }
        let media = self.crossing_media();
        let best = media.min_by_key(|m| (receivers > 1 && !m.is_one_to_many, m.rank));
        best.ok_or_else(|| PlanError::new("there is no medium that crosses processes"))
    }

    /// The medium of a name, in capitals or not.
    fn medium(&self, name: &str) -> Result<MediumFacts<'a>, PlanError> {
        let all = self.choice.media.iter();
        let found = all.clone().find(|m| m.name.eq_ignore_ascii_case(name));
        match found {
            Some(medium) if medium.crosses_processes => Ok(*medium),
            Some(medium) => {
                let message = format!("medium `{}` does not cross processes", medium.name);
                Err(PlanError::new(message).help(self.those()))
            }
            None => {
                let help = match nearest(name, all.map(|m| m.name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => self.those(),
                };
                Err(PlanError::new(format!("there is no medium `{name}`")).help(help))
            }
        }
    }

    fn those(&self) -> String {
        let names: Vec<_> = self.crossing_media().map(|m| m.name).collect();
        match names[..] {
            [] => "no medium crosses processes here".to_owned(),
            _ => format!("those that do: {}", names.join(", ")),
        }
    }

    fn crossing_media(&self) -> impl Iterator<Item = MediumFacts<'a>> {
        let all = self.choice.media.iter().copied();
        all.filter(|medium| medium.crosses_processes)
    }
}
