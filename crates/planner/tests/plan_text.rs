//! Plans as text: what is printed is read back, what people write is understood or explained.

use graph::{
    AUTO_MEDIUM, CongestionPolicy, CrossingCodec, CrossingRails, InPort, OperatorId, OperatorNode,
    OutPort, OutPortId, PeId, PinnedThread, Plan, PortIndex, Pos, Program,
};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_planner::{
    FusionPolicy, MediumCapabilities, PlanOptions, add_missing_crossings, check, check_partial,
    derive, parse_plan, parse_plan_with_media, plan,
};

/// `A -> In.F -> In.G -> Sink`, `A -> Sink.1`; F and G stand in a loop if it is asked for.
fn program(has_loop: bool) -> Program {
    let mut of_f = vec![edge(0, PortIndex(0))];
    of_f.extend(has_loop.then(|| edge(2, PortIndex(0))));
    Program {
        name: "Main".into(),
        operators: vec![
            operator("A", vec![], 1),
            operator("In.F", vec![of_f], 2),
            operator("In.G", vec![vec![edge(1, PortIndex(1))]], 1),
            operator(
                "Sink",
                vec![vec![edge(2, PortIndex(0))], vec![edge(0, PortIndex(0))]],
                0,
            ),
        ],
        ..Program::default()
    }
}

fn edge(operator: u32, port: PortIndex) -> OutPortId {
    OutPortId {
        operator: OperatorId(operator),
        port,
    }
}

fn operator(name: &str, inputs: Vec<Vec<OutPortId>>, outputs: u32) -> OperatorNode {
    let inputs = inputs
        .into_iter()
        .map(|sources| InPort::new("In", Default::default(), sources));
    let outputs =
        (0..outputs).map(|port| OutPort::new(format!("{name}{port}"), Default::default()));
    OperatorNode {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        ..OperatorNode::new(name, "test::Node", Pos::default())
    }
}

fn parsed(text: &str) -> Plan {
    parse_plan(text, &program(false)).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    match parse_plan(text, &program(true)) {
        Ok(plan) => panic!("it is a plan:\n{}", plan.display(&program(true))),
        Err(error) => error.to_string(),
    }
}

