//! The page in a real browser, Debian's Chromium: everything is drawn, no label lies on another.
//!
//! Without a browser the tests say that they were passed over; with `THALWEG_BROWSER` set they
//! fail. `THALWEG_PAGE` names one more page to look at, such as one that was really measured.
//! Screenshots are left in `target/tmp`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use thalweg_measure::report::{self, Release};

use crate::folder::Folder;
use crate::samples;

/// Looks at a page from inside: what it finds ends up as attributes of the root.
const INSPECTOR: &str = include_str!("inspector.js");

/// Longer than this nothing takes that works.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn every_chart_is_drawn_and_readable() {
    let Some(browser) = browser() else { return };
    let releases = ["0.1.0", "0.2.0"].map(|name| Release {
        name: name.to_owned(),
        outcomes: samples::all(),
    });
    let folder = Folder::new();
    let whole = report::write_releases(&folder.path().join("whole"), &releases).unwrap();
    let one = [samples::throughput(
        "throughput",
        "tcp",
        Some("facade"),
        100,
    )];
    let little = report::write(&folder.path().join("little"), &one).unwrap();
    for (page, charts_min) in [(whole.page, 20), (little.page, 2)] {
        let seen = inspect(&browser, &fs::read_to_string(&page).unwrap());
        assert_eq!(seen.findings, "", "{}", page.display());
        assert!(seen.charts >= charts_min, "{} charts", seen.charts);
    }
}

#[test]
fn a_page_that_was_measured_is_readable_too() {
    let (Some(browser), Some(page)) = (browser(), std::env::var_os("THALWEG_PAGE")) else {
        return;
    };
    let text = fs::read_to_string(&page).expect("the page that THALWEG_PAGE names");
    let seen = inspect(&browser, &text);
    assert_eq!(seen.findings, "");
    assert!(seen.charts > 0);
    screenshot(&browser, Path::new(&page), "measured.png");
}

#[test]
fn what_is_wrong_with_a_page_is_seen() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    let written = report::write(folder.path(), &samples::all()).unwrap();
    let page = fs::read_to_string(&written.page).unwrap();
    let find = |from: &str, to: &str| {
        assert!(page.contains(from), "{from}");
        inspect(&browser, &page.replace(from, to)).findings
    };
    let moved = find(">4096</text>", " dx=\"-80\">4096</text>");
    assert!(moved.contains("\"1024\" and \"4096\" overlap"), "{moved}");
    let hidden = find(
        "class=\"series measured c0\"",
        "display=\"none\" class=\"series measured\"",
    );
    assert!(
        hidden.contains("shm, measured") && hidden.contains("is not drawn"),
        "{hidden}"
    );
    let wide = find("<main>", "<main style=\"width: 3000px; max-width: none\">");
    assert!(wide.contains("wider than the window"), "{wide}");
}

#[test]
fn a_screenshot_can_be_taken() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    let written = report::write(folder.path(), &samples::all()).unwrap();
    screenshot(&browser, &written.page, "report.png");
}

/// The findings of the browser on a page.
struct Seen {
    charts: usize,
    /// Findings, one line each.
    findings: String,
}

fn inspect(browser: &Path, page: &str) -> Seen {
    let folder = Folder::new();
    let file = folder.path().join("index.html");
    assert!(page.contains("</body>"));
    let script = format!("<script>{INSPECTOR}</script></body>");
    fs::write(&file, page.replace("</body>", &script)).unwrap();
    let dom = chromium(browser, folder.path(), &["--dump-dom"], &file);
    let attribute = |name: &str| {
        let from = dom.split_once(&format!("{name}=\"")).map(|(_, rest)| rest);
        let value = from.and_then(|rest| rest.split_once('"'));
        let (value, _) = value.unwrap_or_else(|| panic!("the page was not inspected: {dom}"));
        value.replace("&quot;", "\"").replace("&amp;", "&")
    };
    Seen {
        charts: attribute("data-charts").parse().unwrap(),
        findings: attribute("data-findings"),
    }
}

fn screenshot(browser: &Path, page: &Path, name: &str) {
    const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
    let folder = Folder::new();
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&picture);
    let to = format!("--screenshot={}", picture.display());
    let size = "--window-size=1060,9000";
    chromium(
        browser,
        folder.path(),
        &["--hide-scrollbars", size, &to],
        page,
    );
    let bytes = fs::read(&picture).unwrap();
    assert!(bytes.starts_with(SIGNATURE));
    assert!(bytes.len() > 50_000, "an empty page: {} bytes", bytes.len());
}

/// Opens a page; what the browser prints.
fn chromium(browser: &Path, folder: &Path, args: &[&str], page: &Path) -> String {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--disable-sync", "--disable-dev-shm-usage", &profile])
        .args(args)
        .arg(format!("file://{}", page.display()))
        // Whatever it leaves goes with the folder.
        .env("HOME", folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{} does not end", browser.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = fs::read_to_string(&err).unwrap_or_default();
    assert!(status.success(), "{}: {status}\n{said}", browser.display());
    fs::read_to_string(&out).unwrap()
}

/// The browser, if there is one.
fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        let asked = std::env::var_os("THALWEG_BROWSER").is_some();
        assert!(
            !asked,
            "THALWEG_BROWSER asks for Chromium, and there is none"
        );
        // Past the test runner, which shows nothing of tests that pass.
        let words = b"PASSED OVER: the page in a browser, for there is no Chromium\n";
        let _ = std::io::stderr().write_all(words);
    }
    found
}
