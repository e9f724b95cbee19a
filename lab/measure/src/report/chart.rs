//! A chart as data: axes, series of points, bands; `draw` makes SVG of it.

use super::axis_scale::AxisScale;

/// What one picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its heading.
    pub title: String,
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The lines, those of the back first.
    pub series: Vec<ChartSeries>,
    /// Ranges of the vertical axis.
    pub bands: Vec<ChartBand>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartAxis {
    /// What it counts, with the unit.
    pub title: &'static str,
    /// What kind of values, and so which scale and ticks.
    pub kind: AxisKind,
}

/// Kinds of values on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// Sizes in bytes: logarithmic, ticks at powers of 4.
    Sizes,
    /// Small whole numbers: linear.
    Numbers,
    /// Amounts: linear from 0, or logarithmic where they differ by a factor of 50 or more.
    Amounts,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// Under which heading of the legend it stands: what was measured, its control, a publication.
    pub group: String,
    /// Its name there.
    pub name: String,
    /// How it is drawn.
    pub style: SeriesStyle,
    /// Its colour, of those that the page has, and with it the shape of its markers.
    pub colour: usize,
    /// The points, by `x`.
    pub points: Vec<ChartPoint>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesStyle {
    /// What was measured: a line with markers.
    Measured,
    /// The second codec of what was measured: a thinner line, open markers.
    MeasuredSecond,
    /// A raw control: a dashed line.
    Control,
    /// Published values: a faint line.
    Published,
    /// Published values of the second codec: a faint dotted line.
    PublishedSecond,
    /// Published values that are too few for a line: faint markers alone.
    PublishedPoints,
}

/// One point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPoint {
    /// Its value on the horizontal axis.
    pub x: f64,
    /// Its value on the vertical axis.
    pub y: f64,
    /// The least and the most that a run had, on the vertical axis; none if runs are not known.
    pub runs: Option<(f64, f64)>,
    /// What its tooltip says.
    pub note: String,
}

/// A range that a publication gives in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartBand {
    /// Under which heading of the legend it stands.
    pub group: String,
    /// What it is.
    pub name: String,
    /// Its lower end, on the vertical axis.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Its colour, of those that the page has.
    pub colour: usize,
}

impl Chart {
    /// Whether there is any point that was measured here.
    pub fn has_measured(&self) -> bool {
        let measured =
            |series: &ChartSeries| series.style.is_measured() && !series.points.is_empty();
        self.series.iter().any(measured)
    }

    /// The scale of the horizontal axis.
    pub fn x_scale(&self) -> AxisScale {
        self.x.kind.scale(&self.values(|point| point.x))
    }

    /// The scale of the vertical axis.
    pub fn y_scale(&self) -> AxisScale {
        let mut values = self.values(|point| point.y);
        values.extend(self.bands.iter().flat_map(|band| [band.from, band.to]));
        self.y.kind.scale(&values)
    }

    /// Where labels of the horizontal axis stand.
    pub fn x_ticks(&self) -> Vec<f64> {
        let measured = self.values(|point| point.x);
        self.x.kind.ticks(self.x_scale(), &measured)
    }

    /// Where labels of the vertical axis stand.
    pub fn y_ticks(&self) -> Vec<f64> {
        self.y.kind.ticks(self.y_scale(), &[])
    }

    /// The title of the vertical axis, which says so where it is logarithmic.
    pub fn y_title(&self) -> String {
        match self.y_scale() {
            AxisScale::Log { .. } => format!("{}, logarithmic", self.y.title),
            AxisScale::Linear { .. } => self.y.title.to_owned(),
        }
    }

    fn values(&self, of: fn(&ChartPoint) -> f64) -> Vec<f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut values: Vec<f64> = points.map(of).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }
}

impl AxisKind {
    fn scale(self, values: &[f64]) -> AxisScale {
        match self {
            AxisKind::Sizes => AxisScale::for_sizes(values),
            AxisKind::Numbers => AxisScale::for_numbers(values),
            AxisKind::Amounts => AxisScale::for_amounts(values),
        }
    }

    fn ticks(self, scale: AxisScale, values: &[f64]) -> Vec<f64> {
        match self {
            AxisKind::Sizes => scale.size_ticks(values),
            AxisKind::Numbers => scale.number_ticks(),
            AxisKind::Amounts => scale.amount_ticks(),
        }
    }
}

impl SeriesStyle {
    /// Whether it shows what was measured here, and no control.
    pub fn is_measured(self) -> bool {
        matches!(self, SeriesStyle::Measured | SeriesStyle::MeasuredSecond)
    }

    /// The name of its style on the page.
    pub fn css_class(self) -> &'static str {
        match self {
            SeriesStyle::Measured => "measured",
            SeriesStyle::MeasuredSecond => "second",
            SeriesStyle::Control => "control",
            SeriesStyle::Published => "published",
            SeriesStyle::PublishedSecond => "published dotted",
            SeriesStyle::PublishedPoints => "published points",
        }
    }
}
