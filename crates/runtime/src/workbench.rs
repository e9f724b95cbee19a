//! One operator by itself, driven by hand: what comes in is given by call, what goes out is
//! recorded.
//!
//! All duties of the run time are done as in a PE (markers are counted and forwarded, logic clauses
//! run), but there are no threads: timers fire and sources run when they are told to.

use std::sync::{Arc, Mutex, PoisonError};

use graph::{Edge, Fault, InPortModel, OperatorId, OperatorModel, Program};
use tuple::{Punctuation, TupleBuf, TupleRef};

use crate::abi::Backend;
use crate::assemble::{Assembly, assemble};
use crate::house::{House, Options};
use crate::make::Runner;
use crate::node::Node;
use crate::region::Region;
use crate::report::{Report, Tally};
use crate::runner;
use crate::stop::Stop;
use crate::wiring::Target;
use crate::{Build, Make, Operator, OperatorEntry, Outlet, TimerId};

/// An operator and what it sent.
pub struct Workbench {
    region: Region,
    runner: Option<Runner>,
    sent: Sent,
}

/// Something that left an output port.
#[derive(Clone, Debug)]
pub enum Item {
    /// A tuple.
    Tuple(u32, TupleBuf),
    /// A marker.
    Mark(u32, Punctuation),
}

type Sent = Arc<Mutex<Vec<Item>>>;

impl Workbench {
    /// Makes the operator. Each input port counts as fed by one stream.
    ///
    /// # Errors
    /// As [`crate::Pe::wire`].
    pub fn new(
        operator: &graph::Operator,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
        options: Options,
    ) -> Result<Workbench, Report> {
        let (house, setting) = House::new(options);
        let registry = [entry, RECORDER];
        let program = with_recorder(operator);
        let assembly = assemble(&program, &registry, backend, house, setting);
        let assembly = assembly.map_err(|failure| Report {
            failures: vec![failure],
            is_quiet: false,
        })?;
        Ok(Workbench::of(assembly))
    }

    fn of(assembly: Assembly) -> Workbench {
        let Assembly {
            mut wiring,
            own,
            mut runners,
            ..
        } = assembly;
        let sent = Sent::default();
        // The caller's thread is the only one.
        wiring.waits.set_threads(1);
        let shared = wiring.shared.iter_mut().map(Option::take);
        let nodes = own
            .into_iter()
            .zip(shared)
            .map(|(own, shared)| match (own, shared) {
                (Some((node, _)), _) => Some(node),
                (None, Some(shared)) => Some(into_inner(shared.node)),
                (None, None) => None,
            });
        let mut nodes: Vec<Option<Node>> = nodes.collect();
        if let Some(recorder) = &mut nodes[1] {
            recorder.built = Some(Box::new(Recorder(sent.clone())));
        }
        Workbench {
            runner: runners.pop(),
            region: Region::new(Arc::new(wiring), 0, nodes),
            sent,
        }
    }

    /// Hands over a tuple of the port's layout.
    pub fn tuple(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.region.deliver(Target::new(0, port), tuple)
    }

    /// Hands over a marker.
    pub fn mark(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault> {
        self.region.deliver_mark(Target::new(0, port), mark)
    }

    /// Fires a timer.
    pub fn timer(&mut self, timer: TimerId) -> Result<(), Fault> {
        let fired = self
            .region
            .with_node(0, |node| node.timer(&self.region, timer));
        fired.unwrap_or(Ok(()))
    }

    /// Runs the operator's own thread to its end, here.
    pub fn run(&mut self) -> Result<(), Fault> {
        let Some(runner) = self.runner.take() else {
            return Ok(());
        };
        runner::begin(&self.region, runner)?;
        self.region.end_outputs(0)
    }

    /// Ends the operator.
    pub fn close(&mut self) -> Result<(), Fault> {
        let closed = self.region.with_node(0, |node| node.close(&self.region));
        let closed = closed.unwrap_or(Ok(()));
        closed.and(self.region.wiring.house.flush())
    }

    /// What was sent since the last time.
    pub fn take(&mut self) -> Vec<Item> {
        std::mem::take(&mut lock(&self.sent))
    }

    /// What the operator has done so far.
    pub fn tally(&self) -> Tally {
        self.region.wiring.tallies().swap_remove(0)
    }

    /// The handle to the shutdown.
    pub fn stop(&self) -> Stop {
        self.region.wiring.house.stop.clone()
    }
}

/// The operator, fed by hand, and a recorder with an input port for each of its output ports.
fn with_recorder(operator: &graph::Operator) -> Program {
    let mut operator = operator.clone();
    for input in &mut operator.inputs {
        input.sources.clear();
    }
    let ports = (0..)
        .zip(&operator.outputs)
        .map(|(port, output)| graph::InPort {
            name: output.name.clone(),
            schema: output.schema.clone(),
            sources: vec![Edge {
                operator: OperatorId(0),
                port,
            }],
            window: None,
            history: 0,
            is_control: false,
            unmarked: Vec::new(),
        });
    let recorder = graph::Operator {
        name: "Recorder".into(),
        kind: "workbench::Recorder".into(),
        inputs: ports.collect(),
        outputs: Vec::new(),
        params: Vec::new(),
        logic: graph::Logic::default(),
        config: Vec::new(),
        annotations: Vec::new(),
        own_thread: false,
        is_timed: false,
        clock: None,
        pos: operator.pos,
    };
    Program {
        name: operator.name.clone(),
        operators: vec![operator, recorder],
        ..Program::default()
    }
}

static RECORDER_MODEL: OperatorModel = OperatorModel {
    namespace: "workbench",
    name: "Recorder",
    doc: "Records what comes in.",
    inputs: &[InPortModel::ANY],
    ..OperatorModel::DEFAULT
};

const RECORDER: OperatorEntry = OperatorEntry {
    model: &RECORDER_MODEL,
    make: Make::Build(recorder),
};

/// Where it records is known only to the workbench, which puts the right one in its place.
fn recorder(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Recorder(Sent::default())))
}

struct Recorder(Sent);

impl Operator for Recorder {
    fn process(&mut self, port: u32, tuple: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        let mut copy = TupleBuf::default();
        copy.copy_from(tuple);
        lock(&self.0).push(Item::Tuple(port, copy));
        Ok(())
    }

    fn window_marker(&mut self, port: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(Item::Mark(port, Punctuation::Window));
        Ok(())
    }

    fn final_marker(&mut self, port: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(Item::Mark(port, Punctuation::Final));
        Ok(())
    }
}

fn lock(sent: &Sent) -> std::sync::MutexGuard<'_, Vec<Item>> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
