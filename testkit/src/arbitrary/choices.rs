//! Choices of the generator, which a row of numbers decides.

/// Decisions, taken one after the other. When there are none left every decision is for 0.
pub(super) struct Choices<'a> {
    decisions: std::slice::Iter<'a, u32>,
}

impl<'a> Choices<'a> {
    pub(super) fn new(row: &'a [u32]) -> Choices<'a> {
        Choices {
            decisions: row.iter(),
        }
    }

    /// Whether all decisions from now on are for the simplest.
    pub(super) fn are_spent(&self) -> bool {
        self.decisions.as_slice().is_empty()
    }

    /// A number below `n`. Smaller decisions give smaller numbers.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let decision = self.decisions.next().copied().unwrap_or(0);
        ((u64::from(decision) * n as u64) >> 32) as usize
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of several, the first being the simplest.
    pub(super) fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// Takes 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        let mut half = || u64::from(self.decisions.next().copied().unwrap_or(0));
        half() << 32 | half()
    }
}
