//! One run of a test on one plan, judged.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::comparison::difference;
use super::expected_text::BlessedTexts;
use super::scratch_dir::ScratchDir;
use super::test_file::{Expected, TestCase, TestFile};

/// Time between two looks whether a run has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Outcome of a run.
pub struct CaseOutcome {
    /// Sentences about what is wrong, each with what explains it; empty if all is right.
    pub failures: Vec<String>,
    /// Output of the run; `None` if it did not end well.
    pub texts: Option<BlessedTexts>,
}

/// Status and output of a run.
struct Finished {
    status: ExitStatus,
    output: String,
    messages: String,
}

/// Runs a test on one of its plans, in a process and a data directory of its own.
pub fn run_case(file: &TestFile, case: &TestCase, plan: &[String]) -> CaseOutcome {
    let run = || {
        let data = ScratchDir::new().map_err(|error| format!("cannot make a folder: {error}"))?;
        if let Some(folder) = &case.data {
            data.copy_from(&file.folder().join(folder))?;
        }
        for (name, text) in &case.files {
            data.write(name, text)?;
        }
        let finished = execute(file, case, plan, data.path())?;
        Ok(judge(&case.expected, &finished, &data))
    };
    run().unwrap_or_else(|failure: String| CaseOutcome {
        failures: vec![failure],
        texts: None,
    })
}

fn execute(
    file: &TestFile,
    case: &TestCase,
    plan: &[String],
    data: &Path,
) -> Result<Finished, String> {
    let binary = std::env::current_exe()
        .map_err(|error| format!("cannot find the binary of this process: {error}"))?;
    let values = case
        .values
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let mut child = Command::new(binary)
        .current_dir(file.folder())
        .arg("run")
        .args(&file.options)
        .args(plan)
        .arg("--data-dir")
        .arg(data)
        .arg(&file.program)
        .args(values)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start `thalweg run`: {error}"))?;
    let output = read_all(child.stdout.take());
    let messages = read_all(child.stderr.take());
    let ended = wait(&mut child, Duration::from_secs_f64(case.timeout_s));
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        let bytes = reader.join().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (output, messages) = (text(output), text(messages));
    match ended {
        Ok(Some(status)) => Ok(Finished {
            status,
            output,
            messages,
        }),
        Ok(None) => Err(format!(
            "the run was ended after {} seconds (`timeout`)\n{messages}",
            case.timeout_s
        )),
        Err(error) => Err(format!("cannot wait for the run: {error}")),
    }
}

/// Reads a stream to its end on a thread, so that the run never waits for it.
fn read_all(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What came before an error counts.
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the end of a run, and ends it after some time; `None` then.
fn wait(child: &mut Child, timeout: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

fn judge(expected: &Expected, run: &Finished, data: &ScratchDir) -> CaseOutcome {
    let mut failures = Vec::new();
    let has_failed = !run.status.success();
    match &expected.fault {
        None if has_failed => {
            failures.push(format!("the run failed ({})\n{}", run.status, run.messages));
        }
        Some(fault) if !has_failed => {
            failures.push(format!("the run did not fail; expected: {fault}\n"));
        }
        Some(fault) if !run.messages.contains(fault.as_str()) => failures.push(format!(
            "the run failed in another way; expected: {fault}\n{}",
            run.messages
        )),
        _ => {}
    }
    let is_as_expected = failures.is_empty();
    for message in expected
        .messages
        .iter()
        .filter(|text| !run.messages.contains(text.as_str()))
    {
        failures.push(format!(
            "standard error does not hold: {message}\n{}",
            run.messages
        ));
    }
    if let Some(output) = &expected.output
        && let Some(told) = difference(output, &run.output, expected.any_order)
    {
        failures.push(format!("standard output differs, {told}"));
    }
    let mut files = BTreeMap::new();
    for (name, text) in &expected.files {
        let found = data.file(name).and_then(|path| {
            fs::read(path).map_err(|error| format!("the file `{name}` cannot be read: {error}\n"))
        });
        match found {
            Ok(bytes) => {
                let found = String::from_utf8_lossy(&bytes).into_owned();
                if let Some(told) = difference(text, &found, expected.any_order) {
                    failures.push(format!("the file `{name}` differs, {told}"));
                }
                files.insert(name.clone(), found);
            }
            Err(failure) => failures.push(failure),
        }
    }
    let texts = BlessedTexts {
        output: expected.output.is_some().then(|| run.output.clone()),
        files,
    };
    CaseOutcome {
        failures,
        texts: is_as_expected.then_some(texts),
    }
}
