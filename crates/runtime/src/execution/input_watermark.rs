//! The input watermark of an operator: the least watermark of the streams that bring it some.
//!
//! ```text
//!    port 0   stream 0   At(7)  \
//!             stream 1   At(9)   >  7, until stream 0 brings more or ends
//!    port 1   stream 0   Ended  /
//! ```
//! As long as one of the streams has brought no watermark, the operator has none.

use graph::PortIndex;
use tuple::{EventTime, Watermark};

/// Watermarks of the streams that come to an operator.
#[derive(Debug)]
pub(crate) struct InputWatermark {
    /// By input port and stream: the latest watermark.
    streams: Box<[Box<[Option<Watermark>]>]>,
    /// Whether there is one stream only, whose watermark is the operator's until it ends.
    has_one_stream: bool,
    has_ended: bool,
    current: Option<EventTime>,
    /// Output ports that the run time passes watermarks on to.
    pub outs: Box<[PortIndex]>,
    /// Whether `getWatermark` returns this watermark, because the operator generates none itself.
    pub is_reported: bool,
}

impl InputWatermark {
    /// For an operator with `stream_counts[p]` such streams at input port `p`; `None` if there are
    /// none.
    pub fn new(
        stream_counts: &[u32],
        outs: Box<[PortIndex]>,
        is_reported: bool,
    ) -> Option<Box<InputWatermark>> {
        if stream_counts.iter().all(|count| *count == 0) {
            return None;
        }
        let port = |count: &u32| vec![None; *count as usize].into();
        Some(Box::new(InputWatermark {
            streams: stream_counts.iter().map(port).collect(),
            has_one_stream: stream_counts.iter().sum::<u32>() == 1,
            has_ended: false,
            current: None,
            outs,
            is_reported,
        }))
    }

    /// Takes the watermark of a stream. Returns the operator's watermark, if that has advanced.
    #[inline]
    pub fn advance(&mut self, port: PortIndex, stream: u32, mark: Watermark) -> Option<EventTime> {
        if !self.has_one_stream {
            return self.advance_least(port, stream, mark);
        }
        let Watermark::At(at) = mark else {
            self.has_ended = true;
            return None;
        };
        if self.has_ended || self.current >= Some(at) {
            return None;
        }
        self.current = Some(at);
        self.current
    }

    /// Takes the watermark of one of several streams.
    fn advance_least(
        &mut self,
        port: PortIndex,
        stream: u32,
        mark: Watermark,
    ) -> Option<EventTime> {
        let known = &mut self.streams[port.index()][stream as usize];
        if *known >= Some(mark) {
            return None;
        }
        let before = known.replace(mark);
        // A stream that was ahead of the least one does not change it.
        if before.is_some() && before > self.current.map(Watermark::At) {
            return None;
        }
        let least = self.streams.iter().flatten().min().copied().flatten();
        let Some(Watermark::At(least)) = least else {
            return None;
        };
        if self.current >= Some(least) {
            return None;
        }
        self.current = Some(least);
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i128) -> Watermark {
        Watermark::At(EventTime(ns))
    }

    #[test]
    fn the_slowest_lane_says_how_far_the_operator_has_come() {
        let mut watermark =
            InputWatermark::new(&[2, 0, 1], Box::default(), true).expect("several streams");
        let mut rise = |port, stream, mark| watermark.advance(port, stream, mark).map(|at| at.0);
        assert_eq!(rise(PortIndex(0), 0, at(5)), None);
        assert_eq!(rise(PortIndex(2), 0, at(9)), None);
        assert_eq!(rise(PortIndex(0), 1, at(-3)), Some(-3));
        assert_eq!(rise(PortIndex(0), 1, at(7)), Some(5));
        assert_eq!(rise(PortIndex(2), 0, at(10)), None);
        // An older watermark changes nothing.
        assert_eq!(rise(PortIndex(0), 0, at(4)), None);
        assert_eq!(rise(PortIndex(0), 0, at(8)), Some(7));
    }

    #[test]
    fn the_watermark_of_one_stream_is_the_operators() {
        let mut watermark = InputWatermark::new(&[0, 1], Box::default(), true).expect("one stream");
        let marks = [at(5), at(5), at(4), at(-9), at(7), Watermark::Ended, at(8)];
        let taken = marks.map(|mark| watermark.advance(PortIndex(1), 0, mark));
        let advances = taken.map(|at| at.map(|at| at.0));
        assert_eq!(advances, [Some(5), None, None, None, Some(7), None, None]);
    }

    #[test]
    fn a_lane_that_is_over_holds_nobody_up() {
        let mut watermark =
            InputWatermark::new(&[1, 1], Box::default(), true).expect("several streams");
        assert_eq!(watermark.advance(PortIndex(0), 0, at(5)), None);
        assert_eq!(
            watermark.advance(PortIndex(1), 0, Watermark::Ended),
            Some(EventTime(5))
        );
        assert_eq!(
            watermark.advance(PortIndex(0), 0, at(6)),
            Some(EventTime(6))
        );
        assert_eq!(watermark.advance(PortIndex(0), 0, Watermark::Ended), None);
        assert!(InputWatermark::new(&[0, 0], Box::default(), true).is_none());
    }
}
