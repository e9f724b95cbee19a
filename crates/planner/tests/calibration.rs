//! Calibrations: their text is read back as it was written, and a garbled one says where.

use proptest::prelude::*;
use thalweg_planner::{Calibration, CostFit, MediumCost, MediumReach};

const TEXT: &str = "thalweg calibration 1
# a comment
time 2026-11-24T15:04:05Z
processor Some CPU @ 3.60GHz

cores 2
within shm tuple_ns 12.5 byte_ns 0.25 latency_ns 9000 error_percent 7 noise_percent 3
between rdma provider=verbs mode=write latency_ns 2 tuple_ns 1 byte_ns 0 error_percent 7 noise_percent 0.5
between rum tuple_ns 1 byte_ns 0 latency_ns 2 error_percent 7
";

#[test]
fn a_text_is_read() {
    let calibration = Calibration::parse(TEXT).expect("a calibration");
    assert_eq!(calibration.processor, "Some CPU @ 3.60GHz");
    assert_eq!((calibration.cores, calibration.media.len()), (2, 3));
    let between: Vec<_> = calibration.costs(MediumReach::BetweenHosts).collect();
    let [rdma, rum] = between[..] else {
        panic!("{between:?}")
    };
    assert_eq!(rdma.settings, "provider=verbs mode=write");
    assert_eq!((rdma.latency_ns, rdma.noise_percent), (2.0, Some(0.5)));
    assert_eq!(rum.noise_percent, None, "of one turn");
}

#[test]
fn mistakes_are_said_with_their_place() {
    let shm =
        "within shm tuple_ns 12.5 byte_ns 0.25 latency_ns 9000 error_percent 7 noise_percent 3";
    let cases = [
        ("", "1:1: `thalweg calibration 1` is missing here"),
        (
            "plan Main\n",
            "1:1: this is no calibration: it does not begin with `thalweg calibration`",
        ),
        (
            "thalweg calibration 2\n",
            "1:21: this is version `2` of the format, and version 1 is read; `thalweg calibrate` \
             writes the file anew",
        ),
        (
            "thalweg calibration 1\ntime\n",
            "2:5: a time is missing here",
        ),
        (
            "thalweg calibration 1\ntime now\n",
            "3:1: the file ends without a line `processor`",
        ),
        (
            "thalweg calibration 1\ncores two\n",
            "2:7: `two` is no number of cores",
        ),
        (
            "thalweg calibration 1\ncores 2 3\n",
            "2:9: `3` does not belong here",
        ),
        (
            "thalweg calibration 1\ncores 2\ncores 2\n",
            "3:1: there is a line `cores` already",
        ),
        (
            "thalweg calibration 1\nwithn shm\n",
            "2:1: `withn` is no first word of a line; did you mean `within`?",
        ),
        (
            "thalweg calibration 1\nwithin shm tuple_ns -1\n",
            "2:21: `-1` is no number of 0 or more",
        ),
        (
            "thalweg calibration 1\nwithin shm tuple_ns 1 tuple_ns 1\n",
            "2:23: there is a line `tuple_ns` already",
        ),
        (
            "thalweg calibration 1\nwithin shm tuple_ns NaN\n",
            "2:21: `NaN` is no number of 0 or more",
        ),
        (
            "thalweg calibration 1\nwithin shm byte_ps 1\n",
            "2:12: `byte_ps` is no number of a medium; did you mean `byte_ns`?",
        ),
        (
            "thalweg calibration 1\nwithin shm tuple_ns 1\n",
            "2:22: `byte_ns` of shm is missing here",
        ),
        (
            &format!("thalweg calibration 1\n{shm}\n{shm}\n"),
            "3:1: there is a line `within shm` already",
        ),
    ];
    for (text, expected) in cases {
        let error = Calibration::parse(text).expect_err(text).to_string();
        assert_eq!(error, expected, "{text}");
    }
}

#[test]
fn another_machine_is_noted() {
    let calibration = Calibration::parse(TEXT).expect("a calibration");
    assert_eq!(calibration.machine_note("Some CPU @ 3.60GHz", 2), None);
    for (processor, cores) in [("Some CPU @ 3.60GHz", 4), ("Other CPU", 2)] {
        let note = calibration.machine_note(processor, cores).expect("a note");
        assert!(
            note.contains("of another machine (Some CPU @ 3.60GHz, 2 cores"),
            "{note}"
        );
        assert!(note.contains(processor), "{note}");
    }
}

fn costs() -> impl Strategy<Value = Vec<MediumCost>> {
    let number = || 0.0..1e12_f64;
    let cost = (
        any::<bool>(),
        prop_oneof![
            Just(""),
            Just("mode=write"),
            Just("provider=tcp mode=channel")
        ],
        [number(), number(), number(), number()],
        proptest::option::of(number()),
    );
    let costs = proptest::collection::vec(cost, 0..6);
    costs.prop_map(|costs| {
        let costs = costs.into_iter().enumerate();
        let cost = costs.map(
            |(at, (is_near, settings, numbers, noise_percent))| MediumCost {
                reach: match is_near {
                    true => MediumReach::WithinHost,
                    false => MediumReach::BetweenHosts,
                },
                medium: format!("medium{at}"),
                settings: settings.to_owned(),
                fit: CostFit {
                    tuple_ns: numbers[0],
                    byte_ns: numbers[1],
                    error_percent: numbers[2],
                },
                latency_ns: numbers[3],
                noise_percent,
            },
        );
        cost.collect()
    })
}

proptest! {
    #[test]
    fn texts_are_read_back_as_they_were_written(media in costs(), cores in any::<u32>()) {
        let calibration = Calibration {
            time: "2026-11-24T15:04:05Z".to_owned(),
            processor: "Some CPU @ 3.60GHz".to_owned(),
            cores,
            media,
        };
        let text = calibration.to_text();
        prop_assert_eq!(Calibration::parse(&text), Ok(calibration));
    }

    /// A text that was cut anywhere, or changed in a byte, is read or refused, and nothing panics.
    #[test]
    fn garbled_texts_are_read_or_refused(at in 0..TEXT.len(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = TEXT.as_bytes().to_vec();
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        if let Err(error) = Calibration::parse(&String::from_utf8_lossy(&bytes)) {
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }
}
