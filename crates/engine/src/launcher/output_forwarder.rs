//! Forwards the output of all PEs to the launcher's own standard output or error.
//!
//! ```text
//!   PE 0 ==pipe==\
//!   PE 1 ==pipe===> one thread --whole lines--> standard output
//!   PE 2 ==pipe==/
//! ```
//! A line is written when it is whole, so lines of two PEs are never mixed. Bytes after a PE's last
//! line end are written when all PEs have ended, in order of the PEs. A slow reader slows the PEs
//! down: the pipes are bounded.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use runtime::retry_interrupted;
use rustix::event::{PollFd, PollFlags, poll};
use transport::Wakeup;

use crate::control::connection::with_retries;

/// Bytes that one read of a pipe takes at most: the capacity of a pipe.
const READ_BYTES: usize = 64 << 10;

/// Bytes of a line after which it is written in parts, which bounds the memory of each PE's buffer.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Reads the output pipes of all PEs and writes them to one sink.
pub struct OutputForwarder<W> {
    pipes: Vec<PePipe>,
    sink: W,
    /// Woken when all PEs have ended. A pipe may stay open longer, in a process that a PE has
    /// started.
    all_ended: Wakeup,
}

/// Why the output of PEs was not forwarded whole.
#[derive(Debug)]
pub enum OutputError {
    /// The pipe of a PE cannot be read.
    Read(usize, io::Error),
    /// The launcher's own output cannot be written.
    Write(io::Error),
    /// Waiting for more output failed.
    Poll(io::Error),
}

impl OutputError {
    /// Whether the reader of the launcher's output has gone.
    pub fn is_output_closed(&self) -> bool {
        matches!(self, OutputError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::Read(pe, error) => {
                write!(f, "cannot read what pe {pe} prints: {error}")
            }
            OutputError::Write(error) => write!(f, "cannot write to standard output: {error}"),
            OutputError::Poll(error) => write!(f, "cannot wait for output of PEs: {error}"),
        }
    }
}

struct PePipe {
    file: File,
    /// Text before each line: `[pe 0] `, or empty.
    tag: String,
    /// Bytes read and not yet written.
    line: Vec<u8>,
    /// Whether the last bytes written ended in the middle of a line.
    is_mid_line: bool,
    is_open: bool,
}

impl<W: Write> OutputForwarder<W> {
    /// A forwarder of the pipes of all PEs, in order of the PEs. With tags, every line begins with
    /// the number of its PE.
    pub fn new(
        pipes: Vec<OwnedFd>,
        has_tags: bool,
        sink: W,
        all_ended: Wakeup,
    ) -> OutputForwarder<W> {
        let pipe = |(pe, fd): (usize, OwnedFd)| PePipe {
            file: fd.into(),
            tag: if has_tags {
                format!("[pe {pe}] ")
            } else {
                String::new()
            },
            line: Vec::new(),
            is_mid_line: false,
            is_open: true,
        };
        let pipes = pipes.into_iter().enumerate().map(pipe).collect();
        OutputForwarder {
            pipes,
            sink,
            all_ended,
        }
    }

    /// Forwards until all pipes are closed, or all PEs have ended and their output is written.
    ///
    /// # Errors
    /// The sink cannot be written, or a pipe cannot be read. The pipes are closed then.
    pub fn run(mut self) -> Result<(), OutputError> {
        while self.pipes.iter().any(|pipe| pipe.is_open) {
            let readable = self.wait_readable().map_err(OutputError::Poll)?;
            if readable.is_empty() {
                break;
            }
            for at in readable {
                let pipe = &mut self.pipes[at];
                let filled = pipe.read_once();
                if filled.map_err(|error| OutputError::Read(at, error))? {
                    let written = pipe.write_lines(&mut self.sink);
                    written.map_err(OutputError::Write)?;
                }
            }
            self.sink.flush().map_err(OutputError::Write)?;
        }
        self.write_rest().map_err(OutputError::Write)
    }

    fn write_rest(&mut self) -> io::Result<()> {
        for pipe in &mut self.pipes {
            pipe.write_rest(&mut self.sink)?;
        }
        self.sink.flush()
    }

    /// Waits for pipes from which something can be read; none: all PEs have ended.
    fn wait_readable(&self) -> io::Result<Vec<usize>> {
        let all = self.pipes.iter().enumerate();
        let open: Vec<_> = all.filter(|(_, pipe)| pipe.is_open).collect();
        let fds = open
            .iter()
            .map(|(_, pipe)| PollFd::new(&pipe.file, PollFlags::IN));
        let over = PollFd::new(&self.all_ended, PollFlags::IN);
        let mut fds: Vec<_> = fds.chain([over]).collect();
        with_retries(|| poll(&mut fds, None))?;
        let ready = open
            .iter()
            .zip(&fds)
            .filter(|(_, fd)| !fd.revents().is_empty());
        Ok(ready.map(|((at, _), _)| *at).collect())
    }
}

