//! One running operator: its code, its state, and the duties that the run time has to it.

use std::sync::Arc;

use graph::Fault;
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value, Watermark};

use crate::abi::{Act, Batch, Code, Context, Counter, StateCell};
use crate::catch::Catch;
use crate::desk::{Desk, Lent};
use crate::leftover::{self, CountedWindow, Incomplete};
use crate::marks::MarkCounters;
use crate::past::Past;
use crate::region::Region;
use crate::tide::Tide;
use crate::{Operator, Outlet, TimerId};

/// A running operator. Every method is a call on the operator; none is entered twice.
pub(crate) struct Node {
    /// Its index in the program.
    pub index: u32,
    /// The logic clause of a built operator, or all that a lowered one does.
    pub code: Code,
    pub state: StateCell,
    pub built: Option<Box<dyn Operator>>,
    /// The window of a lowered operator.
    pub window: Option<CountedWindow>,
    pub past: Past,
    pub ports: Vec<InPort>,
    /// See [`crate::wiring::Wiring::processed`].
    pub processed: Arc<[Counter]>,
    /// See [`crate::wiring::Wiring::marks`].
    pub marks: Arc<[MarkCounters]>,
    pub traits: Traits,
    /// `None`: no stream brings it watermarks.
    pub tide: Option<Box<Tide>>,
    /// [`Operator::finish`] was called, or it failed: nothing comes in any more.
    pub is_done: bool,
}

/// An input port's part in the end of the stream.
#[derive(Debug)]
pub(crate) struct InPort {
    /// Streams that have not ended yet.
    pub finals_left: u32,
    /// One of its streams has ended without a final marker.
    pub is_abandoned: bool,
    pub is_control: bool,
    /// What its tuples look like. Debug builds check each one that comes in: code that hands on memory
    /// that is not the tuple is found where it does so.
    pub layout: Arc<Layout>,
    /// Where its window markers are forwarded to.
    pub preserved_by: Vec<u32>,
}

impl InPort {
    /// In debug builds: that the bytes are a tuple of the port's schema.
    fn debug_check(&self, tuple: TupleRef<'_>) {
        if cfg!(debug_assertions)
            && let Err(error) = tuple::layout::check(&self.layout, tuple.bytes())
        {
            panic!("what came in is no {}: {error}", self.layout.schema);
        }
    }
}

/// What is particular about an operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Its thread submits, forwards markers and ends the streams.
    pub own_thread: bool,
    /// Another thread waits for its end.
    pub tells_end: bool,
    /// [`Operator::has_room`] has to be asked.
    pub is_bounded: bool,
    /// [`Operator::flush`] is to be called before its thread sleeps.
    pub holds_back: bool,
    /// It takes tuples with their buffers, and nothing but its own code sees them.
    pub takes_made: bool,
    /// It stands in a feedback loop.
    pub is_cyclic: bool,
    pub catch: Catch,
}

impl Traits {
    /// Nothing that delivering a tuple has to look at.
    pub fn is_plain(&self) -> bool {
        !self.is_bounded && !self.is_cyclic && !self.catch.is_on()
    }
}

/// Calls, by what comes in.
impl Node {
    /// A tuple.
    #[inline]
    pub fn tuple(&mut self, region: &Region, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        if self.is_done || self.ports[port as usize].finals_left == 0 {
            return Ok(());
        }
        self.processed[port as usize].add(1);
        self.ports[port as usize].debug_check(tuple);
        let result = self.process(region, port, tuple);
        self.past.push(port, tuple);
        result
    }

    /// A tuple whose buffer nobody else needs; for an operator that takes it.
    pub fn made(&mut self, region: &Region, port: u32, tuple: &mut TupleBuf) -> Result<(), Fault> {
        if self.is_done || self.ports[port as usize].finals_left == 0 {
            return Ok(());
        }
        self.processed[port as usize].add(1);
        self.ports[port as usize].debug_check(tuple.as_ref());
        self.call(region, |built, out| built.process_made(port, tuple, out))
    }

    #[inline]
    fn process(&mut self, region: &Region, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        if let Some(act) = &mut self.code.on_tuple[port as usize] {
            let state = self.state.borrow();
            let mut desk = Desk::new(region, self.index);
            let suspect = region.blame_on_panic(self.index);
            let result = self.past.with_tuple(port, tuple, |inputs| {
                act.act(&mut Context {
                    inputs,
                    state,
                    outlet: &mut desk,
                    mark: None,
                })
            });
            suspect.defuse();
            region.blame_on_error(result, &desk)?;
        }
        self.call(region, |built, out| built.process(port, tuple, out))
    }

