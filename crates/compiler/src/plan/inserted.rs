//! The operators that a plan puts between those of a program: [`graph::inserted`].
//!
//! They carry everything on unchanged, markers included.

use std::sync::Arc;

use graph::{
    Congestion, Edge, EventClock, Expr, InPort, Logic, Operator, OperatorId, Origin, OutPort,
    Param, ParamValue, Pos, Program, ThreadedPort, inserted,
};
use tuple::{TupleType, Type, Value};

/// How a sender numbers what it sends: see `runtime::crossing::order`.
#[derive(Default)]
pub(super) struct Numbering {
    /// What the stream is ordered by; nothing: it is not.
    pub origins: Vec<Origin>,
    /// The sender before it has given the tuple its number.
    pub is_again: bool,
    /// The sender behind it gives the tuple the same number.
    pub has_more: bool,
}

/// An output port of a receiver or a merge.
pub(super) struct Arrival {
    /// The link that brings its tuples.
    pub link: u32,
    /// The stream.
    pub from: Edge,
    /// Where its consumer stands among those of the stream.
    pub rank: u32,
}

/// The operator that sends a stream on a link; `at` is the stream in the part.
pub(super) fn send(
    program: &Program,
    name: String,
    link: u32,
    (stream, at): (Edge, Edge),
    numbering: &Numbering,
) -> Operator {
    let (pos, port) = self::stream(program, stream);
    let mut params = vec![numbers("link", &[link], pos)];
    if !numbering.origins.is_empty() {
        params.push(numbers("origin", &numbering.origins, pos));
        params.push(flag("again", numbering.is_again, pos));
        params.push(flag("more", numbering.has_more, pos));
    }
    Operator {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![at])],
        params,
        ..operator(name, inserted::SEND, pos)
    }
}

/// The operator that gives another one its turn: see `runtime::crossing::order`.
pub(super) fn turn(
    program: &Program,
    name: String,
    (stream, at): (Edge, Edge),
    rank: u32,
    numbering: &Numbering,
) -> Operator {
    let (pos, port) = self::stream(program, stream);
    Operator {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![at])],
        outputs: vec![out_port(port.name.clone(), &port.schema)],
        params: vec![
            numbers("rank", &[rank], pos),
            flag("again", numbering.is_again, pos),
            flag("more", numbering.has_more, pos),
        ],
        clock: clock(program, &[vec![stream]]),
        ..operator(name, inserted::TURN, pos)
    }
}

/// The operator that brings streams in: a receiver, or a merge. `carried` are the links that are
/// ordered, each with its origins.
pub(super) fn receive(
    program: &Program,
    name: String,
    arrivals: &[Arrival],
    carried: &[(u32, Origin)],
) -> Operator {
    let streams = arrivals.iter().map(|arrival| stream(program, arrival.from));
    let (places, ports): (Vec<Pos>, Vec<&OutPort>) = streams.unzip();
    let pos = places.first().copied().unwrap_or_default();
    let brought: Vec<_> = arrivals.iter().map(|arrival| vec![arrival.from]).collect();
    let outputs = ports.into_iter();
    let outputs = outputs.map(|port| out_port(port.name.clone(), &port.schema));
    let links: Vec<u32> = arrivals.iter().map(|arrival| arrival.link).collect();
    let mut params = vec![numbers("link", &links, pos)];
    if !carried.is_empty() {
        let ranks: Vec<u32> = arrivals.iter().map(|arrival| arrival.rank).collect();
        let carried: Vec<u32> = carried
            .iter()
            .flat_map(|&(link, origin)| [link, origin])
            .collect();
        params.push(numbers("rank", &ranks, pos));
        params.push(numbers("carried", &carried, pos));
    }
    Operator {
        outputs: outputs.collect(),
        params,
        clock: clock(program, &brought),
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
    let input = InPort {
        unmarked: port.unmarked.clone(),
        ..in_port(port.name.clone(), &port.schema, sources)
    };
    Operator {
        inputs: vec![input],
        outputs: vec![out_port(port.name.clone(), &port.schema)],
        params: [tuples, congestion].into_iter().chain(core).collect(),
        clock: clock(program, std::slice::from_ref(&port.sources)),
        ..operator(name, inserted::QUEUE, of.pos)
    }
}

/// What makes the watermarks of an operator with clocked streams: `watermarks of Trades`. The clock is
/// the operator's; its ports are these, in their order.
pub(super) fn watermarks(at: OperatorId, of: &Operator, ports: &[u32]) -> Operator {
    let streams = ports.iter().map(|&port| &of.outputs[port as usize]);
    let inputs = ports.iter().zip(streams.clone()).map(|(&port, stream)| {
        let from = Edge { operator: at, port };
        in_port(stream.name.clone(), &stream.schema, vec![from])
    });
    let outputs = streams.map(|stream| out_port(stream.name.clone(), &stream.schema));
    let clock = of.clock.as_ref().map(|clock| EventClock {
        outputs: (0..ports.len() as u32).collect(),
        ..clock.clone()
    });
    let name = format!("watermarks of {}", of.name);
    Operator {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        clock,
        ..operator(name, inserted::WATERMARKS, of.pos)
    }
}

/// The clock of an operator that hands these streams of the program on, by output port: `None` if none
/// of them has watermarks.
fn clock(program: &Program, ports: &[Vec<Edge>]) -> Option<EventClock> {
    let clock_of = |stream: &Edge| {
        let clock = program.operators[stream.operator.0 as usize].clock.as_ref();
        clock.filter(|clock| clock.outputs.contains(&stream.port))
    };
    let clocked = |streams: &Vec<Edge>| streams.iter().any(|stream| clock_of(stream).is_some());
    let clock = ports.iter().flatten().find_map(clock_of)?;
    let numbered = (0..).zip(ports).filter(|(_, streams)| clocked(streams));
    Some(EventClock {
        outputs: numbered.map(|(port, _)| port).collect(),
        makes: false,
        ..clock.clone()
    })
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
        own_thread: false,
        is_timed: false,
        clock: None,
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
        unmarked: Vec::new(),
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

fn flag(name: &str, value: bool, pos: Pos) -> Param {
    Param {
        name: name.into(),
        value: ParamValue::Exprs(vec![
            Expr::constant(Value::Boolean(value), Type::Boolean).at(pos),
        ]),
        pos,
    }
}
