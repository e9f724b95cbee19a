//! Send: takes a stream out of its PE.
//!
//! A facade tuple is copied once, into room that the medium has claimed, as it lies in memory.
//! Markers are frames without a payload, watermarks small ones.

use std::sync::Arc;

use eval::Fault;
use graph::{CrossingId, OriginId, PortIndex};
use ring::frame::frame_bytes;
use transport::{Error, Idler, SendingEnd, Waitable, fragment, monotonic_ns};
use tuple::{EventTime, Layout, TupleRef};

use crate::abi::FrameGrant;
use crate::blocking::{before_sleep, pool_thread, thread_samples};
use crate::counters::crossing_counters::CrossingCounters;
use crate::edge::codec::PayloadEncoder;
use crate::edge::frame_kind;
use crate::edge::idle_policy::IdlePolicy;
use crate::edge::linger::{LingerList, LingeringSender};
use crate::inserted::inserted_operator::InsertedOperator;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::order::sender_positions::SenderPositions;
use crate::order::thread_order::{PENDING_RETRY, ThreadOrder};
use crate::{BuildContext, Outlet};

pub(super) struct SendOperator {
    /// Name and kind of the operator.
    operator: (Arc<str>, Arc<str>),
    /// The medium's end; `None` once it lingers.
    end: Option<Box<dyn SendingEnd>>,
    /// Positions of tuples; `None` if the order of the stream counts nowhere.
    positions: Option<Box<SenderPositions>>,
    /// Whether the crossing has failed and the failure was reported. The end stays, because
    /// compiled code may look for room in it.
    is_broken: bool,
    payload_bytes_max: usize,
    layout: Arc<Layout>,
    encoder: PayloadEncoder,
    /// Whether the final marker is sent.
    is_final_sent: bool,
    /// Whether the PE has failed while the operator waited: nothing more goes out, not even a final
    /// marker.
    is_abandoned: bool,
    /// Number of lost receivers that were traced.
    lost_reported: usize,
    counters: Arc<CrossingCounters>,
    idle_policy: Arc<IdlePolicy>,
    linger: Arc<LingerList>,
    /// Idling while there is no room; made for the first wait.
    idle: Option<Idler>,
}

impl InsertedOperator for SendOperator {
    #[inline]
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        if self.positions.is_none() {
            return self.send_tuple(tuple, out);
        }
        self.send_positioned(tuple, out)
    }

    fn process_window_marker(
        &mut self,
        _: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_with_position(frame_kind::WINDOW, &[], out)
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let at = frame_kind::encode_watermark(at);
        self.send_with_position(frame_kind::WATERMARK, &at, out)
    }

    /// Flushes too, because receivers may end once they have the marker.
    fn process_final_marker(
        &mut self,
        _: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_with_position(frame_kind::FINAL, &[], out)?;
        self.is_final_sent = true;
        self.flush(out)
    }

    fn flush(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send_new_progress(out.order())?;
        let Some(end) = self.live_end() else {
            return Ok(());
        };
        if let Err(error) = end.flush() {
            return Err(self.set_broken(&error));
        }
        if !self.is_final_sent {
            self.trace_lost_receivers(out);
        }
        Ok(())
    }

    fn send_progress(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send_new_progress(out.order())
    }

    fn frame_grant(&mut self) -> Option<FrameGrant> {
        let bytes = self.in_place_bytes()?;
        if self.positions.is_some() || bytes > self.payload_bytes_max {
            return None;
        }
        let grant = self.end.as_mut()?.grant()?;
        let written = self.counters.in_place_counter(frame_bytes(bytes) as u64);
        Some(FrameGrant {
            grant,
            kind: frame_kind::TUPLE,
            form: self.encoder.form(),
            written_count: written.address(),
        })
    }

    fn wake_reader(&mut self) {
        if let Some(end) = &mut self.end {
            end.wake_receivers();
        }
    }

    /// Ends a stream that has no final marker although the PE has not failed: it comes from behind
    /// a loop.
    fn finish(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        if self.is_final_sent || self.idle_policy.has_failed() {
            return Ok(());
        }
        self.is_final_sent = true;
        self.send_frame((frame_kind::ABANDONED, fragment::WHOLE, &[]), out)?;
        self.flush(out)
    }

    fn close(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.finish(out)?;
        if let Some(end) = self.end.take().filter(|_| !self.is_broken) {
            self.linger.add(LingeringSender {
                operator: self.operator.clone(),
                counters: self.counters.clone(),
                end,
            });
        }
        Ok(())
    }
}

