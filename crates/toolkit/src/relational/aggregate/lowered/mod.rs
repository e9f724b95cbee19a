//! A tumbling window, one of a number of tuples, or panes of event time, as statements. Running
//! results are state variables, so the operator is compiled into the code of its fused chain. With
//! partitions they are variables of a table whose keys are those of the partitions; with groups, of
//! a table of groups.
//!
//! ```text
//!   onTuple : {
//!       K k = <partitionBy>;                       // each, if there are partitions
//!       T v = <argument>;                          // each, whether or not the window is full
//!       entry of windows[{k = k}];                 // if there are partitions
//!       ++count;
//!       if (count == 1) { sum = v; } else { sum += v; }
//!       if (count == size) {
//!           count = 0;                             // or: T total = sum; remove entry of windows
//!           submit({total = sum, price = price}, 0);   // the last tuple is the one that is here
//!           submit(Sys.WindowMarker, 0);
//!       }
//!   }
//! ```
//! These are the statements of a tumbling window of a number of tuples; [`tumbling`] has those of
//! other tumbling windows, [`groups`] those of windows with groups, [`sliding`] those of windows
//! that slide, [`panes`] and [`slices`] those of panes. Each function takes the steps
//! of [`super::running_function`] in the same order, so that results agree to the bit.
//! [`super::operator`] evaluates all other windows.

mod calls;
mod delta;
mod functions;
mod groups;
mod kept_groups;
mod lowered_window;
mod merged_calls;
mod output;
mod pane_links;
mod panes;
mod slice_merge;
mod slices;
mod sliding;
mod tumbling;
mod wide_mean;
mod window_links;

use eval::Fault;
use graph::OperatorNode;
use runtime::{LoweredLogic, TimerLogic};

use self::lowered_window::{FlushPolicy, LoweredWindow};
use self::tumbling::TumblingLowering;
use crate::lower;
use crate::stateful_lowering::StatefulLowering;

/// Whether an Aggregate can be lowered.
pub fn can_lower(operator: &OperatorNode) -> bool {
    if panes::interval(operator).is_some() {
        return true;
    }
    let has_groups = operator.param("groupBy").is_some();
    let out = &operator.outputs[0];
    let mut calls = out.calls.iter();
    match LoweredWindow::of(operator) {
        Some(LoweredWindow::Sliding(..)) => {
            !has_groups && calls.all(functions::is_lowered_in_sliding)
        }
        Some(LoweredWindow::Tumbling(policy)) => {
            let is_of_arriving = matches!(policy, FlushPolicy::Count(_)) && !has_groups;
            calls.all(|call| functions::is_lowered_in_tumbling(call, has_groups))
                && (is_of_arriving || groups::can_lower(out))
        }
        None => false,
    }
}

/// Lowers an Aggregate to statements.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    if let Some(interval) = panes::interval(operator) {
        return panes::lower(operator, interval);
    }
    let window = LoweredWindow::of(operator).ok_or_else(|| lower::missing_param("window"))?;
    let mut code = StatefulLowering::new(operator);
    let (mut counted, mut on_marker, mut on_timer) = (None, None, None);
    let mut logic = lower::after_logic(operator, |_, body| {
        code.body = std::mem::take(body);
        counted = Some(match &window {
            LoweredWindow::Tumbling(policy) => {
                let mut tumbling = TumblingLowering::new(operator, policy, &mut code);
                match policy {
                    FlushPolicy::Punct => on_marker = Some(tumbling.lower_marker()),
                    FlushPolicy::Time(period_s) => {
                        on_timer = Some(TimerLogic {
                            body: tumbling.lower_timer(),
                            period_s: *period_s,
                        });
                    }
                    FlushPolicy::Count(_) | FlushPolicy::Delta(..) => {}
                }
                tumbling.counted()
            }
            LoweredWindow::Sliding(size, slide) => {
                sliding::lower_sliding(operator, (*size, *slide), &mut code)
            }
        });
        *body = std::mem::take(&mut code.body);
        Ok(())
    })?;
    if on_marker.is_some() {
        logic.on_punct[0] = on_marker;
    }
    logic.on_timer = on_timer;
    logic.state.extend(code.state);
    logic.tables = code.tables;
    logic.window = counted;
    Ok(logic)
}
