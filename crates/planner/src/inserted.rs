//! The operators that a plan puts between those of a program: [`graph::inserted_operators`].
//!
//! They carry everything on unchanged, markers included.

use std::sync::Arc;

use graph::{
    CongestionPolicy, EventClock, Expr, InPort, Logic, OperatorId, OperatorNode, OriginId, OutPort,
    OutPortId, Param, ParamValue, Pos, Program, ThreadedPort, inserted_operators,
};
use tuple::{TupleType, Type, Value};

/// How a sender numbers what it sends: see `runtime::crossing::order`.
#[derive(Default)]
pub(super) struct SenderNumbering {
    /// What the stream is ordered by; nothing: it is not.
    pub origins: Vec<OriginId>,
    /// The sender before it has given the tuple its number.
    pub is_again: bool,
    /// The sender behind it gives the tuple the same number.
    pub has_more: bool,
}

/// An output port of a receiver or a merge.
pub(super) struct ReceiverOutput {
    /// The link that brings its tuples.
    pub crossing_number: u32,
    /// The stream.
    pub from: OutPortId,
    /// Where its consumer stands among those of the stream.
    pub rank: u32,
}

/// The operator that sends a stream on a link; `at` is the stream in the part.
pub(super) fn send(
    program: &Program,
    name: String,
    crossing_number: u32,
    (stream, at): (OutPortId, OutPortId),
    numbering: &SenderNumbering,
) -> OperatorNode {
    let (pos, port) = self::stream(program, stream);
    let mut params = vec![number_param("link", &[crossing_number], pos)];
    if !numbering.origins.is_empty() {
        params.push(number_param("origin", &numbering.origins, pos));
        params.push(flag_param("again", numbering.is_again, pos));
        params.push(flag_param("more", numbering.has_more, pos));
    }
    OperatorNode {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![at])],
        params,
        ..operator(name, inserted_operators::SEND, pos)
    }
}

/// The operator that gives another one its turn: see `runtime::crossing::order`.
pub(super) fn turn(
    program: &Program,
    name: String,
    (stream, at): (OutPortId, OutPortId),
    rank: u32,
    numbering: &SenderNumbering,
) -> OperatorNode {
    let (pos, port) = self::stream(program, stream);
    OperatorNode {
        inputs: vec![in_port(port.name.clone(), &port.schema, vec![at])],
        outputs: vec![out_port(port.name.clone(), &port.schema)],
        params: vec![
            number_param("rank", &[rank], pos),
            flag_param("again", numbering.is_again, pos),
            flag_param("more", numbering.has_more, pos),
        ],
        clock: clock(program, &[vec![stream]]),
        ..operator(name, inserted_operators::TURN, pos)
    }
}

/// The operator that brings streams in: a receiver, or a merge. `carried` are the links that are
/// ordered, each with its origins.
pub(super) fn receive(
    program: &Program,
    name: String,
    arrivals: &[ReceiverOutput],
    carried: &[(u32, OriginId)],
) -> OperatorNode {
    let streams = arrivals.iter().map(|arrival| stream(program, arrival.from));
    let (places, ports): (Vec<Pos>, Vec<&OutPort>) = streams.unzip();
    let pos = places.first().copied().unwrap_or_default();
    let brought: Vec<_> = arrivals.iter().map(|arrival| vec![arrival.from]).collect();
    let outputs = ports.into_iter();
    let outputs = outputs.map(|port| out_port(port.name.clone(), &port.schema));
    let crossings: Vec<u32> = arrivals
        .iter()
        .map(|arrival| arrival.crossing_number)
        .collect();
    let mut params = vec![number_param("link", &crossings, pos)];
    if !carried.is_empty() {
        let ranks: Vec<u32> = arrivals.iter().map(|arrival| arrival.rank).collect();
        let carried: Vec<u32> = carried
            .iter()
            .flat_map(|&(link, origin)| [link, origin])
            .collect();
        params.push(number_param("rank", &ranks, pos));
        params.push(number_param("carried", &carried, pos));
    }
    OperatorNode {
        outputs: outputs.collect(),
        params,
        clock: clock(program, &brought),
        ..operator(name, inserted_operators::RECEIVE, pos)
    }
}