impl SendOperator {
    /// Makes the sender of the crossing that the operator's parameters name.
    ///
    /// # Errors
    /// The PE has no sending end of that crossing, or a parameter is out of range.
    pub(super) fn new(build: &mut BuildContext<'_>) -> Result<SendOperator, Fault> {
        let crossing = build.param_uint32s("crossing")?.first().copied();
        let crossing = crossing.map(CrossingId);
        let crossing = crossing.ok_or_else(|| Fault::value("a sender without a crossing"))?;
        let origins = build.param_uint32s("origin")?.into_iter();
        let positions = SenderPositions::new(
            origins.map(OriginId).collect(),
            build.flag("repeatsPosition", false)?,
            build.flag("isRepeatedNext", false)?,
        );
        build.set_needs_flush();
        build.set_always_finishes();
        let operator = (build.operator.name.clone(), build.operator.kind.clone());
        let (outbound, counters) = build.crossing_resources.take_outbound(crossing)?;
        Ok(SendOperator {
            operator,
            payload_bytes_max: outbound.end.payload_bytes_max(),
            layout: build.inputs[0].clone(),
            encoder: PayloadEncoder::new(outbound.codec, build.inputs[0].clone()),
            end: Some(outbound.end),
            positions,
            is_broken: false,
            is_final_sent: false,
            is_abandoned: false,
            lost_reported: 0,
            counters,
            idle_policy: build.crossing_resources.idle_policy.clone(),
            linger: build.crossing_resources.linger.clone(),
            idle: None,
        })
    }

    /// Sends a stamp: the time at which the next tuple is at hand.
    pub(super) fn send_stamp(&mut self, out: &dyn InsertedOutlet) -> Result<(), Fault> {
        let now = monotonic_ns().to_le_bytes();
        self.send_frame((frame_kind::STAMP, fragment::WHOLE, &now), out)
    }

    /// Limits the tuples that compiled code may write before it calls the operator again.
    pub(super) fn limit_grant(&mut self, tuples: u32) {
        let bytes = self.in_place_bytes().unwrap_or(self.layout.size as usize);
        let bytes = frame_bytes(bytes) as u64;
        if let Some(end) = &mut self.end {
            end.limit_grant(bytes.saturating_mul(tuples.into()));
        }
    }

    /// Bytes of the payloads that compiled code may write.
    fn in_place_bytes(&self) -> Option<usize> {
        let bytes = self.encoder.form().payload_bytes(&self.layout)?;
        Some(bytes as usize)
    }

    /// The medium's end; `None` if nothing more goes out.
    #[inline]
    fn live_end(&mut self) -> Option<&mut dyn SendingEnd> {
        match &mut self.end {
            Some(end) if !self.is_broken && !self.is_abandoned => Some(&mut **end),
            _ => None,
        }
    }

    #[inline]
    fn send_tuple(&mut self, tuple: TupleRef<'_>, out: &dyn InsertedOutlet) -> Result<(), Fault> {
        if let PayloadEncoder::Facade = self.encoder {
            return self.send_payload(tuple.bytes(), out);
        }
        let mut encoder = std::mem::replace(&mut self.encoder, PayloadEncoder::Facade);
        let sent = self.send_payload(encoder.encode(tuple), out);
        self.encoder = encoder;
        sent
    }

    /// Sends a tuple with its position: both in one frame, if they fit.
    fn send_positioned(
        &mut self,
        tuple: TupleRef<'_>,
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let Some(mut positions) = self.positions.take() else {
            return Ok(());
        };
        let sent = self.send_precedences(&mut positions, out);
        let sent = sent.and_then(|()| match &self.encoder {
            PayloadEncoder::Facade => self.send_sealed(&mut positions, tuple.bytes(), out),
            _ => {
                let mut encoder = std::mem::replace(&mut self.encoder, PayloadEncoder::Facade);
                let sent = self.send_sealed(&mut positions, encoder.encode(tuple), out);
                self.encoder = encoder;
                sent
            }
        });
        self.end_send(positions, sent, out)
    }

