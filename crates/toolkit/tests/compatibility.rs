//! Every operator of the language works or is refused by name, the page of what is refused is
//! that of the lists, and the README counts the operators that work.

use std::collections::BTreeSet;
use std::path::PathBuf;

use graph::Unsupported;
use thalweg_toolkit as toolkit;

/// The operators that the language's toolkits list.
const OPERATORS: &[(&str, &str)] = &[
    ("com.ibm.streamsx.json", "JSONToTuple TupleToJSON"),
    ("spl.XML", "XMLParse"),
    (
        "spl.adapter",
        "DirectoryScan Export FileSink FileSource Import MetricsSink TCPSink TCPSource UDPSink \
         UDPSource",
    ),
    ("spl.compat", "V1TCPSink V1TCPSource"),
    (
        "spl.compat.sample",
        "Demux KeyedAggregate KeyedDelay KeyedJoin Normalize PunctMerger",
    ),
    ("spl.control", "JobControlPlane"),
    (
        "spl.relational",
        "Aggregate Filter Functor Join Punctor Sort",
    ),
    (
        "spl.utility",
        "Barrier Beacon CharacterTransform Compress Custom DeDuplicate Decompress Delay \
         DynamicFilter Format Gate JavaOp Pair Parse ReplayableStart Split Switch ThreadedSplit \
         Throttle Union",
    ),
    ("spl.utility.internal", "Buffer Marker Selector"),
];

#[test]
fn every_operator_of_the_language_is_known() {
    let known = toolkit::operators().iter().map(|entry| entry.model);
    let known: BTreeSet<_> = known.map(|model| (model.namespace, model.name)).collect();
    for (namespace, names) in OPERATORS {
        for name in names.split_whitespace() {
            assert!(known.contains(&(*namespace, name)), "{namespace}::{name}");
        }
    }
}

#[test]
fn refusals_are_clauses() {
    let operators = toolkit::operators().iter().map(|entry| entry.model);
    let operators = operators.filter_map(|model| Some((model.name, model.unsupported?)));
    let functions = toolkit::functions().iter();
    let functions = functions.filter_map(|f| Some((f.prototype, f.unsupported?)));
    let params = toolkit::operators().iter();
    let params = params
        .flat_map(|entry| entry.model.unsupported_params)
        .copied();
    for (
        name,
        Unsupported {
            reason: why,
            alternative: instead,
        },
    ) in operators.chain(functions).chain(params)
    {
        for text in [why, instead] {
            let first = text.chars().next().expect("a reason has words");
            assert!(!first.is_uppercase(), "{name}: {text}");
            assert!(
                !text.ends_with('.') && !text.contains("  "),
                "{name}: {text}"
            );
        }
    }
}

/// `docs/compatibility.md`; `BLESS=1` writes its tables.
#[test]
fn the_page_has_what_is_refused() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs/compatibility.md");
    let before = std::fs::read_to_string(&path).expect("the page is there");
    let page = with_section(&before, "operators", &operators());
    let page = with_section(&page, "parameters", &parameters());
    let page = with_section(&page, "functions", &functions());
    let page = with_section(&page, "encodings", &encodings());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    } else {
        assert_eq!(
            before, page,
            "run this test with BLESS=1, and read what changes"
        );
    }
}

#[test]
fn the_readme_says_how_many_operators_work() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let models = toolkit::operators().iter().map(|entry| entry.model);
    let working = models.filter(|model| model.unsupported.is_none()).count();
    let all = toolkit::operators().len();
    let counts = format!("{working} of the {all} operators of the standard toolkits");
    assert!(page.contains(&counts), "README.md has to say: {counts}");
}

/// A page with other text between the two comments that mark a section.
fn with_section(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
    let (before, rest) = page.split_once(&begin).expect("the section begins");
    let (_, after) = rest.split_once(end).expect("the section ends");
    format!("{before}{begin}{text}{end}{after}")
}

fn operators() -> String {
    let all = toolkit::operators().iter().map(|entry| entry.model);
    let rows = all.filter_map(|model| {
        let name = format!("{}::{}", model.namespace, model.name);
        Some(row(&name, model.unsupported?))
    });
    table("operator", rows)
}

fn parameters() -> String {
    let all = toolkit::operators().iter().map(|entry| entry.model);
    let rows = all.flat_map(|model| {
        let refused = model.unsupported_params.iter();
        refused.map(|(param, refusal)| {
            let name = format!("{}::{}.{param}", model.namespace, model.name);
            row(&name, *refusal)
        })
    });
    table("parameter", rows)
}

/// A line a name: the prototypes of one are refused together.
fn functions() -> String {
    let mut rows: Vec<String> = Vec::new();
    for function in toolkit::functions() {
        let Some(refusal) = function.unsupported else {
            continue;
        };
        let head = function.prototype.split('(').next().unwrap_or_default();
        let name = head.rsplit(' ').next().unwrap_or_default();
        let row = row(&format!("{}::{name}", function.namespace), refusal);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    table("function", rows.into_iter())
}

fn row(
    name: &str,
    Unsupported {
        reason: why,
        alternative: instead,
    }: Unsupported,
) -> String {
    format!("| `{name}` | {why} | {instead} |\n")
}

fn table(of: &str, rows: impl Iterator<Item = String>) -> String {
    let head = format!("| {of} | reason | way round |\n| --- | --- | --- |\n");
    rows.fold(head, |text, row| text + &row)
}

/// The names of the encodings.
fn encodings() -> String {
    let names: Vec<_> = toolkit::encodings().collect();
    format!("{}.\n", names.join(", "))
}
