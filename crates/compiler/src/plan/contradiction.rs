//! Placements that cannot all be kept: operators that have to be together and apart.
//!
//! What has to be together is looked at in this order: operators of one process against exlocation of
//! partitions and of hosts and against isolation, then against the hosts that they are placed on; then
//! operators of one host against the same; then what can be restarted or relocated. One finding for
//! each group and each kind.

use std::collections::HashMap;

use graph::{DisjointSets, Flow, Operator, Pos, Program};

use super::PlanError;
use super::placement::{Placement, Said, are_different_hosts};

/// All contradictions; `together` are the operators that have to share a process.
pub(super) fn find(
    program: &Program,
    flow: &Flow,
    placements: &[Placement<'_>],
    together: &DisjointSets,
) -> Vec<PlanError> {
    let operators = &program.operators;
    let finder = Finder {
        operators,
        heads: operators.iter().map(|operator| operator.pos).collect(),
        loops: flow.loops(),
        placements,
    };
    finder.all(together)
}

/// The contradictions in what operators say, on whatever plan: loops are left out, as SPL lets a loop
/// lead through several processes. `places` has for each operator where it is and its config entries
/// are, for what is found.
pub(crate) fn in_config(operators: &[Operator], places: &[(Pos, Vec<Pos>)]) -> Vec<PlanError> {
    let all = operators.iter().zip(places);
    let placements = all.map(|(operator, (_, config))| {
        let config = config.iter().copied();
        Placement::at(operator, config)
    });
    let placements: Vec<_> = placements.collect();
    let sets = together(&placements, DisjointSets::new(placements.len()));
    let finder = Finder {
        operators,
        heads: places.iter().map(|(head, _)| *head).collect(),
        loops: vec![None; placements.len()],
        placements: &placements,
    };
    finder.all(&sets)
}

/// The operators that have to share a process: those of `sets`, of one `partitionColocation`, and all
/// of a host that a `hostIsolation` keeps for one process.
pub(super) fn together(placements: &[Placement<'_>], mut sets: DisjointSets) -> DisjointSets {
    join(placements, &mut sets, |p| p.colocation);
    for set in hosts(placements, sets.clone()).sets() {
        if set
            .iter()
            .any(|&at| placements[at].host_isolation.is_some())
        {
            set.iter().for_each(|&at| sets.join(set[0], at));
        }
    }
    sets
}

/// The operators that have to be on one host: those of a process, and those of one id.
pub(super) fn hosts(placements: &[Placement<'_>], mut together: DisjointSets) -> DisjointSets {
    join(placements, &mut together, |p| p.host_colocation);
    together
}

/// Joins operators that say the same.
fn join<'a>(
    placements: &[Placement<'a>],
    sets: &mut DisjointSets,
    of: fn(&Placement<'a>) -> Option<Said<'a>>,
) {
    let mut first = HashMap::new();
    for (at, placement) in placements.iter().enumerate() {
        if let Some(said) = of(placement) {
            sets.join(*first.entry(said.value).or_insert(at), at);
        }
    }
}

const PROCESS: &str = "process";
const HOST: &str = "host";

type Part<'a> = fn(&Placement<'a>) -> Option<Said<'a>>;

/// What an operator says.
#[derive(Clone, Copy)]
struct Voice<'a> {
    at: usize,
    said: Said<'a>,
}

/// Why two operators have to be together.
enum Bond<'a> {
    /// By what both say.
    Said(Said<'a>, Said<'a>),
    /// By what both say of their host, which an operator keeps for one process.
    Host(Said<'a>, Said<'a>, Voice<'a>),
    Loop,
    /// Each is together with others that are.
    Others,
}

struct Finder<'p, 'a> {
    operators: &'p [Operator],
    /// Where each operator is.
    heads: Vec<Pos>,
    loops: Vec<Option<u32>>,
    placements: &'p [Placement<'a>],
}

impl<'a> Finder<'_, 'a> {
    /// All contradictions; `together` are the operators that have to share a process.
    fn all(&self, together: &DisjointSets) -> Vec<PlanError> {
        let mut process = together.clone();
        let sets = together.clone().sets();
        let mut found = Vec::new();
        for set in &sets {
            found.extend(self.same(set, |p| p.exlocation, PROCESS));
            found.extend(self.same(set, |p| p.host_exlocation, PROCESS));
            found.extend(self.isolated(set));
            found.extend(self.hosts(set, PROCESS));
        }
        for set in hosts(self.placements, together.clone()).sets() {
            let first = process.find(set[0]);
            if set.iter().any(|&at| process.find(at) != first) {
                found.extend(self.same(&set, |p| p.host_exlocation, HOST));
                found.extend(self.hosts(&set, HOST));
            }
        }
        for set in &sets {
            found.extend(self.mixed(set, |p| p.restartable, "restartable"));
            found.extend(self.mixed(set, |p| p.relocatable, "relocatable"));
        }
        found
    }

    /// Two operators of a set that say the same, and so must not be together.
    fn same(&self, set: &[usize], of: Part<'a>, what: &str) -> Option<PlanError> {
        let mut first: HashMap<&str, Voice<'a>> = HashMap::new();
        for voice in self.voices(set, of) {
            match first.get(voice.said.value) {
                Some(before) => {
                    let apart = voice.said.value;
                    let text = format!("{{}}, and must not, by {apart}");
                    return Some(self.pair(*before, voice, what, &text));
                }
                None => first.insert(voice.said.value, voice),
            };
        }
        None
    }

    /// Two operators of a set on different hosts.
    fn hosts(&self, set: &[usize], what: &str) -> Option<PlanError> {
        let voices = distinct(self.voices(set, |p| p.host));
        let apart = |one: &Voice<'_>, other: &Voice<'_>| {
            are_different_hosts(one.said.value, other.said.value)
        };
        let (one, other) = first_pair(&voices, apart)?;
        let (a, b) = (one.said.value, other.said.value);
        Some(self.pair(one, other, what, &format!("{{}}, but are on {a} and {b}")))
    }

    /// What the operators of a set say.
    fn voices(&self, set: &[usize], of: Part<'a>) -> impl Iterator<Item = Voice<'a>> {
        let voice = move |&at: &usize| {
            let said = of(&self.placements[at])?;
            Some(Voice { at, said })
        };
        set.iter().filter_map(voice)
    }

    /// Two operators that have to be together; `but` says why they cannot, behind why they have to.
    fn pair(&self, one: Voice<'a>, other: Voice<'a>, what: &str, but: &str) -> PlanError {
        let (a, b) = (self.name(one.at), self.name(other.at));
        let why = self.why(one.at, other.at, what);
        let rest = but.replacen("{}", &why, 1);
        let message = format!("{a} and {b} have to share a {what}{rest}");
        let error = PlanError::new(message).at(other.said.pos);
        self.labelled(
            error,
            [(one.at, one.said.pos), (other.at, other.said.pos)],
            what,
        )
    }

    /// An operator of a set that is to be alone in its process.
    fn isolated(&self, set: &[usize]) -> Option<PlanError> {
        let isolation = |&at: &usize| Some((at, self.placements[at].isolation?));
        let (at, said) = set.iter().find_map(isolation)?;
        let mut others: Vec<usize> = set.iter().copied().filter(|&other| other != at).collect();
        others.sort_by_key(|&other| matches!(self.bond(at, other, PROCESS), Bond::Others));
        let other = *others.first()?;
        let (a, b) = (self.name(at), self.name(other));
        let why = self.why(at, other, PROCESS);
        let message = format!("{a} has to be alone in a process, but shares one with {b}{why}");
        let error = PlanError::new(message).at(said.pos);
        Some(self.labelled(error, [(at, said.pos), (other, said.pos)], PROCESS))
    }

    /// Two operators of a set, one that can be restarted (relocated) and one that cannot.
    fn mixed(&self, set: &[usize], of: Part<'a>, word: &str) -> Option<PlanError> {
        let voices = distinct(self.voices(set, of));
        let [one, other] = voices[..] else {
            return None;
        };
        let not = |voice: Voice<'_>| {
            if voice.said.value == "true" {
                ""
            } else {
                "not "
            }
        };
        let (a, b) = (self.name(one.at), self.name(other.at));
        let why = self.why(one.at, other.at, PROCESS);
        let message = format!(
            "{a} is {}{word} and {b} is {}{word}, but they have to share a process{why}",
            not(one),
            not(other)
        );
        let error = PlanError::new(message).at(other.said.pos);
        let places = [(one.at, one.said.pos), (other.at, other.said.pos)];
        let error = self.labelled(error, places, PROCESS);
        Some(error.help(format!("say the same of `{word}` for both")))
    }

    /// Why two operators have to be together, behind a blank.
    fn why(&self, one: usize, other: usize, what: &str) -> String {
        match self.bond(one, other, what) {
            Bond::Said(said, _) => format!(" by {}", said.value),
            Bond::Host(said, _, alone) => {
                let isolates = self.name(alone.at);
                format!(" by {}, whose host {isolates} isolates", said.value)
            }
            Bond::Loop => " because they stand in a loop".to_owned(),
            Bond::Others => " through other operators".to_owned(),
        }
    }

    fn bond(&self, one: usize, other: usize, what: &str) -> Bond<'a> {
        let [a, b] = [one, other].map(|at| &self.placements[at]);
        let both = |of: Part<'a>| of(a).zip(of(b)).filter(|(a, b)| a.value == b.value);
        let near = both(|p| p.colocation);
        let of_host = both(|p| p.host_colocation);
        let isolated = of_host.and_then(|(a, b)| Some((a, b, self.isolates(a.value)?)));
        match (near, of_host, isolated) {
            (Some((a, b)), ..) => Bond::Said(a, b),
            (_, Some((a, b)), _) if what == HOST => Bond::Said(a, b),
            (.., Some((a, b, alone))) => Bond::Host(a, b, alone),
            _ if self.loops[one].is_some() && self.loops[one] == self.loops[other] => Bond::Loop,
            _ => Bond::Others,
        }
    }

    /// The operator of a `hostColocation` that keeps the host for its process.
    fn isolates(&self, colocation: &str) -> Option<Voice<'a>> {
        let is_of = |p: &Placement<'_>| {
            p.host_colocation
                .is_some_and(|said| said.value == colocation)
        };
        let all = self.placements.iter().enumerate();
        let mut of = all.filter(|(_, p)| is_of(p));
        of.find_map(|(at, p)| {
            let said = p.host_isolation?;
            Some(Voice { at, said })
        })
    }

    /// Adds the other places: what keeps the operators apart, then what keeps them together.
    fn labelled(&self, error: PlanError, apart: [(usize, Pos); 2], what: &str) -> PlanError {
        let [(one, first), (other, _)] = apart;
        let add = |error: PlanError, (at, pos, text): (usize, Pos, &str)| {
            let is_new = error.pos != Some(pos) && error.labels.iter().all(|(p, _)| *p != pos);
            let text = format!("{} {text}", self.name(at));
            if is_new {
                error.label(pos, text)
            } else {
                error
            }
        };
        let error = add(error, (one, first, "says so here"));
        let heads = [one, other].map(|at| self.heads[at]);
        let bond = self.bond(one, other, what);
        let error = match &bond {
            Bond::Host(.., alone) => {
                add(error, (alone.at, alone.said.pos, "isolates its host here"))
            }
            _ => error,
        };
        let (places, text) = match bond {
            Bond::Said(a, b) | Bond::Host(a, b, _) => ([a.pos, b.pos], "is colocated here"),
            Bond::Loop => (heads, "is in this loop"),
            Bond::Others => (heads, "is colocated with others, or in a loop with them"),
        };
        let all = [one, other].into_iter().zip(places);
        all.map(|(at, pos)| (at, pos, text)).fold(error, add)
    }

    fn name(&self, at: usize) -> String {
        format!("`{}`", self.operators[at].name)
    }
}

/// The first of each value.
fn distinct<'a>(voices: impl Iterator<Item = Voice<'a>>) -> Vec<Voice<'a>> {
    let mut distinct: Vec<Voice<'a>> = Vec::new();
    for voice in voices {
        if distinct
            .iter()
            .all(|other| other.said.value != voice.said.value)
        {
            distinct.push(voice);
        }
    }
    distinct
}

/// The first two of a list that a relation holds for.
fn first_pair<T: Copy>(all: &[T], holds: impl Fn(&T, &T) -> bool) -> Option<(T, T)> {
    let pairs = all.iter().enumerate();
    let mut pairs = pairs.flat_map(|(at, other)| all[..at].iter().map(move |one| (one, other)));
    let (one, other) = pairs.find(|(one, other)| holds(one, other))?;
    Some((*one, *other))
}
