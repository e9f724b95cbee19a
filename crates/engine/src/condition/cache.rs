//! The conditions that a thread parsed lately, by text and type of tuple.
//!
//! The cache has two generations. A condition that is looked up moves to the young one. When the
//! young generation is full, it becomes the old one, and the previous old one is dropped. So a
//! condition in use stays cached without a count of its uses.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use compiler::CONDITION_BYTES_MAX;
use tuple::TupleType;

use super::parsed_condition::ParsedCondition;

/// Number of conditions at which a generation is full; a program rarely has more than a few.
pub(super) const COUNT_MAX: usize = 1024;

/// Bytes of condition texts at which a generation is full: four of the longest texts.
pub(super) const BYTES_MAX: usize = 4 * CONDITION_BYTES_MAX;

/// The conditions that one thread has parsed, in two generations.
#[derive(Default)]
pub(super) struct ConditionCache {
    young: CacheGeneration,
    old: CacheGeneration,
}

/// The parsed conditions of one text, one for each type of tuple.
type ConditionsByType = Vec<(Arc<TupleType>, Rc<ParsedCondition>)>;

#[derive(Default)]
struct CacheGeneration {
    conditions: HashMap<Box<str>, ConditionsByType>,
    count: usize,
    bytes: usize,
}

impl ConditionCache {
    /// Finds the parsed condition of a text over tuples of a type; keeps it in the young
    /// generation.
    pub fn find(&mut self, text: &str, over: &Arc<TupleType>) -> Option<Rc<ParsedCondition>> {
        if let Some(found) = self.young.find(text, over) {
            return Some(found);
        }
        let found = self.old.find(text, over)?;
        self.insert(text, over, found.clone());
        Some(found)
    }

    /// Adds the parsed condition of a text that [`ConditionCache::find`] did not find.
    pub fn insert_new(
        &mut self,
        text: &str,
        over: &Arc<TupleType>,
        condition: ParsedCondition,
    ) -> Rc<ParsedCondition> {
        let condition = Rc::new(condition);
        // A text beyond this length is refused without parsing: caching it would save nothing.
        if text.len() <= CONDITION_BYTES_MAX {
            self.insert(text, over, condition.clone());
        }
        condition
    }

    fn insert(&mut self, text: &str, over: &Arc<TupleType>, condition: Rc<ParsedCondition>) {
        if self.young.is_full() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, over, condition);
    }

    /// Number of conditions in both generations.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.young.count + self.old.count
    }
}

impl CacheGeneration {
    fn find(&self, text: &str, over: &Arc<TupleType>) -> Option<Rc<ParsedCondition>> {
        let mut by_type = self.conditions.get(text)?.iter();
        let is_same = |(ty, _): &&(Arc<TupleType>, _)| Arc::ptr_eq(ty, over) || ty == over;
        by_type
            .find(is_same)
            .map(|(_, condition)| condition.clone())
    }

    fn insert(&mut self, text: &str, over: &Arc<TupleType>, condition: Rc<ParsedCondition>) {
        let by_type = self.conditions.entry(text.into()).or_default();
        by_type.push((over.clone(), condition));
        self.count += 1;
        self.bytes += text.len();
    }

    fn is_full(&self) -> bool {
        self.count >= COUNT_MAX || self.bytes >= BYTES_MAX
    }
}
