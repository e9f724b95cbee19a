//! The descriptors that an armed end of a library sleeps on, checked and kept until it is disarmed.

use std::fmt;
use std::os::fd::BorrowedFd;

use crate::abi::{WAITS_MAX, WaitsFields};

/// Descriptors of an end; none unless it is armed.
pub struct Waits(Box<WaitsFields>);

impl Waits {
    pub fn new() -> Waits {
        Waits(Box::new(WaitsFields {
            readable_count: 0,
            writable_count: 0,
            readable: [-1; WAITS_MAX],
            writable: [-1; WAITS_MAX],
        }))
    }

    /// Memory for the library to fill in.
    pub fn fields(&mut self) -> &mut WaitsFields {
        &mut self.0
    }

    /// Forgets the descriptors of the end.
    pub fn clear(&mut self) {
        self.0.readable_count = 0;
        self.0.writable_count = 0;
    }

    /// Checks what the library has filled in.
    ///
    /// # Errors
    /// Words that complete the sentence "arm_sender ..."; the descriptors are forgotten.
    pub fn check(&mut self) -> Result<(), impl fmt::Display + use<>> {
        let wrong = self.find_wrong();
        if wrong.is_some() {
            self.clear();
        }
        wrong.map_or(Ok(()), Err)
    }

    fn find_wrong(&self) -> Option<String> {
        let counts = [self.0.readable_count, self.0.writable_count];
        if counts == [0, 0] {
            return Some("arms without a descriptor to sleep on".to_owned());
        }
        if let Some(count) = counts.into_iter().find(|count| *count as usize > WAITS_MAX) {
            return Some(format!(
                "gives {count} descriptors, and {WAITS_MAX} is the most"
            ));
        }
        let (readable, writable) = self.slices();
        let negative = readable.iter().chain(writable).find(|fd| **fd < 0);
        negative.map(|fd| format!("gives the descriptor {fd} to sleep on"))
    }

    /// Adds the descriptors to those that a thread polls.
    pub fn add_to<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        // SAFETY: the number is not -1, see `check`; by the header, the descriptors of an armed end
        // are open until it is disarmed or closed, and this borrows the end.
        let borrow = |fd: &i32| unsafe { BorrowedFd::borrow_raw(*fd) };
        let (own_readable, own_writable) = self.slices();
        readable.extend(own_readable.iter().map(borrow));
        writable.extend(own_writable.iter().map(borrow));
    }

    fn slices(&self) -> (&[i32], &[i32]) {
        let fields = &*self.0;
        (
            &fields.readable[..fields.readable_count as usize],
            &fields.writable[..fields.writable_count as usize],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_descriptors_are_said_and_forgotten() {
        for (readable, writable, fd, words) in [
            (0, 0, 0, "without a descriptor"),
            (129, 0, 0, "129 descriptors"),
            (0, u32::MAX, 0, "4294967295 descriptors"),
            (0, 1, -1, "the descriptor -1"),
        ] {
            let mut waits = Waits::new();
            waits.fields().readable_count = readable;
            waits.fields().writable_count = writable;
            waits.fields().writable[0] = fd;
            let Err(found) = waits.check() else {
                panic!("{words}: not said");
            };
            let found = found.to_string();
            assert!(found.contains(words), "{found}");
            let (mut all, mut others) = (Vec::new(), Vec::new());
            waits.add_to(&mut all, &mut others);
            assert!(all.is_empty() && others.is_empty());
        }
    }
}
