//! Calls on a running operator, and the duties of the run time around each.

use eval::{Fault, State};
use graph::PortIndex;
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef, Value, Watermark};

use super::built_operator::BuiltOperator;
use super::operator_instance::OperatorInstance;
use super::operator_outlet::{EvaluationState, OperatorOutlet};
use super::thread_region::ThreadRegion;
use super::tuple_history::TupleHistory;
use crate::abi::{BatchCode, CodeContext, FrameBatch, FrameForm, RunBody};
use crate::contract::incomplete_windows::IncompleteWindows;
use crate::contract::late_tuples::LATE_METRIC;
use crate::{Outlet, TimerId};

/// Calls by the run time. None of them is entered twice.
impl OperatorInstance {
    /// Processes a tuple of an input port.
    #[inline]
    pub fn process_tuple(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        if self.is_finished || self.ports[port.index()].finals_left == 0 {
            return Ok(());
        }
        self.processed[port.index()].add(1);
        self.ports[port.index()].debug_check(tuple);
        let result = self.run_on_tuple(region, port, tuple);
        self.history.push(port, tuple);
        result
    }

    /// Processes a tuple with its buffer; for operators that accept owned tuples.
    pub fn process_owned(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        tuple: &mut TupleBuf,
    ) -> Result<(), Fault> {
        if self.is_finished || self.ports[port.index()].finals_left == 0 {
            return Ok(());
        }
        self.processed[port.index()].add(1);
        self.ports[port.index()].debug_check(tuple.as_ref());
        self.call_built(region, |built, out| built.process_owned(port, tuple, out))
    }

    #[inline]
    fn run_on_tuple(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        if let Some(body) = &mut self.code.on_tuple[port.index()] {
            let state = self.state.borrow();
            let mut outlet = OperatorOutlet::new(region, self.index);
            let blame = region.blame_on_panic(self.index);
            let result = self.history.with_tuple(port, tuple, |inputs| {
                let mut context = CodeContext {
                    inputs,
                    state,
                    outlet: &mut outlet,
                    punctuation: None,
                };
                region.run_as(self.index, || body.run_body(&mut context))
            });
            blame.disarm();
            outlet.blame_on_error(result)?;
        }
        self.call_built(region, |built, out| built.process(port, tuple, out))
    }

    /// Processes tuples from the front of a batch of frames of a kind and form, if there is code
    /// for that. Returns their number.
    pub fn process_batch(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        batch: &mut FrameBatch<'_>,
        frames: (u8, FrameForm),
    ) -> (u64, Result<(), Fault>) {
        let at = port.index();
        if self.is_finished || self.ports[at].finals_left == 0 {
            return (0, Ok(()));
        }
        let Some(Some(code)) = self.code.on_batch.get_mut(at) else {
            return (0, Ok(()));
        };
        let parts = (self.index, self.state.borrow(), &self.history);
        let (count, result) = run_on_batch(code, region, parts, batch, frames);
        self.processed[at].add(count);
        (count, result)
    }

    /// Takes tuples from the front of a batch of frames of a kind and form to all consumers of an
    /// output port of this receiver, if there is code for that, which counts them. Returns their
    /// number.
    pub fn forward_batch(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        batch: &mut FrameBatch<'_>,
        frames: (u8, FrameForm),
    ) -> (u64, Result<(), Fault>) {
        let Some(Some(code)) = self.code.on_received.get_mut(port.index()) else {
            return (0, Ok(()));
        };
        let parts = (self.index, self.state.borrow(), &self.history);
        run_on_batch(code, region, parts, batch, frames)
    }

    /// Processes a marker of one of the port's streams.
    pub fn process_punctuation(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        mark: Punctuation,
    ) -> Result<(), Fault> {
        let at = port.index();
        if self.is_finished || self.ports[at].finals_left == 0 {
            return Ok(());
        }
        match mark {
            Punctuation::Window => {
                self.punctuation[at].count(mark);
                self.run_punct_clause(region, port, mark)?;
                self.call_built(region, |built, out| built.process_window_marker(port, out))?;
                self.forward_window(region, port)
            }
            Punctuation::Final => self.end_stream(region, port),
        }
    }

