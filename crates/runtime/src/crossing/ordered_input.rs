//! An input of an ordered merge: one stream, its reorder buffer, and what is known of its origins.

use std::cmp::Ordering;
use std::sync::Arc;

use eval::Fault;
use graph::{OriginId, PortIndex};
use transport::ReceivingEnd;
use tuple::Punctuation;

use crate::counters::crossing_counters::CrossingCounters;
use crate::edge::codec::{PayloadDecoder, tuple_fault};
use crate::edge::frame_kind;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::order::reorder_buffer::{ReorderBuffer, ReorderItem, ReorderItemKind, ReorderPush};
use crate::order::thread_order::ThreadOrder;
use crate::order::{order_position, position_frames};

/// Most bytes that a reorder buffer takes beyond one poll, for streams that may contradict each
/// other: 64 MB.
const BUFFERED_BYTES_MAX: usize = 64 << 20;

/// A stream that an ordered merge takes.
pub(crate) struct OrderedInput {
    /// Output ports and the ranks of the consumers behind them, in order of the ranks.
    pub ports: Vec<(PortIndex, u64)>,
    /// Origins by whose order the stream comes.
    pub origins: Vec<OriginProgress>,
    pub end: Box<dyn ReceivingEnd>,
    pub decoder: PayloadDecoder,
    pub counters: Arc<CrossingCounters>,
    buffer: ReorderBuffer,
    /// Memory for the position of a tuple that is not buffered.
    position: Vec<u64>,
    /// Number of ports that the first item was submitted to.
    ports_done: usize,
    /// Time at which the first item was at hand, if it has a stamp.
    sent_ns: Option<u64>,
    pub(crate) is_ended: bool,
}

/// An origin by whose order a stream comes, and how far the stream has come in it.
pub(crate) struct OriginProgress {
    pub origin: u64,
    /// The stream brings nothing at or before this position behind what is buffered; empty if
    /// nothing is known.
    progress: Vec<u64>,
    /// Buffered items of other origins stand behind this position.
    precedence: Vec<u64>,
    /// Whether `precedence` has risen since the last item was submitted.
    has_new_precedence: bool,
    /// Indexes of the other inputs that carry the origin.
    pub(crate) rival_inputs: Vec<usize>,
}

impl OriginProgress {
    fn new(origin: OriginId) -> OriginProgress {
        OriginProgress {
            origin: origin.into(),
            progress: order_position::new_position(),
            precedence: order_position::new_position(),
            has_new_precedence: false,
            rival_inputs: Vec::new(),
        }
    }

    /// Tells the thread's order the precedence, if it has risen.
    fn tell_precedence(&mut self, order: &ThreadOrder) {
        if std::mem::take(&mut self.has_new_precedence) {
            order.record_precedence(&self.precedence);
        }
    }
}

/// Parts of an input that submit a tuple which is not buffered.
struct PassedParts<'a> {
    ports: &'a [(PortIndex, u64)],
    origins: &'a mut [OriginProgress],
    decoder: &'a mut PayloadDecoder,
    counters: &'a CrossingCounters,
    sent_ns: &'a mut Option<u64>,
}

impl OrderedInput {
    pub fn new(
        end: Box<dyn ReceivingEnd>,
        decoder: PayloadDecoder,
        counters: Arc<CrossingCounters>,
    ) -> OrderedInput {
        OrderedInput {
            ports: Vec::new(),
            origins: Vec::new(),
            end,
            decoder,
            counters,
            buffer: ReorderBuffer::new(),
            position: order_position::new_position(),
            ports_done: 0,
            sent_ns: None,
            is_ended: false,
        }
    }

    /// Declares that the stream comes by the order of an origin.
    pub fn add_origin(&mut self, origin: OriginId) {
        self.buffer.expect_origin(origin.into());
        self.origins.push(OriginProgress::new(origin));
    }

    /// Whether the input polls its medium for more items.
    pub fn wants_more(&self, may_contradict: bool) -> bool {
        let takes_more = may_contradict && self.buffer.bytes() < BUFFERED_BYTES_MAX;
        self.buffer.is_empty() || takes_more && !self.buffer.is_complete()
    }

    /// Buffers the frames that have come. Returns whether there were any.
    ///
    /// # Errors
    /// The medium fails, or a frame is no part of the stream.
    pub fn fill(&mut self) -> Result<bool, Fault> {
        self.take_frames(|_, _, _| Ok(false))
    }

