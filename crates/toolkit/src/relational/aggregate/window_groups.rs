//! The groups of a window with the state of their functions, kept from one firing to the next.
//!
//! Between two firings a few tuples leave at the front and a few come at the end: only those are
//! given to the functions. Tuples that leave out of order (a window of a delta whose attribute
//! falls) cost all of them.
//!
//! ```text
//!   order: group 2        group 0      group 1         by their oldest tuples
//!          rows 4 7 9     rows 5 6     rows 8          numbers of tuples, which rise
//! ```
//! The oldest tuple of the window is that of the first group in order.

use std::collections::VecDeque;

use eval::Fault;
use runtime::Outlet;
use runtime::window::{KeyId, KeyIds, PaneItems, WindowPartition};

use super::aggregate_item::AggregateItem;
use super::group_context::GroupContext;
use super::group_results::GroupResults;
use super::grouping::Grouping;
use super::sliding::{SlidingFunction, one_time_function, shrink_excess, sliding_function};

/// The groups of one partition of a window.
#[derive(Default)]
pub struct WindowGroups {
    places: KeyIds,
    /// Groups by the id of their key. Groups behind the last id are empty and serve further keys.
    groups: Vec<SlidingGroup>,
    /// The groups by their oldest tuples.
    order: VecDeque<KeyId>,
    /// Tuples of each group in order; filled when they are asked for.
    sizes: Vec<usize>,
    /// Tuples in all groups.
    tuple_count: usize,
    /// The number of the last tuple that came.
    newest: u64,
    /// Whether the window fires once, and its tuples leave together.
    fires_once: bool,
}

/// A group of a sliding window.
struct SlidingGroup {
    seqs: VecDeque<u64>,
    functions: Vec<Box<dyn SlidingFunction>>,
}

/// The tuples of a window, oldest first; their numbers rise.
pub trait WindowTuples {
    fn len(&self) -> usize;
    fn get(&self, at: usize) -> Option<&AggregateItem>;
    /// How many have a smaller number.
    fn count_before(&self, number: u64) -> usize;
}

impl WindowTuples for WindowPartition<AggregateItem> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, at: usize) -> Option<&AggregateItem> {
        self.get(at)
    }

    fn count_before(&self, number: u64) -> usize {
        self.partition_point(|kept| kept.seq < number)
    }
}

impl WindowTuples for PaneItems<'_, AggregateItem> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, at: usize) -> Option<&AggregateItem> {
        self.get(at)
    }

    fn count_before(&self, number: u64) -> usize {
        self.partition_point(|kept| kept.seq < number)
    }
}

impl WindowGroups {
    /// Groups of windows that fire once.
    pub fn of_single_firings() -> WindowGroups {
        WindowGroups {
            fires_once: true,
            ..WindowGroups::default()
        }
    }

    /// Makes the groups those of a window.
    pub fn update(&mut self, tuples: &impl WindowTuples, grouping: &mut Grouping) {
        let oldest = tuples.get(0).map_or(u64::MAX, |kept| kept.seq);
        while self.oldest_seq().is_some_and(|number| number < oldest) {
            self.remove_oldest();
        }
        self.add_newer(tuples, grouping);
        if self.tuple_count != tuples.len() {
            self.clear();
            self.add_newer(tuples, grouping);
        }
    }

    /// Submits one tuple for each group; `total` is the result of `CountAll`.
    pub fn submit(
        &mut self,
        tuples: &impl WindowTuples,
        total: usize,
        results: &mut GroupResults,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let places = self.order.iter().map(|&at| at as usize);
        let sizes = places.clone().map(|at| self.groups[at].seqs.len());
        self.sizes.clear();
        self.sizes.extend(sizes);
        for (index, at) in places.enumerate() {
            let SlidingGroup {
                seqs: numbers,
                functions,
            } = &mut self.groups[at];
            let numbers = &*numbers;
            let all = (0..numbers.len()).filter_map(|row| find_tuple(tuples, numbers, row));
            let all = all.map(|kept| &kept.tuple);
            let Some(last) = all.clone().next_back() else {
                continue;
            };
            let group = GroupContext {
                sizes: &self.sizes,
                index,
                total,
                last,
            };
            let functions = functions.iter_mut().map(|function| function.result());
            results.submit(&group, functions, all, out)?;
        }
        Ok(())
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        for at in self.order.drain(..) {
            let SlidingGroup {
                seqs: numbers,
                functions,
            } = &mut self.groups[at as usize];
            shrink_excess(numbers);
            numbers.clear();
            functions.iter_mut().for_each(|function| function.clear());
        }
        self.places.clear();
        (self.tuple_count, self.newest) = (0, 0);
    }

