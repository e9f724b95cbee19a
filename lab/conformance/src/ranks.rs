//! Ranks instead of child processes: mpirun starts several processes of this program, rank 0 tests,
//! and the others play the roles of its children.
//!
//! ```text
//!   rank 0: RankSocket::listen(path)
//!     share ------------- by the library ------->  rank 1, 2, ...: RankRole::connect(path)
//!     child::start(role) ---- a line of words ---->  plays the role
//!                        <--- control socket ----->
//!                        <------- closed ----------  connects again, for the next role
//! ```

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::child::TestFailure;
use crate::ensure;

/// Between the words of a role.
const SEPARATOR: &str = "\u{1f}";

/// Where rank 0 listens for the others; `None`: children are processes of their own.
static LISTENER: Mutex<Option<UnixListener>> = Mutex::new(None);

/// The socket of rank 0. While it is there, children are ranks.
pub struct RankSocket(PathBuf);

/// A role that rank 0 has given to this rank.
pub struct RankRole(Vec<String>);

impl RankSocket {
    /// Listens for the other ranks.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn listen(path: &Path) -> Result<RankSocket, TestFailure> {
        let listener = UnixListener::bind(path)?;
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
        Ok(RankSocket(path.to_owned()))
    }
}

impl Drop for RankSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Gives a role to the next rank that has none; `None`: there are no ranks.
///
/// # Errors
/// No rank comes in time.
pub fn give_role(words: &[&str], patience: Duration) -> Result<Option<UnixStream>, TestFailure> {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(listener) = &*listener else {
        return Ok(None);
    };
    listener.set_nonblocking(true)?;
    let begun = Instant::now();
    loop {
        match listener.accept() {
            Ok((mut socket, _)) => {
                socket.set_nonblocking(false)?;
                socket.write_all(format!("{}\n", words.join(SEPARATOR)).as_bytes())?;
                return Ok(Some(socket));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        ensure!(
            begun.elapsed() < patience,
            "no rank is left for {}; mpirun has to start more",
            words.join(" ")
        );
        thread::yield_now();
    }
}

impl RankRole {
    /// Waits for the next role, which has its socket as standard input; `None`: the test is over.
    /// Rank 0 has to listen before: a test that needs no other rank may end before this one comes.
    ///
    /// # Errors
    /// The socket breaks.
    pub fn connect(path: &Path) -> Result<Option<RankRole>, TestFailure> {
        // The last role has ended: rank 0 learns it by the end of its socket.
        let nothing = fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(nothing.as_fd())?;
        let Ok(mut socket) = UnixStream::connect(path) else {
            return Ok(None);
        };
        // Byte by byte, as what comes behind the line is for the role.
        let (mut line, mut byte) = (Vec::new(), [0]);
        loop {
            match socket.read(&mut byte) {
                Ok(1) if byte != *b"\n" => line.push(byte[0]),
                Ok(_) => break,
                // The test has ended without taking this connection.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        rustix::stdio::dup2_stdin(socket.as_fd())?;
        let line = String::from_utf8(line)?;
        let words = line.split(SEPARATOR).map(str::to_owned).collect();
        Ok((!line.is_empty()).then_some(RankRole(words)))
    }

    /// The words of the role, as a child process would be started with.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}