    /// Submits tuples that have come where they lie, as long as nothing waits, and buffers the
    /// other frames: for the only input of a merge, which waits for no other. Returns whether there
    /// were any.
    ///
    /// # Errors
    /// The errors of [`OrderedInput::fill`], and the fault of an operator downstream.
    pub fn pass_tuples(&mut self, out: &mut dyn InsertedOutlet) -> Result<bool, Fault> {
        let mut position = std::mem::take(&mut self.position);
        let passed = self.take_frames(|parts, payload, numbers| {
            if let Some(sent_ns) = parts.sent_ns.take() {
                parts.counters.record_arrival(sent_ns);
            }
            let order = out.order();
            for known in parts.origins.iter_mut() {
                known.tell_precedence(order);
            }
            position.clear();
            position.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
            let tuple = parts.decoder.decode(payload);
            let tuple = tuple.map_err(|error| tuple_fault(parts.counters, &error))?;
            for (at, &(port, rank)) in parts.ports.iter().enumerate() {
                out.order().enter_position(&position, rank);
                out.submit(port, tuple)?;
                out.order().leave_position(at + 1 == parts.ports.len());
            }
            Ok(true)
        });
        self.position = position;
        passed
    }

    /// Takes the frames that have come: gives tuples to `pass` as long as nothing waits, and
    /// buffers those for which it returns false and all other frames. Returns whether there were
    /// any.
    fn take_frames(
        &mut self,
        mut pass: impl FnMut(PassedParts<'_>, &[u8], &[[u8; 8]]) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        let batch = self
            .end
            .poll()
            .map_err(|error| self.counters.transport_fault(&error))?;
        if batch.is_empty() {
            return Ok(false);
        }
        let bytes = batch.bytes().len() as u64;
        let mut frames = 0;
        for frame in batch {
            if frame.kind == frame_kind::STAMP {
                frames += 1;
                let sent_ns = self.counters.decode_stamp(frame.bytes)?;
                match self.buffer.is_empty() {
                    true => self.sent_ns = Some(sent_ns),
                    false => self.buffer.push_stamp(sent_ns),
                }
                continue;
            }
            if frame.kind == frame_kind::POSITIONED_TUPLE && self.buffer.holds_nothing() {
                let opened = position_frames::open_sealed(frame.bytes);
                let (payload, numbers) =
                    opened.map_err(|error| self.counters.transport_fault(&error))?;
                let parts = PassedParts {
                    ports: &self.ports,
                    origins: &mut self.origins,
                    decoder: &mut self.decoder,
                    counters: &self.counters,
                    sent_ns: &mut self.sent_ns,
                };
                if pass(parts, payload, numbers)? {
                    frames += 1;
                    continue;
                }
            }
            let took = self.buffer.push_frame(frame);
            match took.map_err(|error| self.counters.transport_fault(&error))? {
                ReorderPush::Item => frames += 1,
                ReorderPush::Position => {}
                ReorderPush::Progress => {
                    raise_progress(&mut self.origins, self.buffer.last_progress())
                }
                ReorderPush::Precedence => add_precedence(&mut self.origins, &mut self.buffer),
            }
        }
        self.counters.count_frames(frames, bytes);
        self.end.release();
        Ok(true)
    }

    /// The first item that is buffered.
    pub fn first(&self) -> Option<ReorderItem> {
        self.buffer.first()
    }

    /// Position of the first item, and the rank of its next consumer; `None` if it has no position.
    pub fn first_position(&self) -> Option<(&[u64], u64)> {
        let position = self.buffer.position(self.buffer.first()?);
        (!position.is_empty()).then(|| (position, self.rank(self.ports_done)))
    }

    /// Progress of an origin, if the stream carries it.
    pub fn origin_progress(&self, origin: u64) -> Option<&OriginProgress> {
        self.origins
            .iter()
            .find(|origin_progress| origin_progress.origin == origin)
    }

    /// Origins other than the first item's own, with the positions that the first item stands
    /// behind.
    pub fn known_precedences(&self) -> impl Iterator<Item = (&OriginProgress, &[u64])> {
        let own = self.first_position().map(|(position, _)| position[0]);
        let others = self.origins.iter().filter(move |c| Some(c.origin) != own);
        let known = others.filter(|origin_progress| !origin_progress.precedence.is_empty());
        known.map(|origin_progress| (origin_progress, &origin_progress.precedence[..]))
    }

    /// Sets `position` to the last one of an origin that the stream has completed; empty if none is
    /// known.
    pub fn completed_position(&self, origin_progress: &OriginProgress, position: &mut Vec<u64>) {
        position.clear();
        match self.buffer.first_of_origin(origin_progress.origin) {
            Some((first, _)) => {
                position.extend(first);
                order_position::step_before(position);
            }
            None if self.buffer.is_complete() => {
                position.extend([origin_progress.origin, u64::MAX])
            }
            None => position.extend(&origin_progress.progress),
        }
    }

    /// Whether the stream may bring an item that stands before a position and rank.
    pub fn may_precede(&self, position: &[u64], rank: u64) -> bool {
        let is_less = |own: &[u64], own_rank| {
            let other = (position, Some(rank));
            compare_submissions((own, own_rank), other).is_lt()
        };
        match self.first_submission(position[0]) {
            Some((own, own_rank)) => is_less(own, Some(own_rank)),
            None => self.progress_satisfies(position[0], |reached| is_less(reached, None)),
        }
    }

    /// Whether the stream may bring an item at or before a position.
    pub fn may_bring(&self, position: &[u64]) -> bool {
        match self.first_submission(position[0]) {
            Some((own, rank)) => compare_submissions((own, Some(rank)), (position, None)).is_le(),
            None => self.progress_satisfies(position[0], |reached| reached < position),
        }
    }

    /// The position of the first buffered item of an origin, with the rank of its next consumer.
    /// Without the rank it would stand before what an earlier consumer has brought about.
    fn first_submission(&self, origin: u64) -> Option<(&[u64], u64)> {
        let (own, is_first) = self.buffer.first_of_origin(origin)?;
        Some((own, self.rank(if is_first { self.ports_done } else { 0 })))
    }

    fn progress_satisfies(&self, origin: u64, is_less: impl FnOnce(&[u64]) -> bool) -> bool {
        let origin_progress = self
            .origin_progress(origin)
            .filter(|_| !self.buffer.is_complete());
        origin_progress.is_some_and(|origin_progress| is_less(&origin_progress.progress))
    }

    /// Whether an item of an origin is buffered.
    pub fn has_buffered(&self, origin: u64) -> bool {
        self.buffer.first_of_origin(origin).is_some()
    }

    fn rank(&self, handed: usize) -> u64 {
        self.ports.get(handed).map_or(0, |(_, rank)| *rank)
    }

    /// Submits the first item to the next of its consumers.
    ///
    /// # Errors
    /// The fault of an operator downstream, or an item that is no tuple of the stream.
    pub fn submit_first(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let Some(item) = self.buffer.first() else {
            return Ok(());
        };
        let Some(&(port, rank)) = self.ports.get(self.ports_done) else {
            return Ok(());
        };
        if let Some(sent_ns) = self.sent_ns.take() {
            self.counters.record_arrival(sent_ns);
        }
        self.ports_done += 1;
        let is_last = self.ports_done == self.ports.len();
        self.record_precedences(out.order());
        let position = self.buffer.position(item);
        let origin = position
            .first()
            .and_then(|&origin| self.origin_progress(origin));
        let is_alone =
            origin.is_some_and(|origin_progress| origin_progress.rival_inputs.is_empty());
        out.order().enter_position(position, rank);
        self.submit(item, port, out)?;
        out.order().leave_position(is_alone && is_last);
        if is_last {
            self.ports_done = 0;
            self.is_ended = matches!(
                item.kind,
                ReorderItemKind::Final | ReorderItemKind::Abandoned
            );
            self.pop();
        }
        Ok(())
    }

    /// Tells the thread's order behind which positions the next item stands.
    fn record_precedences(&mut self, order: &ThreadOrder) {
        self.origins
            .iter_mut()
            .for_each(|origin_progress| origin_progress.tell_precedence(order));
    }

    fn submit(
        &mut self,
        item: ReorderItem,
        port: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        match item.kind {
            ReorderItemKind::Tuple => {
                let tuple = self.decoder.decode(self.buffer.payload(item));
                let tuple = tuple.map_err(|error| tuple_fault(&self.counters, &error))?;
                out.submit(port, tuple)
            }
            ReorderItemKind::Window => out.submit_punctuation(port, Punctuation::Window),
            ReorderItemKind::Watermark => {
                match frame_kind::decode_watermark(self.buffer.payload(item)) {
                    Some(at) => out.submit_watermark(port, at),
                    None => Ok(()),
                }
            }
            ReorderItemKind::Final => out.submit_punctuation(port, Punctuation::Final),
            ReorderItemKind::Abandoned => {
                out.abandon(port);
                Ok(())
            }
            ReorderItemKind::Precedence | ReorderItemKind::Stamp => Ok(()),
        }
    }

    /// Removes the first item, and the precedences and stamps behind it.
    fn pop(&mut self) {
        self.buffer.pop();
        while let Some(item) = self.buffer.first() {
            let position = self.buffer.position(item);
            match item.kind {
                ReorderItemKind::Precedence => raise_precedence(&mut self.origins, position),
                ReorderItemKind::Stamp => self.sent_ns = position.first().copied(),
                _ => return,
            }
            self.buffer.pop();
        }
    }
}

/// Compares positions, each with a rank behind it or without.
fn compare_submissions(one: (&[u64], Option<u64>), other: (&[u64], Option<u64>)) -> Ordering {
    let ((one, one_rank), (other, other_rank)) = (one, other);
    let common = one.len().min(other.len());
    one[..common].cmp(&other[..common]).then_with(|| {
        let one = one[common..].iter().chain(&one_rank);
        one.cmp(other[common..].iter().chain(&other_rank))
    })
}

fn raise_progress(origins: &mut [OriginProgress], position: &[u64]) {
    if let Some(known) = origins.iter_mut().find(|known| known.origin == position[0]) {
        raise_position(&mut known.progress, position);
    }
}

/// Notes that items which follow stand behind the position of the last precedence frame.
fn add_precedence(origins: &mut [OriginProgress], buffer: &mut ReorderBuffer) {
    raise_progress(origins, buffer.last_progress());
    match buffer.is_empty() {
        true => raise_precedence(origins, buffer.last_progress()),
        false => buffer.push_precedence(),
    }
}

fn raise_precedence(origins: &mut [OriginProgress], position: &[u64]) {
    if let Some(known) = origins.iter_mut().find(|known| known.origin == position[0]) {
        known.has_new_precedence |= raise_position(&mut known.precedence, position);
    }
}

fn raise_position(position: &mut Vec<u64>, to: &[u64]) -> bool {
    let is_higher = position[..] < *to;
    if is_higher {
        position.clear();
        position.extend(to);
    }
    is_higher
}

#[cfg(test)]
mod tests {
    use graph::{CrossingCodec, CrossingId, PeId};
    use transport::fragment::WHOLE;
    use transport::{Batching, EdgeSpec};
    use tuple::{Layout, TupleType, Type};

