//! Leftmost-longest matching of a POSIX pattern.
//!
//! Where a match begins does not depend on which alternatives are preferred, so a fast
//! leftmost-first engine finds the beginning; from there a simulation of the automaton that does
//! not stop at the first match finds the longest end together with the groups.
//!
//! # Groups
//! The whole match is POSIX's. Among the ways to arrive at it the groups are those of the way that
//! Perl would try first: alternatives from the left, repetitions as often as possible. POSIX would
//! make each group in turn as long as possible, which differs only if a shorter alternative stands
//! before a longer one that begins the same, as in `(a|ab)(c|bcd)`.

use std::cell::RefCell;
use std::ops::Range;

use regex_automata::meta;
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{Compiler, Config};
use regex_automata::{Anchored, Input, MatchKind};

use super::ere;

/// The ranges of the whole match and of each group, if the group took part.
pub(in crate::function) type CaptureGroups = Vec<Option<Range<usize>>>;

/// A compiled POSIX extended regular expression.
pub(in crate::function) struct PosixRegex {
    finder: meta::Regex,
    longest: PikeVM,
    /// The simulation's memory between searches. Patterns do not leave their thread.
    memory: RefCell<pikevm::Cache>,
}

/// A pattern such as `((a{99}){99}){99}` must not take all memory.
const AUTOMATON_BYTES_MAX: usize = 16 << 20;

impl PosixRegex {
    pub(super) fn new(pattern: &[u8]) -> Result<PosixRegex, String> {
        let hir = ere::parse(pattern)?;
        let too_large = |e: &dyn std::fmt::Display| format!("it is too large ({e})");
        let config = meta::Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
        let finder = meta::Builder::new().configure(config).build_from_hir(&hir);
        let finder = finder.map_err(|e| too_large(&e))?;
        let config = Config::new()
            .utf8(false)
            .nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
        let automaton = Compiler::new().configure(config).build_from_hir(&hir);
        let longest = PikeVM::builder()
            .configure(PikeVM::config().match_kind(MatchKind::All))
            .build_from_nfa(automaton.map_err(|e| too_large(&e))?)
            .map_err(|e| too_large(&e))?;
        let memory = RefCell::new(longest.create_cache());
        Ok(PosixRegex {
            finder,
            longest,
            memory,
        })
    }

    /// The leftmost-longest match, its positions counted from `base`.
    pub(super) fn groups(&self, text: &[u8], base: usize) -> Option<CaptureGroups> {
        let start = self.finder.find(text)?.start();
        let mut groups = self.longest.create_captures();
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        self.longest
            .captures(&mut self.memory.borrow_mut(), input, &mut groups);
        let shifted = |span: regex_automata::Span| base + span.start..base + span.end;
        groups
            .is_match()
            .then(|| groups.iter().map(|span| span.map(shifted)).collect())
    }
}
