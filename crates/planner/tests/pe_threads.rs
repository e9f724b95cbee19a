//! The threads of PEs: on generated graphs the planner agrees with transitive closures over all
//! pairs of operators, and with the sources, queues, receivers and cores of the plan.

use graph::{
    HistoryDepths, InPort, OperatorId, OperatorNode, OperatorTimers, OutPort, OutPortId,
    PeAssignment, PeId, PeThreads, PinnedThread, Plan, PortIndex, Pos, Program, ThreadedPort,
    inserted_operators,
};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_planner::{PeProgram, cut, derive, parse_plan, pe_threads};
use tuple::Value;

/// Pairs of operators for which a relation holds: `relation[a][b]`.
type Relation = Vec<Vec<bool>>;

/// Pairs that one step or more of a relation lead between.
fn closure(mut relation: Relation) -> Relation {
    let count = relation.len();
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                relation[from][to] |= relation[from][middle] && relation[middle][to];
            }
        }
    }
    relation
}

/// The relations between the operators of a part, worked out for all pairs.
struct Closures<'a> {
    operators: &'a [OperatorNode],
    /// Whether an edge leads from one operator to another.
    edges: Relation,
    /// Whether one call or more lead from one operator to another.
    calls: Relation,
    /// Whether one edge or more lead from one operator to another.
    ways: Relation,
}

fn has_own_thread(operator: &OperatorNode) -> bool {
    let is_queue = &*operator.kind == inserted_operators::QUEUE;
    !operator.inputs.is_empty() && (operator.has_own_thread || is_queue)
}

impl Closures<'_> {
    fn new(part: &PeProgram) -> Closures<'_> {
        let operators = &part.program.operators[..];
        let feeds = |from: usize, to: &OperatorNode| {
            let mut sources = to.inputs.iter().flat_map(|port| &port.sources);
            sources.any(|source| source.operator.0 as usize == from)
        };
        let row = |from| operators.iter().map(|to| feeds(from, to)).collect();
        let edges: Relation = (0..operators.len()).map(row).collect();
        let submits = |at: usize| !has_own_thread(&operators[at]);
        let mut calls = edges.clone();
        for (at, row) in calls.iter_mut().enumerate() {
            row.iter_mut().for_each(|called| *called &= submits(at));
        }
        Closures {
            operators,
            ways: closure(edges.clone()),
            calls: closure(calls),
            edges,
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.operators.len()
    }

    /// Whether a thread that submits from `start` enters `to`.
    fn is_downstream(&self, start: usize, to: usize) -> bool {
        self.all()
            .any(|next| self.edges[start][next] && (next == to || self.calls[next][to]))
    }

    /// By thread: the operators that the thread enters.
    fn entered(&self) -> Vec<Vec<usize>> {
        let entered = |enters_start: bool, starts: &[usize]| {
            let is_entered = |to: &usize| {
                let is_start = enters_start && starts.contains(to);
                let mut submitting = starts
                    .iter()
                    .filter(|&&start| self.operators[start].timers != OperatorTimers::Silent);
                is_start || submitting.any(|&start| self.is_downstream(start, *to))
            };
            self.all().filter(is_entered).collect::<Vec<usize>>()
        };
        let begins = |at: &usize| {
            self.operators[*at].inputs.is_empty() || has_own_thread(&self.operators[*at])
        };
        let own = self.all().filter(begins);
        let own = own.map(|at| entered(self.operators[at].inputs.is_empty(), &[at]));
        let timed: Vec<usize> = self
            .all()
            .filter(|&at| self.operators[at].timers.exist())
            .collect();
        let timers = (!timed.is_empty()).then(|| entered(true, &timed));
        own.chain(timers).collect()
    }

    /// Whether calls lead from an operator back to it.
    fn is_in_call_loop(&self, at: usize) -> bool {
        self.calls[at][at]
    }

    /// The operators of each loop that calls close.
    fn call_loops(&self) -> Vec<Vec<usize>> {
        let both = |a: usize, b: usize| self.calls[a][b] && self.calls[b][a];
        let of = |at| self.all().filter(|&to| both(at, to)).collect::<Vec<_>>();
        let mut loops: Vec<Vec<usize>> = self.all().map(of).filter(|l| !l.is_empty()).collect();
        loops.sort();
        loops.dedup();
        loops
    }

    /// The groups that may be one function, each in order of the program.
    fn chains(&self, threads: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let thread_of = |at: usize| {
            let mut entering = (0..threads.len()).filter(|&thread| threads[thread].contains(&at));
            entering.next().filter(|_| entering.next().is_none())
        };
        let may_have_code = |at: usize| {
            let operator = &self.operators[at];
            thread_of(at).is_some()
                && !self.is_in_call_loop(at)
                && !operator.kind.starts_with("thalweg.")
                && !has_own_thread(operator)
                && !operator.timers.exist()
        };
        let may_join = |at: usize| {
            let operator = &self.operators[at];
            operator.annotations.is_empty() && operator.inputs.iter().all(|p| p.history.is_empty())
        };
        let mut joined: Relation = vec![vec![false; self.operators.len()]; self.operators.len()];
        for from in self.all().filter(|&at| may_have_code(at)) {
            for port in 0..self.operators[from].outputs.len() {
                let takes = |to: &usize| {
                    let mut sources = self.operators[*to].inputs.iter().flat_map(|p| &p.sources);
                    sources.any(|s| (s.operator.0 as usize, s.port.index()) == (from, port))
                };
                let is_fused = |&to: &usize| {
                    thread_of(to) == thread_of(from) && may_have_code(to) && may_join(to)
                };
                for to in self.all().filter(takes).filter(is_fused) {
                    (joined[from][to], joined[to][from]) = (true, true);
                }
            }
        }
        let joined = closure(joined);
        let of = |at: usize| self.all().filter(|&to| joined[at][to]).collect::<Vec<_>>();
        let mut chains: Vec<Vec<usize>> = self.all().map(of).filter(|c| c.len() > 1).collect();
        chains.sort();
        chains.dedup();
        chains
    }
}

