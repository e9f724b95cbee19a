//! The medium that `auto` chooses, and the reason that a plan's text gives for it.

use graph::{Plan, Program};
use planner::{
    Calibration, FusionPolicy, HostFabrics, MediumCapabilities, PlanOptions, SharedFabric,
};

use crate::{MEDIA, choice, planned, program};

const CHAIN: &str = "stream<int64 a, int64 b> A = Beacon() {}
    () as Sink = Custom(A) {}";

/// Hosts on one fabric, but for `moon`.
#[derive(Debug)]
struct Fabrics {
    settings: &'static str,
}

impl HostFabrics for Fabrics {
    fn shared_fabric(&self, near: &str, far: &str) -> Result<SharedFabric, String> {
        match [near, far].contains(&"moon") {
            true => Err("no fabric joins near and moon".to_owned()),
            false => Ok(SharedFabric {
                name: "IB-7".to_owned(),
                medium: "rdma".to_owned(),
                settings: self.settings.to_owned(),
            }),
        }
    }
}

const VERBS: Fabrics = Fabrics {
    settings: "provider=verbs",
};

/// The media of the other tests, and one that needs a fabric.
fn with_rdma() -> Vec<MediumCapabilities<'static>> {
    let rum = MEDIA.iter().find(|medium| medium.name == "rum");
    let rdma = MediumCapabilities {
        name: "rdma",
        needs_fabric: true,
        batches: false,
        rails_max: 1,
        rank: 9,
        ..*rum.expect("a medium of this name")
    };
    [MEDIA, &[rdma]].concat()
}

/// The lines of a plan about its crossings.
fn crossings(program: &Program, plan: &Plan) -> Vec<String> {
    let text = plan.display(program).to_string();
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("crossing "));
    lines.map(str::to_owned).collect()
}

/// A plan with the sink on a host of this name, and the source on the host `near`.
fn plan_between(program: &Program, far: &str, options: PlanOptions<'_>, crossing: &str) -> Plan {
    let text =
        format!("pe 0\noperators A\nhost near\npe 1\noperators Sink\nhost {far}\n{crossing}");
    let written = planner::parse_plan(&text, program).expect("a plan");
    let options = PlanOptions {
        fusion: FusionPolicy::Text(&written),
        ..options
    };
    planned(program, &options)
}

fn calibration(costs: &str) -> Calibration {
    let head = "thalweg calibration 1\ntime now\nprocessor p\ncores 2\n";
    Calibration::parse(&format!("{head}{costs}")).expect("a calibration")
}

/// A line of a calibration.
fn cost(what: &str, tuple_ns: f64, byte_ns: f64) -> String {
    format!(
        "{what} tuple_ns {tuple_ns} byte_ns {byte_ns} latency_ns 1 error_percent 0 noise_percent 0\n"
    )
}

#[test]
fn within_a_host_it_is_the_fastest_medium() {
    let program = program(CHAIN);
    let plan = planned(&program, &choice(FusionPolicy::None));
    let expected = ["crossing A.0 -> pe 1 on shm", "  # shm: same host"];
    assert_eq!(crossings(&program, &plan), expected);
}

#[test]
fn a_named_medium_has_no_reason() {
    let program = program(CHAIN);
    let options = PlanOptions {
        transport: planner::TransportPolicy::Medium("rum"),
        ..choice(FusionPolicy::None)
    };
    let plan = planned(&program, &options);
    assert_eq!(crossings(&program, &plan), ["crossing A.0 -> pe 1 on rum"]);
}

#[test]
fn between_hosts_it_is_rdma_if_a_fabric_joins_them() {
    let program = program(CHAIN);
    let media = with_rdma();
    let options = PlanOptions {
        media: &media,
        fabrics: Some(&VERBS),
        ..choice(FusionPolicy::None)
    };
    let chosen = |far, options, crossing| {
        crossings(&program, &plan_between(&program, far, options, crossing))
    };
    assert_eq!(
        chosen("far", options, ""),
        [
            "crossing A.0 -> pe 1 on rdma provider=verbs",
            "  # rdma: other host, on the fabric IB-7"
        ]
    );
    assert_eq!(
        chosen("moon", options, ""),
        [
            "crossing A.0 -> pe 1 on rum",
            "  # rum: other host; no fabric joins near and moon"
        ]
    );
    // Rails are more than this fabric's medium has.
    let rails = "crossing A -> pe 1 rails 10.0.0.1 10.0.1.1\n";
    assert_eq!(
        chosen("far", options, rails)[1],
        "  # rum: other host, rails"
    );
    // The job's settings are for another provider.
    let other = PlanOptions {
        medium_settings: Some(("rdma", "provider=tcp")),
        ..options
    };
    assert_eq!(chosen("far", other, "")[0], "crossing A.0 -> pe 1 on rum");
    let mode = PlanOptions {
        medium_settings: Some(("rdma", "mode=channel")),
        ..options
    };
    let expected = "crossing A.0 -> pe 1 on rdma provider=verbs mode=channel";
    assert_eq!(chosen("far", mode, "")[0], expected);
    // Nobody was asked.
    let unknown = PlanOptions {
        fabrics: None,
        ..options
    };
    assert_eq!(chosen("far", unknown, "")[1], "  # rum: other host");
}

