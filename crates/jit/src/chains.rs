//! Which bodies of a thread's chains are inlined where, and the code of the members.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use graph::StateId;
use runtime::abi::LoweredLogic;
use runtime::abi::{
    BatchCode, ChainEdge, ChainMember, ChainOutput, Counter, MemberEdge, OperatorCode, RunBody,
    ThreadChains,
};
use tuple::Layout;

use crate::code::StateAddresses;
use crate::error::Error;
use crate::jit::{Jit, function_context};
use crate::lower::{
    self, BodyUsage, FunctionContext, InlinedEdge, InlinedOutput, OutputEdge, OutputTarget,
    RingGrantAddresses, SampledOperator, TapAddresses, WatermarkWords,
};
use crate::options::JitOptions;

/// Largest number of nodes of other operators' bodies that are inlined into one machine function.
const CHAIN_NODES_MAX: u32 = 16_000;

/// Compiler of a thread's chains: the members, ready to be inlined.
pub struct ChainCompiler<'c> {
    chains: &'c ThreadChains<'c>,
    options: JitOptions,
    /// The members' code as data, by member number.
    inlinable_operators: Vec<Rc<lower::InlinableOperator>>,
    /// Whether another member inlines the member, by member number.
    is_inlined: Vec<bool>,
    stop_address: i64,
}