impl PePipe {
    /// Reads once; whether there was something.
    fn read_once(&mut self) -> io::Result<bool> {
        let start = self.line.len();
        self.line.resize(start + READ_BYTES, 0);
        let count = retry_interrupted(|| self.file.read(&mut self.line[start..]));
        self.line.truncate(start + *count.as_ref().unwrap_or(&0));
        self.is_open = count? > 0;
        Ok(self.is_open)
    }

    fn write_lines(&mut self, sink: &mut impl Write) -> io::Result<()> {
        let whole_end = memchr::memrchr(b'\n', &self.line).map_or(0, |at| at + 1);
        let is_long = self.line.len() - whole_end > LINE_BYTES_MAX;
        let end = if is_long { self.line.len() } else { whole_end };
        self.write(end, sink)
    }

    fn write_rest(&mut self, sink: &mut impl Write) -> io::Result<()> {
        self.write(self.line.len(), sink)?;
        if self.is_mid_line && !self.tag.is_empty() {
            sink.write_all(b"\n")?;
        }
        Ok(())
    }

    fn write(&mut self, end: usize, sink: &mut impl Write) -> io::Result<()> {
        if end == 0 {
            return Ok(());
        }
        if self.tag.is_empty() {
            sink.write_all(&self.line[..end])?;
        } else {
            sink.write_all(&self.with_tags(end))?;
        }
        self.is_mid_line = self.line[end - 1] != b'\n';
        self.line.drain(..end);
        Ok(())
    }

    fn with_tags(&self, end: usize) -> Vec<u8> {
        let mut tagged = Vec::with_capacity(end * 2);
        let lines = self.line[..end].split_inclusive(|&byte| byte == b'\n');
        for (number, line) in lines.enumerate() {
            if number > 0 || !self.is_mid_line {
                tagged.extend_from_slice(self.tag.as_bytes());
            }
            tagged.extend_from_slice(line);
        }
        tagged
    }
}

#[cfg(test)]
mod tests {
    use std::io::pipe;

    use super::*;

    /// The output when each PE has printed its bytes of `printed`.
    fn forwarded(printed: &[&[u8]], has_tags: bool) -> String {
        let mut ends = Vec::new();
        let mut writers = Vec::new();
        for bytes in printed {
            let (reader, mut writer) = pipe().unwrap();
            ends.push(OwnedFd::from(reader));
            let bytes = bytes.to_vec();
            writers.push(std::thread::spawn(move || writer.write_all(&bytes)));
        }
        let mut out = Vec::new();
        let over = Wakeup::new().unwrap();
        OutputForwarder::new(ends, has_tags, &mut out, over)
            .run()
            .unwrap();
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_pe_is_forwarded_byte_by_byte() {
        for text in ["", "\n", "a\nb\n", "a\nb", "no end"] {
            assert_eq!(forwarded(&[text.as_bytes(), b""], false), text);
        }
        let long = "x".repeat(3 * LINE_BYTES_MAX) + "\ny\n";
        assert!(forwarded(&[long.as_bytes()], false) == long);
    }

    #[test]
    fn lines_are_never_mixed() {
        let lines = |c: char| format!("{}\n", c.to_string().repeat(999)).repeat(500);
        let (a, b) = (lines('a'), lines('b'));
        let out = forwarded(&[a.as_bytes(), b.as_bytes()], false);
        assert_eq!(out.len(), a.len() + b.len());
        let whole_end = |line: &str| line.len() == 999 && line.chars().all(|c| line.starts_with(c));
        assert!(out.lines().all(whole_end));
    }

    #[test]
    fn tags_stand_before_each_line() {
        assert_eq!(
            forwarded(&[b"a\n\nb"], true),
            "[pe 0] a\n[pe 0] \n[pe 0] b\n"
        );
        let both = forwarded(&[b"a", b"b\n"], true);
        assert_eq!(both, "[pe 1] b\n[pe 0] a\n");
        let long = "x".repeat(2 * LINE_BYTES_MAX);
        assert_eq!(
            forwarded(&[long.as_bytes()], true),
            format!("[pe 0] {long}\n")
        );
    }

    /// A pipe stays open when another process has it, or when closing it has failed.
    #[test]
    fn a_pipe_that_stays_open_ends_with_the_pes() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"all\nof it").unwrap();
        let over = Wakeup::new().unwrap();
        over.wake();
        let mut out = Vec::new();
        let forwarder = OutputForwarder::new(vec![reader.into()], false, &mut out, over);
        forwarder.run().unwrap();
        assert_eq!(out, b"all\nof it");
        drop(writer);
    }

    #[test]
    fn a_sink_that_fails_closes_the_pipes() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"line\n").unwrap();
        let over = Wakeup::new().unwrap();
        let forwarder = OutputForwarder::new(vec![reader.into()], false, Full, over);
        let error = forwarder.run().unwrap_err().to_string();
        assert_eq!(error, "cannot write to standard output: no storage space");
        let error = writer.write_all(b"more\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
