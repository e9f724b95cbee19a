//! Calls of media libraries that do not return: a library may block where none may.
//!
//! The thread that is in such a call can say nothing, so the sampler looks, from beside it.

use serde::{Deserialize, Serialize};
use transport::media::plugin::{LibraryCall, calls_under_way};

/// Nanoseconds after which a call is reported: no call of a medium may block, so one that takes a
/// second is wrong, or its process gets no core.
const LONG_NS: u64 = 1_000_000_000;

/// A call that has not returned for long, in the metadata of a counters file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LibraryCallMetadata {
    /// File of the library.
    pub library: String,
    /// Name of the function in the library's table.
    pub function: String,
    /// Name of the stream whose end is called.
    pub stream: String,
    /// Time at which the call was first seen, in nanoseconds of the monotonic clock.
    pub since_ns: u64,
}

/// The calls that were under way at the last look, each with the time at which it was first seen.
#[derive(Debug, Default)]
pub struct LibraryCallWatch {
    seen: Vec<(LibraryCall, u64)>,
}

impl LibraryCallWatch {
    /// Looks at the calls of this process. The result are those that were under way for long.
    pub fn look(&mut self, now_ns: u64) -> Vec<LibraryCallMetadata> {
        self.compare(calls_under_way(), now_ns)
    }

    fn compare(&mut self, calls: Vec<LibraryCall>, now_ns: u64) -> Vec<LibraryCallMetadata> {
        let first_seen = |call: &LibraryCall| {
            let is_it =
                |(seen, _): &&(LibraryCall, u64)| (seen.end, seen.call) == (call.end, call.call);
            self.seen.iter().find(is_it).map_or(now_ns, |seen| seen.1)
        };
        let calls = calls.into_iter().map(|call| {
            let since_ns = first_seen(&call);
            (call, since_ns)
        });
        self.seen = calls.collect();
        let is_long = |(_, since): &&(LibraryCall, u64)| now_ns.saturating_sub(*since) >= LONG_NS;
        let long = self.seen.iter().filter(is_long);
        let long = long.map(|(call, since_ns)| LibraryCallMetadata {
            library: call.library.display().to_string(),
            function: call.function.to_owned(),
            stream: call.edge.clone(),
            since_ns: *since_ns,
        });
        long.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn call(end: u64, call: u64) -> LibraryCall {
        LibraryCall {
            library: Path::new("/lib.so"),
            edge: format!("S{end}.0"),
            function: "claim",
            end,
            call,
        }
    }

    #[test]
    fn a_call_that_lasts_is_reported_with_its_first_sight() {
        let mut watch = LibraryCallWatch::default();
        let mut look = |calls: &[LibraryCall], ms: u64| {
            let found = watch.compare(calls.to_vec(), ms * 1_000_000);
            let found = found
                .into_iter()
                .map(|call| (call.stream, call.since_ns / 1_000_000));
            found.collect::<Vec<_>>()
        };
        assert_eq!(look(&[call(0, 7)], 100), []);
        assert_eq!(look(&[call(0, 7), call(1, 3)], 600), []);
        // Other calls of an end are not one that lasts.
        assert_eq!(
            look(&[call(0, 7), call(1, 4)], 1100),
            [("S0.0".to_owned(), 100)]
        );
        assert_eq!(
            look(&[call(0, 7), call(1, 5)], 1600),
            [("S0.0".to_owned(), 100)]
        );
        assert_eq!(look(&[call(1, 6)], 2100), []);
        assert_eq!(
            look(&[call(0, 7)], 2600),
            [],
            "it is another end's, or returned"
        );
    }
}
