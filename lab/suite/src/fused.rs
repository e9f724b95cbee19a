//! Operators and expressions that one thread runs, in tuples a second, beside loops by hand.
//!
//! ```text
//!   Beacon --> operator or expression --> Custom that adds up what comes
//! ```
//! The rate counts the tuples that the operator is given, whatever number it submits.

use std::fmt::Write as _;

use control::{Error, RunArrivals, cores};

use crate::bench::{BenchCase, BenchSession, run_control};
use crate::control_process;
use crate::control_process::operator_loops::{
    LONG_WINDOW, PANE_PERIOD, PANE_PERIODS, PARTITION_TUPLES, PARTITIONS, WINDOW,
};
use crate::job::InheritedFile;
use crate::schema::PayloadSchema;

/// An SPL program, and the name of the loop that does the same by hand or the part that its control
/// is without.
struct FusedCase {
    /// Name of the operator or expression in outcomes.
    name: &'static str,
    program: &'static str,
    /// SPL text that replaces `%expression%` in the program.
    expression: &'static str,
    /// Rounds a number of tuples so that the last window is full and there are several windows.
    rounded_tuples: fn(u64) -> u64,
    /// Number of tuples that the operator submits when it is given so many.
    tuples_out: fn(u64) -> u64,
    /// Part of the program that the control is without; `None` if the control is a loop by hand.
    left_out: Option<LeftOut>,
    /// Whether the program reads a file, which is generated for it.
    has_file: bool,
}

/// A part that one of two programs has, and the other has not.
struct LeftOut {
    /// Text of the part in the program.
    text: &'static str,
    /// Number of tuples that the operator submits without it.
    tuples_out: fn(u64) -> u64,
}

const SINK: &str = include_str!("../programs/sink.spl");
const FUNCTOR: &str = include_str!("../programs/functor.spl");
const CHAIN: &str = include_str!("../programs/chain.spl");

const DEFAULT_CASE: FusedCase = FusedCase {
    name: "",
    program: FUNCTOR,
    expression: "",
    rounded_tuples: |tuples| tuples.next_multiple_of(WINDOW).max(2 * WINDOW),
    tuples_out: |tuples| tuples,
    left_out: None,
    has_file: false,
};

