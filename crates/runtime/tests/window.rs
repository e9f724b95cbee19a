//! The window engine against the rules of SPL's windows, one scenario a rule.

use Policy::{Count, Punct, Time};
use WindowKind::{Sliding, Tumbling};
use eval::Fault;
use graph::{Partition, PartitionEviction, Policy, Pos, Window, WindowKind};
use thalweg_runtime::window::{LeaveReason, WindowArrival, WindowObserver, Windows};
use tuple::Value;

/// Writes down what the engine says: `[a b]` a full window, `(a b)` one that was never full,
/// `[]` an empty one, `-a` an evicted item, `!{a b}` an evicted partition.
#[derive(Default)]
struct Journal(Vec<String>);

impl WindowObserver<i32> for Journal {
    fn fire(
        &mut self,
        partition: Option<&thalweg_runtime::window::WindowPartition<i32>>,
        _total: usize,
    ) -> Result<(), Fault> {
        let items = partition.map_or(String::new(), joined);
        let full = partition.is_none_or(|partition| partition.is_full());
        self.0.push(if full {
            format!("[{items}]")
        } else {
            format!("({items})")
        });
        Ok(())
    }

    fn leave(&mut self, item: i32, cause: LeaveReason) -> Result<(), Fault> {
        if cause == LeaveReason::Evicted {
            self.0.push(format!("-{item}"));
        }
        Ok(())
    }

    fn evict_partition(
        &mut self,
        partition: &thalweg_runtime::window::WindowPartition<i32>,
    ) -> Result<(), Fault> {
        self.0.push(format!("!{{{}}}", joined(partition)));
        Ok(())
    }
}

