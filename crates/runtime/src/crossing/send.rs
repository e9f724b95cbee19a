//! Send: takes a stream out of its PE.
//!
//! A facade tuple is copied once, into room that the medium has claimed, and lies there as it lies in
//! memory. Markers are frames without a payload, watermarks small ones.

use std::sync::Arc;

use graph::{Cardinality, Fault, InPortModel, OperatorModel, ParamMode, ParamModel};
use ring::frame::frame_bytes;
use transport::{Error, Idle, Outbound, Wait, fragment};
use tuple::{EventTime, Layout, TupleRef};

use super::codec::Writing;
use super::linger::Lingering;
use super::places::Places;
use super::stamping::Stamping;
use super::{Flow, Linger, Pacing, flow, order, quiet, wire};
use crate::abi::FrameRoom;
use crate::{Build, Operator, OperatorEntry, Outlet};

/// The registry's line.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Send",
    doc: "Takes a stream out of a PE. Inserted where the plan cuts a stream.",
    inputs: &[InPortModel {
        count: Cardinality::Exactly(1),
        ..InPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "link",
            ty: "uint32",
            mode: ParamMode::Constant,
            mandatory: true,
            doc: "The link's number.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "origin",
            ty: "uint32",
            mode: ParamMode::Constant,
            list: true,
            doc: "What the stream is ordered by: then each tuple is sent with its place.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            doc: "The sender that was called before has given the tuple its place.",
            ..flag("again")
        },
        ParamModel {
            doc: "A sender is called behind it whose tuple has the same place.",
            ..flag("more")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn flag(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "boolean",
        mode: ParamMode::Constant,
        ..ParamModel::DEFAULT
    }
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let link = build.numbers("link")?.first().copied().unwrap_or_default();
    let places = Places::new(build)?;
    build.flushes();
    build.tells_end();
    let operator = (build.operator.name.clone(), build.operator.kind.clone());
    let (sending, flow) = build.borders.sending(link)?;
    let send = Send {
        operator,
        frame_bytes_max: sending.end.frame_bytes_max(),
        layout: build.inputs[0].clone(),
        writing: Writing::new(sending.codec, build.inputs[0].clone()),
        end: Some(sending.end),
        places,
        is_broken: false,
        is_over: false,
        has_given_up: false,
        lost: 0,
        flow,
        pacing: build.borders.pacing.clone(),
        linger: build.borders.linger.clone(),
        idle: None,
    };
    Ok(match build.borders.links.has_latency {
        true => Box::new(Stamping::new(send)),
        false => Box::new(send),
    })
}

pub(super) struct Send {
    /// Its name and kind.
    operator: (Arc<str>, Arc<str>),
    /// `None`: it lingers.
    end: Option<Box<dyn Outbound>>,
    /// `None`: the order of the stream counts nowhere.
    places: Option<Box<Places>>,
    /// The link is broken, which was said. The end stays: compiled code may look for room in it.
    is_broken: bool,
    frame_bytes_max: usize,
    layout: Arc<Layout>,
    writing: Writing,
    /// The final marker is sent.
    is_over: bool,
    /// The PE has failed while it waited: nothing more goes out, not even a final marker.
    has_given_up: bool,
    /// How many receivers were said to be gone.
    lost: usize,
    flow: Arc<Flow>,
    pacing: Arc<Pacing>,
    linger: Arc<Linger>,
    /// Made for the first wait.
    idle: Option<Idle>,
}

impl Operator for Send {
    #[inline]
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.places.is_none() {
            return self.tuple(tuple);
        }
        self.placed(tuple)
    }

    fn window_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.in_place(|send| send.frame(wire::WINDOW, fragment::WHOLE, &[]))
    }

    fn watermark(&mut self, at: EventTime, _: &mut dyn Outlet) -> Result<(), Fault> {
        let at = wire::watermark(at);
        self.in_place(|send| send.frame(wire::WATERMARK, fragment::WHOLE, &at))
    }

    /// Receivers may go once they have it.
    fn final_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.in_place(|send| send.frame(wire::FINAL, fragment::WHOLE, &[]))?;
        self.is_over = true;
        self.flush(out)
    }

    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.say_reached()?;
        let Some(end) = self.live_end() else {
            return Ok(());
        };
        if let Err(error) = end.flush() {
            return Err(self.broken(&error));
        }
        if !self.is_over {
            self.note_lost(out);
        }
        Ok(())
    }

    fn mark(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.say_reached()
    }

    fn room(&mut self) -> Option<FrameRoom> {
        let bytes = self.layout.size as usize;
        let is_flat = self.layout.is_fixed && matches!(self.writing, Writing::Facade);
        let is_flat = is_flat && self.places.is_none();
        if !is_flat || bytes > self.frame_bytes_max {
            return None;
        }
        let grant = self.end.as_mut()?.grant()?;
        let written = self.flow.in_place(frame_bytes(bytes) as u64);
        Some(FrameRoom {
            grant,
            kind: wire::TUPLE,
            written: written.address(),
        })
    }

    fn wake(&mut self) {
        if let Some(end) = &mut self.end {
            end.wake();
        }
    }

    /// A stream without a final marker that nobody is to blame for comes from behind a loop.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.is_over || self.pacing.has_failed() {
            return Ok(());
        }
        self.is_over = true;
        self.frame(wire::ABANDONED, fragment::WHOLE, &[])?;
        self.flush(out)
    }

    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.finish(out)?;
        if let Some(end) = self.end.take().filter(|_| !self.is_broken) {
            self.linger.add(Lingering {
                operator: self.operator.clone(),
                flow: self.flow.clone(),
                end,
            });
        }
        Ok(())
    }
}