#[test]
fn within_a_host_no_fabric_is_used() {
    let program = program(CHAIN);
    let media = with_rdma();
    let costs =
        calibration(&[cost("within rdma", 1.0, 0.0), cost("within shm", 2.0, 0.0)].concat());
    for calibration in [None, Some(&costs)] {
        let options = PlanOptions {
            media: &media,
            fabrics: Some(&VERBS),
            calibration,
            ..choice(FusionPolicy::None)
        };
        let plan = planned(&program, &options);
        assert_eq!(&*plan.crossings[0].medium, "shm");
    }
}

#[test]
fn a_calibration_is_asked_for_the_tuple_of_the_stream() {
    let costs = [
        cost("within pipe", 10.0, 1.0),
        cost("within shm", 30.0, 0.1),
        cost("within fused", 1.0, 0.0),
        cost("within tcp", 900.0, 0.1),
    ];
    let costs = calibration(&costs.concat());
    let chosen = |graph: &str| {
        let program = program(graph);
        let options = PlanOptions {
            calibration: Some(&costs),
            ..choice(FusionPolicy::None)
        };
        crossings(&program, &planned(&program, &options))
    };
    // A library's medium too, once it is measured.
    assert_eq!(
        chosen(CHAIN),
        [
            "crossing A.0 -> pe 1 on pipe",
            "  # pipe: same host, calibrated: 26 ns a tuple of 16 bytes, shm 32 ns, tcp 902 ns"
        ]
    );
    let large = "stream<int64 a, list<int64>[50] b> A = Beacon() {}
        () as Sink = Custom(A) {}";
    assert_eq!(chosen(large)[0], "crossing A.0 -> pe 1 on shm");
    let two = "stream<int64 a> A = Beacon() {}
        () as Sink = Custom(A) {}
        () as Other = Custom(A) {}";
    assert_eq!(chosen(two)[0], "crossing A.0 -> pe 1 2 on pipe");
}

#[test]
fn a_cheaper_medium_that_writes_to_each_receiver_says_so() {
    let costs = [
        cost("within shm", 40.0, 0.0),
        cost("within tcp", 30.0, 0.0),
        cost("within rum", 50.0, 0.0),
    ];
    let costs = calibration(&costs.concat());
    let options = PlanOptions {
        calibration: Some(&costs),
        ..choice(FusionPolicy::None)
    };
    let two = "stream<int64 a> A = Beacon() {}
        () as Sink = Custom(A) {}
        () as Other = Custom(A) {}";
    let program = program(two);
    let plan = planned(&program, &options);
    let reason = "  # shm: same host, calibrated: 40 ns a tuple of 8 bytes, rum 50 ns, tcp 30 ns for \
                  each of 2 receivers";
    assert_eq!(
        crossings(&program, &plan),
        ["crossing A.0 -> pe 1 2 on shm", reason]
    );
}

#[test]
fn media_that_were_not_measured_are_not_chosen_by_calibration() {
    let program = program(CHAIN);
    let costs = calibration(&cost("within tcp", 900.0, 0.1));
    let options = PlanOptions {
        calibration: Some(&costs),
        ..choice(FusionPolicy::None)
    };
    let plan = planned(&program, &options);
    assert_eq!(&*plan.crossings[0].medium, "tcp");
    // Nothing was measured between hosts.
    let plan = plan_between(&program, "far", options, "");
    assert_eq!(crossings(&program, &plan)[1], "  # rum: other host");
}

#[test]
fn a_calibrated_mode_is_a_setting_of_the_crossing() {
    let program = program(CHAIN);
    let media = with_rdma();
    let costs = [
        cost("between rdma provider=verbs mode=write", 20.0, 0.0),
        cost("between rdma provider=verbs mode=channel", 10.0, 0.0),
        cost("between rdma provider=efa mode=write", 5.0, 0.0),
        cost("between rum", 30.0, 0.0),
    ];
    let costs = calibration(&costs.concat());
    let options = PlanOptions {
        media: &media,
        fabrics: Some(&VERBS),
        calibration: Some(&costs),
        ..choice(FusionPolicy::None)
    };
    let first =
        |options| crossings(&program, &plan_between(&program, "far", options, "")).remove(0);
    assert_eq!(
        first(options),
        "crossing A.0 -> pe 1 on rdma provider=verbs mode=channel"
    );
    let write = PlanOptions {
        medium_settings: Some(("rdma", "mode=write")),
        ..options
    };
    assert_eq!(
        first(write),
        "crossing A.0 -> pe 1 on rdma provider=verbs mode=write"
    );
    let moon = plan_between(&program, "moon", options, "");
    assert_eq!(&*moon.crossings[0].medium, "rum");
}
