//! The page as an XML parser sees it: what stands on it, and where.

use roxmltree::{Document, Node, ParsingOptions};
use thalweg_measure::Outcome;
use thalweg_measure::report::{self, Release};

use crate::folder::Folder;
use crate::samples::{self, SIZES};

/// Writes the report and reads the page.
fn page(outcomes: &[Outcome]) -> String {
    let folder = Folder::new();
    let written = report::write(folder.path(), outcomes).unwrap();
    std::fs::read_to_string(written.page).unwrap()
}

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).expect("well-formed")
}

fn named<'a, 'b: 'a>(node: Node<'a, 'b>, name: &str) -> Vec<Node<'a, 'b>> {
    node.descendants()
        .filter(|n| n.tag_name().name() == name)
        .collect()
}

fn classed<'a, 'b: 'a>(node: Node<'a, 'b>, class: &str) -> Vec<Node<'a, 'b>> {
    let has = |n: &Node| {
        let classes = n.attribute("class").unwrap_or_default();
        class
            .split(' ')
            .all(|c| classes.split(' ').any(|own| own == c))
    };
    node.descendants().filter(has).collect()
}

fn section<'a, 'b: 'a>(document: &'a Document<'b>, id: &str) -> Node<'a, 'b> {
    let found = document
        .descendants()
        .find(|n| n.attribute("id") == Some(id));
    found.unwrap_or_else(|| panic!("no section {id}"))
}

fn number(node: Node, attribute: &str) -> f64 {
    let value = node.attribute(attribute).expect(attribute);
    value
        .parse()
        .unwrap_or_else(|_| panic!("{attribute}={value}"))
}

/// The numbers of `translate(x y)`.
fn place(node: Node) -> (f64, f64) {
    let text = node.attribute("transform").unwrap();
    let inner = text.strip_prefix("translate(").unwrap().split(')').next();
    let (x, y) = inner.unwrap().split_once(' ').unwrap();
    (x.parse().unwrap(), y.parse().unwrap())
}

fn label(node: Node) -> String {
    node.attribute("aria-label").unwrap().to_owned()
}

/// A label's number and where it stands along its axis.
fn ticks(chart: Node, axis: &str) -> Vec<(f64, f64)> {
    let ticks = classed(chart, &format!("tick {axis}")).into_iter();
    let tick = |n: Node| {
        let text = n.text().unwrap().replace(',', "");
        let (text, scale) = match text.split_once(' ') {
            Some((number, "k")) => (number, 1e3),
            Some((number, "M")) => (number, 1e6),
            Some((number, "G")) => (number, 1e9),
            _ => (text.as_str(), 1.0),
        };
        (text.parse::<f64>().unwrap() * scale, number(n, axis))
    };
    ticks.map(tick).collect()
}

/// Where a value stands on an axis, going by two of its ticks only.
fn along(ticks: &[(f64, f64)], value: f64, is_log: bool) -> f64 {
    let of = |v: f64| if is_log { v.ln() } else { v };
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let share = (of(value) - of(first.0)) / (of(last.0) - of(first.0));
    first.1 + share * (last.1 - first.1)
}

fn check_points(chart: Node, series: &str, expected: &[(f64, f64)], is_log: (bool, bool)) {
    let line = classed(chart, "series")
        .into_iter()
        .find(|n| label(*n).starts_with(series))
        .unwrap_or_else(|| panic!("no series {series}"));
    let points = classed(line, "point");
    assert_eq!(points.len(), expected.len(), "{series}");
    let (xs, ys) = (ticks(chart, "x"), ticks(chart, "y"));
    for (point, (x, y)) in points.iter().zip(expected) {
        let (left, top) = place(*point);
        let (right, down) = (along(&xs, *x, is_log.0), along(&ys, *y, is_log.1));
        let off = (left - right).abs().max((top - down).abs());
        assert!(
            off < 0.2,
            "{series} ({x}, {y}): {left} {top} is not {right} {down}"
        );
    }
}

