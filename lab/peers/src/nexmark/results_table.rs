//! The table: a line for each engine and query.

use super::comparison::{EngineFigures, EngineResult, QueryCase};

/// The lines above the table: conventions and column heads.
pub fn table_head() -> String {
    format!(
        "million events a second: over the whole run, without the time of a run on an empty input \
         (started), and for each second of the processor (work); behind each the ratio of \
         Thalweg's rate to it, above 1 Thalweg is faster\n\
         {:<5} {:>5} {:<10} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7} {:>10} {:>12}\n",
        "query",
        "cores",
        "engine",
        "whole",
        "ratio",
        "started",
        "ratio",
        "work",
        "ratio",
        "memory",
        "first result"
    )
}

/// The lines of a query.
pub fn table_lines(case: &QueryCase, results: &[EngineResult]) -> String {
    let lines = results.iter().map(|(engine, result)| {
        let query = format!("q{}", case.query.number);
        let start = format!("{query:<5} {:>5} {engine:<10}", case.cores);
        match result {
            Ok(figures) => format!("{start} {}\n", figure_columns(figures)),
            Err(why) => format!("{start} not measured: {why}\n"),
        }
    });
    lines.collect()
}

fn figure_columns(figures: &EngineFigures) -> String {
    let first = figures
        .first_result_s
        .map_or("-".to_owned(), |seconds| format!("{:.0} ms", seconds * 1e3));
    let pairs = [
        (Some(figures.events_per_s), Some(figures.ratio)),
        (figures.started_events_per_s, figures.started_ratio),
        (
            Some(figures.events_per_processor_s),
            Some(figures.processor_ratio),
        ),
    ];
    let pairs = pairs.map(|(rate, ratio)| {
        let rate = rate.map_or("-".to_owned(), |rate| format!("{:.3}", rate / 1e6));
        let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        format!("{rate:>8} {ratio:>7}")
    });
    let memory = figures.memory_bytes as f64 / 1e6;
    format!("{} {memory:>7.0} MB {first:>12}", pairs.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nexmark::query::QUERIES;

    #[test]
    fn lines_stand_below_their_heads() {
        let case = QueryCase {
            query: QUERIES[0],
            cores: 2,
            events: 10,
            turns: 1,
        };
        let figures = EngineFigures {
            events_per_s: 1.5e6,
            started_events_per_s: Some(2e6),
            memory_bytes: 12_000_000,
            first_result_s: Some(0.25),
            events_per_processor_s: 1e6,
            ratio: 4.0,
            started_ratio: Some(3.0),
            processor_ratio: 6.0,
        };
        let results = [("flink", Ok(figures)), ("jet", Err("no jar".to_owned()))];
        let lines = table_lines(&case, &results);
        let lines: Vec<&str> = lines.lines().collect();
        let words: Vec<&str> = lines[0].split_whitespace().collect();
        let expected = [
            "q0", "2", "flink", "1.500", "4.00", "2.000", "3.00", "1.000", "6.00", "12", "MB",
            "250", "ms",
        ];
        assert_eq!(words, expected);
        assert_eq!(table_head().lines().last().unwrap().len(), lines[0].len());
        assert!(lines[1].ends_with("not measured: no jar"));
    }
}
