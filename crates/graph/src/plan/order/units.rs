//! The operators of a program in order of the streams, those of a loop together.

use crate::plan::flow::Flow;
use crate::{OperatorId, Program};

/// Operators, upstream first; the operators of a loop are one unit.
pub(in crate::plan) struct Units {
    /// In order; the operators of each in order of the program.
    pub all: Vec<Vec<OperatorId>>,
    /// The unit of each operator.
    pub of: Vec<usize>,
}

impl Units {
    /// Of a program.
    pub fn new(program: &Program, flow: &Flow) -> Units {
        let count = program.operators.len();
        let mut keys: Vec<usize> = (0..count).collect();
        let mut first = std::collections::HashMap::new();
        for (at, number) in flow.loops().into_iter().enumerate() {
            if let Some(number) = number {
                keys[at] = *first.entry(number).or_insert(at);
            }
        }
        let mut members = vec![Vec::new(); count];
        let mut feeders = vec![0_usize; count];
        for (at, &key) in keys.iter().enumerate() {
            members[key].push(OperatorId(at as u32));
        }
        for (at, &key) in keys.iter().enumerate() {
            called(flow, at, &keys)
                .filter(|&to| to != key)
                .for_each(|to| feeders[to] += 1);
        }
        let is_ready = |key: &usize| keys[*key] == *key && feeders[*key] == 0;
        let mut ready: Vec<usize> = (0..count).filter(is_ready).rev().collect();
        let mut units = Units {
            all: Vec::new(),
            of: vec![0; count],
        };
        while let Some(key) = ready.pop() {
            for member in &members[key] {
                units.of[member.0 as usize] = units.all.len();
                for to in called(flow, member.0 as usize, &keys).filter(|&to| to != key) {
                    feeders[to] -= 1;
                    if feeders[to] == 0 {
                        ready.push(to);
                    }
                }
            }
            units.all.push(std::mem::take(&mut members[key]));
        }
        units
    }
}

/// The units that an operator feeds, once for each edge.
fn called<'a>(flow: &'a Flow, at: usize, keys: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    let streams = flow.streams(OperatorId(at as u32));
    let consumers = streams.flat_map(|stream| flow.of(stream));
    consumers.map(|to| keys[to.operator.0 as usize])
}
