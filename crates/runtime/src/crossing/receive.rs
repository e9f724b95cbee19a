//! Receive: brings streams into a PE, all on one thread.
//!
//! ```text
//!    turn:  poll end 0 -> submit each frame -> release, poll end 1 -> ..., poll end n -> ...
//!           no frame anywhere: idle
//! ```
//! A turn takes all frames that have come to each end, at most what the medium's ring holds.
//! Streams whose order counts are taken by [`super::ordered_merge`].

use std::sync::Arc;

use eval::Fault;
use graph::{CrossingId, OperatorModel, OriginId, OutPortModel, ParamMode, ParamModel, PortIndex};
use ring::frame::{Frame, FrameBatch};
use transport::fragment::{FragmentAssembler, WHOLE};
use transport::{Idler, ReceivingEnd, WaitSet, Waitable};
use tuple::{EventTime, Punctuation, TupleRef};

use super::ordered_input::OrderedInput;
use super::ordered_merge::OrderedMerge;
use crate::abi::FrameForm;
use crate::blocking::{before_sleep, thread_samples};
use crate::counters::crossing_counters::CrossingCounters;
use crate::edge::codec::{PayloadDecoder, tuple_fault};
use crate::edge::frame_kind;
use crate::edge::idle_policy::IdlePolicy;
use crate::inserted::inserted_operator::{InsertedOperator, InsertedSource};
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::{BuildContext, OperatorEntry};

