//! Groups that follow a window give the results that are computed from all of its tuples, for every
//! kind of window.

use std::sync::Arc;

use eval::Fault;
use graph::{PartitionEviction, Policy, Pos, Window, WindowKind};
use runtime::window::{LeaveReason, WindowArrival, WindowObserver, WindowPartition, Windows};
use tuple::{Layout, List, TupleBuf, TupleType, Type, Value};

use super::aggregate_item::AggregateItem;
use super::grouping::{ColumnCall, Grouping};
use super::partition_groups::PartitionGroups;
use super::sliding::tests::{bits, functions};
use super::test_random::TestRandom;
use super::window_groups::{WindowGroups, WindowTuples};

/// Values that are kept with a tuple: the group, values of several types, and the tuple's number.
const VALUES: [(&str, Type); 5] = [
    ("group", Type::Int32),
    ("small", Type::Int8),
    ("wide", Type::Int64),
    ("real", Type::Float64),
    ("text", Type::RString),
];

/// Whether a function has other last digits in a window that slides: its steps have divisions.
fn is_deviation_of_reals(function: &ColumnCall) -> bool {
    function.name.ends_with("StdDev") && function.result.is_float()
}

/// Sums up the window whenever it fires, both ways.
struct AgreementCheck {
    layout: Arc<Layout>,
    grouping: Grouping,
    sliding_groups: PartitionGroups,
    /// Groups that are filled again for each firing.
    refilled_groups: WindowGroups,
    fired: usize,
    number: u64,
}

impl AgreementCheck {
    fn new(group_by: usize) -> AgreementCheck {
        let layout = Layout::new(&Arc::new(TupleType::new(VALUES)));
        let column = |at: usize| {
            let calls = functions(&VALUES[at].1);
            calls.into_iter().map(move |call| ColumnCall {
                columns: vec![at, VALUES.len() - 1],
                ..call
            })
        };
        let all = (1..VALUES.len()).flat_map(column).collect();
        AgreementCheck {
            grouping: Grouping::new(all, layout.clone(), group_by),
            layout,
            sliding_groups: PartitionGroups::default(),
            refilled_groups: WindowGroups::of_single_firings(),
            fired: 0,
            number: 0,
        }
    }

    fn kept(&mut self, draw: &mut TestRandom) -> AggregateItem {
        // Their sums are exact, in any order.
        let reals = [0.0, -0.0, 0.5, 0.75, f64::NAN, -1024.0, 3.25];
        let values = vec![
            Value::Int32(draw.below(4) as i32),
            Value::Int8(draw.below(256) as u8 as i8),
            Value::Int64(i64::MAX - draw.below(9) as i64),
            Value::Float64(reals[draw.below(reals.len())]),
            Value::RString(format!("{}", draw.below(30)).as_str().into()),
        ];
        let mut flat = TupleBuf::default();
        flat.begin(&self.layout);
        flat.set_all(&self.layout, &Value::Tuple(values.into()));
        self.number += 1;
        AggregateItem {
            values: flat,
            seq: self.number,
            ..AggregateItem::default()
        }
    }

    /// The groups of a window by the order of their first tuples, from all its tuples.
    fn groups_from_scratch<'k>(
        &mut self,
        partition: &'k WindowPartition<AggregateItem>,
    ) -> Vec<(Vec<u8>, Vec<&'k AggregateItem>)> {
        let mut groups: Vec<(Vec<u8>, Vec<&AggregateItem>)> = Vec::new();
        for kept in partition.iter() {
            let key = self.grouping.key(kept.values.as_ref()).to_vec();
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, group)) => group.push(kept),
                None => groups.push((key, vec![kept])),
            }
        }
        groups
    }

    /// Result of a function over the column of a group.
    fn column_result(&self, function: &ColumnCall, group: &[&AggregateItem]) -> String {
        let column = |argument: usize| {
            let at = function.columns[argument];
            let values = group
                .iter()
                .map(|kept| kept.values.as_ref().get(&self.layout, at));
            List::from_values(&function.arguments[argument], values)
        };
        let result = (function.function)(&column(0), &column(1), &function.result);
        bits(&result.expect("no fault"))
    }

    fn check(&mut self, partition: &WindowPartition<AggregateItem>) {
        self.fired += 1;
        let anew = self.groups_from_scratch(partition);
        let groups = self.sliding_groups.update(partition, &mut self.grouping);
        let described = groups.describe();
        self.refilled_groups.clear();
        self.refilled_groups.update(partition, &mut self.grouping);
        let refilled = self.refilled_groups.describe();
        assert_eq!(described.len(), anew.len());
        assert_eq!(refilled.len(), anew.len());
        for ((slid, refilled), (_, group)) in described.iter().zip(&refilled).zip(&anew) {
            let of_group: Vec<u64> = group.iter().map(|kept| kept.seq).collect();
            assert_eq!([&slid.0, &refilled.0], [&of_group; 2]);
            let functions = self.grouping.functions.iter();
            for (function, (slid, refilled)) in functions.zip(slid.1.iter().zip(&refilled.1)) {
                let whole = self.column_result(function, group);
                assert_eq!(*refilled, whole, "{} of {of_group:?}", function.name);
                if !is_deviation_of_reals(function) {
                    assert_eq!(*slid, whole, "{} of {of_group:?}", function.name);
                }
            }
        }
    }
}

