//! The operators that a plan puts between those of a program: [`graph::inserted_operators`].
//!
//! They pass tuples, markers and watermarks on unchanged.

use graph::{
    CongestionPolicy, CrossingId, EventClock, Expr, InPort, OperatorId, OperatorNode, OriginId,
    OutPort, OutPortId, Param, ParamValue, PortIndex, Pos, Program, ThreadPool, ThreadedPort,
    inserted_operators,
};
use tuple::{Type, Value};

/// The way in which a sender gives its tuples positions: see `runtime::order`.
#[derive(Default)]
pub(super) struct SenderNumbering {
    /// The origins that the stream is ordered by; none if it is not ordered.
    pub origins: Vec<OriginId>,
    /// Whether the recipient before this one has given the tuple its position.
    pub repeats_position: bool,
    /// Whether the recipient behind this one repeats the position.
    pub is_repeated_next: bool,
}

/// An output port of a receiver or a merge.
pub(super) struct ReceiverOutput {
    /// The crossing or ring that brings the port's tuples.
    pub crossing_id: CrossingId,
    /// The stream that leaves the port.
    pub from: OutPortId,
    /// The rank of the port's consumer among those of the stream.
    pub rank: u32,
}

/// The operator that sends a stream on a crossing or ring; `at` is the stream in the part.
pub(super) fn send(
    program: &Program,
    name: String,
    crossing_id: CrossingId,
    (stream, at): (OutPortId, OutPortId),
    numbering: &SenderNumbering,
) -> OperatorNode {
    let (pos, port) = out_stream(program, stream);
    let mut params = vec![number_param("crossing", &[crossing_id.0], pos)];
    if !numbering.origins.is_empty() {
        let origins: Vec<u32> = numbering.origins.iter().map(|origin| origin.0).collect();
        params.push(number_param("origin", &origins, pos));
        params.push(flag_param(
            "repeatsPosition",
            numbering.repeats_position,
            pos,
        ));
        params.push(flag_param(
            "isRepeatedNext",
            numbering.is_repeated_next,
            pos,
        ));
    }
    OperatorNode {
        inputs: vec![InPort::new(
            port.name.clone(),
            port.schema.clone(),
            vec![at],
        )],
        params,
        ..OperatorNode::new(name, inserted_operators::SEND, pos)
    }
}

/// The operator that calls another one at its rank: see `runtime::order`.
pub(super) fn ordered_call(
    program: &Program,
    name: String,
    (stream, at): (OutPortId, OutPortId),
    rank: u32,
    numbering: &SenderNumbering,
) -> OperatorNode {
    let (pos, port) = out_stream(program, stream);
    OperatorNode {
        inputs: vec![InPort::new(
            port.name.clone(),
            port.schema.clone(),
            vec![at],
        )],
        outputs: vec![OutPort::new(port.name.clone(), port.schema.clone())],
        params: vec![
            number_param("rank", &[rank], pos),
            flag_param("repeatsPosition", numbering.repeats_position, pos),
            flag_param("isRepeatedNext", numbering.is_repeated_next, pos),
        ],
        clock: clock(program, &[vec![stream]]),
        ..OperatorNode::new(name, inserted_operators::ORDERED_CALL, pos)
    }
}

/// The operator that brings streams in: a receiver, or a merge. `carried` has the crossings and
/// rings that are ordered, once for each of their origins.
pub(super) fn receive(
    program: &Program,
    name: String,
    ports: &[ReceiverOutput],
    carried: &[(CrossingId, OriginId)],
) -> OperatorNode {
    let streams = ports.iter().map(|port| out_stream(program, port.from));
    let (positions, streams): (Vec<Pos>, Vec<&OutPort>) = streams.unzip();
    let pos = positions.first().copied().unwrap_or_default();
    let brought: Vec<_> = ports.iter().map(|port| vec![port.from]).collect();
    let outputs = streams.into_iter();
    let outputs = outputs.map(|stream| OutPort::new(stream.name.clone(), stream.schema.clone()));
    let crossings: Vec<u32> = ports.iter().map(|port| port.crossing_id.0).collect();
    let mut params = vec![number_param("crossing", &crossings, pos)];
    if !carried.is_empty() {
        let ranks: Vec<u32> = ports.iter().map(|port| port.rank).collect();
        let carried: Vec<u32> = carried
            .iter()
            .flat_map(|&(crossing_id, origin)| [crossing_id.0, origin.0])
            .collect();
        params.push(number_param("rank", &ranks, pos));
        params.push(number_param("carried", &carried, pos));
    }
    OperatorNode {
        outputs: outputs.collect(),
        params,
        clock: clock(program, &brought),
        ..OperatorNode::new(name, inserted_operators::RECEIVE, pos)
    }
}

