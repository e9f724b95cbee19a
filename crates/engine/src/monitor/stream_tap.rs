//! The command's side of a tap: asks the PE of a stream for tuples, and reads them as text.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use graph::PortIndex;
use ring::{Reader, join_ring};
use tuple::text::RecordFormat;

use super::job_sample::PeSample;
use super::tap_server::TUPLE_FRAME;
use super::tap_words::{REQUEST_COUNT, RequestState, TapRequest, TapRequestWords, TapWords};

/// Time within which a running PE looks at a request: four times its period.
const GRANT_TIME_MAX: Duration = Duration::from_secs(2);

/// A tap on a stream of a running job. Dropping it ends the tap; the job goes on either way.
pub struct StreamTap {
    words: TapWords,
    number: usize,
    ring: Reader,
    process: PathBuf,
}

/// Text of tuples that a tap has read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TapText {
    /// A line for each tuple.
    pub text: Vec<u8>,
    /// Number of lines in `text`.
    pub tuples: u64,
    /// Bytes of texts that were too long to be passed.
    pub large_texts: Vec<u64>,
}

impl StreamTap {
    /// Taps the stream of an output port of an operator, by its index in its PE: at most `rate`
    /// tuples a second, in a format (txt, csv or json).
    ///
    /// # Errors
    /// The PE has ended or does not answer, or as many taps as there can be are open.
    pub fn open(
        pe: &PeSample,
        (operator, port): (u32, u32),
        rate: u32,
        format: RecordFormat,
    ) -> io::Result<StreamTap> {
        let process = PathBuf::from(format!("/proc/{}", pe.pid));
        let open = |fd: u64| -> io::Result<File> {
            let path = process.join(format!("fd/{fd}"));
            OpenOptions::new().read(true).write(true).open(path)
        };
        let Some(fd) = pe.taps else {
            return Err(io::Error::other("its process has no memory for taps"));
        };
        let words = TapWords::join(open(fd.into())?.as_fd())?;
        let free = (0..REQUEST_COUNT).find(|&number| words.request(number).take());
        let Some(number) = free else {
            let what = format!("{REQUEST_COUNT} commands tap streams of its PE already");
            return Err(io::Error::other(what));
        };
        let request = words.request(number);
        request.ask(&TapRequest {
            operator,
            port: PortIndex(port),
            rate,
            format,
        });
        let ring = granted_ring(&request).and_then(|fd| {
            let ring = open(fd)?;
            join_ring(ring.as_fd(), 0).map_err(io::Error::other)
        });
        match ring {
            Ok(ring) => Ok(StreamTap {
                words,
                number,
                ring,
                process,
            }),
            Err(error) => {
                request.set_state(RequestState::Done);
                Err(error)
            }
        }
    }

    /// The tuples that have come since this was last asked.
    pub fn read(&mut self) -> TapText {
        let mut read = TapText::default();
        for frame in self.ring.poll() {
            match (frame.kind, frame.bytes.first_chunk()) {
                (TUPLE_FRAME, _) => {
                    read.tuples += 1;
                    read.text.extend(frame.bytes);
                }
                (_, Some(bytes)) => read.large_texts.push(u64::from_ne_bytes(*bytes)),
                _ => {}
            }
        }
        self.ring.release();
        read
    }

    /// Whether nothing more comes: the PE has ended, or its process has died.
    pub fn has_ended(&self) -> bool {
        self.ring.is_closed() || !self.process.exists()
    }

    /// Number of tuples that the stream had since it was tapped.
    pub fn submitted_count(&self) -> u64 {
        self.words.request(self.number).submitted_count()
    }
}

impl Drop for StreamTap {
    fn drop(&mut self) {
        self.words
            .request(self.number)
            .set_state(RequestState::Done);
    }
}

/// Waits until the PE has granted a request. Returns the number of the ring's descriptor.
fn granted_ring(request: &TapRequestWords<'_>) -> io::Result<u64> {
    let begun = Instant::now();
    while begun.elapsed() < GRANT_TIME_MAX {
        match request.state() {
            RequestState::Granted => return Ok(request.ring()),
            RequestState::Refused => {
                return Err(io::Error::other("its PE has no memory for a tap"));
            }
            RequestState::Hidden => {
                let what = "its tuples stay within compiled code; a job that is started with \
                            `thalweg run --taps` shows them";
                return Err(io::Error::other(what));
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    Err(io::Error::other("its PE does not answer"))
}