    /// Processes the final marker of one of the port's streams.
    #[cold]
    fn end_stream(&mut self, region: &ThreadRegion, port: PortIndex) -> Result<(), Fault> {
        let at = port.index();
        let is_last = self.ports[at].finals_left == 1 && !self.ports[at].is_abandoned;
        if is_last {
            let mark = Punctuation::Final;
            self.punctuation[at].count(mark);
            let result = self.run_punct_clause(region, port, mark);
            let result = result.and_then(|()| {
                self.call_built(region, |built, out| built.process_final_marker(port, out))
            });
            let result = result.and_then(|()| self.end_continued(region, port));
            self.ports[at].finals_left = 0;
            result?;
        } else {
            self.ports[at].finals_left -= 1;
        }
        self.finish_if_final(region)
    }

    /// Processes the watermark of one of the port's streams.
    pub fn process_watermark(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        stream: u32,
        mark: Watermark,
    ) -> Result<(), Fault> {
        let Some(input_watermark) = self.watermark.as_mut().filter(|_| !self.is_finished) else {
            return Ok(());
        };
        let Some(at) = input_watermark.advance(port, stream, mark) else {
            return Ok(());
        };
        if input_watermark.is_reported {
            region.wiring.services[self.index as usize]
                .events
                .advance_watermark(at);
        }
        self.advance_watermark(region, at)
    }

    /// Processes an advance of the operator's watermark, and passes it on.
    pub fn advance_watermark(&mut self, region: &ThreadRegion, at: EventTime) -> Result<(), Fault> {
        self.run_on_watermark(region, at)?;
        self.call_built(region, |built, out| built.process_watermark(at, out))?;
        let mut outlet = OperatorOutlet::new(region, self.index);
        let outs = self.watermark.iter().flat_map(|watermark| &watermark.outs);
        outs.copied()
            .try_for_each(|out| outlet.submit_watermark(out, at))
    }

    /// Ends a stream of the port that has no final marker, because the operator that feeds it has
    /// failed or stands behind a loop. Runs no more of the program, but ends operators that wait
    /// for that marker.
    pub fn abandon(&mut self, region: &ThreadRegion, port: PortIndex) -> Result<(), Fault> {
        let port = &mut self.ports[port.index()];
        port.finals_left = port.finals_left.saturating_sub(1);
        port.is_abandoned = true;
        if self.is_finished {
            return Ok(());
        }
        self.finish_if_final(region)
    }

    /// Finishes an operator whose end another thread waits for, when no thread is left to feed it
    /// although no final marker has come.
    pub fn finish_unfed(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        let result = self.run_finish(region);
        self.record_leftover(region);
        result
    }

    /// Wakes the reader of the operator's frames.
    pub fn wake(&mut self) {
        if let Some(built) = &mut self.built {
            built.wake_reader();
        }
    }

    /// Runs a timer of the operator.
    ///
    /// # Panics
    /// The timer submits, although the operator's model says that no timer does: the thread of the
    /// timers may not enter what is downstream.
    pub fn fire_timer(&mut self, region: &ThreadRegion, timer: TimerId) -> Result<(), Fault> {
        if self.is_finished {
            return Ok(());
        }
        let submitted_before = self
            .flags
            .has_silent_timers
            .then(|| region.wiring.submitted_count(self.index));
        let fired = self.run_on_timer(region);
        let fired =
            fired.and_then(|()| self.call_built(region, |built, out| built.on_timer(timer, out)));
        assert!(
            submitted_before
                .is_none_or(|before| before == region.wiring.submitted_count(self.index)),
            "a timer submits, although the operator's model says that none does"
        );
        fired
    }