impl<'c> ChainCompiler<'c> {
    /// Plans the inlining. Members are taken from the last to the first, for a member may only
    /// inline members behind it.
    ///
    /// # Errors
    /// If an edge of a chain does not lead to a member behind the one that it comes from.
    pub fn new(
        chains: &'c ThreadChains<'c>,
        options: JitOptions,
    ) -> Result<ChainCompiler<'c>, Error> {
        let count = chains.members.len();
        let mut compiler = ChainCompiler {
            chains,
            options,
            inlinable_operators: Vec::with_capacity(count),
            is_inlined: vec![false; count],
            stop_address: chains.stop_flag.expose_provenance() as i64,
        };
        let mut lowered: Vec<Option<Rc<lower::InlinableOperator>>> = vec![None; count];
        for at in (0..count).rev() {
            let member = compiler.lower_member(at, &lowered)?;
            lowered[at] = Some(Rc::new(member));
        }
        compiler.inlinable_operators = lowered.into_iter().flatten().collect();
        Ok(compiler)
    }

    fn lower_member(
        &mut self,
        at: usize,
        lowered: &[Option<Rc<lower::InlinableOperator>>],
    ) -> Result<lower::InlinableOperator, Error> {
        let member = &self.chains.members[at];
        let context = function_context(&member.scope, self.options);
        let on_tuple = member.logic.on_tuple.iter();
        let on_tuple = on_tuple.map(|body| Rc::new((body.clone(), BodyUsage::from_body(body))));
        let on_tuple: Vec<_> = on_tuple.collect();
        let own: u32 = on_tuple.iter().map(|body| body.1.nodes).sum();
        let targets = self.output_targets(member, lowered)?;
        let behind = targets.iter().flat_map(OutputTarget::operators);
        let behind: u32 = behind.map(|edge| edge.operator.nodes).sum();
        Ok(lower::InlinableOperator {
            index: member.scope.index,
            nodes: own + behind,
            inputs: context.inputs,
            first_slots: context.first_slots,
            history: context.history,
            state_layout: context.state_layout,
            state: state_address(member),
            changed_state: changed_by(member.logic),
            watermark: Some(WatermarkWords::from_event_time(member.event_time)),
            on_tuple,
            targets,
        })
    }

    /// Targets of a member's tuples, by output port.
    fn output_targets(
        &mut self,
        member: &ChainMember<'_>,
        lowered: &[Option<Rc<lower::InlinableOperator>>],
    ) -> Result<Vec<OutputTarget>, Error> {
        let ports = member.scope.outputs.iter().enumerate();
        ports
            .map(|(port, layout)| {
                let output = member.chain_outputs.get(port).and_then(Option::as_ref);
                let Some(output) = output else {
                    return Ok(OutputTarget::Outlet(Arc::clone(layout)));
                };
                let edges = self.output_edges((member, output), layout, lowered)?;
                Ok(self.output_target(output, layout, edges))
            })
            .collect()
    }

    /// The ways to all consumers of an output port; those beside each other that get the tuple
    /// through the outlet share one.
    fn output_edges(
        &self,
        (member, output): (&ChainMember<'_>, &ChainOutput<'_>),
        layout: &Layout,
        lowered: &[Option<Rc<lower::InlinableOperator>>],
    ) -> Result<Vec<OutputEdge>, Error> {
        let mut edges = Vec::new();
        for (place, edge) in (0..).zip(&output.edges) {
            let edge = match edge {
                ChainEdge::Member(edge) => {
                    let operator = lowered[edge.member as usize].as_ref();
                    let operator = operator.ok_or_else(|| self.backward_edge(member, edge))?;
                    OutputEdge::Operator(InlinedEdge {
                        operator: Rc::clone(operator),
                        member: edge.member,
                        port: edge.port,
                        processed: edge.processed.address().expose_provenance() as i64,
                    })
                }
                ChainEdge::Frames(frames) => match frames.grant.form.payload_bytes(layout) {
                    Some(bytes) => {
                        OutputEdge::Frame(RingGrantAddresses::from_edge(place, frames, bytes))
                    }
                    None => OutputEdge::Outlet(place..place + 1),
                },
                ChainEdge::Outlet => OutputEdge::Outlet(place..place + 1),
            };
            match (edges.last_mut(), &edge) {
                (Some(OutputEdge::Outlet(before)), OutputEdge::Outlet(also)) => {
                    before.end = also.end;
                }
                _ => edges.push(edge),
            }
        }
        Ok(edges)
    }

    /// The target with these edges, unless the members are too large together.
    fn output_target(
        &mut self,
        output: &ChainOutput<'_>,
        layout: &Arc<Layout>,
        edges: Vec<OutputEdge>,
    ) -> OutputTarget {
        let operators = || edges.iter().filter_map(OutputEdge::operator);
        let size: u32 = operators().map(|edge| edge.operator.nodes).sum();
        if size > CHAIN_NODES_MAX || matches!(edges[..], [OutputEdge::Outlet(_)]) {
            return OutputTarget::Outlet(Arc::clone(layout));
        }
        for edge in operators() {
            self.is_inlined[edge.member as usize] = true;
        }
        let address = |counter: &Counter| counter.address().expose_provenance() as i64;
        let window_counters = output.window_counters.as_ref();
        let inlined = InlinedOutput {
            submitted: address(output.submitted),
            tap: output.tap.map(|tap| TapAddresses {
                is_open: tap.is_open.address().expose_provenance() as i64,
                budget: tap.budget.address().expose_provenance() as i64,
            }),
            edges,
            window_counters: window_counters
                .map(|counters| counters.iter().map(|counter| address(counter)).collect()),
        };
        OutputTarget::Inlined(Arc::clone(layout), Rc::new(inlined))
    }

    fn backward_edge(&self, from: &ChainMember<'_>, edge: &MemberEdge<'_>) -> Error {
        let to = &self.chains.members[edge.member as usize];
        Error::new(format!(
            "internal error: {} feeds {}, which does not come behind it in their chain",
            from.scope.operator.name, to.scope.operator.name
        ))
    }

    /// Compiles the code of every member.
    ///
    /// # Errors
    /// If Cranelift rejects a function.
    pub fn compile(&self, jit: &mut Jit) -> Result<Vec<OperatorCode>, Error> {
        let need_counts = self.need_counts(jit)?;
        (0..self.chains.members.len())
            .map(|at| self.compile_member(at, &need_counts, jit))
            .collect()
    }

    /// Whether a member's code for a tuple may let the thread sleep or reads counts, itself or by
    /// what it inlines, by member number. A batch of such tuples would keep room in the ring, and
    /// would be counted at its end.
    fn need_counts(&self, jit: &mut Jit) -> Result<Vec<bool>, Error> {
        let unit = jit.codegen_unit()?;
        let mut found = vec![false; self.inlinable_operators.len()];
        for (at, operator) in self.inlinable_operators.iter().enumerate().rev() {
            let mut bodies = operator.on_tuple.iter();
            let behind = operator.targets.iter().flat_map(OutputTarget::operators);
            found[at] = bodies.any(|body| unit.needs_counts(&body.1))
                || behind.into_iter().any(|edge| found[edge.member as usize]);
        }
        Ok(found)
    }

    /// The context of a member's code that goes on in no other member.
    fn unchained_context(&self, member: &ChainMember<'_>) -> FunctionContext {
        let context = function_context(&member.scope, self.options);
        let running = self
            .chains
            .running
            .map(|word| word.expose_provenance() as i64);
        FunctionContext {
            state: Some(state_address(member)),
            stop_address: Some(self.stop_address),
            watermark: Some(WatermarkWords::from_event_time(member.event_time)),
            sampled: context
                .sampled
                .map(|sampled| SampledOperator { running, ..sampled }),
            ..context
        }
    }

    fn compile_member(
        &self,
        at: usize,
        need_counts: &[bool],
        jit: &mut Jit,
    ) -> Result<OperatorCode, Error> {
        let member = &self.chains.members[at];
        let name = &member.scope.operator.name;
        let unchained = self.unchained_context(member);
        let inlining = FunctionContext {
            targets: self.inlinable_operators[at].targets.clone(),
            ..unchained.clone()
        };
        // What others inline is seldom called itself: its own code does not inline once more.
        let on_tuple_against = if self.is_inlined[at] {
            &unchained
        } else {
            &inlining
        };
        let mut code = OperatorCode::default();
        for (port, body) in member.logic.on_tuple.iter().enumerate() {
            let title = format!("{name}: onTuple of port {port}");
            let act = jit.compile_body(&title, body, on_tuple_against)?;
            code.on_tuple.push(Some(act));
            let title = format!("{name}: onTuple of port {port}, for a batch");
            let form = member.batch_forms.get(port).copied().flatten();
            let form = form.filter(|_| !need_counts[at]);
            let each = form.map(|form| {
                let body = jit.compile_batch_body(&title, body, (port, form), on_tuple_against)?;
                Ok::<_, Error>(BatchCode { form, body })
            });
            code.on_batch.push(each.transpose()?);
        }
        for (port, body) in member.logic.on_punct.iter().enumerate() {
            let title = format!("{name}: onPunct of port {port}");
            let act = body
                .as_ref()
                .map(|body| jit.compile_body(&title, body, &unchained));
            code.on_punct.push(act.transpose()?);
        }
        if let Some(body) = &member.logic.on_finish {
            let title = format!("{name}: onFinish");
            let act: Box<dyn RunBody> = jit.compile_body(&title, body, &unchained)?;
            code.on_finish = Some(act);
        }
        if let Some(logic) = &member.logic.on_watermark {
            let title = format!("{name}: onWatermark");
            let act: Box<dyn RunBody> = jit.compile_body(&title, &logic.body, &inlining)?;
            code.on_watermark = Some(act);
        }
        if let Some(logic) = &member.logic.on_timer {
            let title = format!("{name}: onTimer");
            let act: Box<dyn RunBody> = jit.compile_body(&title, &logic.body, &inlining)?;
            code.on_timer = Some(act);
        }
        if let Some(body) = &member.logic.on_process {
            let title = format!("{name}: onProcess");
            let context = FunctionContext {
                processes_many: true,
                ..inlining
            };
            let act: Box<dyn RunBody> = jit.compile_body(&title, body, &context)?;
            code.on_process = Some(act);
        }
        Ok(code)
    }
}

/// The state variables that any body of an operator changes, and those that the run time sets for a
/// watermark. A body that is inlined elsewhere may not take what it does not change itself for the
/// same from one tuple to the next: a marker between them, which comes through the outlet, runs
/// `onPunct`.
fn changed_by(logic: &LoweredLogic) -> HashSet<StateId> {
    let of_watermark = logic.on_watermark.iter().flat_map(|logic| {
        let counts = logic.counts.iter().map(|(variable, _)| *variable);
        counts.chain([logic.earliest])
    });
    let bodies = logic.on_tuple.iter();
    let bodies = bodies.chain(logic.on_punct.iter().flatten());
    let bodies = bodies.chain(logic.on_watermark.iter().map(|logic| &logic.body));
    let bodies = bodies.chain(logic.on_timer.iter().map(|logic| &logic.body));
    let bodies = bodies.chain(&logic.on_finish).chain(&logic.on_process);
    bodies
        .flat_map(|body| BodyUsage::from_body(body).changed_state)
        .chain(of_watermark)
        .collect()
}

/// The addresses of a member's state, which stays where it is.
fn state_address(member: &ChainMember<'_>) -> StateAddresses {
    crate::code::state_addresses(member.state)
}
