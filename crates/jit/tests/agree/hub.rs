//! A little run time for chains of operators: members joined by edges, run by either backend.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, InputTuples, OperatorEventTime, Services};
use graph::{OperatorNode, PortIndex};
use runtime::abi::{
    Backend, ChainEdge, ChainMember, ChainOutput, CodeContext, CodeOutlet, CodeScope, Counter,
    FrameBatch, FrameForm, MemberEdge, OperatorCode, StateCell, ThreadChains,
};
use runtime::{EvaluationInputs, LoweredLogic, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value, normal};

use crate::rig::{Event, Rig, Sink};

/// An operator of a chain and where its tuples go: by output port the members and their ports, or
/// `None` for the outside.
pub struct Node {
    pub rig: Rig,
    pub logic: LoweredLogic,
    pub edges: Vec<Option<Vec<(u32, PortIndex)>>>,
}

/// Observations of a chain: who submitted which tuples; then states and counters.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub result: Result<(), String>,
    pub events: Vec<(u32, Event)>,
    pub acting: u32,
    pub states: Vec<String>,
    pub counts: Vec<u64>,
}

struct Hub<'a> {
    nodes: &'a [Node],
    codes: Vec<RefCell<OperatorCode>>,
    states: Vec<RefCell<StateCell>>,
    submitted: &'a [Vec<Counter>],
    processed: &'a [Vec<Counter>],
    inputs: Vec<Vec<Arc<Layout>>>,
    outputs: Vec<Vec<Arc<Layout>>>,
    events: RefCell<Vec<(u32, Event)>>,
    acting: Cell<u32>,
}

struct Port<'h, 'a> {
    hub: &'h Hub<'a>,
    services: Sink,
}

/// Runs the source of member 0, or its `onTuple` on tuples, with a backend.
pub fn run(nodes: &[Node], backend: &mut dyn Backend, tuples: &[Value]) -> Seen {
    run_partly(nodes, backend, tuples, |_| false)
}

/// Like [`run`]; consumers in some places of their ports get the tuples through the outlet.
pub fn run_partly(
    nodes: &[Node],
    backend: &mut dyn Backend,
    tuples: &[Value],
    is_outlet: fn(usize) -> bool,
) -> Seen {
    static STOP: u8 = 0;
    let stop = |_: &[Vec<Counter>]| &raw const STOP;
    run_with(nodes, backend, Given::Tuples(tuples), (stop, is_outlet))
}

/// Like [`run`], the tuples in one batch of frames.
pub fn run_batch(
    nodes: &[Node],
    backend: &mut dyn Backend,
    tuples: &[Value],
    form: FrameForm,
) -> Seen {
    let layout = Layout::new(&nodes[0].rig.inputs[0].0);
    let payload = |tuple| payload(&layout, tuple, form);
    let payloads: Vec<_> = tuples.iter().map(payload).collect();
    run_payloads(nodes, backend, &payloads, form)
}

/// Runs the code for batches of member 0 on one batch of frames.
pub fn run_payloads(
    nodes: &[Node],
    backend: &mut dyn Backend,
    payloads: &[Vec<u8>],
    form: FrameForm,
) -> Seen {
    static STOP: u8 = 0;
    let stop = |_: &[Vec<Counter>]| &raw const STOP;
    run_with(
        nodes,
        backend,
        Given::Frames(payloads, form),
        (stop, |_| false),
    )
}

/// A tuple as the payload of a frame.
pub fn payload(layout: &Layout, tuple: &Value, form: FrameForm) -> Vec<u8> {
    let mut buf = TupleBuf::default();
    buf.set_all(layout, tuple);
    let mut bytes = Vec::new();
    match form {
        FrameForm::Flat => bytes.extend_from_slice(buf.as_ref().bytes()),
        FrameForm::Normal => normal::encode(buf.as_ref(), layout, &mut bytes),
    }
    bytes
}

/// Tuples of member 0, as values or as frames of a batch.
#[derive(Clone, Copy)]
enum Given<'a> {
    Tuples(&'a [Value]),
    Frames(&'a [Vec<u8>], FrameForm),
}

impl Given<'_> {
    fn form(self) -> Option<FrameForm> {
        match self {
            Given::Frames(_, form) => Some(form),
            Given::Tuples(_) => None,
        }
    }
}

