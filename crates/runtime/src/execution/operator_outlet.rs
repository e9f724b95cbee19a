//! The outlet of running operators: submits to the consumers of their output ports.

use std::ops::Range;
use std::sync::atomic::Ordering;

use eval::{Fault, Services, State};
use graph::PortIndex;
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::{CodeContext, CodeOutlet, FrameBatch, FrameForm};
use crate::execution::port_state::{ABANDONED, INTERRUPTED, OPEN, OutputPortState};
use crate::execution::thread_region::ThreadRegion;
use crate::execution::tuple_history::TupleHistory;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::order::thread_order::ThreadOrder;
use crate::services::operator_services::OperatorServices;
use crate::{EvaluationInputs, Outlet};

/// The outlet of one call of an operator.
pub(crate) struct OperatorOutlet<'a> {
    region: &'a ThreadRegion,
    /// The operator that the outlet acts for.
    operator: u32,
    outs: &'a [OutputPortState],
    services: &'a OperatorServices,
    /// State and history for the expressions of a built operator; one evaluation at a time takes
    /// it.
    evaluation: Option<EvaluationState<'a>>,
}

/// State variables and tuple history, which an operator's expressions read.
pub(crate) struct EvaluationState<'a> {
    pub state: &'a mut State,
    pub history: &'a TupleHistory,
}

impl<'a> OperatorOutlet<'a> {
    /// The outlet for calls that evaluate no expressions through it: code of operators, which comes
    /// with its own context, forwarded window markers, and watermarks.
    #[inline]
    pub fn new(region: &'a ThreadRegion, operator: u32) -> OperatorOutlet<'a> {
        let at = operator as usize;
        OperatorOutlet {
            region,
            operator,
            outs: &region.wiring.outs[at],
            services: &region.wiring.services[at],
            evaluation: None,
        }
    }

    /// The outlet for a built operator, which evaluates expressions through it.
    pub fn with_evaluation(
        region: &'a ThreadRegion,
        operator: u32,
        evaluation: EvaluationState<'a>,
    ) -> OperatorOutlet<'a> {
        let evaluation = Some(evaluation);
        OperatorOutlet {
            evaluation,
            ..OperatorOutlet::new(region, operator)
        }
    }

    /// Remembers that a fault comes from the operator that the outlet acts for, if that is new.
    #[inline]
    pub fn blame_on_error(&self, result: Result<(), Fault>) -> Result<(), Fault> {
        result.map_err(|fault| self.region.blame(self.operator, fault))
    }

    /// The end of submitting to a port that is not open.
    #[cold]
    fn refuse(&self, out: &OutputPortState) -> Result<(), Fault> {
        match out.state.load(Ordering::Relaxed) {
            INTERRUPTED => return Err(self.services.interrupt()),
            ABANDONED => self.region.abandon(out),
            _ => {}
        }
        Ok(())
    }

    fn port(&self, port: PortIndex) -> Result<&'a OutputPortState, Fault> {
        let outs = self.outs;
        outs.get(port.index())
            .ok_or_else(|| no_port(port, outs.len()))
    }
}

#[cold]
fn no_port(port: PortIndex, count: usize) -> Fault {
    Fault::value(format!("there is no output port {port}, only {count}"))
}