/// The queue before a threaded port; `sources` are the streams that feed the port in the part,
/// `pool` the threads that run it if it is pooled.
pub(super) fn queue(
    program: &Program,
    queue: &ThreadedPort,
    pool: Option<ThreadPool>,
    sources: Vec<OutPortId>,
) -> OperatorNode {
    let of = &program.operators[queue.operator.0 as usize];
    let port = &of.inputs[queue.port.index()];
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
    let pool = pool.map(|pool| {
        let threads: Vec<u32> = [pool.threads].into_iter().chain(pool.elastic_max).collect();
        number_param("pool", &threads, of.pos)
    });
    let name = program.queue_name(queue);
    let input = InPort {
        sources_without_markers: port.sources_without_markers.clone(),
        ..InPort::new(port.name.clone(), port.schema.clone(), sources)
    };
    OperatorNode {
        inputs: vec![input],
        outputs: vec![OutPort::new(port.name.clone(), port.schema.clone())],
        params: [tuples, congestion]
            .into_iter()
            .chain(core)
            .chain(pool)
            .collect(),
        clock: clock(program, std::slice::from_ref(&port.sources)),
        has_own_thread: true,
        ..OperatorNode::new(name, inserted_operators::QUEUE, of.pos)
    }
}

/// The operator that makes the watermarks of another one: `watermarks of Trades`. It has that
/// operator's clock, and an input and an output port for each of `ports`, in their order.
pub(super) fn watermarks(at: OperatorId, of: &OperatorNode, ports: &[PortIndex]) -> OperatorNode {
    let streams = ports.iter().map(|&port| &of.outputs[port.index()]);
    let inputs = ports.iter().zip(streams.clone()).map(|(&port, stream)| {
        let from = OutPortId { operator: at, port };
        InPort::new(stream.name.clone(), stream.schema.clone(), vec![from])
    });
    let outputs = streams.map(|stream| OutPort::new(stream.name.clone(), stream.schema.clone()));
    let clock = of.clock.as_ref().map(|clock| EventClock {
        outputs: (0..ports.len() as u32).map(PortIndex).collect(),
        ..clock.clone()
    });
    let name = format!("watermarks of {}", of.name);
    OperatorNode {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        clock,
        ..OperatorNode::new(name, inserted_operators::WATERMARKS, of.pos)
    }
}

/// The clock of an operator that passes streams of the program on; `ports` has the streams by
/// output port. `None` if none of them has watermarks.
fn clock(program: &Program, ports: &[Vec<OutPortId>]) -> Option<EventClock> {
    let clock_of = |stream: &OutPortId| {
        let clock = program.operators[stream.operator.0 as usize].clock.as_ref();
        clock.filter(|clock| clock.outputs.contains(&stream.port))
    };
    let clocked =
        |streams: &Vec<OutPortId>| streams.iter().any(|stream| clock_of(stream).is_some());
    let clock = ports.iter().flatten().find_map(clock_of)?;
    let numbered = (0..)
        .map(PortIndex)
        .zip(ports)
        .filter(|(_, streams)| clocked(streams));
    Some(EventClock {
        outputs: numbered.map(|(port, _)| port).collect(),
        generates_watermarks: false,
        ..clock.clone()
    })
}

/// A stream of the program: the position of its operator, and the output port.
fn out_stream(program: &Program, from: OutPortId) -> (Pos, &OutPort) {
    let operator = &program.operators[from.operator.0 as usize];
    (operator.pos, &operator.outputs[from.port.index()])
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