impl WindowObserver<AggregateItem> for AgreementCheck {
    fn fire(
        &mut self,
        partition: Option<&WindowPartition<AggregateItem>>,
        _: usize,
    ) -> Result<(), Fault> {
        if let Some(partition) = partition.filter(|partition| !partition.is_empty()) {
            self.check(partition);
        }
        Ok(())
    }

    fn leave(&mut self, _: AggregateItem, _: LeaveReason) -> Result<(), Fault> {
        Ok(())
    }

    fn evict_partition(&mut self, partition: &WindowPartition<AggregateItem>) -> Result<(), Fault> {
        self.check(partition);
        self.sliding_groups.remove(partition);
        Ok(())
    }
}

fn policy(draw: &mut TestRandom, most: usize) -> Policy {
    let amount = 1 + draw.below(most);
    match draw.below(3) {
        0 => Policy::Count(amount as u32),
        1 => Policy::Delta(0, Value::Int32(amount as i32)),
        _ => Policy::Time(amount as f64),
    }
}

fn window(draw: &mut TestRandom) -> Window {
    let eviction = match draw.below(5) {
        0 => Some(PartitionEviction::Count(2)),
        1 => Some(PartitionEviction::Tuples(20)),
        2 => Some(PartitionEviction::Age(5.0)),
        _ => None,
    };
    let partition = graph::Partition { evict: eviction };
    Window {
        kind: WindowKind::Sliding,
        evict: policy(draw, 40),
        trigger: Some(policy(draw, 4)),
        partition: (draw.below(2) == 0).then_some(partition),
        pos: Pos::default(),
    }
}

/// A window at random with tuples at random: the attribute of a delta rises, mostly, as does the
/// time.
fn slide(seed: u64) -> usize {
    let mut draw = TestRandom::new(seed);
    let window = window(&mut draw);
    let mut windows = Windows::new(&window);
    let mut both = AgreementCheck::new(draw.below(2));
    let (mut at, mut now_ns) = (0, 0);
    for _ in 0..150 {
        at += draw.below(4) as i32 - i32::from(draw.below(10) == 0) * 6;
        now_ns += draw.below(1_500_000_000) as u64;
        let key = match window.partition {
            Some(_) => vec![draw.below(4) as u8],
            None => Vec::new(),
        };
        let item = both.kept(&mut draw);
        let arrival = WindowArrival {
            key: &key,
            now_ns,
            evict_by: Some(Value::Int32(at)),
            trigger_by: Some(Value::Int32(at)),
            item,
        };
        windows.insert(arrival, &mut both).expect("no fault");
        if matches!(window.trigger, Some(Policy::Time(_))) && draw.below(3) == 0 {
            windows.on_timer(now_ns, &mut both).expect("no fault");
        }
    }
    both.fired
}

#[test]
fn windows_at_random_give_what_their_whole_columns_give() {
    let fired: usize = (1..=25).map(slide).sum();
    assert!(fired > 500, "{fired} firings say little");
}

impl WindowTuples for &[AggregateItem] {
    fn len(&self) -> usize {
        <[AggregateItem]>::len(self)
    }

    fn get(&self, at: usize) -> Option<&AggregateItem> {
        <[AggregateItem]>::get(self, at)
    }

    fn count_before(&self, number: u64) -> usize {
        self.partition_point(|kept| kept.seq < number)
    }
}

#[test]
fn groups_leave_no_more_memory_than_the_window_takes() {
    const WINDOW: usize = 500;
    let (mut both, mut draw) = (AgreementCheck::new(1), TestRandom::new(3));
    both.grouping.functions.clear();
    let mut groups = WindowGroups::default();
    let mut kept: Vec<_> = (0..20_000).map(|_| both.kept(&mut draw)).collect();
    // Each group fills the window in its turn.
    kept.sort_by_key(|kept| kept.values.as_ref().i32_at(0));
    for (number, kept) in (1..).zip(&mut kept) {
        kept.seq = number;
    }
    for end in 1..=kept.len() {
        let window = &kept[end.saturating_sub(WINDOW)..end];
        groups.update(&window, &mut both.grouping);
        let rows = groups.tuple_capacity();
        assert!(rows <= 4 * window.len() + 4 * 64, "{rows} at {end}");
    }
}