    /// Runs the thread of a lowered source.
    pub fn run_source(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        let mut body = self.code.on_process.take();
        let result = body
            .as_mut()
            .map_or(Ok(()), |body| self.run_body(region, body.as_mut(), None));
        self.is_finished = true;
        result
    }

    /// Whether the operator has room for a tuple.
    pub fn has_room(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        tuple: TupleRef<'_>,
    ) -> Result<bool, Fault> {
        let mut has_room = true;
        self.call_built(region, |built, out| {
            has_room = built.has_room(port, tuple, out)?;
            Ok(())
        })?;
        Ok(has_room)
    }

    /// Sends what the operator holds back, before its thread sleeps.
    pub fn flush(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        self.call_built(region, |built, out| built.flush(out))
    }

    /// Sends how far the thread has come, without the tuples that the operator holds back.
    pub fn send_progress(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        self.call_built(region, |built, out| built.send_progress(out))
    }

    /// Closes the operator at the end of the PE.
    pub fn close(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        if !self.is_finished {
            self.record_leftover(region);
        }
        self.call_built(region, |built, out| built.close(out))
    }
}

/// Duties of the run time around the calls.
impl OperatorInstance {
    /// Runs the statements for an advance of the watermark.
    fn run_on_watermark(&mut self, region: &ThreadRegion, at: EventTime) -> Result<(), Fault> {
        let (Some(logic), Some(mut body)) = (&self.on_watermark, self.code.on_watermark.take())
        else {
            return Ok(());
        };
        logic.set_variables(self.state.borrow(), at);
        let result = self.run_body(region, body.as_mut(), None);
        self.code.on_watermark = Some(body);
        // Only while a pane fires can functions of the output clause ask for it.
        let events = &region.wiring.services[self.index as usize].events;
        events.set_firing_pane(None);
        self.record_late(region);
        result
    }

    /// Adds the tuples that statements have found too late to the metric.
    fn record_late(&mut self, region: &ThreadRegion) {
        let Some(logic) = &self.on_watermark else {
            return;
        };
        if let Value::Uint64(late) = self.state.borrow().get(logic.late)
            && late > self.late_recorded
        {
            let more = (late - self.late_recorded) as i64;
            region.wiring.services[self.index as usize].add_to_metric(LATE_METRIC, more);
            self.late_recorded = late;
        }
    }

    /// Runs the statements of the timer.
    fn run_on_timer(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        let Some(mut body) = self.code.on_timer.take() else {
            return Ok(());
        };
        let result = self.run_body(region, body.as_mut(), None);
        self.code.on_timer = Some(body);
        result
    }

    fn run_punct_clause(
        &mut self,
        region: &ThreadRegion,
        port: PortIndex,
        mark: Punctuation,
    ) -> Result<(), Fault> {
        let Some(mut body) = self.code.on_punct[port.index()].take() else {
            return Ok(());
        };
        let result = self.run_body(region, body.as_mut(), Some(mark));
        self.code.on_punct[port.index()] = Some(body);
        result
    }

    fn run_body(
        &mut self,
        region: &ThreadRegion,
        body: &mut dyn RunBody,
        mark: Option<Punctuation>,
    ) -> Result<(), Fault> {
        let mut outlet = OperatorOutlet::new(region, self.index);
        let state = self.state.borrow();
        let blame = region.blame_on_panic(self.index);
        let result = self.history.without_tuple(|inputs| {
            let mut context = CodeContext {
                inputs,
                state,
                outlet: &mut outlet,
                punctuation: mark,
            };
            region.run_as(self.index, || body.run_body(&mut context))
        });
        blame.disarm();
        outlet.blame_on_error(result)
    }

