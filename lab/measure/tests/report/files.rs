//! Results as files: JSON and CSV read back as they were, and files that are something else.

use std::fs;

use thalweg_measure::{LatencyPercentiles, Outcome, report, results};

use crate::folder::Folder;
use crate::samples;

/// Outcomes with every field set to what is hard to write.
fn hard() -> Vec<Outcome> {
    let mut one = samples::latency("a,b", 7, 0.1 + 0.2);
    one.bench = "with \"quotes\", commas\r\nand lines".to_owned();
    one.tuples_per_s = Some(1.0 / 3.0);
    one.samples = vec![1e-300, 1e300, f64::MIN_POSITIVE];
    one.host.governor = Some(" performance ".to_owned());
    one.peer = Some("=1+1".to_owned());
    one.options = Some("\n".to_owned());
    let other = Outcome {
        path: "größer ✓".to_owned(),
        ..Outcome::default()
    };
    vec![one, other]
}

#[test]
fn json_reads_back_as_it_was() {
    let folder = Folder::new();
    let all: Vec<Outcome> = samples::all().into_iter().chain(hard()).collect();
    let written = report::write(folder.path(), &all).unwrap();
    assert!(results::read(&written.json).unwrap() == all);
    assert!(
        results::read(folder.path()).unwrap() == all,
        "by its folder"
    );
}

#[test]
fn csv_reads_back_as_it_was() {
    let folder = Folder::new();
    let all: Vec<Outcome> = samples::all().into_iter().chain(hard()).collect();
    let written = report::write(folder.path(), &all).unwrap();
    let text = fs::read_to_string(&written.csv).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), all.len());
    for (record, outcome) in records.iter().zip(&all) {
        let field = |name: &str| {
            let at = heads.iter().position(|head| head == name);
            &record[at.unwrap_or_else(|| panic!("no column {name}"))]
        };
        assert_eq!(&outcome_of(field), outcome);
    }
    let ends = text.matches("\r\n").count();
    assert!(ends > all.len(), "lines end as RFC 4180 says");
}

/// The outcome that a record holds, by the names of the columns.
fn outcome_of<'a>(field: impl Fn(&str) -> &'a str) -> Outcome {
    let text = |name: &str| Some(field(name).to_owned()).filter(|text| !text.is_empty());
    let float = |name: &str| text(name).map(|text| text.parse::<f64>().unwrap());
    let whole = |name: &str| text(name).map(|text| text.parse::<u64>().unwrap());
    let list = |name: &str| {
        let parts = field(name).split_whitespace();
        parts.map(|part| part.parse().unwrap()).collect()
    };
    let latency = |prefix: &str| {
        let at = |name: &str| whole(&format!("{prefix}_{name}_ns"));
        Some(LatencyPercentiles {
            p50: at("p50")?,
            p90: at("p90")?,
            p99: at("p99")?,
            p999: at("p999")?,
            p9999: at("p9999")?,
            max: at("max")?,
        })
    };
    Outcome {
        bench: field("bench").to_owned(),
        path: field("path").to_owned(),
        codec: text("codec"),
        size_bytes: whole("size_bytes"),
        receivers: whole("receivers").map(|n| n as u32),
        rate_offered: float("rate_offered"),
        tuples_per_s: float("tuples_per_s"),
        gbit_per_s: float("gbit_per_s"),
        control_tuples_per_s: float("control_tuples_per_s"),
        ratio: float("ratio"),
        memory_bytes: whole("memory_bytes"),
        control_memory_bytes: whole("control_memory_bytes"),
        latency_ns: latency("latency"),
        control_latency_ns: latency("control_latency"),
        control: text("control"),
        peer: text("peer"),
        runs: whole("runs").unwrap() as u32,
        samples: list("samples"),
        control_samples: list("control_samples"),
        unavailable: text("unavailable"),
        host: thalweg_measure::Host {
            processor: field("host_processor").to_owned(),
            cores: whole("host_cores").unwrap() as u32,
            kernel: field("host_kernel").to_owned(),
            huge_pages: field("host_huge_pages").to_owned(),
            governor: text("host_governor"),
            jitter_ns: whole("host_jitter_ns"),
        },
        commit: text("commit"),
        options: text("options"),
    }
}

#[test]
fn files_that_are_something_else_are_refused_with_their_place() {
    let folder = Folder::new();
    let refused = |text: &str| {
        let path = folder.path().join("bad.json");
        fs::write(&path, text).unwrap();
        let error = results::read(&path).unwrap_err().to_string();
        assert!(error.contains("bad.json is no file of results"), "{error}");
        error
    };
    assert!(refused("").contains("line 1 column 0"));
    assert!(refused("{}").contains("expected a sequence"));
    assert!(refused("[\n{\"bench\": 7}]").contains("line 2"));
    assert!(refused("[{\"bnech\": \"x\"}]").contains("unknown field `bnech`"));
    let text = results::to_json_text(&samples::all());
    assert!(refused(&text[..text.len() / 2]).contains("EOF"));

    let missing = results::read(&folder.path().join("none.json")).unwrap_err();
    assert!(
        missing.to_string().contains("none.json: No such file"),
        "{missing}"
    );
    let empty = results::read(folder.path()).unwrap_err().to_string();
    assert!(empty.contains("results.json: No such file"), "{empty}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = report::write(&file.join("below"), &[]).unwrap_err();
    assert!(error.to_string().contains("below"), "{error}");
}
