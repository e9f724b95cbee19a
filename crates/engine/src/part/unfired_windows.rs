//! What is said at the end of a job of windows that have never fired: they were all there was, and
//! nothing else says why no result came.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What the windows of one operator held in the end, on its way to whoever says so.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct UnfiredWindows {
    /// Where the operator is invoked: file, line, column.
    place: (String, u32, u32),
    operator: String,
    kind: String,
    windows: u64,
    tuples: u64,
    has_results: bool,
    help: String,
}

impl UnfiredWindows {
    /// With the names of the program's files.
    pub fn new(files: &[Arc<str>], left: &runtime::WindowLeftover) -> UnfiredWindows {
        let pos = left.pos;
        let file = files.get(pos.file as usize).map_or("?", |file| &**file);
        UnfiredWindows {
            place: (file.to_owned(), pos.line, pos.column),
            operator: left.operator.to_string(),
            kind: left.kind.to_string(),
            windows: left.incomplete.windows,
            tuples: left.incomplete.tuples,
            has_results: left.has_results,
            help: left.incomplete.help.to_owned(),
        }
    }

    /// What the channels of one operator have in common.
    fn operator_key(&self) -> (&(String, u32, u32), String) {
        (&self.place, compiler::without_channels(&self.operator))
    }
}

/// A sentence for each operator whose windows held something and never gave anything, in none of
/// its channels. Each invocation of the composite that an operator is written in has one of its
/// own.
pub fn unfired_sentences(leftovers: &[UnfiredWindows]) -> Vec<String> {
    let mut leftovers: Vec<_> = leftovers
        .iter()
        .map(|left| (left.operator_key(), left))
        .collect();
    // In whatever order processes and threads have ended.
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
    let held = match (windows, tuples) {
        (1, 1) => "its window, with 1 tuple in it,".to_owned(),
        (1, _) => format!("its window, with {tuples} tuples in it,"),
        _ => format!("{windows} windows, with {tuples} tuples in them,"),
    };
    let UnfiredWindows {
        place: (file, line, column),
        operator,
        kind,
        help,
        ..
    } = first;
    Some(format!(
        "{file}:{line}:{column}: {operator} ({kind}){channels} gave no results: {held} had not fired when the \
         input ended\n  = help: {help}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(operator: &str, windows: u64, tuples: u64, has_results: bool) -> UnfiredWindows {
        UnfiredWindows {
            place: ("Main.spl".to_owned(), 3, 5),
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
        let said = unfired_sentences(&both);
        let names = ["X[0].Out (Aggregate) gave", "Y.Out (Aggregate) gave"];
        assert_eq!(said.len(), 2);
        for (said, name) in said.iter().zip(names) {
            assert!(said.contains(name), "{said}");
        }
        let [x, y] = [left("X.Out", 1, 1, true), left("Y.Out", 1, 2, false)];
        let said = unfired_sentences(&[x, y]);
        assert!(said.len() == 1 && said[0].contains(names[1]), "{said:?}");
    }

    #[test]
    fn who_has_given_something_is_not_told_of() {
        let one = [left("Sums[0]", 1, 2, false), left("Sums[1]", 0, 0, true)];
        assert!(unfired_sentences(&one).is_empty());
        assert!(unfired_sentences(&[left("Sums", 0, 0, false)]).is_empty());
    }
}
