//! The units of a program: its operators in order of the streams, those of a loop as one.

use std::collections::HashMap;

use graph::{OperatorId, Program};

use super::StreamConsumers;

/// The units of a program, upstream first. A unit is one operator, or all operators of a loop.
pub(crate) struct OperatorUnits {
    /// The operators of each unit, in order of the program.
    pub operators_of: Vec<Vec<OperatorId>>,
    /// The unit of each operator.
    pub unit_of: Vec<usize>,
}

impl OperatorUnits {
    /// The units of a program, upstream before downstream.
    pub fn new(program: &Program, stream_consumers: &StreamConsumers) -> OperatorUnits {
        let count = program.operators.len();
        let mut keys: Vec<usize> = (0..count).collect();
        let mut first = HashMap::new();
        for (at, number) in stream_consumers.loops().into_iter().enumerate() {
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
            fed_units(stream_consumers, at, &keys)
                .filter(|&to| to != key)
                .for_each(|to| feeders[to] += 1);
        }
        let is_ready = |key: &usize| keys[*key] == *key && feeders[*key] == 0;
        let mut ready: Vec<usize> = (0..count).filter(is_ready).rev().collect();
        let mut units = OperatorUnits {
            operators_of: Vec::new(),
            unit_of: vec![0; count],
        };
        while let Some(key) = ready.pop() {
            for member in &members[key] {
                units.unit_of[member.0 as usize] = units.operators_of.len();
                for to in
                    fed_units(stream_consumers, member.0 as usize, &keys).filter(|&to| to != key)
                {
                    feeders[to] -= 1;
                    if feeders[to] == 0 {
                        ready.push(to);
                    }
                }
            }
            units.operators_of.push(std::mem::take(&mut members[key]));
        }
        units
    }
}

/// The units that an operator feeds, by the first operator of each, once for each edge.
fn fed_units<'a>(
    stream_consumers: &'a StreamConsumers,
    at: usize,
    keys: &'a [usize],
) -> impl Iterator<Item = usize> + 'a {
    let streams = stream_consumers.streams_of(OperatorId(at as u32));
    let consumers = streams.flat_map(|stream| stream_consumers.consumers_of(stream));
    consumers.map(|to| keys[to.operator.0 as usize])
}
