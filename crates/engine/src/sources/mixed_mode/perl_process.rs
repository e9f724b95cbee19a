//! Runs a Perl process on a script, with bounds on its time and its output.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use runtime::retry_interrupted;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::sources::bounded::BYTES_MAX;

/// How a script's process ended, and its output.
#[derive(Debug)]
pub struct ScriptResult {
    /// Bytes of standard output.
    pub stdout: Vec<u8>,
    /// Bytes of standard error.
    pub stderr: Vec<u8>,
    /// Exit status in words, as [`ExitStatus`] prints it.
    pub status: String,
    /// Whether the exit status is 0.
    pub has_succeeded: bool,
    /// Whether the process was killed because it exceeded a bound.
    pub was_killed: bool,
    /// Whether the process printed more than the bound.
    pub is_too_long: bool,
}

/// Runs a Perl script with arguments.
///
/// # Errors
/// The process cannot be started or watched.
pub fn run_script(
    perl: &str,
    script: &str,
    args: &[String],
    timeout: Duration,
) -> io::Result<ScriptResult> {
    let mut command = Command::new(perl);
    command.arg("-").args(args);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A process group of its own can be killed together with all processes that the script starts.
    command.process_group(0);
    let child = PerlProcess(command.spawn()?);
    child.communicate(script.as_bytes(), Instant::now() + timeout)
}

/// A process that is killed and waited for when this value is dropped.
struct PerlProcess(Child);

/// A pipe from a process, and the bytes read from it so far.
struct ScriptPipe<T> {
    open: Option<T>,
    bytes: Vec<u8>,
}

impl PerlProcess {
    fn communicate(mut self, script: &[u8], until: Instant) -> io::Result<ScriptResult> {
        let pid = pidfd_open(self.pid()?, PidfdFlags::empty())?;
        let mut stdin = self.0.stdin.take();
        let mut stdout = ScriptPipe::new(self.0.stdout.take())?;
        let mut stderr = ScriptPipe::new(self.0.stderr.take())?;
        if let Some(pipe) = &stdin {
            set_nonblocking(pipe)?;
        }
        let mut left = script;
        let mut was_killed = false;
        loop {
            if stdin
                .as_mut()
                .is_some_and(|pipe| write_input(pipe, &mut left))
            {
                stdin = None;
            }
            stdout.read()?;
            stderr.read()?;
            if let Some(status) = self.0.try_wait()? {
                // The pipes have all output of the process by now.
                stdout.read()?;
                stderr.read()?;
                return Ok(ScriptResult::new(
                    status,
                    stdout.bytes,
                    stderr.bytes,
                    was_killed,
                ));
            }
            let is_too_long = stdout.bytes.len().max(stderr.bytes.len()) > BYTES_MAX;
            if is_too_long || Instant::now() >= until {
                was_killed = true;
                let _ = kill_process_group(self.pid()?, Signal::KILL);
            }
            let mut wanted = vec![PollFd::new(&pid, PollFlags::IN)];
            wanted.extend(stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
            wanted.extend(stdout.poll_fd());
            wanted.extend(stderr.poll_fd());
            poll_until(&mut wanted, until, was_killed)?;
        }
    }

    fn pid(&self) -> io::Result<Pid> {
        let pid = Pid::from_raw(self.0.id().cast_signed());
        pid.ok_or_else(|| io::Error::other("a process without a number"))
    }
}

impl Drop for PerlProcess {
    fn drop(&mut self) {
        if let (Ok(None), Ok(pid)) = (self.0.try_wait(), self.pid()) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

impl<T: Read + AsFd> ScriptPipe<T> {
    fn new(open: Option<T>) -> io::Result<ScriptPipe<T>> {
        if let Some(pipe) = &open {
            set_nonblocking(pipe)?;
        }
        Ok(ScriptPipe {
            open,
            bytes: Vec::new(),
        })
    }

    /// The descriptor to poll, as long as the pipe is open.
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        let open = self.open.as_ref()?;
        Some(PollFd::new(open, PollFlags::IN))
    }

    /// Reads the available bytes, up to the bound.
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 16];
        while let Some(pipe) = &mut self.open {
            if self.bytes.len() > BYTES_MAX {
                break;
            }
            match retry_interrupted(|| pipe.read(&mut buffer)) {
                Ok(0) => self.open = None,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ScriptResult {
    fn new(status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>, was_killed: bool) -> ScriptResult {
        ScriptResult {
            is_too_long: stdout.len().max(stderr.len()) > BYTES_MAX,
            stdout,
            stderr,
            status: status.to_string(),
            has_succeeded: status.success(),
            was_killed,
        }
    }
}

/// Writes the rest of the script; returns whether nothing is left to write. A process that has
/// closed its input reports the reason itself.
fn write_input(pipe: &mut impl Write, left: &mut &[u8]) -> bool {
    while !left.is_empty() {
        match retry_interrupted(|| pipe.write(left)) {
            Ok(count) => *left = &left[count..],
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        }
    }
    true
}

/// Waits until a descriptor is ready or the time is over. A killed process is waited for without
/// limit, because it ends.
fn poll_until(wanted: &mut [PollFd<'_>], until: Instant, was_killed: bool) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    // One millisecond more, so that the time is over afterwards.
    let left = left + Duration::from_millis(1);
    let timeout = Timespec {
        tv_sec: left.as_secs().cast_signed(),
        tv_nsec: left.subsec_nanos().into(),
    };
    let timeout = (!was_killed).then_some(&timeout);
    match poll(wanted, timeout) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}