    use super::*;
    use crate::counters::crossing_counters::CrossingSide;

    fn spec() -> EdgeSpec {
        EdgeSpec {
            name: "A".into(),
            edge: 0,
            receiver_count: 1,
            ring_bytes: 4096,
            batching: Batching::default(),
            token: [0; 16],
            listen: std::net::Ipv4Addr::LOCALHOST.into(),
        }
    }

    #[test]
    fn a_stamp_waits_with_its_tuple() {
        let medium = transport::media::find("ring").expect("a medium");
        let (mut out, mut tickets) = medium.open(&spec()).expect("a sending end");
        let inbound = medium.accept(&spec(), tickets.remove(0)).expect("an end");
        for number in [4_u64, 5] {
            let (mut position, mut sealed) = (Vec::new(), Vec::new());
            position_frames::encode_position(&[7, number], &mut position);
            position_frames::seal_tuple(&number.to_le_bytes(), &position, &mut sealed);
            let stamp = number.to_le_bytes();
            assert!(
                out.try_write(frame_kind::STAMP, WHOLE, &stamp)
                    .expect("room")
            );
            assert!(
                out.try_write(frame_kind::POSITIONED_TUPLE, WHOLE, &sealed)
                    .expect("room")
            );
        }
        let schema = Arc::new(TupleType::new([("n".to_owned(), Type::Uint64)]));
        let decoder = PayloadDecoder::new(CrossingCodec::Facade, Layout::new(&schema), false);
        let counters = Arc::new(
            CrossingCounters::new(
                CrossingId(0),
                "A".into(),
                PeId(0),
                vec![PeId(1)],
                CrossingSide::Receiver,
            )
            .with_latency(),
        );
        let mut end = OrderedInput::new(inbound, decoder, counters.clone());
        assert!(end.fill().expect("frames"));
        let measured = || {
            counters
                .latency()
                .map(|latency| latency.bucket_counts().sum::<u64>())
        };
        assert_eq!((measured(), end.sent_ns), (Some(0), Some(4)));
        end.pop();
        assert_eq!((measured(), end.sent_ns), (Some(0), Some(5)));
        end.pop();
        assert!(end.first().is_none());
    }
}