    fn send_sealed(
        &mut self,
        positions: &mut SenderPositions,
        payload: &[u8],
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let has_position = positions.next_position(out.order()).is_some();
        match positions.seal(payload, self.payload_bytes_max) {
            Some(sealed) => {
                let frame = (frame_kind::POSITIONED_TUPLE, fragment::WHOLE, sealed);
                self.send_frame(frame, out)
            }
            None if has_position => {
                self.send_position(frame_kind::POSITION, positions.position_bytes(), out)?;
                self.send_payload(payload, out)
            }
            None => self.send_payload(payload, out),
        }
    }

    /// Sends the positions of other origins behind which the next tuple or marker stands.
    fn send_precedences(
        &mut self,
        positions: &mut SenderPositions,
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        while let Some(position) = positions.next_precedence(out.order()) {
            self.send_position(frame_kind::PRECEDENCE, position, out)?;
        }
        Ok(())
    }

    /// Sends the frame of a marker or watermark, behind its position if that counts.
    fn send_with_position(
        &mut self,
        kind: u8,
        bytes: &[u8],
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let frame = (kind, fragment::WHOLE, bytes);
        let Some(mut positions) = self.positions.take() else {
            return self.send_frame(frame, out);
        };
        let positioned = self.send_precedences(&mut positions, out);
        let positioned = positioned.and_then(|()| match positions.next_position(out.order()) {
            Some(position) => self.send_position(frame_kind::POSITION, position, out),
            None => Ok(()),
        });
        let sent = positioned.and_then(|()| self.send_frame(frame, out));
        self.end_send(positions, sent, out)
    }

    fn end_send(
        &mut self,
        positions: Box<SenderPositions>,
        sent: Result<(), Fault>,
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let is_due = positions.finish_submission(out.order());
        self.positions = Some(positions);
        sent?;
        if is_due {
            before_sleep::send_progress();
        }
        Ok(())
    }

    /// Sends how far the thread has come, if that is news for the receivers.
    fn send_new_progress(&mut self, order: &ThreadOrder) -> Result<(), Fault> {
        let Some(mut positions) = self.positions.take_if(|_| !self.is_final_sent) else {
            return Ok(());
        };
        let mut marked = Ok(());
        while let (Ok(()), Some(position)) = (&marked, positions.next_progress(order)) {
            marked = self.check_position_fits(position);
            let Some(end) = self.live_end().filter(|_| marked.is_ok()) else {
                break;
            };
            match end.try_write(frame_kind::PROGRESS, fragment::WHOLE, position) {
                Ok(true) => self
                    .counters
                    .count_frames(0, frame_bytes(position.len()) as u64),
                Ok(false) => {
                    positions.retract_progress(order);
                    break;
                }
                Err(error) => marked = Err(self.set_broken(&error)),
            }
        }
        self.positions = Some(positions);
        marked
    }

    fn send_position(
        &mut self,
        kind: u8,
        position: &[u8],
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.check_position_fits(position)?;
        self.send_frame((kind, fragment::WHOLE, position), out)
    }

    fn check_position_fits(&self, position: &[u8]) -> Result<(), Fault> {
        if position.len() <= self.payload_bytes_max {
            return Ok(());
        }
        let (len, max) = (position.len(), self.payload_bytes_max);
        let what = format!(
            "cannot say where its tuples stand: that takes frames of {len} bytes, and those of its ring have {max}"
        );
        Err(self.counters.stream_fault(&what))
    }

    #[inline]
    fn send_payload(&mut self, bytes: &[u8], out: &dyn InsertedOutlet) -> Result<(), Fault> {
        if bytes.len() <= self.payload_bytes_max {
            return self.send_frame((frame_kind::TUPLE, fragment::WHOLE, bytes), out);
        }
        let mut pieces = fragment::split_payload(bytes, self.payload_bytes_max);
        pieces
            .try_for_each(|(flags, piece)| self.send_frame((frame_kind::TUPLE, flags, piece), out))
    }

    #[inline]
    fn send_frame(
        &mut self,
        frame: FrameToSend<'_>,
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let (kind, flags, bytes) = frame;
        match self.try_send(kind, flags, bytes)? {
            true => Ok(()),
            false => self.wait_and_write(frame, out),
        }
    }

