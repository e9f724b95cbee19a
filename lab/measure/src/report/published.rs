//! Values that the source documents published, as they print them: the faint lines of the charts.
//!
//! Only values from a table or a sentence are here. Values that only a picture shows are not
//! guessed. Where several tables print a column, they agree to the digit; it is here once.
//!
//! Table 6 does not say whether it counts one receiver or all; what it prints stands here.

/// The performance report of InfoSphere Streams 2.0: two Xeon X5570 a host, gigabit Ethernet.
pub const STREAMS: &str = "Streams 2.0 report";
/// The measurements of Ultra Messaging SMX: Xeon E5-2643 v4, one process to another.
pub const SMX: &str = "SMX measurements";
/// The paper on transport operators for System S: Xeon X7560, shared memory.
pub const VEGA: &str = "Vega paper";

/// One column of a published table.
#[derive(Debug, Clone, Copy)]
pub struct PublishedColumn {
    /// Document that the column is from.
    pub source: &'static str,
    /// Name of the column, with the number of its table.
    pub name: &'static str,
    /// Path of Thalweg that the column is compared with.
    pub path: &'static str,
    /// Style of the line, by the kind of tuples or values.
    pub kind: PublishedKind,
    /// Sizes in bytes, or numbers of receivers.
    pub x: &'static [f64],
    /// Values in 10⁹ bits a second, or in messages a second if the document counts those.
    pub y: &'static [f64],
}

/// The kind of a published line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishedKind {
    /// The line to compare with, for instance facade tuples.
    Main,
    /// The second line: normal tuples, or the previous release.
    Second,
    /// Single values from a sentence.
    Points,
}

/// Bytes of a tuple in all tables of the report.
const SIZES: &[f64] = &[
    4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0,
];

const fn streams(
    name: &'static str,
    path: &'static str,
    kind: PublishedKind,
    y: &'static [f64; SIZES.len()],
) -> PublishedColumn {
    PublishedColumn {
        source: STREAMS,
        name,
        path,
        kind,
        x: SIZES,
        y,
    }
}

