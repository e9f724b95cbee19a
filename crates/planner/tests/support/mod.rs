//! Small programs, profiles and media for tests of the cost model and the optimiser.

use graph::{
    ConfigEntry, InPort, OperatorId, OperatorNode, OutPort, OutPortId, PortIndex, Pos, Program,
};
use thalweg_planner::{MediumCapabilities, Profile};
use tuple::{TupleType, Type};

/// A schema of eight bytes for all streams.
pub fn schema() -> std::sync::Arc<TupleType> {
    std::sync::Arc::new(TupleType::new([("a", Type::Int64)]))
}

/// The only output port of an operator.
pub fn stream(from: u32) -> OutPortId {
    OutPortId {
        operator: OperatorId(from),
        port: PortIndex(0),
    }
}

/// A program of operators `O0`, `O1`, ... with one output port each, given what feeds each of their
/// input ports.
pub fn program(inputs: &[Vec<Vec<u32>>]) -> Program {
    let operators = inputs.iter().enumerate().map(|(at, ports)| {
        let ports = ports.iter().enumerate().map(|(port, sources)| {
            let sources = sources.iter().map(|&from| stream(from)).collect();
            InPort::new(format!("In{port}"), schema(), sources)
        });
        OperatorNode {
            inputs: ports.collect(),
            outputs: vec![OutPort::new(format!("O{at}"), schema())],
            ..OperatorNode::new(format!("O{at}"), "test::Node", Pos::default())
        }
    });
    Program {
        name: "Main".into(),
        files: ["Main.spl".into()].into(),
        operators: operators.collect(),
        ..Program::default()
    }
}

/// A chain of so many operators.
pub fn chain(operators: u32) -> Program {
    let inputs = (0..operators).map(|at| match at {
        0 => Vec::new(),
        _ => vec![vec![at - 1]],
    });
    program(&inputs.collect::<Vec<_>>())
}

/// A profile of a million tuples at every operator, which take so many nanoseconds each.
pub fn profile(tuple_ns: &[u64]) -> Profile {
    let mut text =
        "thalweg profile 1\nprogram Main\nprocessor P\ncores 4\nruns 1\nseconds 1000\n".to_owned();
    for (at, ns) in tuple_ns.iter().enumerate() {
        let cpu_ns = ns * 1_000_000;
        text += &format!(
            "operator O{at} kind Node tuples 1000000 cpu_ns {cpu_ns} state_bytes 0\n\
             stream O{at}.0 tuples 1000000 bytes 8000000 peak_per_second 2000\n"
        );
    }
    Profile::parse(&text).expect("the text is that of a profile")
}

/// Adds a config entry with one value to an operator.
pub fn configure(program: &mut Program, operator: usize, name: &str, value: &str) {
    program.operators[operator].config.push(ConfigEntry {
        name: name.into(),
        values: vec![value.into()],
        pos: Pos::default(),
    });
}

/// Shared memory and sockets.
pub fn media() -> Vec<MediumCapabilities<'static>> {
    let medium = |name, crosses_hosts, rank| MediumCapabilities {
        name,
        crosses_processes: true,
        crosses_hosts,
        is_one_to_many: name == "shm",
        batches: name == "rum",
        receivers_max: 64,
        rails_max: 1,
        is_for_tests: false,
        is_by_name_only: false,
        needs_fabric: false,
        rank,
    };
    vec![
        medium("shm", false, 0),
        medium("rum", true, 1),
        medium("tcp", true, 2),
    ]
}
