//! Regular expressions: POSIX extended ones and Perl's, compiled once per thread and pattern.
//!
//! | [`RegexFlavour`] | text | alternatives | `.` | `^` and `$` |
//! | --- | --- | --- | --- | --- |
//! | `Posix` | bytes | leftmost, then longest | any byte | ends of the text |
//! | `PerlBytes` | bytes | leftmost, then first | anything | ends of lines |
//! | `Icu` | code points | leftmost, then first | not a line feed | ends of the text |
//! | `PerlPoints` | code points | leftmost, then first | anything | ends of lines |
//!
//! # Why this way
//! The C library's `regexec` would need unsafe code and a locale, so POSIX syntax is parsed here
//! ([`ere`]) and matched by automata that know the longest match ([`posix`]). Perl's syntax goes to
//! fancy-regex, which falls back to backtracking only for look-around and back-references.
//!
//! # Cost
//! A pattern is compiled when a thread first sees it; the 128 patterns used last stay.

mod compiled_pattern;
mod ere;
mod pattern_cache;
mod perl;
mod posix;
mod replace;

pub(super) use compiled_pattern::RegexFlavour;
pub(super) use pattern_cache::cached_pattern;
pub use pattern_cache::is_match;
pub(super) use replace::{all_matches, replace};
