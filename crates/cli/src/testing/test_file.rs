//! A test file, read: the program and its tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::CommandFailure;

/// The end of the names of test files.
pub const SUFFIX: &str = ".test.toml";

/// A test file: a program and its tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Path of the file itself.
    pub path: PathBuf,
    /// The program, from the folder of the file.
    pub program: PathBuf,
    /// Options of `thalweg run` for every test: main composite, toolkits.
    pub options: Vec<String>,
    /// The tests, in order.
    pub cases: Vec<TestCase>,
}

/// One test of a program.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// Name of the test, for reports.
    pub name: String,
    /// Place among the tests of the file.
    pub index: usize,
    /// Options of the plans to run it on, each a text such as `--fuse none`.
    pub plans: Vec<String>,
    /// Submission-time values of the run.
    pub values: Vec<(String, String)>,
    /// A folder whose files are copied to the data directory.
    pub data: Option<PathBuf>,
    /// Files of the data directory: name and text.
    pub files: BTreeMap<String, String>,
    /// Expected results of the run.
    pub expected: Expected,
    /// Seconds that the run may take.
    pub timeout_s: f64,
}

/// Expected results of a run.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Standard output; `None`: anything.
    pub output: Option<String>,
    /// Files of the data directory.
    pub files: BTreeMap<String, String>,
    /// Whether lines may come in any order.
    pub any_order: bool,
    /// A part of the message with which the run must fail; `None`: it must not fail.
    pub fault: Option<String>,
    /// Texts that standard error must hold.
    pub messages: Vec<String>,
}

/// A test file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenFile {
    program: Option<PathBuf>,
    main: Option<String>,
    #[serde(default)]
    toolkit_path: Vec<PathBuf>,
    plans: Option<Vec<String>>,
    data: Option<PathBuf>,
    timeout: Option<f64>,
    #[serde(default)]
    test: Vec<WrittenCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenCase {
    name: String,
    plans: Option<Vec<String>>,
    #[serde(default)]
    values: BTreeMap<String, WrittenValue>,
    data: Option<PathBuf>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    timeout: Option<f64>,
    expect: Option<String>,
    #[serde(default)]
    expect_files: BTreeMap<String, String>,
    #[serde(default)]
    order: WrittenOrder,
    fault: Option<String>,
    #[serde(default)]
    messages: Vec<String>,
}

/// A submission-time value, or several of one name.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenValue {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<WrittenValue>),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenOrder {
    #[default]
    Fixed,
    Any,
}

/// Seconds that a run may take unless the file says otherwise.
const TIMEOUT_S: f64 = 60.0;

impl TestFile {
    /// Reads a test file.
    ///
    /// # Errors
    /// The file cannot be read, is no TOML, or has a key that there is not; the place is in the
    /// message.
    pub fn read(path: &Path) -> Result<TestFile, CommandFailure> {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| CommandFailure::Program(format!("cannot read `{shown}`: {error}")))?;
        let written: WrittenFile = toml_edit::de::from_str(&text).map_err(|error| {
            CommandFailure::Program(format!("{shown}: {}", error.to_string().trim_end()))
        })?;
        if written.test.is_empty() {
            let message = format!("{shown}: there is no test in it; a test begins with `[[test]]`");
            return Err(CommandFailure::Program(message));
        }
        let mut options = Vec::new();
        if let Some(main) = &written.main {
            options.extend(["--main".to_owned(), main.clone()]);
        }
        for folder in &written.toolkit_path {
            let folder = folder.to_string_lossy().into_owned();
            options.extend(["--toolkit-path".to_owned(), folder]);
        }
        let program = match &written.program {
            Some(program) => program.clone(),
            None => program_beside(path),
        };
        let plans = written.plans.clone().unwrap_or_else(|| vec![String::new()]);
        let cases = written.test.into_iter().enumerate();
        let cases = cases.map(|(index, case)| {
            let timeout_s = case.timeout.or(written.timeout).unwrap_or(TIMEOUT_S);
            let data = case.data.clone().or(written.data.clone());
            let plans = case.plans.clone().unwrap_or_else(|| plans.clone());
            case.into_case(index, plans, data, timeout_s)
        });
        let cases = cases.collect::<Result<Vec<_>, _>>();
        let cases =
            cases.map_err(|message| CommandFailure::Program(format!("{shown}: {message}")))?;
        Ok(TestFile {
            path: path.to_owned(),
            program,
            options,
            cases,
        })
    }

    /// The folder of the file, from which its paths lead.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }
}

/// The program that a test file without the key `program` is about.
fn program_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(SUFFIX).unwrap_or(&name);
    PathBuf::from(format!("{stem}.spl"))
}

impl WrittenCase {
    fn into_case(
        self,
        index: usize,
        plans: Vec<String>,
        data: Option<PathBuf>,
        timeout_s: f64,
    ) -> Result<TestCase, String> {
        let name = self.name;
        let expects_nothing = self.expect.is_none()
            && self.expect_files.is_empty()
            && self.fault.is_none()
            && self.messages.is_empty();
        if expects_nothing {
            return Err(format!(
                "the test `{name}` expects nothing; give `expect`, `expect-files`, `fault` or \
                 `messages` (an empty `expect` with --bless is filled in)"
            ));
        }
        if plans.is_empty() {
            return Err(format!(
                "the test `{name}` has no plan; `plans = [\"\"]` is the default one"
            ));
        }
        if !timeout_s.is_finite() || timeout_s <= 0.0 {
            return Err(format!(
                "the test `{name}`: `timeout` is a number of seconds above 0"
            ));
        }
        let mut values = Vec::new();
        for (key, value) in self.values {
            value.texts(&mut |text| values.push((key.clone(), text)));
        }
        Ok(TestCase {
            name,
            index,
            plans,
            values,
            data,
            files: self.files,
            expected: Expected {
                output: self.expect,
                files: self.expect_files,
                any_order: matches!(self.order, WrittenOrder::Any),
                fault: self.fault,
                messages: self.messages,
            },
            timeout_s,
        })
    }
}

impl WrittenValue {
    fn texts(&self, sink: &mut dyn FnMut(String)) {
        match self {
            WrittenValue::Boolean(x) => sink(x.to_string()),
            WrittenValue::Integer(x) => sink(x.to_string()),
            WrittenValue::Float(x) => sink(x.to_string()),
            WrittenValue::Text(x) => sink(x.clone()),
            WrittenValue::List(values) => values.iter().for_each(|value| value.texts(sink)),
        }
    }
}
