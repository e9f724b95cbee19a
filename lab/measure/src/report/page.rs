//! The page: host, summary, figures, and the results that could not be measured.

use super::draw_chart::draw;
use super::figures::{ReportSection, sections};
use super::markup::Markup;
use super::number::{count, nanoseconds, three_digits};
use super::release::Release;
use super::result_table::write_table;
use crate::{Host, Outcome};

const STYLE: &str = include_str!("page.css");

/// The whole page about the last release, compared with those before it.
pub fn page(releases: &[Release]) -> String {
    let sections = sections(releases);
    let newest = releases.last().map_or(&[][..], |release| &release.outcomes);
    let mut page = Markup::default();
    page.raw_markup("<!DOCTYPE html>\n");
    page.open(
        "html",
        &[("lang", &"en"), ("xmlns", &"http://www.w3.org/1999/xhtml")],
    );
    write_head(&mut page);
    page.line().open("body", &[]).open("main", &[]).line();
    page.open("header", &[]);
    page.text_element("h1", &[], "Thalweg measured");
    let lead = "Each figure beside a raw control that moved the same bytes in the same run, and \
                beside what the source documents published for their machines.";
    page.text_element("p", &[("class", &"lead")], lead).line();
    write_origins(&mut page, releases);
    page.close().line();
    if newest.is_empty() {
        page.text_element("p", &[("class", &"none")], "There are no results.");
    }
    write_ladder(&mut page, newest);
    write_contents(&mut page, &sections, newest);
    for section in &sections {
        write_section(&mut page, section);
    }
    write_unavailable(&mut page, newest);
    write_notes(&mut page);
    page.close().close().close().line();
    page.finish()
}

fn write_head(page: &mut Markup) {
    page.open("head", &[]).line();
    page.empty_element("meta", &[("charset", &"utf-8")]);
    let viewport = "width=device-width, initial-scale=1";
    page.empty_element("meta", &[("name", &"viewport"), ("content", &viewport)]);
    page.empty_element(
        "meta",
        &[("name", &"color-scheme"), ("content", &"light dark")],
    );
    page.text_element("title", &[], "Thalweg measured").line();
    page.open("style", &[])
        .line()
        .raw_markup(STYLE)
        .close()
        .close();
}

/// Writes machine, commit and options: a column for each combination.
fn write_origins(page: &mut Markup, releases: &[Release]) {
    let mut seen: Vec<[String; 9]> = Vec::new();
    for release in releases {
        for outcome in &release.outcomes {
            let origin = origin_cells(&release.name, outcome);
            if !seen.contains(&origin) {
                seen.push(origin);
            }
        }
    }
    const NAMES: [&str; 9] = [
        "release",
        "processor",
        "cores",
        "kernel",
        "huge pages",
        "governor",
        "jitter",
        "commit",
        "options",
    ];
    if seen.is_empty() {
        return;
    }
    page.open("div", &[("class", &"wide")]);
    page.open("table", &[("class", &"origin")])
        .open("tbody", &[])
        .line();
    for (at, name) in NAMES.iter().enumerate() {
        if seen.iter().all(|origin| origin[at].is_empty()) {
            continue;
        }
        page.open("tr", &[])
            .text_element("th", &[("scope", &"row")], name);
        for origin in &seen {
            let known = if origin[at].is_empty() {
                "not known"
            } else {
                &origin[at]
            };
            page.text_element("td", &[], known);
        }
        page.close().line();
    }
    page.close().close().close().line();
}

fn origin_cells(release: &str, outcome: &Outcome) -> [String; 9] {
    let Host {
        processor,
        cores,
        kernel,
        huge_pages,
        governor,
        jitter_ns,
    } = outcome.host.clone();
    let jitter =
        jitter_ns.map(|ns| format!("gaps of up to {} in a second", nanoseconds(ns as f64)));
    [
        release.to_owned(),
        processor,
        cores.to_string(),
        kernel,
        huge_pages,
        governor.unwrap_or_default(),
        jitter.unwrap_or_default(),
        outcome.commit.clone().unwrap_or_default(),
        outcome.options.clone().unwrap_or_default(),
    ]
}

/// Writes the paths at one size side by side, the summary of the page.
fn write_ladder(page: &mut Markup, outcomes: &[Outcome]) {
    let rungs = super::figures::path_ladder(outcomes);
    let Some(size) = rungs.first().and_then(|rung| rung.size_bytes) else {
        return;
    };
    page.open(
        "section",
        &[("class", &"rungs"), ("aria-label", &"Summary")],
    );
    page.text_element("h2", &[], format!("At a glance: tuples of {size} bytes"));
    page.open("ol", &[]).line();
    for rung in rungs {
        let class = format!("c{}", super::figures::colour(&rung.path));
        page.open("li", &[("class", &class)]);
        page.text_element("span", &[("class", &"path")], &rung.path);
        let rate = rung.tuples_per_s.map(count).unwrap_or_default();
        page.text_element("strong", &[], rate);
        page.text_element("span", &[("class", &"unit")], "tuples/s");
        let bits =
            super::figures::gbit_per_s(rung).map(|bits| format!("{} Gbit/s", three_digits(bits)));
        let ratio = rung
            .ratio
            .map(|ratio| format!("{} of control", three_digits(ratio)));
        for fact in [bits, ratio].into_iter().flatten() {
            page.text_element("span", &[("class", &"fact")], fact);
        }
        page.close().line();
    }
    page.close().close().line();
}

