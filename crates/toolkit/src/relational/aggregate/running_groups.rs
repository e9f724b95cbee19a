//! Running results of a tumbling window, group by group, in place of its tuples: however many
//! tuples the window has, a group takes the memory of one.

use eval::{Fault, StateMemory};
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
    /// Bytes that are counted as state.
    counted_bytes: usize,
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
    /// group's last tuple before. Groups are counted as state.
    ///
    /// # Errors
    /// The fault of a function, as for a sum that overflows, or of state beyond its bound.
    pub fn add(
        &mut self,
        tuple: &mut TupleBuf,
        values: TupleRef<'_>,
        grouping: &mut Grouping,
        memory: &StateMemory,
    ) -> Result<(), Fault> {
        let at = match self.key_ids.find(grouping.key(values)) {
            Some(at) => at as usize,
            None => self.add_group(tuple.len(), values, grouping, memory)?,
        };
        let group = &mut self.groups[at];
        self.sizes[at] += 1;
        let before = group.last.len();
        std::mem::swap(&mut group.last, tuple);
        if group.last.len() != before && self.sizes[at] > 1 {
            memory.resize(before, group.last.len());
            group.counted_bytes = group.counted_bytes - before + group.last.len();
        }
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
    pub fn clear(&mut self, memory: &StateMemory) {
        for group in &mut self.groups[..self.sizes.len()] {
            memory.remove(group.counted_bytes);
            group
                .functions
                .iter_mut()
                .for_each(|running| running.clear());
        }
        self.sizes.clear();
        self.key_ids.clear();
    }

    /// Adds a group for the key of these values, whose first tuple has so many bytes. Returns its
    /// index.
    fn add_group(
        &mut self,
        tuple_bytes: usize,
        values: TupleRef<'_>,
        grouping: &mut Grouping,
        memory: &StateMemory,
    ) -> Result<usize, Fault> {
        let at = self.sizes.len();
        if at == self.groups.len() {
            let functions = grouping.functions.iter().filter_map(start_function);
            self.groups.push(RunningGroup {
                functions: functions.collect(),
                ..RunningGroup::default()
            });
        }
        let group = &mut self.groups[at];
        let functions = group.functions.iter();
        let function_bytes =
            functions.map(|running| size_of_val(&**running) + size_of_val(running));
        let bytes = size_of::<RunningGroup>() + tuple_bytes + function_bytes.sum::<usize>();
        memory.add(bytes)?;
        group.counted_bytes = bytes;
        self.sizes.push(0);
        let assigned = self.key_ids.assign(grouping.key(values));
        debug_assert_eq!(assigned as usize, at, "ids are given without gaps");
        Ok(at)
    }
}
