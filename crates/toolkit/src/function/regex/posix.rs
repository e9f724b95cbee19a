//! Leftmost-longest matching of a POSIX pattern.
//!
//! Where a match begins does not depend on which alternatives are preferred, so a fast
//! leftmost-first engine finds the beginning, and an automaton that does not stop at the first
//! match finds the longest end. For most patterns that is where the leftmost-first match ends, too:
//! then its groups are the result. Else a simulation of the automaton finds the groups of the
//! longest match.
//!
//! # Groups
//! The whole match is POSIX's. Among the ways to arrive at it the groups are those of the way that
//! Perl would try first: alternatives from the left, repetitions as often as possible. POSIX would
//! make each group in turn as long as possible, which differs only if a shorter alternative stands
//! before a longer one that begins the same, as in `(a|ab)(c|bcd)`.

use std::cell::RefCell;
use std::ops::Range;

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::meta;
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{Compiler, Config};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, MatchKind};

use super::ere;

/// The ranges of the whole match and of each group, if the group took part.
pub(in crate::function) type CaptureGroups = Vec<Option<Range<usize>>>;

/// A compiled POSIX extended regular expression.
pub(in crate::function) struct PosixRegex {
    finder: meta::Regex,
    /// Finds the longest end; `None` for a pattern that it cannot be made of.
    ends: Option<DFA>,
    longest: PikeVM,
    /// Memory that searches keep between them. Patterns do not leave their thread.
    memory: RefCell<SearchMemory>,
}

/// Memory of the searches of a pattern.
struct SearchMemory {
    /// Groups of the leftmost-first match.
    first: Captures,
    ends: Option<dfa::Cache>,
    /// Made when a longest match is another one than the first.
    longest: Option<pikevm::Cache>,
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
        let automaton = automaton.map_err(|e| too_large(&e))?;
        let all = dfa::Config::new().match_kind(MatchKind::All);
        let ends = dfa::Builder::new()
            .configure(all)
            .build_from_nfa(automaton.clone());
        let ends = ends.ok();
        let longest = PikeVM::builder()
            .configure(PikeVM::config().match_kind(MatchKind::All))
            .build_from_nfa(automaton)
            .map_err(|e| too_large(&e))?;
        let memory = RefCell::new(SearchMemory {
            first: finder.create_captures(),
            ends: ends.as_ref().map(DFA::create_cache),
            longest: None,
        });
        Ok(PosixRegex {
            finder,
            ends,
            longest,
            memory,
        })
    }

    /// Whether a text has a match.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.finder.is_match(text)
    }

    /// The leftmost-longest match, its positions counted from `base`.
    pub(super) fn groups(&self, text: &[u8], base: usize) -> Option<CaptureGroups> {
        let memory = &mut *self.memory.borrow_mut();
        self.finder
            .search_captures(&Input::new(text), &mut memory.first);
        let first = memory.first.get_match()?.range();
        let input = Input::new(text)
            .range(first.start..)
            .anchored(Anchored::Yes);
        // The first way to the longest end is the first way of all, if that leads there.
        if self.longest_end(&input, &mut memory.ends) == Some(first.end) {
            return Some(shifted(&memory.first, base));
        }
        let mut groups = self.longest.create_captures();
        let cache = &mut memory.longest;
        let cache = cache.get_or_insert_with(|| self.longest.create_cache());
        self.longest.captures(cache, input, &mut groups);
        groups.is_match().then(|| shifted(&groups, base))
    }

    /// Where the longest match ends that begins with the input; `None` if the automaton cannot say.
    fn longest_end(&self, input: &Input<'_>, cache: &mut Option<dfa::Cache>) -> Option<usize> {
        let (ends, cache) = (self.ends.as_ref()?, cache.as_mut()?);
        let found = ends.try_search_fwd(cache, input).ok()??;
        Some(found.offset())
    }
}

/// The ranges of groups, counted from `base`.
fn shifted(groups: &Captures, base: usize) -> CaptureGroups {
    let shifted = |span: regex_automata::Span| base + span.start..base + span.end;
    groups.iter().map(|span| span.map(shifted)).collect()
}