/// Within a host, facade tuples: tables 1, 3 and 7.
pub const TCP: PublishedColumn = streams(
    "plain TCP, table 1",
    "tcp",
    PublishedKind::Main,
    &[
        0.03, 0.06, 0.12, 0.24, 0.71, 1.58, 2.51, 4.29, 7.06, 11.52, 12.32, 12.49, 13.07,
    ],
);
/// Within a host, facade tuples: tables 1, 3 and 7.
pub const RUM: PublishedColumn = streams(
    "LLM RUM over TCP, table 1",
    "rum",
    PublishedKind::Main,
    &[
        0.16, 0.33, 0.77, 1.55, 3.46, 9.33, 10.32, 10.18, 9.42, 8.59, 6.59, 5.80, 7.74,
    ],
);
/// Within a host, facade tuples: tables 1, 3 and 7.
pub const INFINIBAND: PublishedColumn = streams(
    "LLM RUM, InfiniBand, table 1",
    "shm",
    PublishedKind::Main,
    &[
        0.17, 0.29, 0.74, 1.46, 2.02, 5.48, 8.14, 12.61, 13.39, 16.03, 15.80, 16.55, 17.39,
    ],
);
/// Between hosts, facade tuples: tables 2, 4 and 8.
pub const HOSTS_TCP: PublishedColumn = streams(
    "plain TCP, table 2",
    "tcp",
    PublishedKind::Main,
    &[
        0.06, 0.13, 0.24, 0.45, 0.81, 0.87, 0.89, 0.92, 0.93, 0.92, 0.94, 0.94, 0.93,
    ],
);
/// Between hosts, facade tuples: tables 2, 4 and 8.
pub const HOSTS_RUM: PublishedColumn = streams(
    "LLM RUM over TCP, table 2",
    "rum",
    PublishedKind::Main,
    &[
        0.21, 0.62, 0.75, 0.83, 0.88, 0.90, 0.92, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93,
    ],
);
/// Between hosts, facade tuples: tables 2, 4 and 8.
pub const HOSTS_INFINIBAND: PublishedColumn = streams(
    "LLM RUM, InfiniBand, table 2",
    "rdma",
    PublishedKind::Main,
    &[
        0.13, 0.31, 0.61, 1.21, 2.44, 5.17, 7.79, 13.75, 12.96, 19.20, 19.04, 17.11, 20.42,
    ],
);
/// Within a host, normal tuples.
pub const TCP_NORMAL: PublishedColumn = streams(
    "TCP, normal, table 3",
    "tcp",
    PublishedKind::Second,
    &[
        0.03, 0.06, 0.12, 0.24, 0.59, 1.55, 2.39, 4.01, 6.59, 10.14, 11.30, 11.62, 11.63,
    ],
);
/// Within a host, normal tuples.
pub const RUM_NORMAL: PublishedColumn = streams(
    "LLM RUM, normal, table 3",
    "rum",
    PublishedKind::Second,
    &[
        0.16, 0.31, 0.74, 1.15, 2.51, 5.56, 8.77, 10.74, 11.44, 9.01, 6.38, 6.19, 9.79,
    ],
);
/// Within a host, normal tuples.
pub const INFINIBAND_NORMAL: PublishedColumn = streams(
    "InfiniBand, normal, table 3",
    "shm",
    PublishedKind::Second,
    &[
        0.17, 0.32, 0.54, 1.18, 2.53, 3.61, 7.39, 10.99, 11.88, 12.91, 10.91, 14.05, 17.12,
    ],
);
/// Between hosts, normal tuples.
pub const HOSTS_TCP_NORMAL: PublishedColumn = streams(
    "TCP, normal, table 4",
    "tcp",
    PublishedKind::Second,
    &[
        0.06, 0.13, 0.24, 0.43, 0.80, 0.86, 0.90, 0.92, 0.93, 0.93, 0.94, 0.94, 0.93,
    ],
);
/// Between hosts, normal tuples.
pub const HOSTS_RUM_NORMAL: PublishedColumn = streams(
    "LLM RUM, normal, table 4",
    "rum",
    PublishedKind::Second,
    &[
        0.13, 0.62, 0.75, 0.83, 0.88, 0.91, 0.92, 0.92, 0.93, 0.93, 0.93, 0.93, 0.93,
    ],
);
/// Between hosts, normal tuples.
pub const HOSTS_INFINIBAND_NORMAL: PublishedColumn = streams(
    "InfiniBand, normal, table 4",
    "rdma",
    PublishedKind::Second,
    &[
        0.18, 0.27, 0.54, 1.08, 2.21, 3.65, 7.18, 11.82, 12.13, 13.61, 11.39, 16.95, 19.73,
    ],
);
/// Throughput of fused operators in one thread.
pub const FUSED: PublishedColumn = streams(
    "fused, table 5",
    "fused",
    PublishedKind::Main,
    &[
        0.66, 1.32, 2.47, 4.94, 9.91, 19.81, 42.08, 84.42, 169.49, 337.85, 677.63, 1355.20, 2711.61,
    ],
);
/// Throughput of a threaded port between two threads.
pub const THREADED: PublishedColumn = streams(
    "threaded port, table 5",
    "threaded",
    PublishedKind::Main,
    &[
        0.09, 0.14, 0.36, 0.67, 1.33, 2.54, 5.47, 10.46, 21.19, 39.95, 71.21, 179.81, 349.17,
    ],
);
/// Throughput between processes, in the table of `FUSED` and `THREADED`.
pub const INFINIBAND_TABLE_5: PublishedColumn = streams(
    "LLM RUM, InfiniBand, table 5",
    "shm",
    PublishedKind::Main,
    &[
        0.16, 0.30, 0.61, 1.23, 2.30, 4.48, 7.62, 12.29, 12.59, 15.44, 14.28, 16.16, 18.67,
    ],
);

/// Numbers of receivers in table 6.
const RECEIVERS: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

