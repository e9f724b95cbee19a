//! The metric of operators with a partitioned window: how many partitions there are.

use graph::{Partition, PartitionEviction, Policy, PortIndex, Pos, Window, WindowKind};
use runtime::OperatorEntry;
use testkit::{OperatorBuilder, TextHarness, exprs};
use tuple::Type;

/// Values of the metric after each tuple.
fn partitions(kind: &str, window: Window, tuples: &[i64]) -> Vec<i64> {
    let n = || exprs::attribute(PortIndex(0), 0, Type::Int64);
    let kind = format!("spl.relational::{kind}");
    let operator = OperatorBuilder::new(&kind, "O")
        .input("In", [("n", Type::Int64)])
        .window(window)
        .param("partitionBy", [n()])
        .output("Out", [("n", Type::Int64)])
        .assign([Some(n())]);
    let operator = match &*kind {
        "spl.relational::Sort" => operator.param("sortBy", [n()]),
        _ => operator,
    };
    let entry = OperatorEntry::find(thalweg_toolkit::operators(), &kind);
    let mut harness = TextHarness::new(&operator, entry.unwrap());
    let count = |n| {
        harness.process_text(PortIndex(0), &format!("{{n={n}}}"));
        let metrics = harness.metrics().metrics;
        let metric = metrics
            .iter()
            .find(|(name, _)| name == "nCurrentPartitions");
        metric.unwrap().1
    };
    tuples.iter().map(count).collect()
}

fn window(kind: WindowKind, evict: Option<PartitionEviction>) -> Window {
    Window {
        kind,
        evict: Policy::Count(2),
        trigger: (kind == WindowKind::Sliding).then_some(Policy::Count(1)),
        partition: Some(Partition { evict }),
        pos: Pos::default(),
    }
}

#[test]
fn a_partition_counts_from_its_first_tuple_until_it_is_flushed_or_evicted() {
    for kind in ["Aggregate", "Sort"] {
        let tumbling = window(WindowKind::Tumbling, None);
        let flushed = partitions(kind, tumbling, &[1, 2, 3, 2, 1, 1]);
        assert_eq!(flushed, [1, 2, 3, 2, 1, 2], "{kind}");
        let evicted = Some(PartitionEviction::Count(2));
        let sliding = window(WindowKind::Sliding, evicted);
        let evicted = partitions(kind, sliding, &[1, 1, 1, 2, 3, 1]);
        assert_eq!(evicted, [1, 1, 1, 2, 2, 2], "{kind}");
    }
}
