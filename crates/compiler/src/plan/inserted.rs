//! The operators that a plan puts between those of a program: [`graph::inserted`].
//!
//! They carry everything on unchanged, markers included.

use std::sync::Arc;

use graph::{
    Congestion, Crossing, Edge, Expr, Homes, InPort, Logic, Operator, OutPort, Param, ParamValue,
    Plan, Pos, Program, Receiver, ThreadedPort, inserted,
};
use tuple::{TupleType, Type, Value};

/// The operator that sends a stream on a crossing; `from` is its number in the part.
pub(super) fn send(program: &Program, crossing: &Crossing, link: u32, from: Edge) -> Operator {
    let (pos, port) = stream(program, crossing.from);
    let name = program.sender_name(crossing);
    Operator {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![from])],
        params: vec![numbers("link", &[link], pos)],
        ..operator(name, inserted::SEND, pos)
    }
}

/// The operator of a receiver.
pub(super) fn receive(
    program: &Program,
    plan: &Plan,
    homes: &Homes,
    receiver: &Receiver,
) -> Operator {
    let links = receiver.links.iter();
    let streams = links.map(|&link| stream(program, plan.crossings[link as usize].from));
    let (places, ports): (Vec<Pos>, Vec<&OutPort>) = streams.unzip();
    let pos = places.first().copied().unwrap_or_default();
    let outputs = ports.into_iter();
    let outputs = outputs.map(|port| out_port(port.name.clone(), &port.schema));
    let name = program.receiver_name(plan, homes, receiver);
    Operator {
        outputs: outputs.collect(),
        params: vec![numbers("link", &receiver.links, pos)],
        ..operator(name, inserted::RECEIVE, pos)
    }
}

/// The queue before a threaded port, with what feeds it in the part.
pub(super) fn queue(program: &Program, queue: &ThreadedPort, sources: Vec<Edge>) -> Operator {
    let of = &program.operators[queue.operator.0 as usize];
    let port = &of.inputs[queue.port as usize];
    let congestion = match queue.congestion {
        Congestion::Wait => "wait",
        Congestion::DropFirst => "dropFirst",
        Congestion::DropLast => "dropLast",
    };
    let congestion = Param {
        name: "congestion".into(),
        value: ParamValue::Literals(vec![congestion.into()]),
        pos: of.pos,
    };
    let tuples = numbers("tuples", &[queue.tuples], of.pos);
    let core = queue.core.map(|core| numbers("core", &[core], of.pos));
    let name = program.queue_name(queue);
    Operator {
        inputs: vec![in_port(port.name.clone(), &port.schema, sources)],
        outputs: vec![out_port(port.name.clone(), &port.schema)],
        params: [tuples, congestion].into_iter().chain(core).collect(),
        ..operator(name, inserted::QUEUE, of.pos)
    }
}

fn stream(program: &Program, from: Edge) -> (Pos, &OutPort) {
    let operator = &program.operators[from.operator.0 as usize];
    (operator.pos, &operator.outputs[from.port as usize])
}

fn operator(name: String, kind: &str, pos: Pos) -> Operator {
    Operator {
        name: name.into(),
        kind: kind.into(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        params: Vec::new(),
        logic: Logic::default(),
        config: Vec::new(),
        annotations: Vec::new(),
        pos,
    }
}

fn in_port(name: Arc<str>, schema: &Arc<TupleType>, sources: Vec<Edge>) -> InPort {
    InPort {
        name,
        schema: schema.clone(),
        sources,
        window: None,
        history: 0,
        is_control: false,
    }
}

fn out_port(name: Arc<str>, schema: &Arc<TupleType>) -> OutPort {
    OutPort {
        name,
        schema: schema.clone(),
        calls: Vec::new(),
        assign: Vec::new(),
    }
}

fn numbers(name: &str, values: &[u32], pos: Pos) -> Param {
    let values = values.iter();
    let values = values.map(|&n| Expr::constant(Value::Uint32(n), Type::Uint32).at(pos));
    Param {
        name: name.into(),
        value: ParamValue::Exprs(values.collect()),
        pos,
    }
}
