//! The queries that peers run, and which of their results are final.

use nexmark::loops::Input;

/// A query of NEXMark as peers run it.
#[derive(Clone, Copy, Debug)]
pub struct PeerQuery {
    /// Number of the query.
    pub number: u32,
    /// Work of the query in a few words.
    pub summary: &'static str,
    /// Function that finds in the fields of a line when its window ends, in milliseconds; `None`
    /// if all results are final at once.
    window_end: Option<WindowEnd>,
}

type WindowEnd = fn(&[&[u8]]) -> Option<i64>;

/// Milliseconds of the windows of queries 5, 7 and 8.
const WINDOW_MS: i64 = 10_000;

/// Milliseconds before the last event within which a window may end without being final: four
/// seconds of the watermark and one of the sessions, which are looked for each second.
const FINAL_LAG_MS: i64 = 5_100;

/// The queries of the comparison.
pub const QUERIES: [PeerQuery; 10] = [
    PeerQuery::unwindowed(0, "pass through"),
    PeerQuery::unwindowed(1, "currency conversion"),
    PeerQuery::unwindowed(2, "selection"),
    PeerQuery::unwindowed(3, "join of persons and auctions"),
    PeerQuery::windowed(5, "hot items, sliding windows", |fields| {
        Some(number(fields, 1)? * 1000 + WINDOW_MS)
    }),
    PeerQuery::windowed(7, "highest bids, tumbling windows", |fields| {
        Some(number(fields, 3)? / WINDOW_MS * WINDOW_MS + WINDOW_MS)
    }),
    PeerQuery::windowed(8, "join in tumbling windows", |fields| {
        Some(number(fields, 2)? * 1000 + WINDOW_MS)
    }),
    PeerQuery::windowed(11, "sessions", |fields| number(fields, 3)),
    PeerQuery::unwindowed(18, "last bid of a person on an auction"),
    PeerQuery::unwindowed(20, "join of bids and auctions"),
];

impl PeerQuery {
    const fn unwindowed(number: u32, summary: &'static str) -> PeerQuery {
        PeerQuery {
            number,
            summary,
            window_end: None,
        }
    }

    const fn windowed(number: u32, summary: &'static str, window_end: WindowEnd) -> PeerQuery {
        PeerQuery {
            number,
            summary,
            window_end: Some(window_end),
        }
    }

    /// The query of a number; `None` if peers do not run it.
    pub fn of_number(number: u32) -> Option<PeerQuery> {
        QUERIES.into_iter().find(|query| query.number == number)
    }

    /// Name of the file in the folder of events that the query reads.
    pub fn input(&self) -> &'static str {
        Input::of_query(self.number).file_name()
    }

    /// Whether a line is a result that every engine has to give when the last event is of
    /// `last_ms`: engines differ in what they do with windows that are open at the end of the
    /// input. A line that cannot be read counts as final, so that it is compared.
    pub fn is_final(&self, line: &[u8], last_ms: i64) -> bool {
        let Some(window_end) = self.window_end else {
            return true;
        };
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
        window_end(&fields).is_none_or(|end| end <= last_ms - FINAL_LAG_MS)
    }
}

fn number(fields: &[&[u8]], at: usize) -> Option<i64> {
    std::str::from_utf8(fields.get(at)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_near_the_end_of_the_input_are_not_final() {
        let hot_items = PeerQuery::of_number(5).unwrap();
        assert!(hot_items.is_final(b"1000,20,3", 35_100));
        assert!(!hot_items.is_final(b"1000,20,3", 35_099));
        let highest = PeerQuery::of_number(7).unwrap();
        assert!(highest.is_final(b"1,2,3,19999,x", 25_100));
        assert!(!highest.is_final(b"1,2,3,20000,x", 25_100));
        assert!(highest.is_final(b"no result", 0));
        assert!(PeerQuery::of_number(0).unwrap().is_final(b"1,2", 0));
        assert!(PeerQuery::of_number(12).is_none());
    }

    #[test]
    fn files_are_those_of_the_loops() {
        let input = |number| PeerQuery::of_number(number).unwrap().input();
        assert_eq!((input(5), input(8)), ("bids.csv", "events.csv"));
    }
}