impl Send {
    /// Says when the tuple that follows was at hand.
    pub(super) fn stamp(&mut self) -> Result<(), Fault> {
        let now = flow::now_ns().to_le_bytes();
        self.frame(wire::STAMP, fragment::WHOLE, &now)
    }

    /// Compiled code writes at most so many tuples more before it calls again.
    pub(super) fn limit_grant(&mut self, tuples: u32) {
        let bytes = frame_bytes(self.layout.size as usize) as u64;
        if let Some(end) = &mut self.end {
            end.limit_grant(bytes.saturating_mul(tuples.into()));
        }
    }

    /// `None`: nothing more goes out.
    #[inline]
    fn live_end(&mut self) -> Option<&mut dyn Outbound> {
        match &mut self.end {
            Some(end) if !self.is_broken && !self.has_given_up => Some(&mut **end),
            _ => None,
        }
    }

    #[inline]
    fn tuple(&mut self, tuple: TupleRef<'_>) -> Result<(), Fault> {
        if let Writing::Facade = self.writing {
            return self.payload(tuple.bytes());
        }
        let mut writing = std::mem::replace(&mut self.writing, Writing::Facade);
        let sent = self.payload(writing.payload(tuple));
        self.writing = writing;
        sent
    }

    /// A tuple whose place counts: both in one frame, if they fit.
    fn placed(&mut self, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let Some(mut places) = self.places.take() else {
            return Ok(());
        };
        let mut writing = std::mem::replace(&mut self.writing, Writing::Facade);
        let sent = self.behind(&mut places);
        let sent = sent.and_then(|()| self.sealed(&mut places, writing.payload(tuple)));
        self.writing = writing;
        self.sent(places, sent)
    }

    fn sealed(&mut self, places: &mut Places, payload: &[u8]) -> Result<(), Fault> {
        let has_place = places.next().is_some();
        match places.seal(payload, self.frame_bytes_max) {
            Some(sealed) => self.frame(wire::PLACED, fragment::WHOLE, sealed),
            None if has_place => {
                self.place(wire::AT, places.bytes())?;
                self.payload(payload)
            }
            None => self.payload(payload),
        }
    }

    /// Says behind what of other origins the next tuple or marker stands.
    fn behind(&mut self, places: &mut Places) -> Result<(), Fault> {
        while let Some(place) = places.behind() {
            self.place(wire::BEHIND, place)?;
        }
        Ok(())
    }

    /// Sends something with its place before it, if that counts.
    fn in_place(&mut self, send: impl FnOnce(&mut Send) -> Result<(), Fault>) -> Result<(), Fault> {
        let Some(mut places) = self.places.take() else {
            return send(self);
        };
        let placed = self.behind(&mut places);
        let placed = placed.and_then(|()| match places.next() {
            Some(place) => self.place(wire::AT, place),
            None => Ok(()),
        });
        let sent = placed.and_then(|()| send(self));
        self.sent(places, sent)
    }

    fn sent(&mut self, places: Box<Places>, sent: Result<(), Fault>) -> Result<(), Fault> {
        let is_due = places.sent();
        self.places = Some(places);
        sent?;
        if is_due {
            quiet::say_reached();
        }
        Ok(())
    }