    /// Sends a frame, unless nothing goes out any more. `false`: there is no room now. All that a
    /// tuple needs is passed in registers; the outlet is for waiting alone.
    fn try_send(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<bool, Fault> {
        let Some(end) = self.live_end() else {
            return Ok(true);
        };
        match end.try_write(kind, flags, bytes) {
            Ok(true) => self
                .counters
                .count_frames(stream_frame_count(kind), frame_bytes(bytes.len()) as u64),
            Ok(false) => return Ok(false),
            Err(error) => return Err(self.set_broken(&error)),
        }
        Ok(true)
    }

    #[cold]
    fn wait_and_write(
        &mut self,
        frame: FrameToSend<'_>,
        out: &dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        before_sleep::flush_once();
        self.counters.begin_wait();
        thread_samples::set_waiting(true);
        let written = pool_thread::while_waiting(|| self.wait_for_room(frame, out.order()));
        thread_samples::set_waiting(false);
        self.counters.end_wait();
        written
    }

    /// Waits until there is room, whether a shutdown was requested or not, because receivers go on
    /// until the final marker.
    fn wait_for_room(&mut self, frame: FrameToSend<'_>, order: &ThreadOrder) -> Result<(), Fault> {
        let idle = match &mut self.idle {
            Some(idle) => idle,
            none => none.insert(self.idle_policy.new_idle()?),
        };
        idle.reset();
        let Some(end) = &mut self.end else {
            return Ok(());
        };
        match write_when_room(end.as_mut(), idle, &self.idle_policy, frame, order) {
            Ok(true) => {
                let (kind, _, bytes) = frame;
                self.counters
                    .count_frames(stream_frame_count(kind), frame_bytes(bytes.len()) as u64)
            }
            Ok(false) => self.is_abandoned = true,
            Err(error) => return Err(self.set_broken(&error)),
        }
        Ok(())
    }

    /// Notes that the crossing has failed: reported once, then tuples are dropped.
    #[cold]
    fn set_broken(&mut self, error: &Error) -> Fault {
        self.is_broken = true;
        self.counters.transport_fault(error)
    }

    /// Traces receivers that are gone while others go on. The launcher reports the cause, so this
    /// is no failure.
    fn trace_lost_receivers(&mut self, out: &mut dyn Outlet) {
        let lost = self
            .end
            .as_ref()
            .map_or(&[][..], |end| end.lost_receivers());
        for &number in &lost[self.lost_reported.min(lost.len())..] {
            let pe = self.counters.to_pes.get(number as usize).copied();
            let pe = pe.map_or("a receiver".to_owned(), |pe| format!("PE {pe}"));
            let message = format!(
                "{pe} does not take the stream {} any more",
                self.counters.stream
            );
            let level = eval::TraceLevel::Warn;
            out.services().trace(level, &message, "transport");
        }
        self.lost_reported = lost.len();
    }
}

/// Kind, flags and payload of a frame.
type FrameToSend<'a> = (u8, u8, &'a [u8]);

/// Writes a frame as soon as there is room. Returns `false` if the PE has failed before.
fn write_when_room(
    end: &mut dyn SendingEnd,
    idle: &mut Idler,
    idle_policy: &IdlePolicy,
    (kind, flags, bytes): FrameToSend<'_>,
    order: &ThreadOrder,
) -> Result<bool, Error> {
    let mut is_out = end.flush()?;
    while !end.try_write(kind, flags, bytes)? {
        if idle_policy.has_failed() {
            return Ok(false);
        }
        if !is_out {
            is_out = end.flush()?;
        }
        let is_pending = order.take_progress_pending() | before_sleep::take_retry();
        if is_pending {
            before_sleep::flush_once();
        }
        if !idle.spin_or_yield() {
            let end: &mut dyn Waitable = &mut *end;
            let parked = idle.park(&mut [end], is_pending.then_some(PENDING_RETRY));
            parked.map_err(|(_, error)| error)?;
        }
    }
    Ok(true)
}

/// Number of frames of the stream that a frame of a kind counts for: a position is part of the
/// frame behind it.
fn stream_frame_count(kind: u8) -> u64 {
    u64::from(kind != frame_kind::POSITION && kind != frame_kind::PRECEDENCE)
}