const OPERATORS: [FusedCase; 20] = [
    FusedCase {
        name: "Filter",
        program: include_str!("../programs/filter.spl"),
        tuples_out: |tuples| tuples - tuples.div_ceil(3),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Functor",
        expression: "value * 31l + 7l",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Split",
        program: include_str!("../programs/split.spl"),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate",
        program: include_str!("../programs/aggregate.spl"),
        tuples_out: |tuples| tuples / WINDOW,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-punct",
        program: include_str!("../programs/punct.spl"),
        tuples_out: |tuples| tuples / WINDOW,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-delta",
        program: include_str!("../programs/delta.spl"),
        // The last tuple flushes the window before it.
        rounded_tuples: |tuples| 1 + tuples.next_multiple_of(WINDOW),
        tuples_out: |tuples| tuples / WINDOW,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-collect",
        program: include_str!("../programs/collect.spl"),
        tuples_out: |tuples| tuples / WINDOW,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-partitions",
        program: include_str!("../programs/partitions.spl"),
        // The first window is full at once, so that the clock starts with the work.
        rounded_tuples: |tuples| {
            let most = tuples.saturating_sub(PARTITION_TUPLES).max(1);
            PARTITION_TUPLES + most.next_multiple_of(PARTITIONS * PARTITION_TUPLES)
        },
        tuples_out: |tuples| tuples / PARTITION_TUPLES,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-groups",
        program: include_str!("../programs/groups.spl"),
        rounded_tuples: |tuples| tuples.next_multiple_of(LONG_WINDOW).max(2 * LONG_WINDOW),
        tuples_out: |tuples| tuples / LONG_WINDOW * GROUPS,
        left_out: Some(LeftOut {
            text: "            param\n                groupBy : value % 10l;\n",
            tuples_out: |tuples| tuples / LONG_WINDOW,
        }),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-sliding",
        program: include_str!("../programs/sliding.spl"),
        tuples_out: |tuples| tuples - (WINDOW - 1),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-functions",
        program: include_str!("../programs/functions.spl"),
        rounded_tuples: |tuples| tuples.max(2 * LONG_WINDOW),
        tuples_out: |tuples| tuples - (LONG_WINDOW - 1),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Aggregate-panes",
        program: include_str!("../programs/panes.spl"),
        // The tuple of long ago, those of whole periods, and the one whose watermark ends the last.
        rounded_tuples: |tuples| 2 + tuples.next_multiple_of(PANE_PERIOD),
        tuples_out: |tuples| PANE_PERIODS + (tuples - 2) / PANE_PERIOD * PARTITIONS,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Join",
        program: include_str!("../programs/join.spl"),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Join-long",
        program: include_str!("../programs/join_long.spl"),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Join-outer",
        program: include_str!("../programs/join_outer.spl"),
        rounded_tuples: |tuples| tuples.max(2 * WINDOW),
        // Each even number, and the odd ones that have left the window.
        tuples_out: |tuples| tuples.div_ceil(2) + (tuples - WINDOW) / 2,
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "DeDuplicate",
        program: include_str!("../programs/deduplicate.spl"),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Sort",
        program: include_str!("../programs/sort.spl"),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "Sort-sliding",
        program: include_str!("../programs/sort_sliding.spl"),
        rounded_tuples: |tuples| tuples.max(2 * LONG_WINDOW),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "eventTime",
        program: include_str!("../programs/event_time.spl"),
        left_out: Some(LeftOut {
            text: "@eventTime(eventTimeAttribute = at)",
            tuples_out: |tuples| tuples,
        }),
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "FileSource",
        program: include_str!("../programs/file.spl"),
        has_file: true,
        ..DEFAULT_CASE
    },
];

const EXPRESSIONS: [FusedCase; 6] = [
    FusedCase {
        name: "integer",
        expression: "(value * 31l + 7l) % 1000003l",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "float",
        expression: "(int64) ((float64) value * 0.5 + 1000.0 / ((float64) value + 1.0))",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "decimal",
        expression: "(int64) ((decimal64) value * 0.908d)",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "branch",
        expression: "value % 3l == 0l ? value : (value % 5l == 0l ? -value : 1l)",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "string",
        expression: "(int64) length((rstring) value + \"/\" + (rstring) (value + 1l))",
        ..DEFAULT_CASE
    },
    FusedCase {
        name: "list",
        expression: "sum([value, value + 1l, value + 2l, value + 3l])",
        ..DEFAULT_CASE
    },
];

/// Groups of a window, as the program says.
const GROUPS: u64 = 10;

/// Tuple sizes of the chain, in bytes.
pub const CHAIN_SIZES: [u64; 6] = [4, 64, 256, 1024, 4096, 16384];

/// Description of the loops by hand, in a few words.
const HAND_WRITTEN_LOOP: &str = "hand-written loop";

/// Description of programs that leave a part out, in a few words.
const SAME_PROGRAM: &str = "run of the same program without it";

/// Measures operators of the toolkit, one by one.
///
/// # Errors
/// A run fails.
pub fn operators(bench: &mut BenchSession<'_>) -> Result<(), Error> {
    OPERATORS
        .iter()
        .try_for_each(|case| measure_one(bench, "operators", case))
}

