//! Running results of a tumbling window, group by group, in place of its tuples: however many
//! tuples the window has, a group takes the memory of one.

use eval::Fault;
use runtime::Outlet;
use runtime::window::KeyIds;
use tuple::{TupleBuf, TupleRef};

use super::group_context::GroupContext;
use super::group_results::GroupResults;
use super::grouping::{ColumnCall, Grouping};
use super::running_function::{RunningFunction, running_function};

/// The groups of a window in the order of their first tuples. Groups behind the last size are empty
/// and serve further keys without an allocation.
#[derive(Default)]
pub struct RunningGroups {
    key_ids: KeyIds,
    groups: Vec<RunningGroup>,
    sizes: Vec<usize>,
}

/// Running results of one group.
#[derive(Default)]
struct RunningGroup {
    /// Last tuple of the group.
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
    /// Adds a tuple with the values that the grouping uses. The buffer is exchanged for that of the
    /// group's last tuple before.
    ///
    /// # Errors
    /// The fault of a function, as for a sum that overflows.
    pub fn add(
        &mut self,
        tuple: &mut TupleBuf,
        values: TupleRef<'_>,
        grouping: &mut Grouping,
    ) -> Result<(), Fault> {
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
        std::mem::swap(&mut group.last, tuple);
        let arguments = grouping.arguments(values);
        for (running, (value, other)) in group.functions.iter_mut().zip(arguments) {
            running.add(value, other)?;
        }
        Ok(())
    }

    /// Submits one tuple for each group; `total` is the result of `CountAll`.
    pub fn submit(
        &self,
        total: usize,
        results: &mut GroupResults,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let groups = &self.groups[..self.sizes.len()];
        for (index, group) in groups.iter().enumerate() {
            let context = GroupContext {
                sizes: &self.sizes,
                index,
                total,
                last: &group.last,
            };
            let functions = group.functions.iter().map(|running| running.result());
            results.submit(&context, functions, std::iter::empty(), out)?;
        }
        Ok(())
    }

    /// Number of tuples in all groups.
    pub fn tuple_count(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Removes all tuples and keeps the memory of the groups.
    pub fn clear(&mut self) {
        let groups = &mut self.groups[..self.sizes.len()];
        let running = groups.iter_mut().flat_map(|group| &mut group.functions);
        running.for_each(|running| running.clear());
        self.sizes.clear();
        self.key_ids.clear();
    }

    /// Index of the group of a key, which is added if there is none.
    fn find_or_add(&mut self, key: &[u8]) -> usize {
        if let Some(at) = self.key_ids.find(key) {
            return at as usize;
        }
        let at = self.key_ids.assign(key) as usize;
        self.sizes.push(0);
        if at == self.groups.len() {
            self.groups.push(RunningGroup::default());
        }
        at
    }
}
