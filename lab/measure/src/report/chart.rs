//! A chart as data: axes, series of points, bands. `draw_chart` makes SVG of it.

use super::axis_scale::AxisScale;

/// One chart of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Heading above the chart.
    pub title: String,
    /// Horizontal axis: sizes, receivers or releases.
    pub x: ChartAxis,
    /// Vertical axis: the figure that was measured.
    pub y: ChartAxis,
    /// Series in drawing order, the rearmost first.
    pub series: Vec<ChartSeries>,
    /// Ranges of the vertical axis that publications give in words.
    pub bands: Vec<ChartBand>,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartAxis {
    /// Title: the quantity with its unit.
    pub title: &'static str,
    /// Kind of the values, which decides scale and ticks.
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

/// A line or a set of markers: points of one path.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// Heading in the legend: measured, its control, or a publication.
    pub group: String,
    /// Name of the series in the legend.
    pub name: String,
    /// Style of line and markers.
    pub style: SeriesStyle,
    /// Index of the colour and marker shape, below `COLOURS`.
    pub colour: usize,
    /// Points in order of `x`.
    pub points: Vec<ChartPoint>,
}

/// The style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Measured values: a line with markers.
    Measured,
    /// Measured values of the second codec: a thinner line, open markers.
    MeasuredSecond,
    /// A raw control: a dashed line.
    Control,
    /// Published values: a faint line.
    Published,
    /// Published values of the second codec: a faint dotted line.
    PublishedSecond,
    /// Published values that are too few for a line: faint markers.
    PublishedPoints,
}

/// One point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPoint {
    /// Value on the horizontal axis.
    pub x: f64,
    /// Value on the vertical axis.
    pub y: f64,
    /// Smallest and largest run on the vertical axis; `None` if the runs are not known.
    pub runs: Option<(f64, f64)>,
    /// Text of the tooltip.
    pub note: String,
}

/// A range that a publication gives in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartBand {
    /// Heading in the legend.
    pub group: String,
    /// Name of the range in the legend.
    pub name: String,
    /// Lower end on the vertical axis.
    pub from: f64,
    /// Upper end on the vertical axis.
    pub to: f64,
    /// Index of the colour, below `COLOURS`.
    pub colour: usize,
}

impl Chart {
    /// Whether a point was measured in this run, and not published.
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

    /// Values of the labels on the horizontal axis.
    pub fn x_ticks(&self) -> Vec<f64> {
        let measured = self.values(|point| point.x);
        self.x.kind.ticks(self.x_scale(), &measured)
    }

    /// Values of the labels on the vertical axis.
    pub fn y_ticks(&self) -> Vec<f64> {
        self.y.kind.ticks(self.y_scale(), &[])
    }

    /// The title of the vertical axis; it says if the axis is logarithmic.
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
    /// Whether the series shows values that were measured in this run, other than a control's.
    pub fn is_measured(self) -> bool {
        matches!(self, SeriesStyle::Measured | SeriesStyle::MeasuredSecond)
    }

    /// The CSS class of the style.
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