fn write_contents(page: &mut Markup, sections: &[ReportSection], outcomes: &[Outcome]) {
    if sections.is_empty() {
        return;
    }
    page.open("nav", &[("aria-label", &"Figures")])
        .open("ul", &[])
        .line();
    let mut entry = |id: &str, title: &str, source: &str| {
        page.open("li", &[])
            .text_element("a", &[("href", &format!("#{id}"))], title);
        if !source.is_empty() {
            page.text(" ").text_element("small", &[], source);
        }
        page.close().line();
    };
    for section in sections {
        entry(&section.id, &section.title, &section.source);
    }
    if outcomes.iter().any(|outcome| outcome.unavailable.is_some()) {
        entry("unavailable", "What could not be measured", "");
    }
    page.close().close().line();
}

fn write_section(page: &mut Markup, section: &ReportSection) {
    page.open("section", &[("id", &section.id)]).line();
    page.text_element("h2", &[], &section.title).line();
    if !section.source.is_empty() {
        page.text_element(
            "p",
            &[("class", &"source")],
            format!("as in {}", section.source),
        );
    }
    page.text_element("p", &[], &section.description).line();
    for chart in &section.charts {
        page.open("figure", &[])
            .line()
            .raw_markup(&draw(chart))
            .close()
            .line();
    }
    if let Some(bars) = &section.bars {
        page.open("figure", &[])
            .line()
            .raw_markup(&bars.draw())
            .close()
            .line();
    }
    if section.charts.is_empty() && section.bars.is_none() {
        write_missing(page, section);
    }
    for results in &section.tables {
        write_table(page, results);
    }
    page.close().line();
}

/// Writes why a section has no chart.
fn write_missing(page: &mut Markup, section: &ReportSection) {
    let mut reasons: Vec<&str> = Vec::new();
    let rows = section.tables.iter().flat_map(|table| &table.rows);
    for reason in rows.filter_map(|row| row.unavailable.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let why = match reasons.is_empty() {
        true => "There is nothing of it to draw; the table has what there is.".to_owned(),
        false => format!("Not measured here: {}.", reasons.join("; ")),
    };
    page.text_element("p", &[("class", &"none")], why).line();
}

/// Writes the results that could not be measured, by reason.
fn write_unavailable(page: &mut Markup, outcomes: &[Outcome]) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for outcome in outcomes {
        let Some(reason) = outcome.unavailable.as_deref() else {
            continue;
        };
        let what = match reasons.iter().position(|(known, _)| *known == reason) {
            Some(at) => &mut reasons[at].1,
            None => {
                reasons.push((reason, Vec::new()));
                &mut reasons.last_mut().expect("just pushed").1
            }
        };
        let name = format!("{} {}", outcome.bench, outcome.path);
        if !what.contains(&name) {
            what.push(name);
        }
    }
    if reasons.is_empty() {
        return;
    }
    page.open("section", &[("id", &"unavailable")]).line();
    page.text_element("h2", &[], "What could not be measured")
        .open("dl", &[])
        .line();
    for (reason, what) in reasons {
        page.text_element("dt", &[], what.join(", "))
            .text_element("dd", &[], reason)
            .line();
    }
    page.close().close().line();
}

/// Writes the notes on how to read the page.
fn write_notes(page: &mut Markup) {
    const NOTES: [&str; 4] = [
        "Figures are medians of the runs; the ratio is the median of the ratios of neighbouring \
         runs to their controls. Noise is half the range of the runs as a share of their median; \
         a thin line through a marker goes from the least to the most that a run had.",
        "Sizes are on a logarithmic axis, as in the source reports. A vertical axis is logarithmic \
         where its values differ by a factor of 50 or more, else linear from 0.",
        "Faint lines are values that the named documents print in tables; what they only draw is \
         not guessed. Faint bands and lone markers are values that they give in sentences.",
        "Point at a marker to see its values. Latencies are corrected for coordinated omission: \
         they count from when a tuple was due.",
    ];
    page.open("footer", &[])
        .text_element("h2", &[], "How to read this")
        .line();
    for note in NOTES {
        page.text_element("p", &[], note).line();
    }
    page.close().line();
}
