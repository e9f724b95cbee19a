//! Receive: brings streams into a PE, all on one thread.
//!
//! ```text
//!   turn:  poll end 0 -> submit each frame -> release, poll end 1 -> ..., poll end n -> ...
//!          no frame anywhere: idle
//! ```
//! A turn takes from each end what has come, which is bounded by the medium's ring. Streams whose
//! order counts are taken by [`super::merging`].

use std::sync::Arc;

use graph::{Fault, OperatorModel, OutPortModel, ParamMode, ParamModel};
use ring::frame::{Batch, Frame};
use transport::fragment::{Assembly, WHOLE};
use transport::{Ends, Idle, Inbound, Wait};
use tuple::{EventTime, Punctuation, TupleRef};

use super::codec::{Misread, Reading};
use super::merging::{self, Merging};
use super::{Flow, Pacing, quiet, wire};
use crate::{Build, Operator, OperatorEntry, Outlet, Source};

/// The registry's line.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Receive",
    doc: "Brings streams into a PE. Inserted where the plan cuts streams.",
    outputs: &[OutPortModel::ANY],
    params: &[
        ParamModel {
            mandatory: true,
            doc: "The link's number, for each output port.",
            ..list("link")
        },
        ParamModel {
            doc: "For each output port where its consumer stands among those of the stream. A link \
                  that several ports name is handed to each of them.",
            ..list("rank")
        },
        ParamModel {
            doc: "Links whose order counts, each followed by an origin that it is ordered by.",
            ..list("carried")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn list(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "uint32",
        mode: ParamMode::Constant,
        list: true,
        ..ParamModel::DEFAULT
    }
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let links = build.numbers("link")?;
    build.drains();
    if build.operator.param("carried").is_some() {
        let source: Box<dyn Source> = Box::new(ordered(build, &links)?);
        let source = Some(source);
        return Ok(Box::new(Receive { source }));
    }
    let layouts = build.outputs.clone();
    let mut ends = Vec::new();
    for ((port, link), layout) in (0..).zip(links).zip(layouts) {
        let (receiving, flow) = build.borders.receiving(link)?;
        let reading = Reading::new(receiving.codec, layout, receiving.is_foreign);
        ends.push(End {
            port,
            takes_batches: reading.is_plain(),
            reading,
            end: receiving.end,
            assembly: Assembly::default(),
            flow,
        });
    }
    let pacing = build.borders.pacing.clone();
    let source: Box<dyn Source> = Box::new(Intake { ends, pacing });
    let source = Some(source);
    Ok(Box::new(Receive { source }))
}

/// The same of streams whose order counts.
fn ordered(build: &mut Build<'_>, links: &[u32]) -> Result<Merging, Fault> {
    let (ranks, carried) = (build.numbers("rank")?, build.numbers("carried")?);
    let mut ends: Vec<(u32, merging::End)> = Vec::new();
    for ((port, &link), rank) in (0..).zip(links).zip(ranks) {
        let known = ends.iter_mut().find(|(known, _)| *known == link);
        let end = match known {
            Some((_, end)) => end,
            None => {
                let (receiving, flow) = build.borders.receiving(link)?;
                let layout = build.outputs[port as usize].clone();
                let reading = Reading::new(receiving.codec, layout, receiving.is_foreign);
                ends.push((link, merging::End::new(receiving.end, reading, flow)));
                &mut ends.last_mut().expect("it was pushed").1
            }
        };
        end.ports.push((port, rank.into()));
    }
    for &[link, origin] in carried.as_chunks().0 {
        let end = ends.iter_mut().find(|(known, _)| *known == link);
        end.into_iter().for_each(|(_, end)| end.carry(origin));
    }
    let mut ends: Vec<_> = ends.into_iter().map(|(_, end)| end).collect();
    for end in &mut ends {
        end.ports.sort_by_key(|(_, rank)| *rank);
    }
    Ok(Merging::new(ends, build.borders.pacing.clone()))
}

struct Receive {
    source: Option<Box<dyn Source>>,
}

impl Operator for Receive {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        self.source.take()
    }
}

/// What its thread runs.
struct Intake {
    /// Those whose final marker has not come.
    ends: Vec<End>,
    pacing: Arc<Pacing>,
}

struct End {
    port: u32,
    end: Box<dyn Inbound>,
    reading: Reading,
    /// Whether downstream may have code for batches.
    takes_batches: bool,
    assembly: Assembly,
    flow: Arc<Flow>,
}

/// What a turn at one end has found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Frames,
    End,
}

impl Source for Intake {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut idle = self.pacing.idle()?;
        let mut is_idle = false;
        while !self.ends.is_empty() {
            if self.pacing.has_failed() {
                self.ends.iter().for_each(|end| out.abandon(end.port));
                return Ok(());
            }
            if self.turn(out)? {
                if std::mem::take(&mut is_idle) {
                    self.ends.iter().for_each(|end| end.flow.goes_on());
                }
                idle.worked();
                continue;
            }
            if !std::mem::replace(&mut is_idle, true) {
                quiet::flush();
                self.ends.iter().for_each(|end| end.flow.blocks());
            }
            if !idle.pass() {
                self.park(&mut idle)?;
            }
        }
        Ok(())
    }
}

