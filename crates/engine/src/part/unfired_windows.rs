//! Windows that never fired, as a job reports them at its end: without the report, nothing would
//! say why no results came.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The windows of one operator that still held tuples when it ended.
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
        }
    }

    /// Key that all channels of one operator share.
    fn operator_key(&self) -> (&(String, u32, u32), String) {
        (&self.position, compiler::without_channels(&self.operator))
    }
}

/// A sentence for each operator whose windows held tuples and never fired, in any channel. An
/// operator within a composite has a sentence for each invocation of the composite.
pub fn unfired_sentences(leftovers: &[UnfiredWindows]) -> Vec<String> {
    let mut leftovers: Vec<_> = leftovers
        .iter()
        .map(|left| (left.operator_key(), left))
        .collect();
    // Processes and threads end in any order.
    leftovers.sort_by(|(one, a), (other, b)| (one, &a.operator).cmp(&(other, &b.operator)));
    let groups = leftovers.chunk_by(|(one, _), (other, _)| one == other);
    let groups = groups.map(|group| group.iter().map(|&(_, left)| left).collect::<Vec<_>>());
    groups.filter_map(|group| sentence(&group)).collect()
}

fn sentence(group: &[&UnfiredWindows]) -> Option<String> {
    let first = group[0];
    let sum = |of: fn(&UnfiredWindows) -> u64| group.iter().map(|left| of(left)).sum::<u64>();
    let (windows, tuples) = (sum(|left| left.windows), sum(|left| left.tuples));
    if windows == 0 || group.iter().any(|left| left.has_results) {
        return None;
    }
    let channels = match group.len() {
        1 => String::new(),
        2 => " and its other channel".to_owned(),
        count => format!(" and its other {} channels", count - 1),
    };
    let contents = match (windows, tuples) {
        (1, 1) => "its window, with 1 tuple in it,".to_owned(),
        (1, _) => format!("its window, with {tuples} tuples in it,"),
        _ => format!("{windows} windows, with {tuples} tuples in them,"),
    };
    let UnfiredWindows {
        position: (file, line, column),
        operator,
        kind,
        help,
        ..
    } = first;
    Some(format!(
        "{file}:{line}:{column}: {operator} ({kind}){channels} gave no results: {contents} had not fired when the \
         input ended\n  = help: {help}"
    ))
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
    fn who_has_given_something_is_not_told_of() {
        let one = [left("Sums[0]", 1, 2, false), left("Sums[1]", 0, 0, true)];
        assert!(unfired_sentences(&one).is_empty());
        assert!(unfired_sentences(&[left("Sums", 0, 0, false)]).is_empty());
    }
}
