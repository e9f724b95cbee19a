//! Costs that a drawing shows of a profile: processor time of operators, rates of streams.

use std::collections::HashMap;

use engine::Profile;
use graph::{OperatorNode, OutPortId, Program};

/// Costs of a profile, by the names of operators.
pub(super) struct ProfileCosts<'a> {
    /// Nanoseconds and tuples of each operator.
    operators: HashMap<&'a str, (u64, u64)>,
    /// Tuples of each stream.
    streams: HashMap<(&'a str, u32), u64>,
    /// Processor time of all operators in nanoseconds.
    total_ns: f64,
    seconds: f64,
}

/// The processor time of an operator, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DrawnCost {
    /// Part of the processor time of all operators; 0 to 1.
    pub share: f64,
    /// Nanoseconds of processor time.
    cpu_ns: f64,
    /// Tuples that were processed.
    tuples: f64,
}

/// The colour of a box by its share of the processor time. The colours are one hue that grows
/// darker (Oranges of ColorBrewer), so they are told apart without colours, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CostShade {
    /// The profile does not have the operator.
    Unknown,
    /// Index of the shade, the lightest first.
    Share(usize),
}

/// Colours by shade, and the share from which each is taken.
const SHADES: [(f64, &str, &str); 5] = [
    (0.0, "#fff5eb", "below 1 %"),
    (0.01, "#fdd9b4", "from 1 %"),
    (0.05, "#fdb97d", "from 5 %"),
    (0.1, "#fd9a4e", "from 10 %"),
    (0.25, "#f3701b", "from 25 %"),
];

/// Colour of operators that the profile does not have.
const UNKNOWN_COLOUR: &str = "#d9d9d9";

/// Widths of arrows in pixels, and the part of the fastest rate from which each is taken.
const WIDTHS: [(f64, f64); 5] = [(0.0, 1.0), (0.01, 2.0), (0.05, 3.0), (0.2, 4.5), (0.5, 6.0)];

impl<'a> ProfileCosts<'a> {
    /// The costs of a profile.
    pub fn new(profile: &'a Profile) -> ProfileCosts<'a> {
        let operators = profile.operators.iter();
        let streams = profile.streams.iter();
        ProfileCosts {
            operators: operators
                .map(|line| (&*line.operator, (line.cpu_ns, line.tuples)))
                .collect(),
            streams: streams
                .map(|line| ((&*line.operator, line.port), line.tuples))
                .collect(),
            total_ns: profile
                .operators
                .iter()
                .map(|line| line.cpu_ns as f64)
                .sum(),
            seconds: profile.seconds,
        }
    }

    /// The cost of an operator; `None` if the profile does not have it.
    pub fn operator(&self, operator: &OperatorNode) -> Option<DrawnCost> {
        let &(cpu_ns, tuples) = self.operators.get(&*operator.name)?;
        let share = match self.total_ns > 0.0 {
            true => cpu_ns as f64 / self.total_ns,
            false => 0.0,
        };
        Some(DrawnCost {
            share,
            cpu_ns: cpu_ns as f64,
            tuples: tuples as f64,
        })
    }

    /// Tuples a second of a stream; `None` if the profile does not have it.
    pub fn rate(&self, program: &Program, stream: OutPortId) -> Option<f64> {
        let operator = program.operators.get(stream.operator.0 as usize)?;
        let tuples = self.streams.get(&(&*operator.name, stream.port.0))?;
        (self.seconds > 0.0).then(|| *tuples as f64 / self.seconds)
    }

    /// Tuples a second of the fastest stream of a program.
    pub fn fastest_rate(&self, program: &Program) -> f64 {
        let operators = (0..).map(graph::OperatorId).zip(&program.operators);
        let streams = operators.flat_map(|(operator, node)| {
            let ports = (0..node.outputs.len() as u32).map(graph::PortIndex);
            ports.map(move |port| OutPortId { operator, port })
        });
        let rates = streams.filter_map(|stream| self.rate(program, stream));
        rates.fold(0.0, f64::max)
    }
}

impl DrawnCost {
    /// The cost of both together.
    pub fn plus(self, other: DrawnCost) -> DrawnCost {
        DrawnCost {
            share: self.share + other.share,
            cpu_ns: self.cpu_ns + other.cpu_ns,
            tuples: self.tuples + other.tuples,
        }
    }