/// The queue before a threaded port, with what feeds it in the part.
pub(super) fn queue(
    program: &Program,
    queue: &ThreadedPort,
    sources: Vec<OutPortId>,
) -> OperatorNode {
    let of = &program.operators[queue.operator.0 as usize];
    let port = &of.inputs[queue.port as usize];
    let congestion = match queue.congestion {
        CongestionPolicy::Wait => "wait",
        CongestionPolicy::DropFirst => "dropFirst",
        CongestionPolicy::DropLast => "dropLast",
    };
    let congestion = Param {
        name: "congestion".into(),
        value: ParamValue::Literals(vec![congestion.into()]),
        pos: of.pos,
    };
    let tuples = number_param("tuples", &[queue.tuples_max], of.pos);
    let core = queue.core.map(|core| number_param("core", &[core], of.pos));
    let name = program.queue_name(queue);
    let input = InPort {
        sources_without_markers: port.sources_without_markers.clone(),
        ..in_port(port.name.clone(), &port.schema, sources)
    };
    OperatorNode {
        inputs: vec![input],
        outputs: vec![out_port(port.name.clone(), &port.schema)],
        params: [tuples, congestion].into_iter().chain(core).collect(),
        clock: clock(program, std::slice::from_ref(&port.sources)),
        ..operator(name, inserted_operators::QUEUE, of.pos)
    }
}

/// What makes the watermarks of an operator with clocked streams: `watermarks of Trades`. The clock
/// is the operator's; its ports are these, in their order.
pub(super) fn watermarks(at: OperatorId, of: &OperatorNode, ports: &[u32]) -> OperatorNode {
    let streams = ports.iter().map(|&port| &of.outputs[port as usize]);
    let inputs = ports.iter().zip(streams.clone()).map(|(&port, stream)| {
        let from = OutPortId { operator: at, port };
        in_port(stream.name.clone(), &stream.schema, vec![from])
    });
    let outputs = streams.map(|stream| out_port(stream.name.clone(), &stream.schema));
    let clock = of.clock.as_ref().map(|clock| EventClock {
        outputs: (0..ports.len() as u32).collect(),
        ..clock.clone()
    });
    let name = format!("watermarks of {}", of.name);
    OperatorNode {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        clock,
        ..operator(name, inserted_operators::WATERMARKS, of.pos)
    }
}

/// The clock of an operator that hands these streams of the program on, by output port: `None` if
/// none of them has watermarks.
fn clock(program: &Program, ports: &[Vec<OutPortId>]) -> Option<EventClock> {
    let clock_of = |stream: &OutPortId| {
        let clock = program.operators[stream.operator.0 as usize].clock.as_ref();
        clock.filter(|clock| clock.outputs.contains(&stream.port))
    };
    let clocked =
        |streams: &Vec<OutPortId>| streams.iter().any(|stream| clock_of(stream).is_some());
    let clock = ports.iter().flatten().find_map(clock_of)?;
    let numbered = (0..).zip(ports).filter(|(_, streams)| clocked(streams));
    Some(EventClock {
        outputs: numbered.map(|(port, _)| port).collect(),
        generates_watermarks: false,
        ..clock.clone()
    })
}

fn stream(program: &Program, from: OutPortId) -> (Pos, &OutPort) {
    let operator = &program.operators[from.operator.0 as usize];
    (operator.pos, &operator.outputs[from.port as usize])
}

fn operator(name: String, kind: &str, pos: Pos) -> OperatorNode {
    OperatorNode {
        name: name.into(),
        kind: kind.into(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        params: Vec::new(),
        logic: Logic::default(),
        config: Vec::new(),
        annotations: Vec::new(),
        has_own_thread: false,
        submits_by_timer: false,
        clock: None,
        pos,
    }
}

fn in_port(name: Arc<str>, schema: &Arc<TupleType>, sources: Vec<OutPortId>) -> InPort {
    InPort {
        name,
        schema: schema.clone(),
        sources,
        window: None,
        history: 0,
        is_control: false,
        sources_without_markers: Vec::new(),
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

fn number_param(name: &str, values: &[u32], pos: Pos) -> Param {
    let values = values.iter();
    let values = values.map(|&n| Expr::constant(Value::Uint32(n), Type::Uint32).with_pos(pos));
    Param {
        name: name.into(),
        value: ParamValue::Exprs(values.collect()),
        pos,
    }
}

fn flag_param(name: &str, value: bool, pos: Pos) -> Param {
    Param {
        name: name.into(),
        value: ParamValue::Exprs(vec![
            Expr::constant(Value::Boolean(value), Type::Boolean).with_pos(pos),
        ]),
        pos,
    }
}