fn numbers(ids: &[OperatorId]) -> Vec<usize> {
    ids.iter().map(|id| id.0 as usize).collect()
}

fn assert_agree(part: &PeProgram, found: &PeThreads, text: &str) {
    let expected = Closures::new(part);
    let entered: Vec<_> = found
        .threads
        .iter()
        .map(|t| numbers(&t.operators))
        .collect();
    let threads = expected.entered();
    assert_eq!(entered, threads, "threads of\n{text}");
    let count = |at: usize| {
        threads
            .iter()
            .filter(|entered| entered.contains(&at))
            .count()
    };
    let shared: Vec<usize> = expected.all().filter(|&at| count(at) > 1).collect();
    assert_eq!(
        numbers(&found.shared_operators()),
        shared,
        "shared in\n{text}"
    );
    let loops: Vec<_> = found.call_loops.iter().map(|l| numbers(l)).collect();
    assert_eq!(loops, expected.call_loops(), "loops in\n{text}");
    let is_looped =
        |at: &usize| has_own_thread(&expected.operators[*at]) && expected.ways[*at][*at];
    let looped: Vec<usize> = expected.all().filter(is_looped).collect();
    assert_eq!(numbers(&found.looped_threads), looped, "looped in\n{text}");
    assert_goes_forward(&expected, found, text);
    let mut chains: Vec<_> = found.chains.iter().map(|c| numbers(c)).collect();
    for chain in &chains {
        for (at, caller) in chain.iter().enumerate() {
            let before = chain[..at].iter();
            assert!(
                before
                    .clone()
                    .all(|called| !expected.edges[*caller][*called]),
                "{text}"
            );
        }
    }
    chains.iter_mut().for_each(|chain| chain.sort_unstable());
    chains.sort();
    assert_eq!(chains, expected.chains(&threads), "chains in\n{text}");
}

