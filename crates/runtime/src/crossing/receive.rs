//! Receive: brings streams into a PE, all on one thread.
//!
//! ```text
//!   turn:  poll end 0 -> submit each frame -> release, poll end 1 -> ..., poll end n -> ...
//!          no frame anywhere: idle
//! ```
//! A turn takes from each end what has come, which is bounded by the medium's ring.

use std::sync::Arc;

use graph::{Cardinality, Fault, OperatorModel, OutPortModel, ParamMode, ParamModel};
use ring::frame::Frame;
use transport::fragment::Assembly;
use transport::{Idle, Inbound, Wait};
use tuple::{Punctuation, TupleRef};

use super::codec::Reading;
use super::{Flow, Pacing, quiet, wire};
use crate::{Build, Make, Operator, OperatorEntry, Outlet, Source};

/// The registry's line.
pub(super) const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Receive",
    doc: "Brings streams into a PE. Inserted where the plan cuts streams.",
    outputs: &[OutPortModel {
        count: Cardinality::Any,
        ..OutPortModel::DEFAULT
    }],
    params: &[ParamModel {
        name: "link",
        ty: "uint32",
        mode: ParamMode::Constant,
        mandatory: true,
        list: true,
        doc: "The crossing's number, for each output port.",
        ..ParamModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let links = build.links()?;
    build.drains();
    let layouts = build.outputs.clone();
    let mut ends = Vec::new();
    for ((port, link), layout) in (0..).zip(links).zip(layouts) {
        let (receiving, flow) = build.borders.receiving(link)?;
        ends.push(End {
            port,
            reading: Reading::new(receiving.codec, layout, receiving.is_foreign)?,
            end: receiving.end,
            assembly: Assembly::default(),
            flow,
        });
    }
    let pacing = build.borders.pacing.clone();
    let source = Some(Intake { ends, pacing });
    Ok(Box::new(Receive { source }))
}

struct Receive {
    source: Option<Intake>,
}

impl Operator for Receive {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        let source: Box<dyn Source> = Box::new(self.source.take()?);
        Some(source)
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
    assembly: Assembly,
    flow: Arc<Flow>,
}

/// What a turn at one end has found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Frames,
    FinalMarker,
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
                Found::FinalMarker => {
                    found = true;
                    self.ends.remove(at).flow.goes_on();
                }
            }
        }
        Ok(found)
    }

    fn park(&mut self, idle: &mut Idle) -> Result<(), Fault> {
        let ends = self.ends.iter_mut();
        let mut waits: Vec<&mut dyn Wait> =
            ends.map(|end| &mut *end.end as &mut dyn Wait).collect();
        let parked = idle.park(&mut waits, None);
        parked.map_err(|(at, error)| self.ends[at].flow.broken(&error))
    }
}

impl End {
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<Found, Fault> {
        let End {
            port,
            end,
            reading,
            assembly,
            flow,
        } = self;
        let batch = end.poll().map_err(|error| flow.broken(&error))?;
        let mut found = Found::Nothing;
        let (mut frames, mut bytes) = (0, 0);
        for frame in batch {
            found = Found::Frames;
            frames += 1;
            bytes += frame.bytes.len() as u64;
            if frame.kind == wire::TUPLE {
                let payload = assembly.take(frame.flags, frame.bytes);
                let payload = payload.map_err(|error| flow.broken(&error))?;
                if let Some(payload) = payload {
                    let tuple = reading.tuple(payload);
                    let tuple = tuple.map_err(|error| not_a_tuple(flow, &error))?;
                    out.submit(*port, tuple)?;
                }
            } else if mark(frame, assembly, flow)? == Punctuation::Final {
                found = Found::FinalMarker;
                out.punctuate(*port, Punctuation::Final)?;
                break;
            } else {
                out.punctuate(*port, Punctuation::Window)?;
            }
        }
        if found != Found::Nothing {
            flow.count(frames, bytes);
            end.release();
        }
        Ok(found)
    }
}

/// The marker in a frame that holds no tuple.
fn mark(frame: Frame<'_>, assembly: &Assembly, flow: &Flow) -> Result<Punctuation, Fault> {
    if assembly.is_begun() {
        return Err(flow.fault("is broken: a marker came inside of a tuple"));
    }
    match frame.kind {
        wire::WINDOW => Ok(Punctuation::Window),
        wire::FINAL => Ok(Punctuation::Final),
        kind => Err(flow.fault(&format!(
            "is broken: a frame is of kind {kind}, which means nothing"
        ))),
    }
}

#[cold]
fn not_a_tuple(flow: &Flow, error: &dyn std::fmt::Display) -> Fault {
    flow.fault(&format!("brought what is no tuple of it: {error}"))
}
