//! Send: takes a stream out of its PE.
//!
//! A facade tuple is copied once, into room that the medium has claimed, and lies there as it lies in
//! memory. Markers are frames without a payload.

use std::sync::Arc;

use graph::{Cardinality, Fault, InPortModel, OperatorModel, ParamMode, ParamModel};
use ring::frame::frame_bytes;
use transport::{Error, Idle, Outbound, Wait, fragment};
use tuple::{Layout, TupleRef};

use super::codec::Writing;
use super::linger::Lingering;
use super::stamping::Stamping;
use super::{Flow, Linger, Pacing, flow, quiet, wire};
use crate::abi::FrameRoom;
use crate::{Build, Make, Operator, OperatorEntry, Outlet};

/// The registry's line.
pub(super) const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Send",
    doc: "Takes a stream out of a PE. Inserted where the plan cuts a stream.",
    inputs: &[InPortModel {
        count: Cardinality::Exactly(1),
        ..InPortModel::DEFAULT
    }],
    params: &[ParamModel {
        name: "link",
        ty: "uint32",
        mode: ParamMode::Constant,
        mandatory: true,
        doc: "The crossing's number.",
        ..ParamModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let link = build.links()?.first().copied().unwrap_or_default();
    build.flushes();
    let operator = (build.operator.name.clone(), build.operator.kind.clone());
    let (sending, flow) = build.borders.sending(link)?;
    let send = Send {
        operator,
        frame_bytes_max: sending.end.frame_bytes_max(),
        layout: build.inputs[0].clone(),
        writing: Writing::new(sending.codec, build.inputs[0].clone()),
        end: Some(sending.end),
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
        if let Writing::Facade = self.writing {
            return self.payload(tuple.bytes());
        }
        let mut writing = std::mem::replace(&mut self.writing, Writing::Facade);
        let sent = self.payload(writing.payload(tuple));
        self.writing = writing;
        sent
    }

    fn window_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.frame(wire::WINDOW, fragment::WHOLE, &[])
    }

    /// Receivers may go once they have it.
    fn final_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.is_over = true;
        self.frame(wire::FINAL, fragment::WHOLE, &[])?;
        self.flush(out)
    }

    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
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

    fn room(&mut self) -> Option<FrameRoom> {
        let bytes = self.layout.size as usize;
        let is_flat = self.layout.is_fixed && matches!(self.writing, Writing::Facade);
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
    fn close(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.is_over && !self.pacing.has_failed() {
            self.is_over = true;
            self.frame(wire::ABANDONED, fragment::WHOLE, &[])?;
        }
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

    /// `None`: nothing more goes out.
    #[inline]
    fn live_end(&mut self) -> Option<&mut dyn Outbound> {
        match &mut self.end {
            Some(end) if !self.is_broken && !self.has_given_up => Some(&mut **end),
            _ => None,
        }
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
                self.flow.count(1, frame_bytes(bytes.len()) as u64);
                Ok(())
            }
            Ok(false) => self.wait_and_put(kind, flags, bytes),
            Err(error) => Err(self.broken(&error)),
        }
    }

    #[cold]
    fn wait_and_put(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<(), Fault> {
        quiet::flush();
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
            Ok(true) => self.flow.count(1, frame_bytes(bytes.len()) as u64),
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
        if !idle.pass() {
            let end: &mut dyn Wait = &mut *end;
            let parked = idle.park(&mut [end], None);
            parked.map_err(|(_, error)| error)?;
        }
    }
    Ok(true)
}
