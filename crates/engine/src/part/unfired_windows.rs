//! Windows that never fired, and tuples that came too late, as a job reports them at its end:
//! without the report, nothing would say why results are missing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The windows of one operator that still held tuples when it ended, or tuples that came too late
/// for them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct UnfiredWindows {
    /// Position of the operator's invocation: file, line, column.
    position: (String, u32, u32),
    operator: String,
    kind: String,
    windows: u64,
    tuples: u64,
    has_results: bool,
    help: String,
    late_tuples: u64,
}

impl UnfiredWindows {
    /// The windows of an operator, with names of files from `files`.
    pub fn new(files: &[Arc<str>], left: &runtime::WindowLeftover) -> UnfiredWindows {
        let pos = left.pos;
        let file = files.get(pos.file as usize).map_or("?", |file| &**file);
        UnfiredWindows {
            position: (file.to_owned(), pos.line, pos.column),
            operator: left.operator.to_string(),
            kind: left.kind.to_string(),
            windows: left.incomplete.windows,
            tuples: left.incomplete.tuples,
            has_results: left.has_results,
            help: left.incomplete.help.to_owned(),
            late_tuples: left.late_tuples,
        }
    }

    /// Key that all channels of one operator share.
    fn operator_key(&self) -> (&(String, u32, u32), String) {
        (&self.position, compiler::without_channels(&self.operator))
    }
}

/// A sentence for each operator whose windows held tuples and never fired, in any channel, and one
/// for each that left out late tuples. An operator within a composite has a sentence for each
/// invocation of the composite.
pub fn unfired_sentences(leftovers: &[UnfiredWindows]) -> Vec<String> {
    let mut leftovers: Vec<_> = leftovers
        .iter()
        .map(|left| (left.operator_key(), left))
        .collect();
    // Processes and threads end in any order.
    leftovers.sort_by(|(one, a), (other, b)| (one, &a.operator).cmp(&(other, &b.operator)));
    let groups = leftovers.chunk_by(|(one, _), (other, _)| one == other);
    let groups = groups.map(|group| group.iter().map(|&(_, left)| left).collect::<Vec<_>>());
    groups
        .flat_map(|group| [unfired_sentence(&group), late_sentence(&group)])
        .flatten()
        .collect()
}

fn unfired_sentence(group: &[&UnfiredWindows]) -> Option<String> {
    let sum = |of: fn(&UnfiredWindows) -> u64| group.iter().map(|left| of(left)).sum::<u64>();
    let (windows, tuples) = (sum(|left| left.windows), sum(|left| left.tuples));
    if windows == 0 || group.iter().any(|left| left.has_results) {
        return None;
    }
    let contents = match (windows, tuples) {
        (1, 1) => "its window, with 1 tuple in it,".to_owned(),
        (1, _) => format!("its window, with {tuples} tuples in it,"),
        _ => format!("{windows} windows, with {tuples} tuples in them,"),
    };
    // An operator that has counted late tuples comes a second time, without help.
    let help = group.iter().map(|left| &left.help);
    let help = help.max_by_key(|help| help.len())?;
    let who = who(group);
    Some(format!(
        "{who} gave no results: {contents} had not fired when the input ended\n  = help: {help}"
    ))
}

fn late_sentence(group: &[&UnfiredWindows]) -> Option<String> {
    let late: u64 = group.iter().map(|left| left.late_tuples).sum();
    let tuples = match late {
        0 => return None,
        1 => "1 tuple that came".to_owned(),
        _ => format!("{late} tuples that came"),
    };
    let who = who(group);
    Some(format!(
        "{who} left out {tuples} too late, behind the watermark by more than the discard age\n  = \
         help: a larger `lag` of `@eventTime` or a larger `discardAge` of the window waits for them"
    ))
}

/// Place and name of an operator, with the number of its other channels.
fn who(group: &[&UnfiredWindows]) -> String {
    let mut operators: Vec<&str> = group.iter().map(|left| &*left.operator).collect();
    operators.dedup();
    let channels = match operators.len() {
        1 => String::new(),
        2 => " and its other channel".to_owned(),
        count => format!(" and its other {} channels", count - 1),
    };
    let UnfiredWindows {
        position: (file, line, column),
        operator,
        kind,
        ..
    } = group[0];
    format!("{file}:{line}:{column}: {operator} ({kind}){channels}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(operator: &str, windows: u64, tuples: u64, has_results: bool) -> UnfiredWindows {
        UnfiredWindows {
            position: ("Main.spl".to_owned(), 3, 5),
            operator: operator.to_owned(),
            kind: "Aggregate".to_owned(),
            windows,
            tuples,
            has_results,
            help: "more".to_owned(),
            late_tuples: 0,
        }
    }

    #[test]
    fn channels_of_one_invocation_are_one_sentence() {
        let both = [left("Sums[1]", 1, 1, false), left("Sums[0]", 1, 2, false)];
        let sentence = "Main.spl:3:5: Sums[0] (Aggregate) and its other channel gave no results: \
                        2 windows, with 3 tuples in them, had not fired when the input ended\n  \
                        = help: more";
        assert_eq!(unfired_sentences(&both), [sentence]);
    }

    #[test]
    fn invocations_of_one_composite_are_told_apart() {
        let both = [left("X[0].Out", 1, 1, false), left("Y.Out", 1, 2, false)];
        let sentences = unfired_sentences(&both);
        let names = ["X[0].Out (Aggregate) gave", "Y.Out (Aggregate) gave"];
        assert_eq!(sentences.len(), 2);
        for (sentences, name) in sentences.iter().zip(names) {
            assert!(sentences.contains(name), "{sentences}");
        }
        let [x, y] = [left("X.Out", 1, 1, true), left("Y.Out", 1, 2, false)];
        let sentences = unfired_sentences(&[x, y]);
        assert!(
            sentences.len() == 1 && sentences[0].contains(names[1]),
            "{sentences:?}"
        );
    }

    #[test]
    fn late_tuples_are_told_of_whether_there_are_results_or_not() {
        let late = |operator: &str, late_tuples, has_results| UnfiredWindows {
            late_tuples,
            help: String::new(),
            ..left(operator, 0, 0, has_results)
        };
        let both = [late("Sums[0]", 1, true), late("Sums[1]", 2, true)];
        let sentences = unfired_sentences(&both);
        let begin =
            "Main.spl:3:5: Sums[0] (Aggregate) and its other channel left out 3 tuples that";
        assert!(
            sentences.len() == 1 && sentences[0].starts_with(begin),
            "{sentences:?}"
        );
        let sentences = unfired_sentences(&[left("Sums", 1, 2, false), late("Sums", 1, false)]);
        assert_eq!(sentences.len(), 2);
        assert!(sentences[0].ends_with("help: more"), "{}", sentences[0]);
        let begin = "Main.spl:3:5: Sums (Aggregate) left out 1 tuple that came too late";
        assert!(sentences[1].starts_with(begin), "{}", sentences[1]);
    }

    #[test]
    fn who_has_given_something_is_not_told_of() {
        let one = [left("Sums[0]", 1, 2, false), left("Sums[1]", 0, 0, true)];
        assert!(unfired_sentences(&one).is_empty());
        assert!(unfired_sentences(&[left("Sums", 0, 0, false)]).is_empty());
    }
}
