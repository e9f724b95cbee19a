//! Outcomes made up by rule, as a run of all benchmarks would find them.

use thalweg_measure::{Host, LatencyPercentiles, Outcome};

/// Sizes of the source report.
pub const SIZES: [u64; 13] = [
    4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
];

/// A result without figures.
pub fn blank(bench: &str, path: &str) -> Outcome {
    Outcome {
        bench: bench.to_owned(),
        path: path.to_owned(),
        host: Host {
            processor: "A <processor> & \"co\" @ 2.5 GHz".to_owned(),
            cores: 2,
            kernel: "6.1.0".to_owned(),
            huge_pages: "none".to_owned(),
            governor: None,
            jitter_ns: Some(365_127),
        },
        commit: Some("0123456789ab+".to_owned()),
        options: Some("all --quick".to_owned()),
        runs: 5,
        ..Outcome::default()
    }
}

/// Throughput of one path at one size; its rate follows from a cost a tuple and a cost a byte.
pub fn throughput(bench: &str, path: &str, codec: Option<&str>, size: u64) -> Outcome {
    let (tuple_ns, byte_ns) = match path {
        "fused" => (1.5, 0.0),
        "threaded" => (8.0, 0.03),
        "shm" => (12.0, 0.04),
        "rum" => (25.0, 0.12),
        _ => (900.0, 0.2),
    };
    let codec_ns = if codec == Some("normal") { 20.0 } else { 0.0 };
    let wire_ns = if bench == "hosts" { 8.0 } else { 0.0 };
    let ns = tuple_ns + codec_ns + (byte_ns + wire_ns) * size as f64;
    let (rate, control) = (1e9 / ns, 1.2e9 / ns);
    Outcome {
        codec: codec.map(str::to_owned),
        size_bytes: Some(size),
        receivers: Some(1),
        tuples_per_s: Some(rate),
        gbit_per_s: Some(rate * size as f64 * 8.0 / 1e9),
        control_tuples_per_s: Some(control),
        ratio: Some(rate / control),
        control: Some("bare loop".to_owned()),
        samples: [0.97, 1.0, 1.02, 0.99, 1.01].map(|f| f * rate).to_vec(),
        control_samples: [0.99, 1.0, 1.01, 1.0, 1.0].map(|f| f * control).to_vec(),
        ..blank(bench, path)
    }
}

/// An outcome of a round trip.
pub fn latency(path: &str, size: u64, rate: f64) -> Outcome {
    let base = match path {
        "shm" => 2_000,
        "rum" => 19_000,
        _ => 16_000,
    };
    let p50 = base + size + rate as u64 / 10;
    let at = |p50: u64| LatencyPercentiles {
        p50,
        p90: p50 * 12 / 10,
        p99: p50 * 2,
        p999: p50 * 5,
        p9999: p50 * 20,
        max: p50 * 90,
    };
    Outcome {
        codec: Some("facade".to_owned()),
        size_bytes: Some(size),
        rate_offered: Some(rate),
        latency_ns: Some(at(p50)),
        control_latency_ns: Some(at(p50 * 8 / 10)),
        ratio: Some(0.8),
        control: Some("bare ping-pong".to_owned()),
        ..blank("latency", path)
    }
}

/// The outcomes of `bench all`.
pub fn all() -> Vec<Outcome> {
    let mut all = Vec::new();
    for path in ["fused", "threaded", "shm", "rum", "tcp"] {
        let fused = matches!(path, "fused" | "threaded");
        let codecs: &[Option<&str>] = if fused {
            &[None]
        } else {
            &[Some("facade"), Some("normal")]
        };
        for codec in codecs {
            all.extend(SIZES.map(|size| throughput("throughput", path, *codec, size)));
        }
    }
    for path in ["rum", "tcp"] {
        for codec in ["facade", "normal"] {
            all.extend(SIZES.map(|size| throughput("hosts", path, Some(codec), size)));
        }
    }
    for path in ["shm", "rum", "tcp"] {
        for (rate, size) in [1000.0, 5000.0]
            .into_iter()
            .flat_map(|rate| [128, 256, 512].map(|size| (rate, size)))
        {
            all.push(latency(path, size, rate));
        }
        for (size, receivers) in [22, 108, 1004]
            .into_iter()
            .flat_map(|size| (1..=6).map(move |receivers| (size, receivers)))
        {
            let mut one = throughput("fanout", path, Some("facade"), size);
            one.receivers = Some(receivers);
            all.push(one);
        }
    }
    for (bench, path) in [("chain", "10 filters"), ("expressions", "price * volume")] {
        let mut one = throughput(bench, path, None, 64);
        one.size_bytes = None;
        one.gbit_per_s = None;
        all.push(one);
    }
    let mut refused = blank("hosts", "rdma");
    refused.unavailable = Some("no RDMA adapter on this host".to_owned());
    refused.runs = 0;
    all.push(refused);
    all
}