const fn fanout(
    name: &'static str,
    path: &'static str,
    y: &'static [f64; RECEIVERS.len()],
) -> PublishedColumn {
    PublishedColumn {
        source: STREAMS,
        name,
        path,
        kind: PublishedKind::Main,
        x: RECEIVERS,
        y,
    }
}

/// Throughput from one sender to several receivers within a host, with the size in bytes.
pub const FANOUT: &[(u64, PublishedColumn)] = &[
    (
        22,
        fanout(
            "plain TCP, table 6",
            "tcp",
            &[0.14, 0.03, 0.02, 0.02, 0.02, 0.02],
        ),
    ),
    (
        108,
        fanout(
            "plain TCP, table 6",
            "tcp",
            &[0.91, 0.15, 0.11, 0.11, 0.11, 0.11],
        ),
    ),
    (
        1004,
        fanout(
            "plain TCP, table 6",
            "tcp",
            &[2.89, 2.88, 2.94, 2.83, 2.78, 2.78],
        ),
    ),
    (
        22,
        fanout(
            "LLM RUM over TCP, table 6",
            "rum",
            &[0.77, 0.78, 0.92, 0.92, 0.94, 0.93],
        ),
    ),
    (
        108,
        fanout(
            "LLM RUM over TCP, table 6",
            "rum",
            &[2.44, 2.89, 2.84, 2.82, 2.98, 3.09],
        ),
    ),
    (
        1004,
        fanout(
            "LLM RUM over TCP, table 6",
            "rum",
            &[3.34, 3.54, 3.46, 3.67, 3.73, 3.83],
        ),
    ),
];

/// Throughput of the previous release within a host: table 7, version 1.2.
pub const PREVIOUS_RELEASE: &[PublishedColumn] = &[
    streams(
        "1.2, plain TCP, table 7",
        "tcp",
        PublishedKind::Second,
        &[
            0.03, 0.06, 0.11, 0.23, 0.77, 1.47, 2.26, 4.07, 6.87, 11.11, 11.50, 12.52, 12.74,
        ],
    ),
    streams(
        "1.2, LLM RUM, table 7",
        "rum",
        PublishedKind::Second,
        &[
            0.05, 0.09, 0.23, 0.36, 0.86, 1.90, 3.94, 8.14, 10.26, 10.27, 6.61, 6.61, 8.76,
        ],
    ),
    streams(
        "1.2, InfiniBand, table 7",
        "shm",
        PublishedKind::Second,
        &[
            0.04, 0.09, 0.27, 0.44, 0.68, 1.58, 2.56, 5.56, 8.01, 10.44, 13.48, 16.73, 17.65,
        ],
    ),
];

/// Throughput of the previous release between hosts: table 8, version 1.2.
pub const HOSTS_PREVIOUS_RELEASE: &[PublishedColumn] = &[
    streams(
        "1.2, plain TCP, table 8",
        "tcp",
        PublishedKind::Second,
        &[
            0.06, 0.11, 0.23, 0.42, 0.83, 0.88, 0.91, 0.92, 0.93, 0.94, 0.94, 0.94, 0.94,
        ],
    ),
    streams(
        "1.2, LLM RUM, table 8",
        "rum",
        PublishedKind::Second,
        &[
            0.11, 0.23, 0.78, 0.86, 0.89, 0.91, 0.92, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93,
        ],
    ),
    streams(
        "1.2, InfiniBand, table 8",
        "rdma",
        PublishedKind::Second,
        &[
            0.13, 0.21, 0.45, 1.09, 2.19, 3.58, 6.36, 12.08, 11.34, 16.02, 21.35, 21.69, 22.54,
        ],
    ),
];

/// The highest rates that SMX sustained, in messages a second, by message size.
pub const SMX_RATES: PublishedColumn = PublishedColumn {
    source: SMX,
    name: "sustained, by size",
    path: "shm",
    kind: PublishedKind::Main,
    x: &[
        25.0, 64.0, 65.0, 100.0, 112.0, 113.0, 128.0, 129.0, 200.0, 500.0, 1500.0,
    ],
    y: &[
        19_819_051.0,
        17_475_337.0,
        24_240_992.0,
        33_013_389.0,
        32_984_303.0,
        75_251_854.0,
        75_500_906.0,
        17_599_110.0,
        15_776_588.0,
        14_548_092.0,
        14_787_552.0,
    ],
};