/// Runs the source of member 0; a byte of the counters of processed tuples asks for the shutdown.
pub fn run_until(
    nodes: &[Node],
    backend: &mut dyn Backend,
    stop: impl FnOnce(&[Vec<Counter>]) -> *const u8,
) -> Seen {
    run_with(nodes, backend, Given::Tuples(&[]), (stop, |_| false))
}

fn run_with(
    nodes: &[Node],
    backend: &mut dyn Backend,
    given: Given<'_>,
    (stop, is_outlet): (impl FnOnce(&[Vec<Counter>]) -> *const u8, fn(usize) -> bool),
) -> Seen {
    let operators: Vec<OperatorNode> = nodes.iter().map(|node| node.rig.operator()).collect();
    let states: Vec<StateCell> = nodes
        .iter()
        .map(|node| StateCell::new(eval::State::new(&node.rig.state)))
        .collect();
    let event_time = OperatorEventTime::default();
    let counters = |count: fn(&Node) -> usize| -> Vec<Vec<Counter>> {
        nodes
            .iter()
            .map(|n| (0..count(n)).map(|_| Counter::default()).collect())
            .collect()
    };
    let submitted = counters(|node| node.rig.outputs.len());
    let processed = counters(|node| node.rig.inputs.len());
    let inputs: Vec<Vec<_>> = nodes
        .iter()
        .map(|n| n.rig.inputs.iter().map(|(s, _)| Layout::new(s)).collect())
        .collect();
    let outputs: Vec<Vec<_>> = nodes
        .iter()
        .map(|n| n.rig.outputs.iter().map(Layout::new).collect())
        .collect();
    let member = |at: usize| ChainMember {
        scope: CodeScope {
            operator: &operators[at],
            index: at as u32,
            inputs: inputs[at].clone(),
            outputs: outputs[at].clone(),
            state: &nodes[at].rig.state,
            tables: &[],
        },
        logic: &nodes[at].logic,
        state: states[at].address(),
        event_time: &event_time,
        chain_outputs: edges(&nodes[at], &submitted[at], &processed, is_outlet),
        batch_forms: vec![given.form().filter(|_| at == 0); nodes[at].rig.inputs.len()],
    };
    let chains = ThreadChains {
        members: (0..nodes.len()).map(member).collect(),
        stop_flag: stop(&processed),
        running: None,
    };
    let codes = backend
        .compile_chains(&chains)
        .unwrap_or_else(|fault| panic!("{fault}"));
    backend.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let hub = Hub {
        nodes,
        codes: codes.into_iter().map(RefCell::new).collect(),
        states: states.into_iter().map(RefCell::new).collect(),
        submitted: &submitted,
        processed: &processed,
        inputs,
        outputs,
        events: RefCell::default(),
        acting: Cell::new(0),
    };
    let result = match given {
        Given::Frames(payloads, _) => hub.drive_batch(payloads),
        Given::Tuples(tuples) => hub.drive(tuples),
    };
    hub.seen(result)
}

/// The kind of the frames of a batch.
const KIND: u8 = 7;

fn frame(frames: &mut Vec<u8>, payload: &[u8]) {
    let len = payload.len() as u64;
    frames.extend((len | u64::from(KIND) << 32).to_ne_bytes());
    frames.extend(payload);
    frames.resize(frames.len().next_multiple_of(8), 0);
}

fn edges<'a>(
    node: &Node,
    submitted: &'a [Counter],
    processed: &'a [Vec<Counter>],
    is_outlet: fn(usize) -> bool,
) -> Vec<Option<ChainOutput<'a>>> {
    let edge = |(place, &(member, port)): (usize, &(u32, PortIndex))| match is_outlet(place) {
        true => ChainEdge::Outlet,
        false => ChainEdge::Member(MemberEdge {
            member,
            port,
            processed: &processed[member as usize][port.index()],
        }),
    };
    let ports = node.edges.iter().zip(submitted);
    let outputs = ports.map(|(edges, submitted)| {
        let edges = edges.as_ref()?.iter().enumerate().map(edge);
        Some(ChainOutput {
            submitted,
            tap: None,
            edges: edges.collect(),
            window_counters: None,
        })
    });
    outputs.collect()
}