    /// The tuples that a batch begins with, if there is code for batches; how many.
    pub fn each(
        &mut self,
        region: &Region,
        port: u32,
        batch: &mut Batch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>) {
        let at = port as usize;
        let Some(Some(act)) = self.code.on_each.get_mut(at) else {
            return (0, Ok(()));
        };
        if self.is_done || self.ports[at].finals_left == 0 {
            return (0, Ok(()));
        }
        let mut desk = Desk::new(region, self.index);
        let state = self.state.borrow();
        let suspect = region.blame_on_panic(self.index);
        let (count, result) = self.past.with_none(|inputs| {
            let mut context = Context {
                inputs,
                state,
                outlet: &mut desk,
                mark: None,
            };
            act.act_each(&mut context, batch, kind)
        });
        suspect.defuse();
        self.processed[at].add(count);
        (count, region.blame_on_error(result, &desk))
    }

    /// A marker of one of the port's streams.
    pub fn mark(&mut self, region: &Region, port: u32, mark: Punctuation) -> Result<(), Fault> {
        let at = port as usize;
        if self.is_done || self.ports[at].finals_left == 0 {
            return Ok(());
        }
        match mark {
            Punctuation::Window => {
                self.marks[at].count(mark);
                self.clause(region, port, mark)?;
                self.call(region, |built, out| built.window_marker(port, out))?;
                self.forward_window(region, port)
            }
            Punctuation::Final => self.end_stream(region, port),
        }
    }

    /// The final marker of one of the port's streams.
    #[cold]
    fn end_stream(&mut self, region: &Region, port: u32) -> Result<(), Fault> {
        let at = port as usize;
        let is_last = self.ports[at].finals_left == 1 && !self.ports[at].is_abandoned;
        if is_last {
            let mark = Punctuation::Final;
            self.marks[at].count(mark);
            let result = self.clause(region, port, mark);
            let result =
                result.and_then(|()| self.call(region, |built, out| built.final_marker(port, out)));
            self.ports[at].finals_left = 0;
            result?;
        } else {
            self.ports[at].finals_left -= 1;
        }
        self.finish_if_final(region)
    }

    /// The watermark of one of the port's streams.
    pub fn watermark(
        &mut self,
        region: &Region,
        port: u32,
        lane: u32,
        mark: Watermark,
    ) -> Result<(), Fault> {
        let Some(tide) = self.tide.as_mut().filter(|_| !self.is_done) else {
            return Ok(());
        };
        let Some(at) = tide.rise(port, lane, mark) else {
            return Ok(());
        };
        if tide.is_told {
            region.wiring.voices[self.index as usize].events.reach(at);
        }
        self.call(region, |built, out| built.watermark(at, out))?;
        let mut desk = Desk::new(region, self.index);
        let outs = self.tide.iter().flat_map(|tide| &tide.outs);
        outs.copied().try_for_each(|out| desk.watermark(out, at))
    }

    /// A stream of the port has no final marker, because whoever feeds it has failed or stands behind
    /// a loop: what would wait for that marker has to be told, without running any more of the
    /// program.
    pub fn abandon(&mut self, region: &Region, port: u32) -> Result<(), Fault> {
        let port = &mut self.ports[port as usize];
        port.finals_left = port.finals_left.saturating_sub(1);
        port.is_abandoned = true;
        if self.is_done {
            return Ok(());
        }
        self.finish_if_final(region)
    }

    /// Nothing comes in any more, not even a final marker: its own thread is to end.
    pub fn forsake(&mut self, region: &Region) -> Result<(), Fault> {
        if std::mem::replace(&mut self.is_done, true) {
            return Ok(());
        }
        let result = self.call(region, |built, out| built.finish(out));
        self.note_leftover(region);
        result
    }

    /// A frame was written into its ring for somebody who sleeps.
    pub fn wake(&mut self) {
        if let Some(built) = &mut self.built {
            built.wake();
        }
    }

    /// A timer.
    pub fn timer(&mut self, region: &Region, timer: TimerId) -> Result<(), Fault> {
        if self.is_done {
            return Ok(());
        }
        self.call(region, |built, out| built.timer(timer, out))
    }

    /// A lowered source's thread.
    pub fn run(&mut self, region: &Region) -> Result<(), Fault> {
        let mut act = self.code.on_process.take();
        let result = act
            .as_mut()
            .map_or(Ok(()), |act| self.act(region, act.as_mut(), None));
        self.is_done = true;
        result
    }