/// Rates over shared memory in the text of the Vega paper, in messages a second (section V, C).
pub const VEGA_RATES: &[PublishedColumn] = &[
    PublishedColumn {
        source: VEGA,
        name: "Vega, 32 B and 16 KB",
        path: "threaded",
        kind: PublishedKind::Points,
        x: &[32.0, 16384.0],
        y: &[10.1e6, 0.8e6],
    },
    PublishedColumn {
        source: VEGA,
        name: "RUM, 256 B and 16 KB",
        path: "rum",
        kind: PublishedKind::Points,
        x: &[256.0, 16384.0],
        y: &[2.8e6, 70e3],
    },
];

/// Rates over shared memory of fused operators in the text of the Vega paper, in messages a second
/// (section V, C): description, path, lower end, upper end. The paper says that they hardly depend
/// on the size, and only draws which size has which.
pub const VEGA_FUSED_RATES: (&str, &str, f64, f64) = ("fused, all sizes", "fused", 25.3e6, 27.8e6);

/// One-way latencies over shared memory in the text of the Vega paper, in microseconds (section V,
/// C): description, path, lower end, upper end.
pub const VEGA_LATENCIES: &[(&str, &str, f64, f64)] = &[
    ("fused", "fused", 0.1, 0.1),
    ("Vega", "shm", 0.5, 0.7),
    ("RUM over shared memory", "rum", 18.0, 22.0),
];

/// The document on channel bonding with Streams 2.0: two adapters of 1 Gbit/s, mode balance-rr.
pub const BONDING: &str = "channel bonding document";

/// Throughput over two bonded adapters as a share of that over one, from the sentences of the
/// channel bonding document. Its figures are pictures without values.
pub const BONDING_GAINS: &[(&str, f64)] = &[
    ("bonding, TCP transport: about 60 % more", 1.60),
    ("bonding, LLM RUM over TCP: almost 40 % more", 1.40),
    ("bonding, the most of all: 68 % more", 1.68),
];

/// Round trips within a host from the report's conclusions, in microseconds: description, path,
/// lower end, upper end.
pub const ROUND_TRIPS: &[(&str, &str, f64, f64)] =
    &[("any transport, conclusions", "shm", 15.0, 30.0)];

/// Round trips between two hosts from the report's conclusions, in microseconds: description, path,
/// lower end, upper end.
pub const HOSTS_ROUND_TRIPS: &[(&str, &str, f64, f64)] = &[
    ("TCP and RUM, conclusions", "tcp", 50.0, 80.0),
    ("InfiniBand, conclusions", "rdma", 20.0, 20.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_complete() {
        let within = [
            TCP,
            RUM,
            INFINIBAND,
            TCP_NORMAL,
            RUM_NORMAL,
            INFINIBAND_NORMAL,
        ];
        let between = [HOSTS_TCP, HOSTS_RUM, HOSTS_INFINIBAND, HOSTS_TCP_NORMAL];
        let rest = [HOSTS_RUM_NORMAL, HOSTS_INFINIBAND_NORMAL, FUSED, THREADED];
        let last = [INFINIBAND_TABLE_5, SMX_RATES];
        let fanout = FANOUT.iter().map(|(_, column)| column);
        let all = within.iter().chain(&between).chain(&rest).chain(&last);
        let all = all
            .chain(fanout)
            .chain(PREVIOUS_RELEASE)
            .chain(HOSTS_PREVIOUS_RELEASE)
            .chain(VEGA_RATES);
        for column in all {
            assert_eq!(column.x.len(), column.y.len(), "{}", column.name);
            assert!(column.x.windows(2).all(|w| w[0] < w[1]), "{}", column.name);
            assert!(column.y.iter().all(|y| *y > 0.0), "{}", column.name);
        }
    }
}