    #[inline]
    fn call_built(
        &mut self,
        region: &ThreadRegion,
        call: impl FnOnce(&mut BuiltOperator, &mut OperatorOutlet<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(built) = &mut self.built else {
            return Ok(());
        };
        let evaluation = EvaluationState {
            state: self.state.borrow(),
            history: &self.history,
        };
        let mut outlet = OperatorOutlet::with_evaluation(region, self.index, evaluation);
        let blame = region.blame_on_panic(self.index);
        let result = region.run_as(self.index, || call(built, &mut outlet));
        blame.disarm();
        outlet.blame_on_error(result)
    }

    /// Runs what the operator does at the end of its input.
    fn run_finish(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        if let Some(mut body) = self.code.on_finish.take() {
            self.run_body(region, body.as_mut(), None)?;
        }
        self.call_built(region, |built, out| built.finish(out))
    }

    fn forward_window(&mut self, region: &ThreadRegion, port: PortIndex) -> Result<(), Fault> {
        let mut outlet = OperatorOutlet::new(region, self.index);
        for &out in &self.ports[port.index()].markers_forwarded_to {
            outlet.submit_punctuation(out, Punctuation::Window)?;
        }
        Ok(())
    }

    /// Ends the output port that continues an input port.
    fn end_continued(&self, region: &ThreadRegion, port: PortIndex) -> Result<(), Fault> {
        let Some(out) = self.ports[port.index()].continued_at else {
            return Ok(());
        };
        OperatorOutlet::new(region, self.index).submit_punctuation(out, Punctuation::Final)
    }

    /// Counts the tuples in windows that did not get full, when the operator's input has ended.
    fn record_leftover(&mut self, region: &ThreadRegion) {
        self.record_late(region);
        let state = self.state.borrow();
        let counted = self
            .window
            .map(|window| IncompleteWindows::from_counts(window, state));
        let panes = self.panes;
        let counted = counted.or_else(|| {
            panes.map(|panes| IncompleteWindows::from_panes(panes, self.state.borrow()))
        });
        let slices = self.slices;
        let counted = counted.or_else(|| {
            slices.map(|slices| IncompleteWindows::from_slices(slices, self.state.borrow()))
        });
        let incomplete_windows = || self.built.as_ref()?.incomplete_windows();
        if let Some(incomplete) = counted.or_else(incomplete_windows) {
            region.wiring.record_leftover(self.index, incomplete);
        }
    }

    fn finish_if_final(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        let data = || self.ports.iter().filter(|port| !port.is_control);
        if !data().all(|port| port.finals_left == 0) {
            return Ok(());
        }
        if data().any(|port| port.is_abandoned) {
            return self.end_abandoned(region);
        }
        let result = self.run_finish(region);
        self.record_leftover(region);
        self.is_finished = true;
        result?;
        if self.flags.own_thread {
            return Ok(());
        }
        region.end_outputs(self.index)
    }

    /// Ends an operator whose streams have ended, not all of them with a final marker.
    /// [`crate::Operator::finish`] is called only if another thread waits for the operator's end.
    /// The others abandon their outputs, as if they waited for that marker until the program ends.
    fn end_abandoned(&mut self, region: &ThreadRegion) -> Result<(), Fault> {
        self.record_leftover(region);
        self.is_finished = true;
        if self.flags.always_finishes {
            return self.run_finish(region);
        }
        region.abandon_outputs(self.index);
        Ok(())
    }
}

/// Runs code for batches of an operator, with its state and history, on tuples of a kind and form.
fn run_on_batch(
    code: &mut BatchCode,
    region: &ThreadRegion,
    (operator, state, history): (u32, &mut State, &TupleHistory),
    batch: &mut FrameBatch<'_>,
    (kind, form): (u8, FrameForm),
) -> (u64, Result<(), Fault>) {
    if code.form != form {
        return (0, Ok(()));
    }
    let mut outlet = OperatorOutlet::new(region, operator);
    let blame = region.blame_on_panic(operator);
    let (count, result) = history.without_tuple(|inputs| {
        let mut context = CodeContext {
            inputs,
            state,
            outlet: &mut outlet,
            punctuation: None,
        };
        let body = &mut code.body;
        region.run_as(operator, || {
            body.run_body_on_batch(&mut context, batch, kind)
        })
    });
    blame.disarm();
    (count, outlet.blame_on_error(result))
}
