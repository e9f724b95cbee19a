//! Contents of an operator's windows that never fired before its input ended.

use std::collections::HashSet;

use eval::State;
use tuple::Value;

use crate::abi::{CountedPanes, CountedSlices, CountedWindow};

/// Contents of an operator's windows that never got full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncompleteWindows {
    /// Number of windows that hold a tuple; each partition has its own.
    pub windows: u64,
    /// Number of tuples in these windows. A tuple that lies in several windows counts in each.
    pub tuples: u64,
    /// Advice to the user: how the program gets results from windows that do not get full.
    pub help: &'static str,
}

impl IncompleteWindows {
    /// The windows of a lowered operator that hold tuples, but fewer than a full one.
    pub(crate) fn from_counts(window: CountedWindow, state: &State) -> IncompleteWindows {
        let add = |(windows, tuples), count| match unsigned(&count) {
            count if (1..window.size).contains(&count) => (windows + 1, tuples + count),
            _ => (windows, tuples),
        };
        let (windows, tuples) = match state.home(window.count) {
            Some((windows, variable)) => windows.values(variable).fold((0, 0), add),
            None => add((0, 0), state.get(window.count)),
        };
        let help = window.help;
        IncompleteWindows {
            windows,
            tuples,
            help,
        }
    }

    /// The panes of a lowered operator that hold tuples and have not fired since those came.
    pub(crate) fn from_panes(panes: CountedPanes, state: &mut State) -> IncompleteWindows {
        let mut incomplete = IncompleteWindows {
            help: panes.help,
            ..IncompleteWindows::default()
        };
        for first in open_panes(panes, state) {
            let is_window = panes.part_has_new_tuples.is_some();
            incomplete.windows += u64::from(!is_window);
            let mut part = first;
            while part != 0 {
                state.tables[panes.parts.0 as usize].select_id(part);
                let is_new = panes.part_has_new_tuples.map(|new| state.get(new));
                if is_new.is_none_or(|is_new| is_new == Value::Boolean(true)) {
                    incomplete.windows += u64::from(is_window);
                    incomplete.tuples += u64::from(uint32(&state.get(panes.tuples)));
                }
                part = uint32(&state.get(panes.next));
            }
        }
        incomplete
    }

    /// The panes that have not fired, of a lowered operator that keeps their slices.
    pub(crate) fn from_slices(slices: CountedSlices, state: &mut State) -> IncompleteWindows {
        let mut windows = HashSet::new();
        let mut tuples = 0;
        let next_pane = int64(&state.get(slices.next_pane));
        for (number, first) in all_slices(slices, state) {
            let first_pane = number.saturating_sub_unsigned(slices.slice_count - 1);
            let panes = first_pane.max(next_pane)..=number;
            let mut part = first;
            while part != 0 {
                state.tables[slices.parts.0 as usize].select_id(part);
                let key = slices.partitions.map(|_| uint32(&state.get(slices.key)));
                windows.extend(panes.clone().map(|pane| (pane, key)));
                let of_part = u64::from(uint32(&state.get(slices.tuples)));
                tuples += of_part * panes.clone().count() as u64;
                part = uint32(&state.get(slices.next));
            }
        }
        IncompleteWindows {
            windows: windows.len() as u64,
            tuples,
            help: slices.help,
        }
    }
}

/// The number and the first part of each slice.
fn all_slices(slices: CountedSlices, state: &State) -> Vec<(i64, u32)> {
    let (Some((table, number)), Some((_, first))) =
        (state.home(slices.number), state.home(slices.first))
    else {
        return Vec::new();
    };
    let all = table.values(number).zip(table.values(first));
    all.map(|(number, first)| (int64(&number), uint32(&first)))
        .collect()
}

/// The first part of each pane that has got a tuple since it fired.
fn open_panes(panes: CountedPanes, state: &State) -> Vec<u32> {
    let (Some((table, first)), Some((_, is_new))) =
        (state.home(panes.first), state.home(panes.has_new_tuples))
    else {
        return Vec::new();
    };
    let all = table.values(first).zip(table.values(is_new));
    let open = all.filter(|(_, is_new)| *is_new == Value::Boolean(true));
    open.map(|(first, _)| uint32(&first)).collect()
}

fn unsigned(value: &Value) -> u64 {
    match value {
        Value::Uint64(number) => *number,
        other => uint32(other).into(),
    }
}

fn int64(value: &Value) -> i64 {
    match value {
        Value::Int64(number) => *number,
        _ => 0,
    }
}

fn uint32(value: &Value) -> u32 {
    match value {
        Value::Uint32(number) => *number,
        _ => 0,
    }
}
