//! Where a running operator submits: the outlet of the calls and of the threads of a PE.

use std::sync::atomic::Ordering;

use graph::{Fault, Services, State};
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::{Batch, Context};
use crate::past::Past;
use crate::region::Region;
use crate::voice::Voice;
use crate::wiring::{CLOSED, OPEN, OutPort};
use crate::{Outlet, Row};

/// The outlet of one call.
pub(crate) struct Desk<'a> {
    region: &'a Region,
    /// For whom it acts.
    node: u32,
    outs: &'a [OutPort],
    voice: &'a Voice,
    /// What a built operator's expressions read; lent to one evaluation at a time.
    lent: Option<Lent<'a>>,
}

/// What the run time keeps for an operator's expressions.
pub(crate) struct Lent<'a> {
    pub state: &'a mut State,
    pub past: &'a Past,
}

impl<'a> Desk<'a> {
    /// For code of a lowered operator, which comes with its own context.
    #[inline]
    pub fn new(region: &'a Region, node: u32) -> Desk<'a> {
        let at = node as usize;
        Desk {
            region,
            node,
            outs: &region.wiring.outs[at],
            voice: &region.wiring.voices[at],
            lent: None,
        }
    }

    /// For a built operator, which evaluates through it.
    pub fn lending(region: &'a Region, node: u32, lent: Lent<'a>) -> Desk<'a> {
        let lent = Some(lent);
        Desk {
            lent,
            ..Desk::new(region, node)
        }
    }

    /// For whom it acts now.
    pub fn node(&self) -> u32 {
        self.node
    }

    fn port(&self, port: u32) -> Result<&'a OutPort, Fault> {
        let outs = self.outs;
        outs.get(port as usize)
            .ok_or_else(|| no_port(port, outs.len()))
    }
}

#[cold]
fn no_port(port: u32, count: usize) -> Fault {
    Fault::value(format!("there is no output port {port}, only {count}"))
}

impl Outlet for Desk<'_> {
    #[inline]
    fn submit(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let out = self.port(port)?;
        match out.state.load(Ordering::Relaxed) {
            OPEN => {}
            CLOSED => return Ok(()),
            _ => return Err(self.voice.interrupt()),
        }
        out.submitted.add(1);
        for &target in &out.targets {
            self.region.deliver(target, tuple)?;
        }
        Ok(())
    }

    fn submit_made(&mut self, port: u32, tuple: &mut TupleBuf) -> Result<(), Fault> {
        let out = self.port(port)?;
        let [target] = out.targets[..] else {
            return self.submit(port, tuple.as_ref());
        };
        if out.state.load(Ordering::Relaxed) != OPEN {
            return self.submit(port, tuple.as_ref());
        }
        out.submitted.add(1);
        self.region.deliver_made(target, tuple)
    }

    fn submit_each(&mut self, port: u32, batch: &mut Batch<'_>, kind: u8) -> Result<u64, Fault> {
        let out = self.port(port)?;
        let [target] = out.targets[..] else {
            return Ok(0);
        };
        if out.state.load(Ordering::Relaxed) != OPEN {
            return Ok(0);
        }
        let (count, result) = self.region.deliver_each(target, batch, kind);
        out.submitted.add(count);
        result.map(|()| count)
    }

    fn wake(&mut self, port: u32) {
        let out = self.outs.get(port as usize);
        for target in out.iter().flat_map(|out| &out.targets) {
            self.region.with_node(target.node, |node| node.wake());
        }
    }

    fn punctuate(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault> {
        let out = self.port(port)?;
        match out.state.load(Ordering::Relaxed) {
            OPEN => {}
            CLOSED => return Ok(()),
            _ => return Err(self.voice.interrupt()),
        }
        out.marks.count(mark);
        if mark == Punctuation::Final {
            out.close();
            self.region.end_watermarks(self.node, port)?;
        }
        for &target in out.targets.iter().filter(|target| target.takes(mark)) {
            self.region.deliver_mark(target, mark)?;
        }
        Ok(())
    }

    fn watermark(&mut self, port: u32, at: EventTime) -> Result<(), Fault> {
        match self.port(port)?.state.load(Ordering::Relaxed) {
            OPEN => {}
            CLOSED => return Ok(()),
            _ => return Err(self.voice.interrupt()),
        }
        let mut lanes = self.region.wiring.lanes(self.node, port).iter();
        lanes.try_for_each(|lane| self.region.deliver_watermark(lane, Watermark::At(at)))
    }

    #[inline]
    fn services(&mut self) -> &mut dyn Services {
        &mut self.voice
    }

    fn evaluate(
        &mut self,
        row: &Row<'_>,
        code: &mut dyn FnMut(&mut Context<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let lent = self.lent.take();
        let Some(Lent { state, past }) = lent else {
            return Err(Fault::value("an evaluation inside an evaluation"));
        };
        let result = past.with_row(row, |inputs| {
            code(&mut Context {
                inputs,
                state: &mut *state,
                outlet: self,
                mark: None,
            })
        });
        self.lent = Some(Lent { state, past });
        result
    }

    fn abandon(&mut self, port: u32) {
        if let Ok(out) = self.port(port) {
            self.region.abandon(out);
        }
    }

    #[inline]
    fn act_as(&mut self, operator: u32) -> u32 {
        let before = self.node;
        self.node = operator;
        self.outs = &self.region.wiring.outs[operator as usize];
        self.voice = &self.region.wiring.voices[operator as usize];
        before
    }
}