/// The registry's entry of Receive.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::inserted(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Receive",
    doc: "Brings streams into a PE. Inserted where the plan cuts streams.",
    outputs: &[OutPortModel::ANY],
    params: &[
        ParamModel {
            mandatory: true,
            doc: "The number of the crossing or ring, for each output port.",
            ..uint32_list("crossing")
        },
        ParamModel {
            doc: "For each output port where its consumer stands among those of the stream. A \
                  crossing that several ports name is handed to each of them.",
            ..uint32_list("rank")
        },
        ParamModel {
            doc: "Crossings whose order counts, each followed by an origin that it is ordered by.",
            ..uint32_list("carried")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn uint32_list(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "uint32",
        mode: ParamMode::Constant,
        is_list: true,
        ..ParamModel::DEFAULT
    }
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault> {
    let crossings = build.param_uint32s("crossing")?.into_iter();
    let crossings: Vec<CrossingId> = crossings.map(CrossingId).collect();
    build.set_drains();
    if build.operator.param("carried").is_some() {
        let source: Box<dyn InsertedSource> = Box::new(build_ordered(build, &crossings)?);
        let source = Some(source);
        return Ok(Box::new(ReceiveOperator {
            source,
            batch_forms: Vec::new(),
        }));
    }
    let layouts = build.outputs.clone();
    let mut streams = Vec::new();
    for ((port, crossing), layout) in (0..).map(PortIndex).zip(crossings).zip(layouts) {
        let (inbound, counters) = build.crossing_resources.take_inbound(crossing)?;
        let decoder = PayloadDecoder::new(inbound.codec, layout, inbound.is_foreign);
        streams.push(ReceivedStream {
            port,
            batch_form: decoder.batch_form(),
            decoder,
            end: inbound.end,
            assembly: FragmentAssembler::default(),
            counters,
        });
    }
    let idle_policy = build.crossing_resources.idle_policy.clone();
    let batch_forms = streams.iter().map(|stream| stream.batch_form).collect();
    let source: Box<dyn InsertedSource> = Box::new(ReceiveSource {
        streams,
        idle_policy,
    });
    let source = Some(source);
    Ok(Box::new(ReceiveOperator {
        source,
        batch_forms,
    }))
}

/// The source of a Receive whose streams come in order.
fn build_ordered(
    build: &mut BuildContext<'_>,
    crossings: &[CrossingId],
) -> Result<OrderedMerge, Fault> {
    let (ranks, carried) = (
        build.param_uint32s("rank")?,
        build.param_uint32s("carried")?,
    );
    let mut streams: Vec<(CrossingId, OrderedInput)> = Vec::new();
    for ((port, &crossing), rank) in (0..).map(PortIndex).zip(crossings).zip(ranks) {
        let known = streams.iter_mut().find(|(known, _)| *known == crossing);
        let end = match known {
            Some((_, end)) => end,
            None => {
                let (inbound, counters) = build.crossing_resources.take_inbound(crossing)?;
                let layout = build.outputs[port.index()].clone();
                let decoder = PayloadDecoder::new(inbound.codec, layout, inbound.is_foreign);
                streams.push((crossing, OrderedInput::new(inbound.end, decoder, counters)));
                &mut streams.last_mut().expect("it was pushed").1
            }
        };
        end.ports.push((port, rank.into()));
    }
    for &[crossing, origin] in carried.as_chunks().0 {
        let end = streams
            .iter_mut()
            .find(|(known, _)| *known == CrossingId(crossing));
        end.into_iter()
            .for_each(|(_, end)| end.add_origin(OriginId(origin)));
    }
    let mut streams: Vec<_> = streams.into_iter().map(|(_, end)| end).collect();
    for end in &mut streams {
        end.ports.sort_by_key(|(_, rank)| *rank);
    }
    Ok(OrderedMerge::new(
        streams,
        build.crossing_resources.idle_policy.clone(),
    ))
}

struct ReceiveOperator {
    source: Option<Box<dyn InsertedSource>>,
    /// By output port: form of the tuples that come in batches.
    batch_forms: Vec<Option<FrameForm>>,
}

impl InsertedOperator for ReceiveOperator {
    fn process(
        &mut self,
        _: PortIndex,
        _: TupleRef<'_>,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        Ok(())
    }

    fn batch_forms(&self) -> Vec<Option<FrameForm>> {
        self.batch_forms.clone()
    }

    fn take_source(&mut self) -> Option<Box<dyn InsertedSource>> {
        self.source.take()
    }
}

/// The source of a Receive whose streams have no order among each other.
struct ReceiveSource {
    /// Streams whose final marker has not come.
    streams: Vec<ReceivedStream>,
    idle_policy: Arc<IdlePolicy>,
}

struct ReceivedStream {
    port: PortIndex,
    end: Box<dyn ReceivingEnd>,
    decoder: PayloadDecoder,
    /// Form of tuples for which operators downstream may have code for batches.
    batch_form: Option<FrameForm>,
    assembly: FragmentAssembler,
    counters: Arc<CrossingCounters>,
}

/// The result of a turn at one end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReceivePoll {
    Nothing,
    Frames,
    End,
}

impl InsertedSource for ReceiveSource {
    fn run(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let mut idle = self.idle_policy.new_idle()?;
        let mut is_idle = false;
        while !self.streams.is_empty() {
            if self.idle_policy.has_failed() {
                self.streams.iter().for_each(|end| out.abandon(end.port));
                return Ok(());
            }
            if self.turn(out)? {
                if std::mem::take(&mut is_idle) {
                    thread_samples::set_waiting(false);
                    self.streams.iter().for_each(|end| end.counters.end_wait());
                }
                idle.reset();
                continue;
            }
            if !std::mem::replace(&mut is_idle, true) {
                before_sleep::flush();
                thread_samples::set_waiting(true);
                self.streams
                    .iter()
                    .for_each(|end| end.counters.begin_wait());
            }
            if !idle.spin_or_yield() {
                self.park(&mut idle)?;
            }
        }
        Ok(())
    }
}

impl ReceiveSource {
    /// Takes the frames that have come to each end. Returns whether there were any.
    fn turn(&mut self, out: &mut dyn InsertedOutlet) -> Result<bool, Fault> {
        let mut found = false;
        let mut at = 0;
        while let Some(end) = self.streams.get_mut(at) {
            match end.turn(out)? {
                ReceivePoll::Nothing => at += 1,
                ReceivePoll::Frames => {
                    found = true;
                    at += 1;
                }
                ReceivePoll::End => {
                    found = true;
                    self.streams.remove(at).counters.end_wait();
                }
            }
        }
        Ok(found)
    }

    fn park(&mut self, idle: &mut Idler) -> Result<(), Fault> {
        let parked = idle.park(self, None);
        parked.map_err(|(at, error)| self.streams[at].counters.transport_fault(&error))
    }
}

impl WaitSet for ReceiveSource {
    fn count(&self) -> usize {
        self.streams.len()
    }

    fn waitable(&self, at: usize) -> &dyn Waitable {
        &*self.streams[at].end
    }

    fn waitable_mut(&mut self, at: usize) -> &mut dyn Waitable {
        &mut *self.streams[at].end
    }
}

impl ReceivedStream {
    fn turn(&mut self, out: &mut dyn InsertedOutlet) -> Result<ReceivePoll, Fault> {
        let mut batch = self
            .end
            .poll()
            .map_err(|error| self.counters.transport_fault(&error))?;
        if batch.is_empty() {
            return Ok(ReceivePoll::Nothing);
        }
        let bytes = batch.bytes().len() as u64;
        let mut delivery = ReceiveDelivery {
            port: self.port,
            decoder: &mut self.decoder,
            batch_form: &mut self.batch_form,
            assembly: &mut self.assembly,
            counters: &self.counters,
            frames: 0,
        };
        let found = delivery.deliver(&mut batch, out)?;
        self.counters.count_frames(delivery.frames, bytes);
        self.end.release();
        Ok(found)
    }
}

/// Parts of a received stream without its medium, which the batch borrows.
struct ReceiveDelivery<'a> {
    port: PortIndex,
    decoder: &'a mut PayloadDecoder,
    batch_form: &'a mut Option<FrameForm>,
    assembly: &'a mut FragmentAssembler,
    counters: &'a CrossingCounters,
    frames: u64,
}