/// Asserts that the order of code has each operator once, and that each edge goes forward in it,
/// but for calls of one call loop, and for what threads of their own submit within a loop.
fn assert_goes_forward(expected: &Closures<'_>, found: &PeThreads, text: &str) {
    let order = numbers(&found.upstream_first);
    let position = |at: usize| order.iter().position(|&other| other == at).unwrap();
    assert_eq!(order.len(), expected.operators.len(), "order of\n{text}");
    for from in expected.all() {
        for to in expected.all().filter(|&to| expected.edges[from][to]) {
            let returns = match has_own_thread(&expected.operators[from]) {
                true => expected.ways[to][from],
                false => expected.calls[to][from],
            };
            let is_forward = position(from) < position(to);
            assert!(
                is_forward || returns,
                "{order:?} for {from} -> {to} in\n{text}"
            );
        }
    }
}

/// Gives operators threads, timers, history and `@catch`, as the bits of `traits` say.
fn with_traits(mut program: Program, traits: &[u8]) -> Program {
    for (operator, bits) in program.operators.iter_mut().zip(traits) {
        let has_inputs = !operator.inputs.is_empty();
        operator.has_own_thread = has_inputs && bits & 7 == 1;
        operator.timers = OperatorTimers::new(has_inputs && bits & 7 == 2, bits & 8 == 0);
        if let Some(port) = operator.inputs.first_mut() {
            port.history = HistoryDepths::up_to(u32::from(bits & 24 == 8));
        }
        if bits & 24 == 16 {
            let argument = ("exception".into(), Value::RString("all".into()));
            operator.annotations.push(("catch".into(), vec![argument]));
        }
    }
    program
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn threads_are_those_that_closures_find(
        (program, mut plan) in graphs::programs_with_plans(16),
        traits in proptest::collection::vec(any::<u8>(), 16),
    ) {
        let program = with_traits(program, &traits);
        derive(&mut plan, &program);
        for pe in 0..plan.pes.len() as u32 {
            let part = cut(&program, &plan, PeId(pe));
            let found = pe_threads(&part.program, &part.pins);
            let text = found.display(&part.program).to_string();
            assert_agree(&part, &found, &text);
        }
    }

    #[test]
    fn threads_are_those_of_the_plan(
        (program, mut plan) in graphs::programs_with_plans(16),
        traits in proptest::collection::vec(any::<u8>(), 16),
    ) {
        let program = with_traits(program, &traits);
        derive(&mut plan, &program);
        for number in 0..plan.pes.len() as u32 {
            let part = cut(&program, &plan, PeId(number));
            let found = pe_threads(&part.program, &part.pins).threads;
            let mut found: Vec<_> = found.into_iter().map(|thread| {
                let names = thread.start.operators().iter();
                let names = names.map(|id| part.program.operators[id.0 as usize].name.to_string());
                (names.collect::<Vec<_>>(), thread.core)
            }).collect();
            found.sort();
            prop_assert_eq!(found, planned_starts(&program, &plan, number));
        }
    }
}

/// The names of the operators at which the threads of a PE begin, each with its core, as the plan
/// and the models say.
fn planned_starts(program: &Program, plan: &Plan, number: u32) -> Vec<(Vec<String>, Option<u32>)> {
    let pe = &plan.pes[number as usize];
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let node = |id: &OperatorId| &program.operators[id.0 as usize];
    let name = |id: &OperatorId| node(id).name.to_string();
    let mut starts = Vec::new();
    for id in &pe.operators {
        if node(id).inputs.is_empty() {
            starts.push((vec![name(id)], pe.core_of(PinnedThread::Source(*id))));
        } else if node(id).has_own_thread {
            starts.push((vec![name(id)], None));
        }
    }
    let timed = pe.operators.iter().filter(|id| node(id).timers.exist());
    let timed: Vec<String> = timed.map(name).collect();
    if !timed.is_empty() {
        starts.push((timed, None));
    }
    let is_merged = |queue: &ThreadedPort| pe.merges.iter().any(|m| m.feeds(queue.in_port()));
    for queue in pe.threaded_ports.iter().filter(|queue| !is_merged(queue)) {
        starts.push((vec![program.queue_name(queue)], queue.core));
    }
    for merge in &pe.merges {
        starts.push((vec![program.merge_name(merge)], merge.core));
    }
    for receiver in &pe.receivers {
        let name = program.receiver_name(plan, &pe_assignment, receiver);
        starts.push((vec![name], plan.core_of_receiver(pe, receiver)));
    }
    starts.sort();
    starts
}

