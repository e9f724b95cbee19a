//! The groups of a window with what the functions have come to, kept from one firing to the next.
//!
//! Between two firings a few tuples leave at the front and a few come at the end: only those are given to
//! the functions. Tuples that leave out of order (a window of a delta whose attribute falls) cost all of
//! them.
//!
//! ```text
//!   order: group 2        group 0      group 1         by their oldest tuples
//!          rows 4 7 9     rows 5 6     rows 8          numbers of tuples, which rise
//! ```
//! The oldest tuple of the window is that of the first group in order.

use std::collections::VecDeque;

use graph::Fault;
use runtime::Outlet;
use runtime::window::{Items, Partition, Place, Places};

use super::grouping::Grouping;
use super::operator::Kept;
use super::results::{Group, Results};
use super::sliding::{Sliding, sliding, tighten};

/// The groups of one partition of a window.
#[derive(Default)]
pub struct Groups {
    places: Places,
    /// By place. Those that no place has are memory for further ones.
    members: Vec<Members>,
    /// The groups by their oldest tuples.
    order: VecDeque<Place>,
    /// Tuples of each group in order; filled when they are asked for.
    sizes: Vec<usize>,
    /// Tuples in all groups.
    rows: usize,
    /// The number of the last tuple that came.
    newest: u64,
}

/// A group.
struct Members {
    numbers: VecDeque<u64>,
    functions: Vec<Box<dyn Sliding>>,
}

/// The tuples of a window, oldest first; their numbers rise.
pub trait Tuples {
    fn len(&self) -> usize;
    fn get(&self, at: usize) -> Option<&Kept>;
    /// How many have a smaller number.
    fn before(&self, number: u64) -> usize;
}

impl Tuples for Partition<Kept> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, at: usize) -> Option<&Kept> {
        self.get(at)
    }

    fn before(&self, number: u64) -> usize {
        self.partition_point(|kept| kept.number < number)
    }
}

impl Tuples for Items<'_, Kept> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, at: usize) -> Option<&Kept> {
        self.get(at)
    }

    fn before(&self, number: u64) -> usize {
        self.partition_point(|kept| kept.number < number)
    }
}

impl Groups {
    /// Makes the groups those of a window.
    pub fn follow(&mut self, tuples: &impl Tuples, grouping: &mut Grouping) {
        let oldest = tuples.get(0).map_or(u64::MAX, |kept| kept.number);
        while self.oldest().is_some_and(|number| number < oldest) {
            self.forget();
        }
        self.add_newer(tuples, grouping);
        if self.rows != tuples.len() {
            self.clear();
            self.add_newer(tuples, grouping);
        }
    }

    /// One tuple a group; `total` is what `CountAll` says.
    pub fn send(
        &mut self,
        tuples: &impl Tuples,
        total: usize,
        results: &mut Results,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let places = self.order.iter().map(|&at| at as usize);
        let sizes = places.clone().map(|at| self.members[at].numbers.len());
        self.sizes.clear();
        self.sizes.extend(sizes);
        for (index, at) in places.enumerate() {
            let Members { numbers, functions } = &mut self.members[at];
            let numbers = &*numbers;
            let all = (0..numbers.len()).filter_map(|row| find(tuples, numbers, row));
            let all = all.map(|kept| &kept.tuple);
            let Some(last) = all.clone().next_back() else {
                continue;
            };
            let group = Group {
                sizes: &self.sizes,
                index,
                total,
                last,
            };
            let functions = functions.iter_mut().map(|function| function.result());
            results.send(&group, functions, all, out)?;
        }
        Ok(())
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        for at in self.order.drain(..) {
            let Members { numbers, functions } = &mut self.members[at as usize];
            tighten(numbers);
            numbers.clear();
            functions.iter_mut().for_each(|function| function.clear());
        }
        self.places.clear();
        (self.rows, self.newest) = (0, 0);
    }

    /// The number of the oldest tuple.
    fn oldest(&self) -> Option<u64> {
        let first = *self.order.front()?;
        self.members[first as usize].numbers.front().copied()
    }

    /// The oldest tuple has left: its group comes behind those with older ones now.
    fn forget(&mut self) {
        let Some(at) = self.order.pop_front() else {
            return;
        };
        self.rows -= 1;
        let Members { numbers, functions } = &mut self.members[at as usize];
        numbers.pop_front();
        tighten(numbers);
        functions.iter_mut().for_each(|function| function.forget());
        let Some(&oldest) = numbers.front() else {
            return self.places.give_back(at);
        };
        if self.order.is_empty() {
            return self.order.push_back(at);
        }
        let members = &self.members;
        let is_older = |&other: &Place| members[other as usize].numbers[0] < oldest;
        let to = self.order.partition_point(is_older);
        self.order.insert(to, at);
    }

    /// Takes the tuples that have come after the last one.
    fn add_newer(&mut self, tuples: &impl Tuples, grouping: &mut Grouping) {
        let newest = self.newest;
        let is_newer = |at: &usize| tuples.get(*at).is_some_and(|kept| kept.number > newest);
        let newer = (0..tuples.len()).rev().take_while(is_newer).count();
        let at = tuples.len() - newer..tuples.len();
        at.filter_map(|at| tuples.get(at))
            .for_each(|kept| self.add(kept, grouping));
    }

    /// Where the group of a tuple is; a further one, if there is none.
    fn place(&mut self, kept: &Kept, grouping: &mut Grouping) -> Place {
        if let Some(&only) = self.order.front()
            && !grouping.makes_groups()
        {
            return only;
        }
        let key = grouping.key(kept.values.as_ref());
        if let Some(at) = self.places.find(key) {
            return at;
        }
        let at = self.places.take(key);
        self.order.push_back(at);
        at
    }

    fn add(&mut self, kept: &Kept, grouping: &mut Grouping) {
        let values = kept.values.as_ref();
        let at = self.place(kept, grouping);
        if at as usize == self.members.len() {
            self.members.push(Members::new(grouping));
        }
        let members = &mut self.members[at as usize];
        members.numbers.push_back(kept.number);
        let arguments = grouping.arguments(values);
        for (function, (value, other)) in members.functions.iter_mut().zip(arguments) {
            function.add(value, other);
        }
        self.rows += 1;
        self.newest = kept.number;
    }
}

impl Members {
    fn new(grouping: &Grouping) -> Members {
        Members {
            numbers: VecDeque::new(),
            functions: grouping.functions.iter().map(sliding).collect(),
        }
    }
}

#[cfg(test)]
impl Groups {
    /// The numbers of each group in order, and what its functions give, to the bit.
    pub fn shown(&mut self) -> Vec<(Vec<u64>, Vec<String>)> {
        let mut shown = Vec::new();
        for &at in &self.order {
            let Members { numbers, functions } = &mut self.members[at as usize];
            let results = functions.iter_mut().map(|function| function.result());
            let results = results.map(|result| super::sliding::tests::bits(&result.unwrap()));
            shown.push((numbers.iter().copied().collect(), results.collect()));
        }
        shown
    }

    /// For how many rows there is memory.
    pub fn rows_held(&self) -> usize {
        let held = self
            .members
            .iter()
            .map(|members| members.numbers.capacity());
        held.sum()
    }
}

/// A tuple of a group, by its place there.
fn find<'t>(tuples: &'t impl Tuples, numbers: &VecDeque<u64>, row: usize) -> Option<&'t Kept> {
    // A group that has all tuples has them where they are in the window.
    if numbers.len() == tuples.len() {
        return tuples.get(row);
    }
    tuples.get(tuples.before(*numbers.get(row)?))
}
