//! The conditions that a thread has read lately, by text and type of tuple.
//!
//! Two generations: what is asked for moves to the young one; when that is full it becomes the old
//! one, and what the old one still held is forgotten. So what is used stays, whatever else comes,
//! and nobody counts.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use compiler::CONDITION_BYTES_MAX;
use tuple::TupleType;

use super::parsed_condition::ParsedCondition;

/// A generation is full with so many conditions ...
pub(super) const COUNT_MAX: usize = 1024;

/// ... or with texts of so many bytes.
pub(super) const BYTES_MAX: usize = 4 * CONDITION_BYTES_MAX;

/// The conditions of a thread.
#[derive(Default)]
pub(super) struct ConditionCache {
    young: CacheGeneration,
    old: CacheGeneration,
}

/// What was read of one text, for each type of tuple.
type ConditionsByType = Vec<(Arc<TupleType>, Rc<ParsedCondition>)>;

#[derive(Default)]
struct CacheGeneration {
    conditions: HashMap<Box<str>, ConditionsByType>,
    count: usize,
    bytes: usize,
}

impl ConditionCache {
    /// What was read of a text over tuples of a type.
    pub fn find(&mut self, text: &str, over: &Arc<TupleType>) -> Option<Rc<ParsedCondition>> {
        if let Some(found) = self.young.find(text, over) {
            return Some(found);
        }
        let found = self.old.find(text, over)?;
        self.insert(text, over, found.clone());
        Some(found)
    }

    /// Keeps what was read of a text that was not to be found.
    pub fn insert_new(
        &mut self,
        text: &str,
        over: &Arc<TupleType>,
        reading: ParsedCondition,
    ) -> Rc<ParsedCondition> {
        let reading = Rc::new(reading);
        // A text of any length can be wrong; one that is too long is so at once.
        if text.len() <= CONDITION_BYTES_MAX {
            self.insert(text, over, reading.clone());
        }
        reading
    }

    fn insert(&mut self, text: &str, over: &Arc<TupleType>, reading: Rc<ParsedCondition>) {
        if self.young.is_full() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, over, reading);
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.young.count + self.old.count
    }
}

impl CacheGeneration {
    fn find(&self, text: &str, over: &Arc<TupleType>) -> Option<Rc<ParsedCondition>> {
        let mut of_text = self.conditions.get(text)?.iter();
        let is_it = |(ty, _): &&(Arc<TupleType>, _)| Arc::ptr_eq(ty, over) || ty == over;
        of_text.find(is_it).map(|(_, reading)| reading.clone())
    }

    fn insert(&mut self, text: &str, over: &Arc<TupleType>, reading: Rc<ParsedCondition>) {
        let of_text = self.conditions.entry(text.into()).or_default();
        of_text.push((over.clone(), reading));
        self.count += 1;
        self.bytes += text.len();
    }

    fn is_full(&self) -> bool {
        self.count >= COUNT_MAX || self.bytes >= BYTES_MAX
    }
}