/// An operator with one output port, and an input port for each list of operators that feed it.
fn operator(name: &str, inputs: &[&[u32]]) -> OperatorNode {
    let stream = |&from: &u32| OutPortId {
        operator: OperatorId(from),
        port: PortIndex(0),
    };
    let inputs = inputs.iter().map(|sources| {
        InPort::new(
            "In",
            Default::default(),
            sources.iter().map(stream).collect(),
        )
    });
    OperatorNode {
        inputs: inputs.collect(),
        outputs: vec![OutPort::new(name, Default::default())],
        ..OperatorNode::new(name, "test::Node", Pos::default())
    }
}

fn text_of(program: &Program, plan: &str, pe: u32) -> String {
    let plan: Plan = parse_plan(plan, program).unwrap_or_else(|error| panic!("{error}"));
    let part = cut(program, &plan, PeId(pe));
    pe_threads(&part.program, &part.pins)
        .display(&part.program)
        .to_string()
}

#[test]
fn threads_are_printed_with_what_they_enter() {
    let mut program = Program {
        operators: vec![
            operator("Trades", &[]),
            operator("Clean", &[&[0]]),
            operator("Price", &[&[1]]),
            operator("Late", &[&[2]]),
            operator("Log", &[&[3, 2]]),
            operator("Count", &[&[2, 5]]),
        ],
        ..Program::default()
    };
    program.operators[3].has_own_thread = true;
    program.operators[5].timers = OperatorTimers::Submitting;
    assert_eq!(
        text_of(&program, "pe 0\noperators *\nsource Trades core 2\n", 0),
        "thread 0 source Trades core 2: Trades Clean Price Late Log Count\n\
         thread 1 operator Late: Log\n\
         thread 2 timers Count: Count\n\
         shared: Log Count\n\
         loop: Count\n\
         may fuse: Trades Clean Price\n"
    );
    let text = "pe 0\noperators Trades Clean\npe 1\noperators *\nqueue Price dropLast core 3\n\
                crossing Clean -> pe 1 on shm\n";
    assert_eq!(
        text_of(&program, text, 1),
        "thread 0 receiver [pe 0 -> Clean]: [pe 0 -> Clean] [queue of Price.0]\n\
         thread 1 queue [queue of Price.0] core 3: Price Late Log Count\n\
         thread 2 operator Late: Log\n\
         thread 3 timers Count: Count\n\
         shared: Log Count\n\
         loop: Count\n"
    );
}

#[test]
fn a_timer_that_submits_nothing_enters_its_operator_alone() {
    let mut program = Program {
        operators: vec![
            operator("Trades", &[]),
            operator("Joined", &[&[0]]),
            operator("Count", &[&[1]]),
            operator("Sink", &[&[2]]),
        ],
        ..Program::default()
    };
    program.operators[1].timers = OperatorTimers::Silent;
    let plan = "pe 0\noperators *\n";
    assert_eq!(
        text_of(&program, plan, 0),
        "thread 0 source Trades: Trades Joined Count Sink\n\
         thread 1 timers Joined: Joined\n\
         shared: Joined\n\
         may fuse: Count Sink\n"
    );
    program.operators[2].timers = OperatorTimers::Submitting;
    assert_eq!(
        text_of(&program, plan, 0),
        "thread 0 source Trades: Trades Joined Count Sink\n\
         thread 1 timers Joined Count: Joined Count Sink\n\
         shared: Joined Count Sink\n"
    );
}
