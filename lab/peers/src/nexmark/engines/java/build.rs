//! The classes of engines in Java and the jars that they need.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::nexmark::engines::search_path::is_installed;

/// Folder of the sources and of `pom.xml`.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/java");

/// Folder beside this program that gets classes and jars.
const BUILD_FOLDER: &str = "peers-java";

/// The first tool that is not installed.
pub fn missing_tool() -> Option<&'static str> {
    ["java", "mvn"].into_iter().find(|tool| !is_installed(tool))
}

/// The folder with `classes` and `jars`, built once in a process.
///
/// # Errors
/// Maven fails, with the end of what it has said.
pub fn java_folder() -> Result<&'static Path, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    built.as_deref().map_err(Clone::clone)
}

fn build() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(BUILD_FOLDER);
    let output = Command::new("mvn")
        .args(["-q", "-B", "-Dstyle.color=never", "-f"])
        .arg(Path::new(SOURCES).join("pom.xml"))
        .arg(format!("-Dbuild.folder={}", folder.display()))
        .arg("compile")
        .arg("dependency:copy-dependencies")
        .arg(format!(
            "-DoutputDirectory={}",
            folder.join("jars").display()
        ))
        .output()
        .map_err(|error| format!("Maven cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(folder);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = said.lines().filter(|line| line.contains("ERROR")).take(2);
    let errors: Vec<&str> = errors.collect();
    Err(format!(
        "Maven does not build the classes: {}",
        errors.join(" ")
    ))
}
