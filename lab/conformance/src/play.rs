//! Roles that child processes play on an edge.
//!
//! ```text
//!   PROGRAM child MEDIUM ROLE LINK RECEIVERS PATIENCE_MS
//! ```

use std::process::ExitCode;
use std::time::Duration;

use transport::{EdgeSpec, Medium};

use crate::child::{self, Child, ControlSocket, TestFailure, TestOutcome};
use crate::rig::Rig;

/// Function of a child's role.
pub type Role = fn(Rig, &EdgeSpec, &mut ControlSocket) -> TestOutcome;

/// Starts a child that plays a role on an edge.
pub fn start(rig: Rig, role: &str, spec: &EdgeSpec) -> Result<Child, TestFailure> {
    let (link, receivers) = (spec.edge.to_string(), spec.receiver_count.to_string());
    let patience = rig.patience.as_millis().to_string();
    let medium = medium_word(rig.medium)?;
    let arguments = ["child", &medium, role, &link, &receivers, &patience];
    child::start(&arguments, rig.patience)
}

/// The word by which a child finds the medium: the file of a library, or the name.
fn medium_word(medium: &dyn Medium) -> Result<String, TestFailure> {
    let Some(file) = medium.library() else {
        return Ok(medium.name().to_owned());
    };
    let file = std::path::absolute(file)?;
    let word = file.to_str().ok_or("the library's path is no UTF-8")?;
    Ok(word.to_owned())
}

/// Plays a role that needs no edge of the parent's, in a process of its own.
pub fn run_alone(rig: Rig, role: &str) -> TestOutcome {
    start(rig, role, &rig.spec(1))?.ends_well()
}

/// The child's side of [`start`].
pub fn play(
    arguments: &[String],
    find_medium: impl Fn(&str) -> Result<&'static dyn Medium, TestFailure>,
    find_role: impl Fn(&str) -> Option<Role>,
) -> ExitCode {
    let played = (|| -> TestOutcome {
        let [medium, role, link, receivers, patience] = arguments else {
            return Err("a child needs a medium, a role, an edge and patience".into());
        };
        let rig = Rig {
            medium: find_medium(medium)?,
            patience: Duration::from_millis(patience.parse()?),
        };
        let spec = EdgeSpec {
            edge: link.parse()?,
            ..rig.spec(receivers.parse()?)
        };
        let mut control = child::to_parent(rig.patience)?;
        find_role(role).ok_or("no such role")?(rig, &spec, &mut control)
    })();
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