    /// Whether there is room for a tuple.
    pub fn has_room(
        &mut self,
        region: &Region,
        port: u32,
        tuple: TupleRef<'_>,
    ) -> Result<bool, Fault> {
        let mut has_room = true;
        self.call(region, |built, out| {
            has_room = built.has_room(port, tuple, out)?;
            Ok(())
        })?;
        Ok(has_room)
    }

    /// Its thread is about to sleep.
    pub fn flush(&mut self, region: &Region) -> Result<(), Fault> {
        self.call(region, |built, out| built.flush(out))
    }

    /// Its thread goes on, and says how far it has come.
    pub fn say_reached(&mut self, region: &Region) -> Result<(), Fault> {
        self.call(region, |built, out| built.mark(out))
    }

    /// The PE ends.
    pub fn close(&mut self, region: &Region) -> Result<(), Fault> {
        if !self.is_done {
            self.note_leftover(region);
        }
        self.call(region, |built, out| built.close(out))
    }
}

/// Duties.
impl Node {
    fn clause(&mut self, region: &Region, port: u32, mark: Punctuation) -> Result<(), Fault> {
        let Some(mut act) = self.code.on_punct[port as usize].take() else {
            return Ok(());
        };
        let result = self.act(region, act.as_mut(), Some(mark));
        self.code.on_punct[port as usize] = Some(act);
        result
    }

    fn act(
        &mut self,
        region: &Region,
        act: &mut dyn Act,
        mark: Option<Punctuation>,
    ) -> Result<(), Fault> {
        let mut desk = Desk::new(region, self.index);
        let state = self.state.borrow();
        let suspect = region.blame_on_panic(self.index);
        let result = self.past.with_none(|inputs| {
            act.act(&mut Context {
                inputs,
                state,
                outlet: &mut desk,
                mark,
            })
        });
        suspect.defuse();
        region.blame_on_error(result, &desk)
    }

    #[inline]
    fn call(
        &mut self,
        region: &Region,
        call: impl FnOnce(&mut dyn Operator, &mut dyn Outlet) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(built) = &mut self.built else {
            return Ok(());
        };
        let lent = Lent {
            state: self.state.borrow(),
            past: &self.past,
        };
        let mut desk = Desk::lending(region, self.index, lent);
        let suspect = region.blame_on_panic(self.index);
        let result = call(built.as_mut(), &mut desk);
        suspect.defuse();
        region.blame_on_error(result, &desk)
    }

    fn forward_window(&mut self, region: &Region, port: u32) -> Result<(), Fault> {
        if self.traits.own_thread {
            return Ok(());
        }
        let mut desk = Desk::new(region, self.index);
        for &out in &self.ports[port as usize].preserved_by {
            desk.punctuate(out, Punctuation::Window)?;
        }
        Ok(())
    }

    /// Nothing comes into its windows any more: what they hold is counted.
    fn note_leftover(&mut self, region: &Region) {
        let counted = self.window.map(|window| {
            let tuples = match self.state.borrow().get(window.count) {
                Value::Uint32(count) => count.into(),
                _ => 0,
            };
            Incomplete {
                windows: u64::from(tuples > 0),
                tuples,
                help: window.help,
            }
        });
        let built = || self.built.as_ref()?.incomplete();
        if let Some(incomplete) = counted.or_else(built) {
            leftover::note(&region.wiring, self.index, incomplete);
        }
    }

    fn finish_if_final(&mut self, region: &Region) -> Result<(), Fault> {
        let data = || self.ports.iter().filter(|port| !port.is_control);
        if !data().all(|port| port.finals_left == 0) {
            return Ok(());
        }
        if data().any(|port| port.is_abandoned) {
            return self.end_abandoned(region);
        }
        let result = self.call(region, |built, out| built.finish(out));
        self.note_leftover(region);
        self.is_done = true;
        result?;
        if self.traits.own_thread {
            return Ok(());
        }
        region.end_outputs(self.index)
    }

    /// All streams have ended, and not all with a final marker: on every plan the operator is not
    /// finished, as where it waits for that marker until the program ends.
    fn end_abandoned(&mut self, region: &Region) -> Result<(), Fault> {
        self.note_leftover(region);
        self.is_done = true;
        if self.traits.tells_end {
            return self.call(region, |built, out| built.finish(out));
        }
        region.abandon_outputs(self.index);
        Ok(())
    }
}