    /// Says how far the thread has come, if that is news for the receivers.
    fn say_reached(&mut self) -> Result<(), Fault> {
        let Some(mut places) = self.places.take_if(|_| !self.is_over) else {
            return Ok(());
        };
        let mut marked = Ok(());
        while let (Ok(()), Some(place)) = (&marked, places.news()) {
            marked = self.fits(place);
            let Some(end) = self.live_end().filter(|_| marked.is_ok()) else {
                break;
            };
            match end.put(wire::REACHED, fragment::WHOLE, place) {
                Ok(true) => self.flow.count(0, frame_bytes(place.len()) as u64),
                Ok(false) => {
                    places.take_back();
                    break;
                }
                Err(error) => marked = Err(self.broken(&error)),
            }
        }
        self.places = Some(places);
        marked
    }

    fn place(&mut self, kind: u8, place: &[u8]) -> Result<(), Fault> {
        self.fits(place)?;
        self.frame(kind, fragment::WHOLE, place)
    }

    fn fits(&self, place: &[u8]) -> Result<(), Fault> {
        if place.len() <= self.frame_bytes_max {
            return Ok(());
        }
        let (len, max) = (place.len(), self.frame_bytes_max);
        let what = format!(
            "cannot say where its tuples stand: that takes frames of {len} bytes, and those of its ring have {max}"
        );
        Err(self.flow.fault(&what))
    }

    #[inline]
    fn payload(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() <= self.frame_bytes_max {
            return self.frame(wire::TUPLE, fragment::WHOLE, bytes);
        }
        let mut pieces = fragment::pieces(bytes, self.frame_bytes_max);
        pieces.try_for_each(|(flags, piece)| self.frame(wire::TUPLE, flags, piece))
    }

    #[inline]
    fn frame(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<(), Fault> {
        let Some(end) = self.live_end() else {
            return Ok(());
        };
        match end.put(kind, flags, bytes) {
            Ok(true) => {
                self.flow
                    .count(frames(kind), frame_bytes(bytes.len()) as u64);
                Ok(())
            }
            Ok(false) => self.wait_and_put(kind, flags, bytes),
            Err(error) => Err(self.broken(&error)),
        }
    }

    #[cold]
    fn wait_and_put(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<(), Fault> {
        quiet::flush_once();
        self.flow.blocks();
        let put = self.wait(kind, flags, bytes);
        self.flow.goes_on();
        put
    }

    /// Until there is room, whether a shutdown was asked for or not: receivers take until the final
    /// marker.
    fn wait(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<(), Fault> {
        let idle = match &mut self.idle {
            Some(idle) => idle,
            none => none.insert(self.pacing.idle()?),
        };
        idle.worked();
        let Some(end) = &mut self.end else {
            return Ok(());
        };
        let put = put_when_room(end.as_mut(), idle, &self.pacing, (kind, flags, bytes));
        match put {
            Ok(true) => self
                .flow
                .count(frames(kind), frame_bytes(bytes.len()) as u64),
            Ok(false) => self.has_given_up = true,
            Err(error) => return Err(self.broken(&error)),
        }
        Ok(())
    }

    /// The link does not work: said once, then tuples are dropped.
    #[cold]
    fn broken(&mut self, error: &Error) -> Fault {
        self.is_broken = true;
        self.flow.broken(error)
    }

    /// Receivers that are gone while others go on: whoever runs the job knows why, so it is only
    /// traced.
    fn note_lost(&mut self, out: &mut dyn Outlet) {
        let lost = self.end.as_ref().map_or(&[][..], |end| end.lost());
        for &number in &lost[self.lost.min(lost.len())..] {
            let pe = self.flow.to.get(number as usize).copied();
            let pe = pe.map_or("a receiver".to_owned(), |pe| format!("PE {pe}"));
            let message = format!(
                "{pe} does not take the stream {} any more",
                self.flow.stream
            );
            let level = graph::TraceLevel::Warn;
            out.services().trace(level, &message, "transport");
        }
        self.lost = lost.len();
    }
}

/// `false`: the PE has failed before there was room.
fn put_when_room(
    end: &mut dyn Outbound,
    idle: &mut Idle,
    pacing: &Pacing,
    (kind, flags, bytes): (u8, u8, &[u8]),
) -> Result<bool, Error> {
    let mut is_out = end.flush()?;
    while !end.put(kind, flags, bytes)? {
        if pacing.has_failed() {
            return Ok(false);
        }
        if !is_out {
            is_out = end.flush()?;
        }
        let is_pending = order::take_pending();
        if is_pending {
            quiet::flush_once();
        }
        if !idle.pass() {
            let end: &mut dyn Wait = &mut *end;
            let parked = idle.park(&mut [end], is_pending.then_some(order::RETRY));
            parked.map_err(|(_, error)| error)?;
        }
    }
    Ok(true)
}

/// How many frames of the stream one of a kind is: a place is part of what it belongs to.
fn frames(kind: u8) -> u64 {
    u64::from(kind != wire::AT && kind != wire::BEHIND)
}
