//! Cost of reading and formatting a text, counted in steps for tests: a token looked at, an
//! entry of a table, a child of a node, a command of a layout, a byte of a search. Outside of tests
//! nothing is counted.

#[cfg(test)]
thread_local! {
    static STEPS_TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Adds `count` to the steps of this thread.
#[inline(always)]
pub(crate) fn count_steps(count: usize) {
    #[cfg(test)]
    STEPS_TAKEN.set(STEPS_TAKEN.get() + count as u64);
    #[cfg(not(test))]
    let _ = count;
}

#[cfg(test)]
#[path = "../tests/garbled/mod.rs"]
mod garbled;

#[cfg(test)]
mod tests {
    use super::STEPS_TAKEN;
    use super::garbled::GARBLED;
    use crate::{FileId, SourceMap, dump_tree, format, parse, render, with_deep_stack};

    /// Work on a text, with its name.
    type Work = (&'static str, fn(&str));

    /// Steps that a command takes for a text.
    fn steps(text: &str, work: fn(&str)) -> u64 {
        let counted = with_deep_stack(|| {
            STEPS_TAKEN.set(0);
            work(text);
            STEPS_TAKEN.get()
        });
        counted.expect("there is a thread")
    }

    fn check(text: &str) {
        let mut sources = SourceMap::default();
        let file = sources.add("any.spl".as_ref(), text);
        let parsed = parse(file, text);
        render(&parsed.diagnostics, &sources, false);
    }

    fn layout(text: &str) {
        // What is wrong was looked at by `check`.
        let _ = format(text);
    }

    fn dump(text: &str) {
        super::count_steps(dump_tree(&parse(FileId(0), text).tree).len() / 64);
    }

    /// Twice as much text takes twice as much more steps, not four times as much.
    #[test]
    fn garbled_texts_take_steps_in_proportion_to_their_size() {
        const SIZE: usize = 200;
        let mut faults = Vec::new();
        for (name, text) in GARBLED {
            let works: [Work; 3] = [("check", check), ("fmt", layout), ("tree", dump)];
            for (word, work) in works {
                let [one, two, four] = [1, 2, 4].map(|times| steps(&text(SIZE * times), work));
                let (first, second) = (two.saturating_sub(one), four.saturating_sub(two));
                // As many steps as a text of the first size takes may come from rounding.
                if second > first * 23 / 10 + one {
                    faults.push(format!("{word}, {name}: {one} {two} {four}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
