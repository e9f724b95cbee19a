//! The operator instance of DirectoryScan.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::PortIndex;
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet, Source};
use tuple::{Layout, TupleRef, Value};

use super::scanned_file::{ScanFunction, ScannedFile, regular_files};
use crate::adapter::{file_name, record_format};
use crate::function::regex;
use crate::output_calls::OutputCalls;

/// The operator: all it does it does on its own thread.
struct DirectoryScan(Option<DirectoryScanSource>);

struct DirectoryScanSource {
    /// The directory as the program names it.
    directory: PathBuf,
    full_directory: PathBuf,
    /// Directory that files are moved to: as the program names it, and below the data directory.
    destination: Option<(PathBuf, PathBuf)>,
    pattern: Option<Vec<u8>>,
    sleep_time: f64,
    init_delay: f64,
    by_name: bool,
    descending: bool,
    ignores_dot_files: bool,
    ignores_existing: bool,
    calls: OutputCalls<ScanFunction>,
    /// Attributes that get the path.
    paths: Vec<usize>,
    layout: Arc<Layout>,
    /// Time of the last change of each file that was submitted.
    sent_changes: HashMap<PathBuf, (i64, i64)>,
}

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let data_directory = build.services.data_directory()?;
    let mut folder = |param| -> Result<_, Fault> {
        let name = build.value(param)?.map(file_name::rstring_text);
        Ok(name.map(|name| {
            (
                PathBuf::from(&name),
                file_name::resolve_path(&data_directory, &name),
            )
        }))
    };
    let directory = folder("directory")?;
    let (directory, full_directory) =
        directory.ok_or_else(|| crate::lower::missing_param("directory"))?;
    let destination = folder("moveToDirectory")?;
    let pattern = build.value("pattern")?.map(file_name::rstring_text);
    if let Some(pattern) = &pattern {
        regex::is_match(b"", pattern.as_bytes())?;
    }
    Ok(Box::new(DirectoryScan(Some(DirectoryScanSource {
        directory,
        full_directory,
        destination,
        pattern: pattern.map(String::into_bytes),
        sleep_time: build.number("sleepTime")?.unwrap_or(5.0),
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        by_name: build.literal("sortBy") == Some("name"),
        descending: build.literal("order") == Some("descending"),
        ignores_dot_files: build.flag("ignoreDotFiles", false)?,
        ignores_existing: build.flag("ignoreExistingFilesAtStartup", false)?,
        calls: OutputCalls::new(build, PortIndex(0), ScanFunction::from_name)?,
        paths: record_format::read_attributes(build.operator),
        layout: build.outputs[0].clone(),
        sent_changes: HashMap::new(),
    }))))
}

impl Operator for DirectoryScan {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.take()?))
    }
}

impl Source for DirectoryScanSource {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.services().block(self.init_delay);
        let mut is_first = true;
        while !out.services().is_shutdown() {
            let entries = self.scan()?;
            out.services().add_to_metric("nScans", 1);
            for entry in entries {
                self.sent_changes
                    .insert(entry.name.clone(), entry.changed_at());
                if out.services().is_shutdown() {
                    break;
                }
                if !(is_first && self.ignores_existing) {
                    self.submit(&entry, out)?;
                }
            }
            is_first = false;
            out.services().block(self.sleep_time);
        }
        Ok(())
    }
}

impl DirectoryScanSource {
    /// The files that are new or have changed, in order.
    fn scan(&mut self) -> Result<Vec<ScannedFile>, Fault> {
        let found = regular_files(&self.full_directory);
        let found = found.map_err(|error| failure("read", &self.full_directory, &error))?;
        // A file that was removed may be created again.
        self.sent_changes
            .retain(|name, _| found.iter().any(|(other, _)| other == name));
        let mut entries = Vec::new();
        for (name, metadata) in found {
            let entry = ScannedFile {
                directory: self.directory.clone(),
                full_directory: self.full_directory.clone(),
                destination: self.destination.clone(),
                name,
                metadata,
            };
            let is_known = self.sent_changes.get(&entry.name) == Some(&entry.changed_at());
            if !is_known && self.is_selected(&entry.name)? {
                entries.push(entry);
            }
        }
        entries.sort_by(|a, b| {
            let by_name = a.name.cmp(&b.name);
            let order = match self.by_name {
                true => by_name,
                false => a.modified_at().cmp(&b.modified_at()).then(by_name),
            };
            if self.descending {
                order.reverse()
            } else {
                order
            }
        });
        Ok(entries)
    }

    fn is_selected(&self, name: &Path) -> Result<bool, Fault> {
        let name = name.as_os_str().as_bytes();
        if self.ignores_dot_files && name.starts_with(b".") {
            return Ok(false);
        }
        match &self.pattern {
            Some(pattern) => regex::is_match(name, pattern),
            None => Ok(true),
        }
    }

    fn submit(&mut self, entry: &ScannedFile, out: &mut dyn Outlet) -> Result<(), Fault> {
        if let Some((_, to)) = &entry.destination {
            std::fs::create_dir_all(to).map_err(|error| failure("make", to, &error))?;
            file_name::move_into(&entry.full_directory.join(&entry.name), to)?;
        }
        let answer = |function: &ScanFunction, arguments: &[Value]| {
            Ok(match (function, arguments) {
                (ScanFunction::AsIs, [value, ..]) => value.clone(),
                (function, _) => entry.evaluate(*function),
            })
        };
        let whole = self
            .calls
            .write(&EvaluationInputs::default(), out, answer)?;
        let path = entry.evaluate(ScanFunction::AsIs);
        for &at in &self.paths {
            whole.set(&self.layout, at, &path);
        }
        out.submit(PortIndex(0), self.calls.tuple())
    }
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Fault {
    let message = format!("cannot {what} directory {}: {error}", path.display());
    Fault::new(FaultKind::System, message)
}