impl Intake {
    /// Takes what has come; whether anything has.
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<bool, Fault> {
        let mut found = false;
        let mut at = 0;
        while let Some(end) = self.ends.get_mut(at) {
            match end.turn(out)? {
                Found::Nothing => at += 1,
                Found::Frames => {
                    found = true;
                    at += 1;
                }
                Found::End => {
                    found = true;
                    self.ends.remove(at).flow.goes_on();
                }
            }
        }
        Ok(found)
    }

    fn park(&mut self, idle: &mut Idle) -> Result<(), Fault> {
        let parked = idle.park(self, None);
        parked.map_err(|(at, error)| self.ends[at].flow.broken(&error))
    }
}

impl Ends for Intake {
    fn count(&self) -> usize {
        self.ends.len()
    }

    fn end(&self, at: usize) -> &dyn Wait {
        &*self.ends[at].end
    }

    fn end_mut(&mut self, at: usize) -> &mut dyn Wait {
        &mut *self.ends[at].end
    }
}

impl End {
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<Found, Fault> {
        let mut batch = self.end.poll().map_err(|error| self.flow.broken(&error))?;
        if batch.is_empty() {
            return Ok(Found::Nothing);
        }
        let bytes = batch.bytes().len() as u64;
        let mut taker = Taker {
            port: self.port,
            reading: &mut self.reading,
            takes_batches: &mut self.takes_batches,
            assembly: &mut self.assembly,
            flow: &self.flow,
            frames: 0,
        };
        let found = taker.take(&mut batch, out)?;
        self.flow.count(taker.frames, bytes);
        self.end.release();
        Ok(found)
    }
}

/// An end without its medium, which the batch borrows.
struct Taker<'a> {
    port: u32,
    reading: &'a mut Reading,
    takes_batches: &'a mut bool,
    assembly: &'a mut Assembly,
    flow: &'a Flow,
    frames: u64,
}

impl Taker<'_> {
    /// Hands on what is in a batch, up to the stream's end.
    fn take(&mut self, batch: &mut Batch<'_>, out: &mut dyn Outlet) -> Result<Found, Fault> {
        loop {
            self.take_each(batch, out)?;
            let Some(frame) = batch.next() else {
                return Ok(Found::Frames);
            };
            self.frames += 1;
            if frame.kind == wire::TUPLE {
                self.tuple(frame, out)?;
                continue;
            }
            if frame.kind == wire::STAMP {
                self.flow.arrived(self.flow.sent_ns(frame.bytes)?);
                continue;
            }
            if frame.kind == wire::WATERMARK {
                let at = watermark(frame, self.assembly, self.flow)?;
                out.watermark(self.port, at)?;
                continue;
            }
            match mark(frame, self.assembly, self.flow)? {
                Some(mark) => out.punctuate(self.port, mark)?,
                None => out.abandon(self.port),
            }
            if frame.kind != wire::WINDOW {
                return Ok(Found::End);
            }
        }
    }

    /// Tuples that compiled code takes in one call, if it does.
    #[inline]
    fn take_each(&mut self, batch: &mut Batch<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !*self.takes_batches || self.assembly.is_begun() {
            return Ok(());
        }
        // Code for batches knows no frames that only fill; some media send them between others.
        let mut taken = 1;
        while taken > 0 {
            batch.skip_filling();
            taken = match batch.is_empty() {
                true => 0,
                false => out.submit_each(self.port, batch, wire::TUPLE)?,
            };
            self.frames += taken;
        }
        // What it has left is something else, or it has no code for batches.
        let mut next = *batch;
        let is_whole = |frame: Frame<'_>| frame.kind == wire::TUPLE && frame.flags == WHOLE;
        *self.takes_batches = !next.next().is_some_and(is_whole);
        Ok(())
    }

    #[inline]
    fn tuple(&mut self, frame: Frame<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let payload = self.assembly.take(frame.flags, frame.bytes);
        let payload = payload.map_err(|error| self.flow.broken(&error))?;
        let Some(payload) = payload else {
            return Ok(());
        };
        let tuple = self.reading.tuple(payload);
        let tuple = tuple.map_err(|error| not_a_tuple(self.flow, &error))?;
        out.submit(self.port, tuple)
    }
}

/// The watermark in a frame.
fn watermark(frame: Frame<'_>, assembly: &Assembly, flow: &Flow) -> Result<EventTime, Fault> {
    outside(assembly, flow)?;
    let at = wire::read_watermark(frame.bytes);
    at.ok_or_else(|| flow.fault("is broken: a watermark is no instant"))
}

/// What is no tuple comes between tuples.
fn outside(assembly: &Assembly, flow: &Flow) -> Result<(), Fault> {
    match assembly.is_begun() {
        true => Err(flow.fault("is broken: a marker came inside of a tuple")),
        false => Ok(()),
    }
}

/// The marker in a frame that holds no tuple; `None`: the stream ends without one.
fn mark(frame: Frame<'_>, assembly: &Assembly, flow: &Flow) -> Result<Option<Punctuation>, Fault> {
    outside(assembly, flow)?;
    match frame.kind {
        wire::WINDOW => Ok(Some(Punctuation::Window)),
        wire::FINAL => Ok(Some(Punctuation::Final)),
        wire::ABANDONED => Ok(None),
        kind => Err(flow.fault(&format!(
            "is broken: a frame is of kind {kind}, which means nothing"
        ))),
    }
}

#[cold]
pub(super) fn not_a_tuple(flow: &Flow, error: &Misread) -> Fault {
    flow.fault(&format!("brought what is no tuple of it: {error}"))
}