#[test]
fn points_stand_where_their_values_are() {
    let outcomes = samples::all();
    let text = page(&outcomes);
    let document = parse(&text);
    let chart = named(section(&document, "figure-1"), "svg")[0];
    let rows: Vec<&Outcome> = outcomes
        .iter()
        .filter(|o| o.bench == "throughput" && o.path == "tcp")
        .filter(|o| o.codec.as_deref() == Some("facade"))
        .collect();
    let points = |y: &dyn Fn(&Outcome) -> f64| -> Vec<(f64, f64)> {
        let one = |o: &&Outcome| (o.size_bytes.unwrap() as f64, y(o));
        rows.iter().map(one).collect()
    };
    let own = points(&|o| o.gbit_per_s.unwrap());
    let control =
        points(&|o| o.control_tuples_per_s.unwrap() * o.size_bytes.unwrap() as f64 * 8.0 / 1e9);
    check_points(chart, "tcp, measured", &own, (true, true));
    check_points(chart, "tcp, raw control", &control, (true, true));
    let published = [
        0.03, 0.06, 0.12, 0.24, 0.71, 1.58, 2.51, 4.29, 7.06, 11.52, 12.32, 12.49, 13.07,
    ];
    let published: Vec<(f64, f64)> = SIZES.map(|s| s as f64).into_iter().zip(published).collect();
    check_points(chart, "plain TCP, table 1", &published, (true, true));
}

#[test]
fn runs_reach_from_the_least_to_the_most() {
    let outcomes = samples::all();
    let text = page(&outcomes);
    let document = parse(&text);
    let chart = named(section(&document, "figure-2"), "svg")[0];
    let ys = ticks(chart, "y");
    let line = classed(chart, "series measured")[0];
    let runs = classed(line, "runs");
    assert_eq!(runs.len(), SIZES.len());
    for run in runs {
        // The samples are 0.97 to 1.02 of their median.
        let to = |share: f64| along(&ys, share, true) - along(&ys, 1.0, true);
        let off = (number(run, "y1") - to(0.97))
            .abs()
            .max((number(run, "y2") - to(1.02)).abs());
        assert!(off < 0.1, "{off}");
    }
}

#[test]
fn linear_axes_place_points_too() {
    let outcomes = samples::all();
    let text = page(&outcomes);
    let document = parse(&text);
    let chart = named(section(&document, "figure-3"), "svg")[0];
    let rum = outcomes
        .iter()
        .filter(|o| o.bench == "hosts" && o.path == "rum" && o.codec.as_deref() == Some("facade"));
    let rum: Vec<(f64, f64)> = rum
        .map(|o| (o.size_bytes.unwrap() as f64, o.gbit_per_s.unwrap()))
        .collect();
    check_points(chart, "rum, measured", &rum, (true, false));
    let fanout = named(section(&document, "figure-11"), "svg");
    assert_eq!(fanout.len(), 3, "a chart for each size");
    let published = [0.91, 0.15, 0.11, 0.11, 0.11, 0.11];
    let published: Vec<(f64, f64)> = (1..=6).map(f64::from).zip(published).collect();
    check_points(fanout[1], "plain TCP, table 6", &published, (false, true));
}

#[test]
fn ticks_of_sizes_are_powers_of_four() {
    let text = page(&samples::all());
    let document = parse(&text);
    for id in [
        "ladder", "figure-1", "figure-2", "figure-3", "figure-5", "figure-9",
    ] {
        let chart = named(section(&document, id), "svg")[0];
        let values: Vec<f64> = ticks(chart, "x").iter().map(|tick| tick.0).collect();
        assert_eq!(
            values,
            [4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0],
            "{id}"
        );
    }
    let chart = named(section(&document, "figure-1"), "svg")[0];
    let decades: Vec<f64> = ticks(chart, "y").iter().map(|tick| tick.0).collect();
    assert!(
        decades
            .windows(2)
            .all(|w| (w[1] / w[0] - 10.0).abs() < 1e-9),
        "{decades:?}"
    );
}

#[test]
fn every_chart_says_what_it_shows() {
    let text = page(&samples::all());
    let document = parse(&text);
    let charts = classed(document.root(), "chart");
    assert!(charts.len() >= 14, "{}", charts.len());
    for chart in charts {
        assert!(!label(chart).is_empty());
        assert_eq!(classed(chart, "title").len(), 1);
        if classed(chart, "bars").is_empty() {
            let axes: Vec<&str> = classed(chart, "axis")
                .iter()
                .filter_map(Node::text)
                .collect();
            assert_eq!(axes.len(), 2, "{axes:?}");
            let series = classed(chart, "series");
            assert!(!series.is_empty());
            for line in &series {
                assert_eq!(named(*line, "title")[0].text(), Some(label(*line).as_str()));
                for point in classed(*line, "point") {
                    assert!(!named(point, "title")[0].text().unwrap().is_empty());
                }
            }
            let bands = classed(classed(chart, "axes")[0].parent().unwrap(), "band");
            let bands = bands.iter().filter(|b| b.attribute("aria-label").is_some());
            assert_eq!(classed(chart, "key").len(), series.len() + bands.count());
        }
    }
}