fn joined(partition: &thalweg_runtime::window::WindowPartition<i32>) -> String {
    partition
        .iter()
        .map(i32::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

struct Case {
    windows: Windows<i32>,
    journal: Journal,
}

impl Case {
    fn new(kind: WindowKind, evict: Policy, trigger: Option<Policy>) -> Case {
        Case::partitioned(kind, evict, trigger, None)
    }

    fn partitioned(
        kind: WindowKind,
        evict: Policy,
        trigger: Option<Policy>,
        partition: Option<Partition>,
    ) -> Case {
        let window = Window {
            kind,
            evict,
            trigger,
            partition,
            pos: Pos::default(),
        };
        Case {
            windows: Windows::new(&window),
            journal: Journal::default(),
        }
    }

    /// An item, whose value is also that of the delta attributes.
    fn put(&mut self, key: &str, now_s: f64, item: i32) {
        let value = Some(Value::Int32(item));
        let arrival = WindowArrival {
            key: key.as_bytes(),
            now_ns: (now_s * 1e9) as u64,
            evict_by: value.clone(),
            trigger_by: value,
            item,
        };
        self.windows.insert(arrival, &mut self.journal).unwrap();
    }

    fn tick(&mut self, now_s: f64) {
        self.windows
            .on_timer((now_s * 1e9) as u64, &mut self.journal)
            .unwrap();
    }

    fn run(mut self, items: impl IntoIterator<Item = i32>) -> String {
        items.into_iter().for_each(|item| self.put("", 0.0, item));
        self.text()
    }

    fn text(&self) -> String {
        self.journal.0.join(" ")
    }
}

fn delta(amount: i32) -> Policy {
    Policy::Delta(0, Value::Int32(amount))
}

#[test]
fn tumbling_count_flushes_when_full_and_never_at_the_end() {
    assert_eq!(
        Case::new(Tumbling, Count(3), None).run(1..=7),
        "[1 2 3] [4 5 6]"
    );
}

#[test]
fn tumbling_count_of_zero_ignores_tuples() {
    assert_eq!(Case::new(Tumbling, Count(0), None).run(1..=3), "");
}

#[test]
fn tumbling_delta_flushes_before_the_tuple_that_is_too_far_from_the_oldest() {
    assert_eq!(
        Case::new(Tumbling, delta(2), None).run([1, 3, 4, 5, 9]),
        "(1 3) (4 5)"
    );
}

#[test]
fn tumbling_delta_does_not_flush_when_values_go_down() {
    assert_eq!(
        Case::new(Tumbling, delta(2), None).run([5, 1, 2, 8]),
        "(5 1 2)"
    );
}

#[test]
fn markers_flush_punct_windows_also_empty_ones() {
    let mut case = Case::new(Tumbling, Punct, None);
    case.put("", 0.0, 1);
    case.put("", 0.0, 2);
    case.windows
        .process_window_marker(&mut case.journal)
        .unwrap();
    case.windows
        .process_window_marker(&mut case.journal)
        .unwrap();
    assert_eq!(case.text(), "(1 2) []");
}

#[test]
fn timers_flush_all_partitions_of_a_tumbling_window_also_an_empty_one() {
    let partition = Some(Partition { evict: None });
    let mut case = Case::partitioned(Tumbling, Time(1.0), None, partition);
    case.tick(1.0);
    case.put("a", 1.1, 1);
    case.put("b", 1.2, 2);
    case.put("a", 1.3, 3);
    case.tick(2.0);
    assert_eq!(case.text(), "[] [1 3] [2]");
    assert!(case.windows.is_empty());
}

#[test]
fn sliding_count_is_full_when_it_has_so_many() {
    let case = Case::new(Sliding, Count(3), Some(Count(1)));
    assert_eq!(case.run(1..=5), "(1) (1 2) [1 2 3] -1 [2 3 4] -2 [3 4 5]");
}

#[test]
fn count_triggers_are_counted_while_the_window_is_not_full() {
    let case = Case::new(Sliding, Count(3), Some(Count(2)));
    assert_eq!(case.run(1..=6), "(1 2) -1 [2 3 4] -2 -3 [4 5 6]");
}

#[test]
fn sliding_count_of_zero_keeps_nothing() {
    assert_eq!(
        Case::new(Sliding, Count(0), Some(Count(1))).run(1..=2),
        "-1 -2"
    );
}

#[test]
fn sliding_delta_evicts_and_is_full_from_the_first_eviction_on() {
    let case = Case::new(Sliding, delta(2), Some(Count(1)));
    assert_eq!(
        case.run([1, 2, 3, 4, 8]),
        "(1) (1 2) (1 2 3) -1 [2 3 4] -2 -3 -4 [8]"
    );
}

#[test]
fn delta_eviction_looks_everywhere_once_the_order_was_broken() {
    let case = Case::new(Sliding, delta(5), Some(Count(100)));
    assert_eq!(case.run([10, 3, 9, 14]), "-3");
}

#[test]
fn delta_triggers_fire_the_window_before_the_new_tuple() {
    let case = Case::new(Sliding, Count(2), Some(delta(1)));
    // 3 is the first that is more than 1 from the base 1; the base moves to it.
    assert_eq!(case.run([1, 2, 3, 4, 5]), "[1 2] -1 -2 [3 4] -3");
}

#[test]
fn delta_triggers_move_their_base_while_the_window_is_not_full() {
    let case = Case::new(Sliding, Count(4), Some(delta(1)));
    assert_eq!(case.run([1, 3, 5, 6, 8]), "(1) (1 3) [1 3 5 6] -1");
}

#[test]
fn with_delta_eviction_and_trigger_the_first_evicting_tuple_does_not_fire_a_full_window() {
    let case = Case::new(Sliding, delta(2), Some(delta(2)));
    assert_eq!(case.run([1, 2, 4, 7]), "(1 2) -1 [2 4] -2 -4");
}

#[test]
fn time_evicts_what_is_too_old_and_such_a_window_is_always_full() {
    let mut case = Case::new(Sliding, Time(1.0), Some(Count(1)));
    case.put("", 0.0, 1);
    case.put("", 0.5, 2);
    case.put("", 1.25, 3);
    assert_eq!(case.text(), "[1] [1 2] -1 [2 3]");
    case.windows
        .expire(2_000_000_000, &mut case.journal)
        .unwrap();
    assert_eq!(case.text(), "[1] [1 2] -1 [2 3] -2");
}

#[test]
fn time_triggers_also_fire_on_an_empty_window() {
    let mut case = Case::new(Sliding, Count(2), Some(Time(1.0)));
    case.tick(1.0);
    case.put("", 1.5, 1);
    case.tick(2.0);
    assert_eq!(case.text(), "[] (1)");
}

#[test]
fn partitions_are_windows_of_their_own() {
    let partition = Some(Partition { evict: None });
    let mut case = Case::partitioned(Sliding, Count(2), Some(Count(1)), partition);
    for (key, item) in [("a", 1), ("b", 10), ("a", 2), ("b", 20), ("a", 3)] {
        case.put(key, 0.0, item);
    }
    assert_eq!(case.text(), "(1) (10) [1 2] [10 20] -1 [2 3]");
}

fn evicting(evict: PartitionEviction) -> Case {
    let partition = Some(Partition { evict: Some(evict) });
    Case::partitioned(Sliding, Count(2), Some(Count(1)), partition)
}

#[test]
fn too_many_partitions_push_out_the_one_not_used_for_longest() {
    let mut case = evicting(PartitionEviction::Count(2));
    for (key, item) in [("a", 1), ("b", 10), ("a", 2), ("c", 100), ("b", 20)] {
        case.put(key, 0.0, item);
    }
    // b goes when c comes; then a, when b comes back, which starts anew.
    assert_eq!(case.text(), "(1) (10) [1 2] !{10} (100) !{1 2} (20)");
}

#[test]
fn too_many_tuples_push_out_whole_partitions() {
    let mut case = evicting(PartitionEviction::Tuples(3));
    for (key, item) in [("a", 1), ("a", 2), ("b", 10), ("c", 100)] {
        case.put(key, 0.0, item);
    }
    assert_eq!(case.text(), "(1) [1 2] (10) !{1 2} (100)");
}

#[test]
fn partitions_that_nobody_uses_grow_old() {
    let mut case = evicting(PartitionEviction::Age(1.0));
    case.put("a", 0.0, 1);
    case.put("b", 0.9, 10);
    case.put("b", 1.5, 20);
    assert_eq!(case.text(), "(1) (10) !{1} [10 20]");
}

#[test]
fn a_partition_may_evict_itself_and_then_does_not_fire() {
    let mut case = evicting(PartitionEviction::Tuples(1));
    case.put("a", 0.0, 1);
    case.put("a", 0.0, 2);
    assert_eq!(case.text(), "(1) !{1 2}");
}