    /// The share and the time of a tuple, as words: `12.5 %, 340 ns a tuple`.
    pub fn text(&self) -> String {
        let share = share_text(self.share);
        match self.cpu_ns / self.tuples {
            ns if !ns.is_finite() => share,
            ns if ns >= 10.0 => format!("{share}, {ns:.0} ns a tuple"),
            ns => format!("{share}, {ns:.1} ns a tuple"),
        }
    }
}

/// A part of the processor time as words: `12.5 %`.
pub(super) fn share_text(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "below 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Tuples a second as words: `1.2 M tuples/s`.
pub(super) fn rate_text(rate: f64) -> String {
    match rate {
        rate if rate >= 1e6 => format!("{:.1} M tuples/s", rate / 1e6),
        rate if rate >= 1e4 => format!("{:.0} k tuples/s", rate / 1e3),
        rate if rate >= 1e3 => format!("{:.1} k tuples/s", rate / 1e3),
        rate if rate >= 10.0 => format!("{rate:.0} tuples/s"),
        rate => format!("{rate:.1} tuples/s"),
    }
}

/// Width of an arrow in pixels, by its part of the fastest rate.
pub(super) fn line_width(rate: f64, fastest: f64) -> f64 {
    let part = if fastest > 0.0 { rate / fastest } else { 0.0 };
    let width = WIDTHS.iter().rev().find(|(least, _)| part >= *least);
    width.map_or(1.0, |(_, width)| *width)
}

/// Widths of arrows with words for each, the thinnest first.
pub(super) fn width_legend() -> impl Iterator<Item = (f64, String)> {
    WIDTHS.iter().map(|(least, width)| match least * 100.0 {
        0.0 => (*width, "below 1 %".to_owned()),
        percent => (*width, format!("from {percent:.0} %")),
    })
}

impl CostShade {
    /// The shade of a cost, if it is known.
    pub fn of(cost: Option<&DrawnCost>) -> CostShade {
        let Some(cost) = cost else {
            return CostShade::Unknown;
        };
        let darkest = SHADES.iter().rposition(|(least, ..)| cost.share >= *least);
        CostShade::Share(darkest.unwrap_or_default())
    }

    /// The colour as SVG and DOT have it.
    pub fn colour(self) -> &'static str {
        match self {
            CostShade::Unknown => UNKNOWN_COLOUR,
            CostShade::Share(at) => SHADES[at].1,
        }
    }

    /// The shades with words for each, the lightest first.
    pub fn legend() -> impl Iterator<Item = (CostShade, &'static str)> {
        let shares = SHADES.iter().enumerate();
        let shares = shares.map(|(at, (.., words))| (CostShade::Share(at), *words));
        shares.chain([(CostShade::Unknown, "not in the profile")])
    }
}

/// A sentence on operators of a program that a profile does not have; `None` if it has all.
pub fn missing_operators_note(program: &Program, profile: &Profile) -> Option<String> {
    let costs = ProfileCosts::new(profile);
    let missing = program.operators.iter();
    let mut missing = missing.filter(|operator| costs.operator(operator).is_none());
    let first = missing.next()?;
    let others = match missing.count() {
        0 => String::new(),
        1 => " and 1 more operator".to_owned(),
        count => format!(" and {count} more operators"),
    };
    Some(format!(
        "the profile has no line for `{}`{others}: drawn grey",
        first.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_rates_have_few_digits() {
        assert_eq!(share_text(0.0), "0.0 %");
        assert_eq!(share_text(0.0004), "below 0.1 %");
        assert_eq!(share_text(0.1234), "12.3 %");
        assert_eq!(rate_text(2_340_000.0), "2.3 M tuples/s");
        assert_eq!(rate_text(4_560.0), "4.6 k tuples/s");
        assert_eq!(rate_text(12.3), "12 tuples/s");
        assert_eq!(rate_text(0.25), "0.2 tuples/s");
    }

    #[test]
    fn darker_shades_and_wider_lines_stand_for_more() {
        let shade = |share| {
            let cost = DrawnCost {
                share,
                ..DrawnCost::default()
            };
            CostShade::of(Some(&cost))
        };
        assert_eq!(shade(0.0), CostShade::Share(0));
        assert_eq!(shade(0.05), CostShade::Share(2));
        assert_eq!(shade(1.0), CostShade::Share(4));
        assert_eq!(CostShade::of(None).colour(), UNKNOWN_COLOUR);
        // Each shade is darker than the one before it, in grey as well.
        let grey = |colour: &str| {
            let part = |at: usize| u32::from_str_radix(&colour[at..at + 2], 16).unwrap();
            part(1) * 299 + part(3) * 587 + part(5) * 114
        };
        let greys: Vec<u32> = SHADES.iter().map(|(_, colour, _)| grey(colour)).collect();
        assert!(
            greys.windows(2).all(|two| two[0] > two[1] + 10_000),
            "{greys:?}"
        );
        let widths: Vec<f64> = [0.0, 0.02, 0.06, 0.3, 1.0]
            .map(|part| line_width(part, 1.0))
            .into();
        assert!(widths.windows(2).all(|two| two[0] < two[1]), "{widths:?}");
        assert_eq!(line_width(5.0, 0.0), 1.0);
    }
}