/// A guess of the room that a text takes: more than half its height a letter.
fn width(node: Node) -> f64 {
    node.text().unwrap_or_default().chars().count() as f64 * 7.0
}

#[test]
fn no_label_lies_on_another() {
    let releases = [samples::all(), samples::all()].map(|outcomes| Release {
        name: "a release with quite a long name".to_owned(),
        outcomes,
    });
    let folder = Folder::new();
    let written = report::write_releases(folder.path(), &releases).unwrap();
    let text = std::fs::read_to_string(written.page).unwrap();
    let document = parse(&text);
    for chart in classed(document.root(), "chart") {
        let across: Vec<(f64, f64)> = classed(chart, "tick x")
            .iter()
            .map(|n| {
                (
                    number(*n, "x") - width(*n) / 2.0,
                    number(*n, "x") + width(*n) / 2.0,
                )
            })
            .collect();
        assert!(
            across.windows(2).all(|w| w[0].1 <= w[1].0),
            "{}: {across:?}",
            label(chart)
        );
        let mut down: Vec<f64> = classed(chart, "tick y")
            .iter()
            .map(|n| number(*n, "y"))
            .collect();
        down.sort_by(f64::total_cmp);
        assert!(
            down.windows(2).all(|w| w[1] - w[0] >= 14.0),
            "{}: {down:?}",
            label(chart)
        );
        let keys: Vec<f64> = classed(chart, "key").iter().map(|n| place(*n).1).collect();
        assert!(
            keys.windows(2).all(|w| w[1] - w[0] >= 18.0),
            "{}: {keys:?}",
            label(chart)
        );
        let view = chart.attribute("viewBox").unwrap();
        let size: Vec<f64> = view.split(' ').map(|n| n.parse().unwrap()).collect();
        for node in chart
            .descendants()
            .filter(|n| n.tag_name().name() == "text")
        {
            if let Some(y) = node.attribute("y") {
                assert!(y.parse::<f64>().unwrap() < size[3], "{:?}", node.text());
            }
        }
        for key in classed(chart, "key") {
            let (x, _) = place(key);
            let text = key
                .children()
                .find(|n| n.tag_name().name() == "text")
                .unwrap();
            assert!(x + 38.0 + width(text) <= size[2], "{:?}", text.text());
        }
    }
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let text = page(&samples::all());
    let document = parse(&text);
    for name in ["script", "link", "img", "iframe", "object", "embed"] {
        assert!(named(document.root(), name).is_empty(), "<{name}>");
    }
    let outward = |n: &Node| {
        n.attributes().any(|a| {
            let refers = matches!(a.name(), "href" | "src" | "style" | "action");
            refers && !a.value().starts_with('#') || a.name().starts_with("on")
        })
    };
    assert!(!document.descendants().any(|n| outward(&n)));
    assert!(!text.contains("url("), "nothing is fetched by the style");
    assert!(!text.contains("@import"));
}

#[test]
fn where_and_what_was_measured_stands_on_top() {
    let text = page(&samples::all());
    let document = parse(&text);
    let header = named(document.root(), "header")[0];
    let words: String = header.descendants().filter_map(|n| n.text()).collect();
    for fact in [
        "A <processor> & \"co\" @ 2.5 GHz",
        "6.1.0",
        "0123456789ab+",
        "all --quick",
    ] {
        assert!(words.contains(fact), "{fact}");
    }
    let missing = section(&document, "unavailable");
    let words: Vec<&str> = named(missing, "dd").iter().filter_map(Node::text).collect();
    assert_eq!(words, ["no RDMA adapter on this host"]);
    assert!(named(section(&document, "figure-4"), "svg").is_empty());
}