impl ReceiveDelivery<'_> {
    /// Delivers the frames of a batch, up to the stream's end.
    fn deliver(
        &mut self,
        batch: &mut FrameBatch<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<ReceivePoll, Fault> {
        loop {
            self.deliver_batch(batch, out)?;
            let Some(frame) = batch.next() else {
                return Ok(ReceivePoll::Frames);
            };
            self.frames += 1;
            if frame.kind == frame_kind::TUPLE {
                self.deliver_tuple(frame, out)?;
                continue;
            }
            if frame.kind == frame_kind::STAMP {
                self.counters
                    .record_arrival(self.counters.decode_stamp(frame.bytes)?);
                continue;
            }
            if frame.kind == frame_kind::WATERMARK {
                let at = decode_watermark_frame(frame, self.assembly, self.counters)?;
                out.submit_watermark(self.port, at)?;
                continue;
            }
            match decode_marker_frame(frame, self.assembly, self.counters)? {
                Some(mark) => out.submit_punctuation(self.port, mark)?,
                None => out.abandon(self.port),
            }
            if frame.kind != frame_kind::WINDOW {
                return Ok(ReceivePoll::End);
            }
        }
    }

    /// Delivers tuples that compiled code takes in one call, if there is such code.
    #[inline]
    fn deliver_batch(
        &mut self,
        batch: &mut FrameBatch<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let Some(form) = *self.batch_form else {
            return Ok(());
        };
        if self.assembly.is_partial() {
            return Ok(());
        }
        // Code for batches knows no padding frames; some media send them between others.
        let mut taken = 1;
        while taken > 0 {
            batch.skip_padding();
            taken = match batch.is_empty() {
                true => 0,
                false => out.submit_batch(self.port, batch, frame_kind::TUPLE, form)?,
            };
            self.frames += taken;
        }
        // The next frame is of another kind, or there is no code for batches.
        let mut next = *batch;
        let is_whole = |frame: Frame<'_>| frame.kind == frame_kind::TUPLE && frame.flags == WHOLE;
        if next.next().is_some_and(is_whole) {
            *self.batch_form = None;
        }
        Ok(())
    }

    #[inline]
    fn deliver_tuple(
        &mut self,
        frame: Frame<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let payload = self.assembly.add_fragment(frame.flags, frame.bytes);
        let payload = payload.map_err(|error| self.counters.transport_fault(&error))?;
        let Some(payload) = payload else {
            return Ok(());
        };
        let tuple = self.decoder.decode(payload);
        let tuple = tuple.map_err(|error| tuple_fault(self.counters, &error))?;
        out.submit(self.port, tuple)
    }
}

/// The watermark in a frame.
fn decode_watermark_frame(
    frame: Frame<'_>,
    assembly: &FragmentAssembler,
    counters: &CrossingCounters,
) -> Result<EventTime, Fault> {
    check_outside_tuple(assembly, counters)?;
    let at = frame_kind::decode_watermark(frame.bytes);
    at.ok_or_else(|| counters.stream_fault("is broken: a watermark is no instant"))
}

/// Fails if a marker or watermark comes inside of a tuple in pieces.
fn check_outside_tuple(
    assembly: &FragmentAssembler,
    counters: &CrossingCounters,
) -> Result<(), Fault> {
    match assembly.is_partial() {
        true => Err(counters.stream_fault("is broken: a marker came inside of a tuple")),
        false => Ok(()),
    }
}

/// The marker in a frame that holds no tuple; `None` if the stream ends without a final marker.
fn decode_marker_frame(
    frame: Frame<'_>,
    assembly: &FragmentAssembler,
    counters: &CrossingCounters,
) -> Result<Option<Punctuation>, Fault> {
    check_outside_tuple(assembly, counters)?;
    match frame.kind {
        frame_kind::WINDOW => Ok(Some(Punctuation::Window)),
        frame_kind::FINAL => Ok(Some(Punctuation::Final)),
        frame_kind::ABANDONED => Ok(None),
        kind => Err(counters.stream_fault(&format!(
            "is broken: a frame is of kind {kind}, which means nothing"
        ))),
    }
}