impl Hub<'_> {
    fn seen(&self, result: Result<(), Fault>) -> Seen {
        let counters = self.submitted.iter().chain(self.processed).flatten();
        let states = self.states.iter();
        Seen {
            result: result.map_err(|fault| format!("{fault} {:?}", fault.pos())),
            events: self.events.take(),
            acting: self.acting.get(),
            states: states
                .map(|s| format!("{:?}", s.borrow_mut().borrow()))
                .collect(),
            counts: counters.map(Counter::get).collect(),
        }
    }

    fn drive(&self, tuples: &[Value]) -> Result<(), Fault> {
        let mut source = self.codes[0].borrow_mut().on_process.take();
        if let Some(source) = &mut source {
            let mut states = self.states[0].borrow_mut();
            return source.run_body(&mut CodeContext {
                inputs: InputTuples::NONE,
                state: states.borrow(),
                outlet: &mut self.port(),
                punctuation: None,
            });
        }
        for value in tuples {
            let mut buf = TupleBuf::default();
            buf.set_all(&self.inputs[0][0], value);
            self.process(0, 0, buf.as_ref())?;
        }
        Ok(())
    }

    /// Delivers frames of one batch to code for batches.
    fn drive_batch(&self, payloads: &[Vec<u8>]) -> Result<(), Fault> {
        let mut frames = Vec::new();
        payloads
            .iter()
            .for_each(|payload| frame(&mut frames, payload));
        let words: Vec<u64> = frames
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let mut batch = FrameBatch::new(bytemuck::cast_slice(&words));
        let mut code = self.codes[0].borrow_mut();
        let each = code.on_batch[0].as_mut().expect("code for batches");
        let mut state = self.states[0].borrow_mut();
        let (count, result) = each.body.run_body_on_batch(
            &mut CodeContext {
                inputs: InputTuples::NONE,
                state: state.borrow(),
                outlet: &mut self.port(),
                punctuation: None,
            },
            &mut batch,
            KIND,
        );
        assert_eq!(batch.count() as u64, payloads.len() as u64 - count);
        result
    }

    fn port(&self) -> Port<'_, '_> {
        Port {
            hub: self,
            services: Sink::default(),
        }
    }

    fn process(&self, member: usize, port: usize, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let mut code = self.codes[member].borrow_mut();
        let act = code.on_tuple[port]
            .as_mut()
            .expect("code for each input port");
        let mut tuples = vec![None; self.inputs[member].len()];
        tuples[port] = Some(tuple);
        let before = self.acting.replace(member as u32);
        let mut state = self.states[member].borrow_mut();
        act.run_body(&mut CodeContext {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &self.inputs[member],
            },
            state: state.borrow(),
            outlet: &mut self.port(),
            punctuation: None,
        })?;
        self.acting.set(before);
        Ok(())
    }
}

impl Port<'_, '_> {
    /// Delivers a tuple to members.
    fn deliver(&self, edges: &[(u32, PortIndex)], tuple: TupleRef<'_>) -> Result<(), Fault> {
        let hub = self.hub;
        edges.iter().try_for_each(|&(to, input)| {
            hub.processed[to as usize][input.index()].add(1);
            hub.process(to as usize, input.index(), tuple)
        })
    }
}

impl Outlet for Port<'_, '_> {
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let (hub, at) = (self.hub, self.hub.acting.get() as usize);
        match &hub.nodes[at].edges[port.index()] {
            None => {
                let value = tuple.to_value(&hub.outputs[at][port.index()]);
                let event = Event::Tuple(port, tuple.bytes().to_vec(), format!("{value:?}"));
                hub.events.borrow_mut().push((at as u32, event));
            }
            Some(edges) => {
                hub.submitted[at][port.index()].add(1);
                self.deliver(edges, tuple)?;
            }
        }
        Ok(())
    }
    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        let event = (self.hub.acting.get(), Event::Mark(port, mark));
        self.hub.events.borrow_mut().push(event);
        Ok(())
    }
    fn services(&mut self) -> &mut dyn Services {
        let event = Event::Print("services".to_owned());
        self.hub
            .events
            .borrow_mut()
            .push((self.hub.acting.get(), event));
        &mut self.services
    }
    fn evaluate(
        &mut self,
        _row: &EvaluationInputs<'_>,
        _code: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Err(Fault::value("not here"))
    }
}

impl CodeOutlet for Port<'_, '_> {
    fn act_as(&mut self, operator: u32) -> u32 {
        self.hub.acting.replace(operator)
    }
    fn submit_to(
        &mut self,
        port: PortIndex,
        consumers: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        let node = &self.hub.nodes[self.hub.acting.get() as usize];
        let edges = node.edges[port.index()].as_ref().expect("members");
        let consumers = consumers.start as usize..consumers.end as usize;
        self.deliver(&edges[consumers], tuple)
    }
    fn wake_consumer(&mut self, _port: PortIndex, _consumer: u32) {}
}
