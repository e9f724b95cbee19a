//! What a tumbling window has come to so far, group by group, in place of its tuples: however many
//! come, a group takes the memory of one.

use graph::Fault;
use runtime::Outlet;
use runtime::window::Places;
use tuple::TupleBuf;

use super::grouping::{Function, Grouping};
use super::operator::Kept;
use super::results::{Group, Results};
use super::running::{Running, running};

/// The groups of a window in the order of their first tuples. Those that no place has are
/// memory for further ones.
#[derive(Default)]
pub struct Tally {
    places: Places,
    groups: Vec<Members>,
    sizes: Vec<usize>,
}

/// A group.
#[derive(Default)]
struct Members {
    /// The last tuple.
    last: TupleBuf,
    /// The functions over columns, in the order of the calls.
    running: Vec<Box<dyn Running>>,
}

/// Whether none of the functions has to see a group's tuples all at once.
pub fn is_possible(functions: &[Function]) -> bool {
    functions.iter().all(|function| start(function).is_some())
}

fn start(function: &Function) -> Option<Box<dyn Running>> {
    running(&function.name, &function.arguments[0], &function.result)
}

impl Tally {
    /// Takes a tuple in.
    pub fn add(&mut self, kept: &mut Kept, grouping: &mut Grouping) -> Result<(), Fault> {
        let values = kept.values.as_ref();
        let at = self.place(grouping.key(values));
        let group = &mut self.groups[at];
        if group.running.len() < grouping.functions.len() {
            group.running = grouping.functions.iter().filter_map(start).collect();
        }
        self.sizes[at] += 1;
        std::mem::swap(&mut group.last, &mut kept.tuple);
        let arguments = grouping.arguments(values);
        for (running, (value, other)) in group.running.iter_mut().zip(arguments) {
            running.add(value, other)?;
        }
        Ok(())
    }

    /// One tuple a group; `total` is what `CountAll` says.
    pub fn send(
        &self,
        total: usize,
        results: &mut Results,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let groups = &self.groups[..self.sizes.len()];
        for (index, Members { last, running }) in groups.iter().enumerate() {
            let group = Group {
                sizes: &self.sizes,
                index,
                total,
                last,
            };
            let functions = running.iter().map(|running| running.result());
            results.send(&group, functions, std::iter::empty(), out)?;
        }
        Ok(())
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        let groups = &mut self.groups[..self.sizes.len()];
        let running = groups.iter_mut().flat_map(|group| &mut group.running);
        running.for_each(|running| running.clear());
        self.sizes.clear();
        self.places.clear();
    }

    /// Where the group of a key is; a further one, if it has none.
    fn place(&mut self, key: &[u8]) -> usize {
        if let Some(at) = self.places.find(key) {
            return at as usize;
        }
        let at = self.places.take(key) as usize;
        self.sizes.push(0);
        if at == self.groups.len() {
            self.groups.push(Members::default());
        }
        at
    }
}