fn operators(plan: &Plan) -> Vec<Vec<u32>> {
    let pes = plan.pes.iter();
    pes.map(|pe| pe.operators.iter().map(|o| o.0).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back((program, plan) in graphs::programs_with_plans(16)) {
        prop_assert_eq!(check(&plan, &program), Ok(()));
        let text = plan.display(&program).to_string();
        prop_assert_eq!(parse_plan(&text, &program), Ok(plan), "{}", text);
    }

    #[test]
    fn a_text_with_a_slip_is_a_plan_or_refused_in_a_place_of_it(
        (program, plan) in graphs::programs_with_plans(8),
        at in any::<prop::sample::Index>(),
        with in "[ #.*0-9a-z,>\n-]{0,3}",
    ) {
        let mut text = plan.display(&program).to_string();
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        text.replace_range(places[at.index(places.len())]..=places[at.index(places.len())], &with);
        match parse_plan(&text, &program) {
            Ok(plan) => prop_assert_eq!(check_partial(&plan, &program), Ok(())),
            Err(error) => {
                let line = text.lines().nth(error.line as usize - 1);
                let columns = line.map_or(0, |line| line.chars().count() as u32);
                prop_assert!((1..=columns + 1).contains(&error.column), "{}", error);
            }
        }
    }
}

#[test]
fn a_plan_can_be_written_by_hand() {
    let plan = parsed(
        "# who runs where\n\
         plan Main\n\
         pe 0 # the source\n\
         \toperators A\n\
         \tcores 2, 3\n\
         source A core 3\n\
         pe 1\n\
         receiver A core 5\n\
         operators Sink\n\
         queue Sink.1 dropFirst 10 core 1\n\
         pe 2\n\
         operators *\n\
         queue In.G\n\
         crossing In.G -> pe 1 on tcp codec normal ring 4096 batch 1 2 3 rails ::1, 10.0.0.7\n\
         crossing A -> pe 2, 1 rails mptcp\n",
    );
    assert_eq!(operators(&plan), [vec![0], vec![3], vec![1, 2]]);
    assert_eq!(plan.pes[0].cores, [2, 3]);
    let (source, receiver) = (OperatorId(0), edge(0, PortIndex(0)));
    let core = plan.pes[0].core_of(PinnedThread::Source(source));
    assert_eq!(core, Some(3));
    let core = plan.pes[1].core_of(PinnedThread::Receiver(receiver));
    assert_eq!(core, Some(5));
    assert_eq!(plan.pes[2].pins, []);
    let queue = &plan.pes[1].threaded_ports[0];
    assert_eq!(
        (queue.congestion, queue.tuples_max),
        (CongestionPolicy::DropFirst, 10)
    );
    assert_eq!((queue.port, queue.core), (PortIndex(1), Some(1)));
    let queue = &plan.pes[2].threaded_ports[0];
    assert_eq!(
        (queue.congestion, queue.tuples_max),
        (CongestionPolicy::Wait, 1000)
    );
    let [first, second] = &plan.crossings[..] else {
        panic!("two crossings");
    };
    assert_eq!(
        (first.from, &first.to[..]),
        (edge(0, PortIndex(0)), &[PeId(1), PeId(2)][..])
    );
    assert_eq!(
        (&*first.medium, first.codec),
        (AUTO_MEDIUM, CrossingCodec::Facade)
    );
    assert_eq!(
        (&*second.medium, second.codec),
        ("tcp", CrossingCodec::Normal)
    );
    assert_eq!(second.ring_bytes, Some(4096));
    assert_eq!(second.batch, Some((1, 2, 3)));
    let addresses = ["::1", "10.0.0.7"].map(|address| address.parse().expect("an address"));
    assert_eq!(second.rails, CrossingRails::Striped(addresses.into()));
    assert_eq!(first.rails, CrossingRails::Mptcp);
}

#[test]
fn the_longest_name_counts() {
    let plan = parsed("pe 0\noperators * In.G\npe 1\noperators In.*\n");
    assert_eq!(operators(&plan), [vec![0, 2, 3], vec![1]]);
}

#[test]
fn what_is_left_out_is_put_in() {
    let program = program(false);
    let mut plan = parsed("pe 0\noperators A\npe 1\noperators *\npe 2\noperators Sink\n");
    assert_eq!(plan.crossings, []);
    let missing = check(&plan, &program).expect_err("streams cross");
    assert_eq!(missing.message, "`A` has no crossing to pe 1");
    add_missing_crossings(&mut plan, &program, CrossingCodec::Normal);
    let to: Vec<_> = plan.crossings.iter().map(|c| c.to.clone()).collect();
    assert_eq!(to, [vec![PeId(1), PeId(2)], vec![PeId(2)]]);
    assert!(
        plan.crossings
            .iter()
            .all(|c| c.codec == CrossingCodec::Normal)
    );
    let missing = check(&plan, &program).expect_err("no medium yet");
    assert_eq!(missing.message, "`A` crosses on no medium");
    plan.crossings
        .iter_mut()
        .for_each(|c| c.medium = "shm".into());
    let stale = check(&plan, &program).expect_err("edges are not derived");
    assert!(
        stale.message.starts_with("edges, receivers"),
        "{}",
        stale.message
    );
    derive(&mut plan, &program);
    assert_eq!(check(&plan, &program), Ok(()));
}

#[test]
fn wrong_lines_are_explained() {
    for (text, said) in [
        (
            "pee 0",
            "1:1: `pee` is no word of a plan; did you mean `pe`?",
        ),
        (
            "operators A",
            "1:1: `operators` belongs below a line `pe 0`",
        ),
        (
            "plan Other",
            "1:6: this is a plan of `Other`, not of `Main`",
        ),
        ("pe", "1:3: the number of the pe is missing here"),
        ("pe 1", "1:4: pe 0 comes next, not pe 1"),
        ("pe x", "1:4: `x` is no whole number"),
        ("pe 0 0", "1:6: `0` does not belong here"),
        ("pe 0\n host", "2:6: the name of a host is missing here"),
        ("pe 0\n host a\n host b", "3:2: a pe has one host"),
        (
            "pe 0\n cores 99999999999",
            "2:8: 99999999999 is too large a number",
        ),
        (
            "pe 0\n operators In.f",
            "2:12: the program has no operator `In.f`; did you mean `In.F`?",
        ),
        (
            "pe 0\n operators Inn.*",
            "2:12: no operator's name begins so: `Inn.*`; did you mean `In.*`?",
        ),
        (
            "pe 0\n operators A In.*",
            "1:1: `Sink` is in no pe; name it, or write `operators *` in one of them",
        ),
        (
            "pe 0\n operators *\npe 1\n operators *",
            "4:12: `*` is in pe 0 already, by line 2",
        ),
        (
            "pe 0\n operators A\npe 1\n operators * A",
            "4:14: `A` is in pe 0 already, by line 2",
        ),
        ("pe 0\n operators *\npe 1", "3:1: pe 1 has no operators"),
        (
            "pe 0\n operators *\npe 1\n operators In.G",
            "4:12: `In.F` and `In.G` stand in a loop, so they have to be in one pe: queues between \
             processes that feed each other could fill up for ever",
        ),
    ] {
        assert_eq!(refused(text), said, "{text}");
    }
}

#[test]
fn wrong_queues_are_explained() {
    for (text, said) in [
        (
            "pe 0\n queue Sink",
            "2:8: `Sink` has 2 input ports: say which, `Sink.0` to `Sink.1`",
        ),
        ("pe 0\n queue A", "2:8: `A` has no input port"),
        ("pe 0\n queue Sink.2", "2:8: `Sink` has no input port 2"),
        (
            "pe 0\n queue Snk.0",
            "2:8: the program has no operator `Snk`; did you mean `Sink`?",
        ),
        (
            "pe 0\n queue Sink.0 dropfirst",
            "2:15: `dropfirst` is no word of a queue; did you mean `dropFirst`?",
        ),
        (
            "pe 0\n operators *\n queue Sink.0 0",
            "3:2: a queue holds at least 1 tuple",
        ),
        (
            "pe 0\n operators *\n queue Sink.0\n queue Sink.0",
            "4:2: `Sink.0` has two queues",
        ),
        (
            "pe 0\n operators A\n queue Sink.0\npe 1\n operators *",
            "3:2: `Sink` is not in pe 0",
        ),
    ] {
        assert_eq!(refused(text), said, "{text}");
    }
}

#[test]
fn wrong_crossings_are_explained() {
    for (text, said) in [
        ("A => pe 1", "5:12: `->` belongs here, not `=>`"),
        ("A -> 1", "5:15: `pe` belongs here, not `1`"),
        ("A -> pe", "5:17: the number of a pe is missing here"),
        ("A -> pe 2", "5:1: there is no pe 2; the last one is pe 1"),
        ("A -> pe 0", "5:1: `A` comes from pe 0 itself"),
        ("A -> pe 1 1", "5:1: `A` crosses to pe 1 twice"),
        (
            "A -> pe 1 by shm",
            "5:20: `by` is no word of a crossing; there are `on`, `codec`, `ring`, `batch`, \
             `rails`",
        ),
        (
            "A -> pe 1 codec norml",
            "5:26: `norml` is no codec; did you mean `normal`?",
        ),
        ("A -> pe 1 on", "5:22: a medium is missing here"),
        (
            "A -> pe 1 ring 4095",
            "5:25: a ring has 4096 to 2147483648 bytes, not 4095",
        ),
        (
            "A -> pe 1 ring 2147483649",
            "5:25: a ring has 4096 to 2147483648 bytes, not 2147483649",
        ),
        (
            "A -> pe 1 batch 5 2 10",
            "5:1: the shortest batching time, 5, is above the longest, 2",
        ),
        (
            "A -> pe 1\ncrossing A.0 -> pe 1",
            "6:1: `A` crosses to pe 1 twice",
        ),
        ("In.F.0 -> pe 0", "5:1: no operator of pe 0 takes `In.F.0`"),
    ] {
        let text = format!("pe 0\noperators A\npe 1\noperators *\ncrossing {text}\n");
        assert_eq!(refused(&text), said, "{text}");
    }
}

#[test]
fn wrong_rails_are_explained() {
    for (text, said) in [
        (
            "A -> pe 1 rails 10.0.0.1 on rum",
            "5:20: `rails` needs two addresses or more, one for each path, or the word `mptcp`; a \
             stream with one path has no `rails`",
        ),
        (
            "A -> pe 1 rails mptcp 10.0.0.1",
            "5:32: `10.0.0.1` is no word of a crossing; there are `on`, `codec`, `ring`, `batch`, \
             `rails`",
        ),
        (
            "A -> pe 1 rails 10.0.0.1 10.0.0.1",
            "5:35: 10.0.0.1 is a rail already: each path has its own",
        ),
        (
            "A -> pe 1 rails 10.0.0.1 10.0.0.1:80",
            "5:35: `10.0.0.1:80` is no IP address: a rail is an address of the sender's host, and \
             names are not looked up",
        ),
        (
            "A -> pe 1 rails 10.0.0.1 localhost",
            "5:35: `localhost` is no IP address: a rail is an address of the sender's host, and \
             names are not looked up",
        ),
        (
            "A -> pe 1 rails ::1 ::2 coded normal",
            "5:34: `coded` is no word of a crossing; did you mean `codec`?",
        ),
        (
            "A -> pe 1 rails ::1 mptcp",
            "5:30: rails are addresses or the word `mptcp`, not both",
        ),
        (
            "A -> pe 1 rails ::1 0.0.0.0",
            "5:30: 0.0.0.0 is not the address of a single path",
        ),
        (
            "A -> pe 1 rails ::1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9",
            "5:20: a crossing has at most 8 rails, not 9",
        ),
    ] {
        let text = format!("pe 0\noperators A\npe 1\noperators *\ncrossing {text}\n");
        assert_eq!(refused(&text), said, "{text}");
    }
}

#[test]
fn wrong_pins_are_explained() {
    for (text, said) in [
        ("pe 0\n source A", "2:10: `core` is missing here"),
        (
            "pe 0\n source A on 1",
            "2:11: `core` belongs here, not `on`",
        ),
        (
            "pe 0\n source A core",
            "2:15: the number of a core is missing here",
        ),
        (
            "source A core 1",
            "1:1: `source` belongs below a line `pe 0`",
        ),
        (
            "pe 0\n operators *\n source Sink core 1",
            "3:2: `Sink` is no source: it has input ports",
        ),
        (
            "pe 0\n operators *\npe 1\n operators A\npe 2\n operators Sink\n source A core 1",
            "7:2: `A` is not in pe 2",
        ),
        (
            "pe 0\n operators *\n source A core 1\n source A core 1",
            "4:2: this thread has a core already",
        ),
        (
            "pe 0\n operators *\n receiver A core 1",
            "3:2: `A` comes from pe 0 itself",
        ),
        (
            "pe 0\n operators A\npe 1\n operators In.*\npe 2\n operators *\n receiver In.F.0 core 1",
            "7:2: no operator of pe 2 takes `In.F.0`",
        ),
        (
            "pe 0\n receiver Sink core 1",
            "2:11: `Sink` has no output port",
        ),
    ] {
        assert_eq!(refused(text), said, "{text}");
    }
}

#[test]
fn streams_that_share_a_receiver_share_its_core() {
    // Two sources that feed one port.
    let mut merged = program(false);
    merged.operators[2].inputs.clear();
    merged.operators[3].inputs.truncate(1);
    merged.operators[3].inputs[0].sources = vec![edge(0, PortIndex(0)), edge(2, PortIndex(0))];
    let text = |core: u32| {
        format!(
            "pe 0\n operators *\npe 1\n operators Sink\n receiver In.G core {core}\n receiver A core 1\n"
        )
    };
    let plan = parse_plan(&text(1), &merged).expect("one core");
    assert_eq!(plan.pes[1].pins.len(), 2);
    let error = parse_plan(&text(2), &merged).expect_err("two cores");
    assert_eq!(
        error.to_string(),
        "5:2: `In.G` shares a receiver or a merge, and so a thread, that has another core"
    );
}

#[test]
fn a_stream_and_a_queue_that_one_merge_takes_share_its_core() {
    let text = |core: u32| {
        format!(
            "pe 0\n operators A Sink\n queue Sink.1 wait 10 core 3\n receiver In.G core {core}\n\
             pe 1\n operators In.*\n"
        )
    };
    let program = program(false);
    parse_plan(&text(3), &program).expect("one core");
    let error = parse_plan(&text(2), &program).expect_err("two cores");
    assert_eq!(
        error.to_string(),
        "4:2: `In.G` shares a receiver or a merge, and so a thread, that has another core"
    );
}

#[test]
fn an_unknown_medium_is_refused_in_its_place() {
    let known = |name: &str, _: &str| match name {
        "shm" => Ok(()),
        _ => Err(format!("there is no medium `{name}`")),
    };
    let with = |medium: &str| {
        let text =
            format!("pe 0\n operators *\npe 1\n operators Sink\ncrossing A -> pe 1 on {medium}\n");
        parse_plan_with_media(&text, &program(true), &known).map_err(|error| error.to_string())
    };
    assert_eq!(
        &*with("shm").expect("it is known").crossings[0].medium,
        "shm"
    );
    assert_eq!(
        &*with(AUTO_MEDIUM).expect("to be chosen").crossings[0].medium,
        AUTO_MEDIUM
    );
    let refused = with("smh").expect_err("it is unknown");
    assert_eq!(refused, "5:23: there is no medium `smh`");
}

#[test]
fn settings_of_a_medium_follow_its_name() {
    let known = |name: &str, settings: &str| match (name, settings) {
        ("rdma", "" | "mode=channel" | "provider=tcp mode=channel") => Ok(()),
        _ => Err(format!("`{name}` has no settings `{settings}`")),
    };
    let with = |medium: &str| {
        let text =
            format!("pe 0\n operators *\npe 1\n operators Sink\ncrossing A -> pe 1 on {medium}\n");
        parse_plan_with_media(&text, &program(true), &known).map_err(|error| error.to_string())
    };
    let program = program(true);
    for settings in ["mode=channel ring 4096", "provider=tcp   mode=channel", ""] {
        let plan = with(&format!("rdma {settings}")).expect("it is known");
        let text = plan.display(&program).to_string();
        let again = parse_plan(&text, &program).expect("it was printed");
        assert_eq!(again.crossings, plan.crossings, "{text}");
        let words = settings
            .split_whitespace()
            .filter(|word| word.contains('='));
        let words: Vec<&str> = words.collect();
        assert_eq!(&*plan.crossings[0].medium_settings, words.join(" "));
    }
    assert_eq!(
        with("rdma mode=best").expect_err("it is unknown"),
        "5:23: `rdma` has no settings `mode=best`"
    );
    assert_eq!(
        with("auto mode=channel").expect_err("auto has none"),
        "5:28: settings belong behind the name of a medium"
    );
}

#[test]
fn settings_of_the_job_are_for_crossings_without_their_own() {
    let program = program(true);
    let text = "pe 0\n operators *\npe 1\n operators Sink\ncrossing A -> pe 1 on rdma";
    let media = [MediumCapabilities {
        name: "rdma",
        crosses_processes: true,
        crosses_hosts: true,
        is_one_to_many: true,
        batches: false,
        receivers_max: 9,
        is_for_tests: false,
        rails_max: 1,
        is_by_name_only: false,
        needs_fabric: false,
        rank: 0,
    }];
    for (own, medium, settings) in [
        ("", "rdma", "mode=channel"),
        (" mode=write", "rdma", "mode=write"),
        ("", "rum", ""),
    ] {
        let written = parse_plan(&format!("{text}{own}\n"), &program).expect("a plan");
        let options = PlanOptions {
            fusion: FusionPolicy::Text(&written),
            media: &media,
            medium_settings: Some((medium, "mode=channel")),
            ..PlanOptions::default()
        };
        let plan = plan(&program, &options).expect("a plan");
        assert_eq!(&*plan.crossings[0].medium_settings, settings);
    }
    for (of, medium, settings) in [("rdma", "rum-rdma", "device=a"), ("rum-rdma", "rdma", "")] {
        let media = [MediumCapabilities {
            name: medium,
            ..media[0]
        }];
        let text = text.replace("rdma", medium);
        let written = parse_plan(&format!("{text}\n"), &program).expect("a plan");
        let options = PlanOptions {
            fusion: FusionPolicy::Text(&written),
            media: &media,
            medium_settings: Some((of, "device=a")),
            ..PlanOptions::default()
        };
        let plan = plan(&program, &options).expect("a plan");
        assert_eq!(
            &*plan.crossings[0].medium_settings, settings,
            "{of} {medium}"
        );
    }
}