#[test]
fn tables_hold_figure_control_ratio_and_noise() {
    let text = page(&samples::all());
    let document = parse(&text);
    let table = named(section(&document, "figure-2"), "table")[0];
    let heads: Vec<&str> = named(table, "th").iter().filter_map(Node::text).collect();
    for head in ["path", "bytes", "Gbit/s", "control/s", "ratio", "noise"] {
        assert!(heads.contains(&head), "{heads:?}");
    }
    assert_eq!(named(table, "tr").len(), 1 + SIZES.len());
    let first = named(named(table, "tr")[1], "td");
    let cells: Vec<&str> = first.iter().filter_map(Node::text).collect();
    // 4 B through shm: 12.16 ns a tuple; runs from 0.97 to 1.02 of the median.
    for cell in ["shm", "facade", "4", "82.2 M", "2.63", "0.833", "±2.5 %"] {
        assert!(cells.contains(&cell), "{cell} in {cells:?}");
    }
    let latency = named(section(&document, "figure-16"), "table")[0];
    let heads: Vec<&str> = named(latency, "th").iter().filter_map(Node::text).collect();
    for head in ["p50", "p90", "p99", "p99.9", "p99.99", "max"] {
        assert!(heads.contains(&head), "{heads:?}");
    }
}

#[test]
fn little_or_nothing_makes_a_page_too() {
    let nothing = page(&[]);
    assert!(
        parse(&nothing)
            .descendants()
            .any(|n| n.text() == Some("There are no results."))
    );

    let one = page(&[samples::throughput(
        "throughput",
        "tcp",
        Some("facade"),
        100,
    )]);
    let document = parse(&one);
    let chart = named(section(&document, "figure-1"), "svg")[0];
    let line = classed(chart, "series measured")[0];
    assert_eq!(classed(line, "point").len(), 1);
    assert!(classed(line, "line").is_empty(), "one point makes no line");
    let control = classed(chart, "series control")[0];
    assert_eq!(
        classed(control, "alone").len(),
        1,
        "a control without a line is seen"
    );

    let mut refused = samples::blank("throughput", "shm");
    refused.unavailable = Some("one core is not enough".to_owned());
    let refused = page(&[refused]);
    let document = parse(&refused);
    assert!(named(document.root(), "svg").is_empty());
    assert_eq!(named(section(&document, "unavailable"), "dd").len(), 1);

    let mut odd = samples::throughput("throughput", "rum", Some("facade"), 64);
    (odd.gbit_per_s, odd.tuples_per_s) = (Some(0.0), Some(-1.0));
    odd.bench += " <b>";
    parse(&page(&[odd]));
}

#[test]
fn results_beside_peers_stand_apart() {
    let mut peer = samples::throughput("throughput", "threaded", None, 64);
    peer.peer = Some("rtrb".to_owned());
    let own = samples::throughput("throughput", "threaded", None, 64);
    let text = page(&[own, peer]);
    let document = parse(&text);
    let bars = classed(section(&document, "peers-throughput"), "bar");
    assert_eq!(
        bars.len(),
        1,
        "results beside controls of ours are not among them"
    );
    assert_eq!(
        label(bars[0]),
        "threaded beside rtrb, 64 B: 0.833 of its control"
    );
    let chart = named(section(&document, "figure-9"), "svg")[0];
    let line = classed(chart, "series measured")[0];
    assert_eq!(classed(line, "point").len(), 1, "nor the other way round");
}

#[test]
fn several_releases_are_lines_of_one_chart() {
    let mut before = samples::all();
    before
        .iter_mut()
        .for_each(|o| o.gbit_per_s = o.gbit_per_s.map(|g| g / 2.0));
    let releases = [("0.1.0", before), ("0.2.0", samples::all())].map(|(name, outcomes)| Release {
        name: name.to_owned(),
        outcomes,
    });
    let folder = Folder::new();
    let written = report::write_releases(folder.path(), &releases).unwrap();
    let text = std::fs::read_to_string(written.page).unwrap();
    let document = parse(&text);
    for id in ["figure-12", "figure-14", "figure-18"] {
        for chart in named(section(&document, id), "svg") {
            let labels: Vec<String> = classed(chart, "series").iter().map(|n| label(*n)).collect();
            for release in ["0.1.0", "0.2.0"] {
                assert!(
                    labels.iter().any(|l| l.starts_with(release)),
                    "{id}: {labels:?}"
                );
            }
        }
    }
}
