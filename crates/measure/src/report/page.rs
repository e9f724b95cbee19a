//! The page: a head with the host, a summary, the figures, what could not be measured.

use super::Release;
use super::draw::draw;
use super::figures::{Section, sections};
use super::markup::Markup;
use super::number::{count, nanoseconds, short};
use super::table::table;
use crate::{Host, Outcome};

const STYLE: &str = include_str!("page.css");

/// The whole page about the last of the releases.
pub fn page(releases: &[Release]) -> String {
    let sections = sections(releases);
    let newest = releases.last().map_or(&[][..], |release| &release.outcomes);
    let mut page = Markup::default();
    page.raw("<!DOCTYPE html>\n");
    page.open(
        "html",
        &[("lang", &"en"), ("xmlns", &"http://www.w3.org/1999/xhtml")],
    );
    head(&mut page);
    page.line().open("body", &[]).open("main", &[]).line();
    page.open("header", &[]);
    page.leaf("h1", &[], "Thalweg measured");
    let lead = "Each figure beside a raw control that moved the same bytes in the same run, and \
                beside what the source documents published for their machines.";
    page.leaf("p", &[("class", &"lead")], lead).line();
    origins(&mut page, releases);
    page.close().line();
    if newest.is_empty() {
        page.leaf("p", &[("class", &"none")], "There are no results.");
    }
    ladder(&mut page, newest);
    contents(&mut page, &sections, newest);
    for section in &sections {
        write_section(&mut page, section);
    }
    unavailable(&mut page, newest);
    notes(&mut page);
    page.close().close().close().line();
    page.finish()
}

fn head(page: &mut Markup) {
    page.open("head", &[]).line();
    page.empty("meta", &[("charset", &"utf-8")]);
    let viewport = "width=device-width, initial-scale=1";
    page.empty("meta", &[("name", &"viewport"), ("content", &viewport)]);
    page.empty(
        "meta",
        &[("name", &"color-scheme"), ("content", &"light dark")],
    );
    page.leaf("title", &[], "Thalweg measured").line();
    page.open("style", &[]).line().raw(STYLE).close().close();
}

/// Where, of what and how was measured: a row for each combination that there is.
fn origins(page: &mut Markup, releases: &[Release]) {
    let mut seen: Vec<[String; 9]> = Vec::new();
    for release in releases {
        for outcome in &release.outcomes {
            let origin = origin(&release.name, outcome);
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
        page.open("tr", &[]).leaf("th", &[("scope", &"row")], name);
        for origin in &seen {
            let known = if origin[at].is_empty() {
                "not known"
            } else {
                &origin[at]
            };
            page.leaf("td", &[], known);
        }
        page.close().line();
    }
    page.close().close().close().line();
}

fn origin(release: &str, outcome: &Outcome) -> [String; 9] {
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

/// The paths at one size side by side: the first thing that anybody wants to know.
fn ladder(page: &mut Markup, outcomes: &[Outcome]) {
    let rungs = super::figures::rungs(outcomes);
    let Some(size) = rungs.first().and_then(|rung| rung.size_bytes) else {
        return;
    };
    page.open(
        "section",
        &[("class", &"rungs"), ("aria-label", &"Summary")],
    );
    page.leaf("h2", &[], format!("At a glance: tuples of {size} bytes"));
    page.open("ol", &[]).line();
    for rung in rungs {
        let class = format!("c{}", super::figures::colour(&rung.path));
        page.open("li", &[("class", &class)]);
        page.leaf("span", &[("class", &"path")], &rung.path);
        let rate = rung.tuples_per_s.map(count).unwrap_or_default();
        page.leaf("strong", &[], rate);
        page.leaf("span", &[("class", &"unit")], "tuples/s");
        let bits = super::figures::gbit(rung).map(|bits| format!("{} Gbit/s", short(bits)));
        let ratio = rung
            .ratio
            .map(|ratio| format!("{} of control", short(ratio)));
        for fact in [bits, ratio].into_iter().flatten() {
            page.leaf("span", &[("class", &"fact")], fact);
        }
        page.close().line();
    }
    page.close().close().line();
}

fn contents(page: &mut Markup, sections: &[Section], outcomes: &[Outcome]) {
    if sections.is_empty() {
        return;
    }
    page.open("nav", &[("aria-label", &"Figures")])
        .open("ul", &[])
        .line();
    let mut entry = |id: &str, title: &str, source: &str| {
        page.open("li", &[])
            .leaf("a", &[("href", &format!("#{id}"))], title);
        if !source.is_empty() {
            page.text(" ").leaf("small", &[], source);
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

fn write_section(page: &mut Markup, section: &Section) {
    page.open("section", &[("id", &section.id)]).line();
    page.leaf("h2", &[], &section.title).line();
    if !section.source.is_empty() {
        page.leaf(
            "p",
            &[("class", &"source")],
            format!("as in {}", section.source),
        );
    }
    page.leaf("p", &[], &section.about).line();
    for chart in &section.charts {
        page.open("figure", &[])
            .line()
            .raw(&draw(chart))
            .close()
            .line();
    }
    if let Some(bars) = &section.bars {
        page.open("figure", &[])
            .line()
            .raw(&bars.draw())
            .close()
            .line();
    }
    if section.charts.is_empty() && section.bars.is_none() {
        nothing(page, section);
    }
    for results in &section.tables {
        table(page, results);
    }
    page.close().line();
}

/// Why a section has no picture.
fn nothing(page: &mut Markup, section: &Section) {
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
    page.leaf("p", &[("class", &"none")], why).line();
}

/// What could not be measured, by reason.
fn unavailable(page: &mut Markup, outcomes: &[Outcome]) {
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
    page.leaf("h2", &[], "What could not be measured")
        .open("dl", &[])
        .line();
    for (reason, what) in reasons {
        page.leaf("dt", &[], what.join(", "))
            .leaf("dd", &[], reason)
            .line();
    }
    page.close().close().line();
}

/// How to read the page.
fn notes(page: &mut Markup) {
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
        .leaf("h2", &[], "How to read this")
        .line();
    for note in NOTES {
        page.leaf("p", &[], note).line();
    }
    page.close().line();
}
