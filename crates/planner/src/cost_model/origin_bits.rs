//! Sets of origins, as bits: a program of thousands of operators has few words for each.

use std::rc::Rc;

/// A set of origins by their numbers. Equal sets of neighbouring units share their memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginBits(Rc<Vec<u64>>);

impl OriginBits {
    /// The set of one origin.
    pub fn one(origin: usize) -> OriginBits {
        let mut words = vec![0; origin / 64 + 1];
        words[origin / 64] = 1 << (origin % 64);
        OriginBits(Rc::new(words))
    }

    /// Adds the origins of another set.
    pub fn add(&mut self, other: &OriginBits) {
        if Rc::ptr_eq(&self.0, &other.0) {
            return;
        }
        if self.0.is_empty() {
            self.0 = other.0.clone();
            return;
        }
        let word = |at: usize| self.0.get(at).copied().unwrap_or_default();
        if (0..)
            .zip(other.0.iter())
            .all(|(at, more)| more & !word(at) == 0)
        {
            return;
        }
        let words = Rc::make_mut(&mut self.0);
        if words.len() < other.0.len() {
            words.resize(other.0.len(), 0);
        }
        for (word, more) in words.iter_mut().zip(other.0.iter()) {
            *word |= more;
        }
    }

    /// Whether two sets have an origin in common.
    pub fn intersects(&self, other: &OriginBits) -> bool {
        let mut words = self.0.iter().zip(other.0.iter());
        words.any(|(one, other)| one & other != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::OriginBits;

    #[test]
    fn sets_of_origins_grow_and_meet() {
        let mut set = OriginBits::one(3);
        assert!(!set.intersects(&OriginBits::one(70)));
        set.add(&OriginBits::one(70));
        assert!(set.intersects(&OriginBits::one(70)));
        assert!(set.intersects(&OriginBits::one(3)));
        assert!(!set.intersects(&OriginBits::default()));
        let before = set.clone();
        set.add(&OriginBits::one(3));
        assert_eq!(set, before);
    }
}