impl Outlet for OperatorOutlet<'_> {
    #[inline]
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let out = self.port(port)?;
        if out.state.load(Ordering::Relaxed) != OPEN {
            return self.refuse(out);
        }
        out.submitted.add(1);
        if out.tap.is_wanted() {
            self.tap(port, tuple);
        }
        for &consumer in &out.consumers {
            self.region.deliver(consumer, tuple)?;
        }
        Ok(())
    }

    fn submit_owned(&mut self, port: PortIndex, tuple: &mut TupleBuf) -> Result<(), Fault> {
        let out = self.port(port)?;
        let [consumer] = out.consumers[..] else {
            return self.submit(port, tuple.as_ref());
        };
        if out.state.load(Ordering::Relaxed) != OPEN || out.tap.is_wanted() {
            return self.submit(port, tuple.as_ref());
        }
        out.submitted.add(1);
        self.region.deliver_owned(consumer, tuple)
    }

    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        let out = self.port(port)?;
        if out.state.load(Ordering::Relaxed) != OPEN {
            return self.refuse(out);
        }
        out.punctuation.count(mark);
        if mark == Punctuation::Final {
            out.close();
            self.region.end_watermarks(self.operator, port)?;
        }
        for &consumer in out
            .consumers
            .iter()
            .filter(|consumer| consumer.accepts(mark))
        {
            self.region.deliver_punctuation(consumer, mark)?;
        }
        Ok(())
    }

    fn submit_watermark(&mut self, port: PortIndex, at: EventTime) -> Result<(), Fault> {
        let out = self.port(port)?;
        if out.state.load(Ordering::Relaxed) != OPEN {
            return self.refuse(out);
        }
        let mut edges = self
            .region
            .wiring
            .watermark_edges(self.operator, port)
            .iter();
        edges.try_for_each(|edge| self.region.deliver_watermark(edge, Watermark::At(at)))
    }

    #[inline]
    fn services(&mut self) -> &mut dyn Services {
        &mut self.services
    }

    fn evaluate(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        code: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let evaluation = self.evaluation.take();
        let Some(EvaluationState { state, history }) = evaluation else {
            return Err(Fault::value("an evaluation inside an evaluation"));
        };
        let result = history.with_inputs(inputs, |inputs| {
            code(&mut CodeContext {
                inputs,
                state: &mut *state,
                outlet: self,
                punctuation: None,
            })
        });
        self.evaluation = Some(EvaluationState { state, history });
        result
    }

    fn abandon(&mut self, port: PortIndex) {
        if let Ok(out) = self.port(port) {
            self.region.abandon(out);
        }
    }
}

impl CodeOutlet for OperatorOutlet<'_> {
    #[inline]
    fn act_as(&mut self, operator: u32) -> u32 {
        let before = self.operator;
        self.operator = operator;
        self.outs = &self.region.wiring.outs[operator as usize];
        self.services = &self.region.wiring.services[operator as usize];
        before
    }

    fn submit_to(
        &mut self,
        port: PortIndex,
        consumers: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        let out = self.port(port)?;
        if out.state.load(Ordering::Relaxed) != OPEN {
            return self.refuse(out);
        }
        let consumers = consumers.start as usize..consumers.end as usize;
        let mut some = out.consumers[consumers].iter();
        some.try_for_each(|&consumer| self.region.deliver(consumer, tuple))
    }

    fn wake_consumer(&mut self, port: PortIndex, consumer: u32) {
        let operator = self.outs[port.index()].consumers[consumer as usize].operator;
        // The consumer sends frames and has no output ports, so nothing comes back to it.
        let _ = self.region.with_instance(operator, |instance| {
            instance.wake();
            Ok(())
        });
    }

    #[cold]
    fn tap(&mut self, port: PortIndex, tuple: TupleRef<'_>) {
        let tapped = &self.region.wiring.context.tapped;
        if self.outs[port.index()].tap.take() {
            tapped.add(self.operator, port, tuple);
        }
    }
}

impl InsertedOutlet for OperatorOutlet<'_> {
    #[inline]
    fn order(&self) -> &ThreadOrder {
        &self.region.order
    }

    fn submit_batch(
        &mut self,
        port: PortIndex,
        batch: &mut FrameBatch<'_>,
        kind: u8,
        form: FrameForm,
    ) -> Result<u64, Fault> {
        let out = self.port(port)?;
        if out.state.load(Ordering::Relaxed) != OPEN {
            return Ok(0);
        }
        let frames = (kind, form);
        let (count, result) = match out.consumers[..] {
            [consumer] => {
                let delivered = self.region.deliver_batch(consumer, batch, frames);
                out.submitted.add(delivered.0);
                delivered
            }
            _ => {
                let from = (self.operator, port);
                self.region.forward_batch(from, batch, frames)
            }
        };
        result.map(|()| count)
    }
}