/// Measures compiled expressions in a Functor.
///
/// # Errors
/// A run fails.
pub fn expressions(bench: &mut BenchSession<'_>) -> Result<(), Error> {
    EXPRESSIONS
        .iter()
        .try_for_each(|case| measure_one(bench, "expressions", case))
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    name: &'static str,
    case: &FusedCase,
) -> Result<(), Error> {
    let bench_case = BenchCase {
        bench: name,
        path: case.name.to_owned(),
        control: match &case.left_out {
            None => HAND_WRITTEN_LOOP,
            Some(_) => SAME_PROGRAM,
        },
        ..BenchCase::default()
    };
    let text = case.program.replace("%expression%", case.expression) + SINK;
    let job = bench.job(&text, &plan())?;
    let without = match &case.left_out {
        None => None,
        Some(part) => {
            assert!(
                text.contains(part.text),
                "{} has no part to leave out",
                case.name
            );
            let job = bench.job(&text.replace(part.text, ""), &plan())?;
            Some((job, part.tuples_out))
        }
    };
    let (thalweg, binary) = bench.settings.commands();
    let mut lines = CsvFiles::default();
    let mut own_lines = CsvFiles::default();
    let values = |tuples, tuples_out: fn(u64) -> u64| {
        let arrivals = tuples_out(tuples).to_string();
        vec![("tuples", tuples.to_string()), ("arrivals", arrivals)]
    };
    let mut ours = |tuples| {
        let tuples = (case.rounded_tuples)(tuples);
        let mut values = values(tuples, case.tuples_out);
        if case.has_file {
            values = vec![values.remove(1), ("file", own_lines.path(tuples)?)];
        }
        Ok(RunArrivals::parse_output(&job.run(&thalweg, &values)?, 1)?.per_input(tuples))
    };
    let mut bare = |tuples| {
        let tuples = (case.rounded_tuples)(tuples);
        if let Some((job, tuples_out)) = &without {
            let output = job.run(&thalweg, &values(tuples, *tuples_out))?;
            return Ok(RunArrivals::parse_output(&output, 1)?.per_input(tuples));
        }
        let file = match case.has_file {
            true => lines.path(tuples)?,
            false => String::new(),
        };
        let command = control_process::case_command(&binary, name, case.name, tuples, &file);
        Ok(run_control(command, 1)?.per_input(tuples))
    };
    bench.measure_case(bench_case, &mut ours, &mut bare)
}

/// The file of comma-separated values that FileSource reads, generated once per number of lines.
#[derive(Default)]
struct CsvFiles(Option<(u64, InheritedFile)>);

impl CsvFiles {
    fn path(&mut self, count: u64) -> Result<String, Error> {
        let lines = match self.0.take() {
            Some(lines) if lines.0 == count => lines,
            _ => (count, InheritedFile::new(&csv_text(count))?),
        };
        Ok(self.0.insert(lines).1.path())
    }
}

/// Appends a line `NUMBER,nameNUMBER,PRICE` to the text.
fn csv_text(count: u64) -> String {
    let mut text = String::new();
    for number in 0..count {
        // Text grows; it does not fail.
        let _ = writeln!(text, "{number},name{number},{}", number * 7);
    }
    text
}

/// Measures a chain of four operators with tuples of `sizes` bytes.
///
/// # Errors
/// A run fails.
pub fn chain(bench: &mut BenchSession<'_>, sizes: &[u64]) -> Result<(), Error> {
    sizes
        .iter()
        .try_for_each(|size| measure_chain(bench, *size))
}

fn measure_chain(bench: &mut BenchSession<'_>, size: u64) -> Result<(), Error> {
    let case = BenchCase {
        bench: "chain",
        path: "fused".to_owned(),
        size_bytes: Some(size),
        control: "hand-written loop, a call for each operator",
        ..BenchCase::default()
    };
    let schema = PayloadSchema::with_bytes(size);
    let text = CHAIN
        .replace("%schema%", &schema.types())
        .replace("%values%", &schema.values("IterationCount()"))
        .replace("%first%", schema.first_type())
        .replace("%sum%", &schema.sum("Data", "sum"));
    let job = bench.job(&text, &plan())?;
    let (thalweg, binary) = bench.settings.commands();
    let mut ours = |tuples: u64| {
        let output = job.run(&thalweg, &[("tuples", tuples.to_string())])?;
        RunArrivals::parse_output(&output, 1)
    };
    let mut bare = |tuples| run_control(control_process::chain_command(&binary, size, tuples), 1);
    bench.measure_case(case, &mut ours, &mut bare)
}

fn plan() -> String {
    format!("pe 0\n operators *\n cores {}\n", cores::pair().0)
}
