//! What a tumbling window has come to so far, group by group, in place of its tuples: however many
//! come, a group takes the memory of one.

use eval::Fault;
use runtime::Outlet;
use runtime::window::KeyIds;
use tuple::TupleBuf;

use super::group_results::{GroupContext, GroupResults};
use super::grouping::{ColumnCall, Grouping};
use super::operator::AggregateItem;
use super::running_function::{RunningFunction, running_function};

/// The groups of a window in the order of their first tuples. Those that no place has are
/// memory for further ones.
#[derive(Default)]
pub struct RunningGroups {
    places: KeyIds,
    groups: Vec<RunningGroup>,
    sizes: Vec<usize>,
}

/// A group.
#[derive(Default)]
struct RunningGroup {
    /// The last tuple.
    last: TupleBuf,
    /// The functions over columns, in the order of the calls.
    functions: Vec<Box<dyn RunningFunction>>,
}

/// Whether none of the functions has to see a group's tuples all at once.
pub fn can_run(functions: &[ColumnCall]) -> bool {
    functions
        .iter()
        .all(|function| start_function(function).is_some())
}

fn start_function(function: &ColumnCall) -> Option<Box<dyn RunningFunction>> {
    running_function(&function.name, &function.arguments[0], &function.result)
}

impl RunningGroups {
    /// Takes a tuple in.
    pub fn add(&mut self, kept: &mut AggregateItem, grouping: &mut Grouping) -> Result<(), Fault> {
        let values = kept.values.as_ref();
        let at = self.find_or_add(grouping.key(values));
        let group = &mut self.groups[at];
        if group.functions.len() < grouping.functions.len() {
            group.functions = grouping
                .functions
                .iter()
                .filter_map(start_function)
                .collect();
        }
        self.sizes[at] += 1;
        std::mem::swap(&mut group.last, &mut kept.tuple);
        let arguments = grouping.arguments(values);
        for (running, (value, other)) in group.functions.iter_mut().zip(arguments) {
            running.add(value, other)?;
        }
        Ok(())
    }

    /// One tuple a group; `total` is what `CountAll` says.
    pub fn submit(
        &self,
        total: usize,
        results: &mut GroupResults,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let groups = &self.groups[..self.sizes.len()];
        for (
            index,
            RunningGroup {
                last,
                functions: running,
            },
        ) in groups.iter().enumerate()
        {
            let group = GroupContext {
                sizes: &self.sizes,
                index,
                total,
                last,
            };
            let functions = running.iter().map(|running| running.result());
            results.submit(&group, functions, std::iter::empty(), out)?;
        }
        Ok(())
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        let groups = &mut self.groups[..self.sizes.len()];
        let running = groups.iter_mut().flat_map(|group| &mut group.functions);
        running.for_each(|running| running.clear());
        self.sizes.clear();
        self.places.clear();
    }

    /// Where the group of a key is; a further one, if it has none.
    fn find_or_add(&mut self, key: &[u8]) -> usize {
        if let Some(at) = self.places.find(key) {
            return at as usize;
        }
        let at = self.places.assign(key) as usize;
        self.sizes.push(0);
        if at == self.groups.len() {
            self.groups.push(RunningGroup::default());
        }
        at
    }
}