    /// The number of the oldest tuple.
    fn oldest_seq(&self) -> Option<u64> {
        let first = *self.order.front()?;
        self.groups[first as usize].seqs.front().copied()
    }

    /// The oldest tuple has left: its group comes behind those with older ones now.
    fn remove_oldest(&mut self) {
        let Some(at) = self.order.pop_front() else {
            return;
        };
        self.tuple_count -= 1;
        let SlidingGroup {
            seqs: numbers,
            functions,
        } = &mut self.groups[at as usize];
        numbers.pop_front();
        shrink_excess(numbers);
        functions
            .iter_mut()
            .for_each(|function| function.remove_oldest());
        let Some(&oldest) = numbers.front() else {
            return self.places.release(at);
        };
        if self.order.is_empty() {
            return self.order.push_back(at);
        }
        let members = &self.groups;
        let is_older = |&other: &KeyId| members[other as usize].seqs[0] < oldest;
        let to = self.order.partition_point(is_older);
        self.order.insert(to, at);
    }

    /// Takes the tuples that have come after the last one.
    fn add_newer(&mut self, tuples: &impl WindowTuples, grouping: &mut Grouping) {
        let newest = self.newest;
        let is_newer = |at: &usize| tuples.get(*at).is_some_and(|kept| kept.seq > newest);
        let newer = (0..tuples.len()).rev().take_while(is_newer).count();
        let at = tuples.len() - newer..tuples.len();
        at.filter_map(|at| tuples.get(at))
            .for_each(|kept| self.add(kept, grouping));
    }

    /// Id of the group of a tuple, which is added if there is none.
    fn find_or_add(&mut self, kept: &AggregateItem, grouping: &mut Grouping) -> KeyId {
        if let Some(&only) = self.order.front()
            && !grouping.makes_groups()
        {
            return only;
        }
        let key = grouping.key(kept.values.as_ref());
        if let Some(at) = self.places.find(key) {
            return at;
        }
        let at = self.places.assign(key);
        self.order.push_back(at);
        at
    }

    fn add(&mut self, kept: &AggregateItem, grouping: &mut Grouping) {
        let values = kept.values.as_ref();
        let at = self.find_or_add(kept, grouping);
        if at as usize == self.groups.len() {
            self.groups
                .push(SlidingGroup::new(grouping, self.fires_once));
        }
        let members = &mut self.groups[at as usize];
        members.seqs.push_back(kept.seq);
        let arguments = grouping.arguments(values);
        for (function, (value, other)) in members.functions.iter_mut().zip(arguments) {
            function.add(value, other);
        }
        self.tuple_count += 1;
        self.newest = kept.seq;
    }
}

impl SlidingGroup {
    fn new(grouping: &Grouping, fires_once: bool) -> SlidingGroup {
        let function = match fires_once {
            true => one_time_function,
            false => sliding_function,
        };
        SlidingGroup {
            seqs: VecDeque::new(),
            functions: grouping.functions.iter().map(function).collect(),
        }
    }
}

#[cfg(test)]
impl WindowGroups {
    /// The numbers of each group in order, and what its functions give, to the bit.
    pub fn describe(&mut self) -> Vec<(Vec<u64>, Vec<String>)> {
        let mut described = Vec::new();
        for &at in &self.order {
            let SlidingGroup {
                seqs: numbers,
                functions,
            } = &mut self.groups[at as usize];
            let results = functions.iter_mut().map(|function| function.result());
            let results = results.map(|result| super::sliding::tests::bits(&result.unwrap()));
            described.push((numbers.iter().copied().collect(), results.collect()));
        }
        described
    }

    /// For how many rows there is memory.
    pub fn tuple_capacity(&self) -> usize {
        let held = self.groups.iter().map(|members| members.seqs.capacity());
        held.sum()
    }
}

/// A tuple of a group, by its place there.
fn find_tuple<'t>(
    tuples: &'t impl WindowTuples,
    numbers: &VecDeque<u64>,
    row: usize,
) -> Option<&'t AggregateItem> {
    // The tuples of a group with all tuples have the indices that they have in the window.
    if numbers.len() == tuples.len() {
        return tuples.get(row);
    }
    tuples.get(tuples.count_before(*numbers.get(row)?))
}
