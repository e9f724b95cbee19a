//! The operators that a plan puts between those of a program: [`graph::inserted`].
//!
//! They carry everything on unchanged, markers included. Their names are for messages and counters:
//! `Trades -> pe 1`, `pe 0 -> Trades`, `queue of Filter.0`. Names of a program hold no blanks, so that
//! they are never the same.

use std::sync::Arc;

use graph::{
    Congestion, Crossing, Edge, Expr, InPort, Logic, Operator, OutPort, Param, ParamValue, Pos,
    Program, ThreadedPort, inserted,
};
use tuple::{TupleType, Type, Value};

/// The operator that sends a stream on a crossing; `from` is its number in the part.
pub(super) fn send(program: &Program, crossing: &Crossing, link: u32, from: Edge) -> Operator {
    let (pos, port) = stream(program, crossing.from);
    let to: Vec<_> = crossing.to.iter().map(u32::to_string).collect();
    let name = program.stream_name(crossing.from);
    Operator {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![from])],
        params: vec![numbers("link", &[link], pos)],
        ..operator(format!("{name} -> pe {}", listed(&to)), inserted::SEND, pos)
    }
}

/// The operator that receives crossings: their numbers, streams, and the PEs they come from.
pub(super) fn receive(program: &Program, streams: &[(u32, Edge, Option<u32>)]) -> Operator {
    let mut pos = Pos::default();
    let mut outputs = Vec::with_capacity(streams.len());
    let mut names = Vec::with_capacity(streams.len());
    for (at, &(_, from, pe)) in streams.iter().enumerate() {
        let (place, port) = stream(program, from);
        if at == 0 {
            pos = place;
        }
        outputs.push(out_port(port.name.clone(), &port.schema));
        let pe = pe.map_or("?".to_owned(), |pe| pe.to_string());
        names.push(format!("pe {pe} -> {}", program.stream_name(from)));
    }
    let links: Vec<u32> = streams.iter().map(|&(link, _, _)| link).collect();
    Operator {
        outputs,
        params: vec![numbers("link", &links, pos)],
        ..operator(listed(&names), inserted::RECEIVE, pos)
    }
}

/// The queue before a threaded port, with what feeds it in the part.
pub(super) fn queue(of: &Operator, queue: &ThreadedPort, sources: Vec<Edge>) -> Operator {
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
    let name = format!("queue of {}.{}", of.name, queue.port);
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

/// A list that stays short in a name.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names.len() {
        count if count > SHOWN + 1 => {
            let shown = names[..SHOWN].join(", ");
            format!("{shown} and {} more", count - SHOWN)
        }
        _ => names.join(", "),
    }
}
