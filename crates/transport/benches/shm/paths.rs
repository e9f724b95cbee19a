//! The contenders between processes: an edge by the contract, and the ring without it.

use std::hint::black_box;
use std::os::fd::AsFd;
use std::time::Duration;

use conformance::child::{self, Child, ControlSocket, TestFailure, TestOutcome};
use control::{Backoff, CoreWindows, cores};
use ring::frame::FrameBatch;
use ring::{Reader, RingShape, Writer};
use thalweg_transport::{Batching, EdgeSpec, EdgeTicket, Medium, ReceivingEnd, SendingEnd, media};

use crate::library;
use crate::pin;
use crate::windows::{run_count, windows};

/// Bytes of the ring: what an edge has if its plan does not say otherwise.
pub const RING_BYTES: usize = 2 << 20;

const PATIENCE: Duration = Duration::from_secs(60);

/// Path that frames are measured on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MeasuredPath {
    /// The medium, by the contract's `try_write`.
    Put,
    /// The medium, by `claim` and `commit`.
    Claim,
    /// The medium's ring alone.
    Ring,
    /// The ring in C, a library, by `claim` and `commit`.
    Library,
    /// The ring of [`MeasuredPath::Library`] in Rust, a library too.
    RustLibrary,
}

/// A sending end of any path.
pub trait Sends {
    /// Copies a payload into a frame; `false`: there is no room.
    fn send(&mut self, payload: &[u8]) -> Result<bool, TestFailure>;

    /// Gets the end of a stream out; `false`: call again.
    fn finish(&mut self) -> Result<bool, TestFailure>;
}

impl Sends for Box<dyn SendingEnd> {
    #[inline]
    fn send(&mut self, payload: &[u8]) -> Result<bool, TestFailure> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room.copy_from_slice(payload);
        self.commit(1, 0, payload.len());
        Ok(true)
    }

    fn finish(&mut self) -> Result<bool, TestFailure> {
        Ok(self.flush()? && self.is_drained()?)
    }
}

/// A sending end that uses `try_write`: one dynamic call a frame.
pub struct Put(pub Box<dyn SendingEnd>);

impl Sends for Put {
    #[inline]
    fn send(&mut self, payload: &[u8]) -> Result<bool, TestFailure> {
        Ok(self.0.try_write(1, 0, payload)?)
    }

    fn finish(&mut self) -> Result<bool, TestFailure> {
        self.0.finish()
    }
}

impl Sends for Writer {
    #[inline]
    fn send(&mut self, payload: &[u8]) -> Result<bool, TestFailure> {
        let Some(room) = self.claim(payload.len()) else {
            return Ok(false);
        };
        room.copy_from_slice(payload);
        self.commit(1, 0, payload.len());
        Ok(true)
    }

    fn finish(&mut self) -> Result<bool, TestFailure> {
        self.publish();
        Ok(self.queued_bytes() == 0)
    }
}

/// A receiving end of any path.
pub trait Receives {
    /// Returns the frames that have come.
    fn take(&mut self) -> Result<FrameBatch<'_>, TestFailure>;

    /// Releases the frames that were taken.
    fn done(&mut self);
}

impl Receives for Box<dyn ReceivingEnd> {
    #[inline]
    fn take(&mut self) -> Result<FrameBatch<'_>, TestFailure> {
        Ok(self.poll()?)
    }

    #[inline]
    fn done(&mut self) {
        self.release();
    }
}

impl Receives for Reader {
    #[inline]
    fn take(&mut self) -> Result<FrameBatch<'_>, TestFailure> {
        Ok(self.poll())
    }

    #[inline]
    fn done(&mut self) {
        self.release();
    }
}

/// Sends the frames of a run, and waits until they are taken.
pub fn flood(out: &mut impl Sends, len: usize) -> Result<CoreWindows, TestFailure> {
    let (payload, mut windows) = (vec![3_u8; len], windows(len));
    let count = run_count(len);
    for sent in 0..count {
        windows.reached(sent);
        let mut backoff = Backoff::default();
        while !out.send(black_box(&payload))? {
            backoff.wait();
        }
    }
    windows.reached(count);
    let mut backoff = Backoff::default();
    while !out.finish()? {
        backoff.wait();
    }
    Ok(windows)
}

/// Takes `count` frames at each end, in turns, and reads every word.
pub fn sink(ends: &mut [impl Receives], count: u64, windows: &mut CoreWindows) -> TestOutcome {
    let (mut got, mut sum, mut backoff) = ([0; RECEIVERS_MAX], 0, Backoff::default());
    windows.reached(0);
    while got[..ends.len()].iter().any(|got| *got < count) {
        let mut has_read = false;
        for (end, got) in ends.iter_mut().zip(&mut got) {
            let (more, count) = consume(end.take()?);
            sum ^= more;
            *got += count;
            has_read |= count > 0;
            end.done();
        }
        windows.reached(got[0]);
        match has_read {
            true => backoff = Backoff::default(),
            false => backoff.wait(),
        }
    }
    black_box(sum);
    Ok(())
}

/// Not inlined, so that all contenders run one copy of the code: differences between copies decided
/// more than the effect that is measured here.
#[inline(never)]
fn consume(batch: FrameBatch<'_>) -> (u64, u64) {
    let (mut sum, mut count) = (0, 0);
    for frame in batch {
        sum ^= add_up(frame.bytes);
        count += 1;
    }
    (sum, count)
}

/// Most receivers on one thread.
const RECEIVERS_MAX: usize = 4;

/// Adds up every word of a payload.
#[inline]
pub fn add_up(bytes: &[u8]) -> u64 {
    let words: &[u64] = bytemuck::cast_slice(bytes);
    words.iter().fold(0, |sum, word| sum ^ word)
}

/// Description of the edges in this benchmark.
pub fn spec(receivers: u32) -> EdgeSpec {
    EdgeSpec {
        name: "bench".into(),
        edge: 1,
        receiver_count: receivers,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: [1; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    }
}

/// Opens the sending end of the edge by the contract.
pub fn contract_open(
    receivers: u32,
) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), TestFailure> {
    path_open(MeasuredPath::Claim, receivers)
}

/// Opens the sending end of the edge on a path by the contract.
pub fn path_open(
    path: MeasuredPath,
    receivers: u32,
) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), TestFailure> {
    Ok(path.medium()?.open(&spec(receivers))?)
}

/// Accepts a ticket of [`contract_open`].
pub fn contract_accept(
    receivers: u32,
    ticket: EdgeTicket,
) -> Result<Box<dyn ReceivingEnd>, TestFailure> {
    path_accept(MeasuredPath::Claim, receivers, ticket)
}

/// Accepts a ticket of the edge on a path by the contract.
pub fn path_accept(
    path: MeasuredPath,
    receivers: u32,
    ticket: EdgeTicket,
) -> Result<Box<dyn ReceivingEnd>, TestFailure> {
    Ok(path.medium()?.accept(&spec(receivers), ticket)?)
}

/// Makes the bare ring, with a ticket for each reader.
pub fn ring_open(receivers: u32) -> Result<(Writer, Vec<EdgeTicket>), TestFailure> {
    let bytes = RING_BYTES;
    let readers = receivers;
    let (writer, fd) = ring::shared_ring(RingShape { bytes, readers })?;
    let ticket = |number: u32| -> Result<EdgeTicket, TestFailure> {
        Ok(EdgeTicket {
            bytes: number.to_le_bytes().to_vec(),
            fds: vec![fd.try_clone()?],
        })
    };
    let tickets = (0..receivers).map(ticket).collect::<Result<_, _>>()?;
    Ok((writer, tickets))
}

/// Joins the ring with a ticket of [`ring_open`].
pub fn ring_accept(ticket: EdgeTicket) -> Result<Reader, TestFailure> {
    let number = u32::from_le_bytes(ticket.bytes[..].try_into()?);
    let fd = ticket.fds.first().ok_or("no descriptor")?;
    Ok(ring::join_ring(fd.as_fd(), number)?)
}

impl MeasuredPath {
    fn word(self) -> &'static str {
        match self {
            MeasuredPath::Put => "put",
            MeasuredPath::Claim => "claim",
            MeasuredPath::Ring => "ring",
            MeasuredPath::Library => "library",
            MeasuredPath::RustLibrary => "rust_library",
        }
    }

    /// The medium of the contract on this path.
    fn medium(self) -> Result<&'static dyn Medium, TestFailure> {
        let name = match self {
            MeasuredPath::Library => {
                library::load()?;
                library::IN_C
            }
            MeasuredPath::RustLibrary => {
                library::load()?;
                library::IN_RUST
            }
            _ => "shm",
        };
        Ok(media::find(name).ok_or_else(|| format!("no medium {name}"))?)
    }
}

/// Starts a child on a processor, with its task, its path and two numbers.
pub fn start(
    role: &str,
    lane: MeasuredPath,
    processor: usize,
    numbers: [u64; 2],
) -> Result<Child, TestFailure> {
    let [one, two] = numbers.map(|number| number.to_string());
    let processor = pin::processor(processor).to_string();
    let arguments = ["child", role, lane.word(), &processor, &one, &two];
    child::start(&arguments, PATIENCE)
}

/// The child's side of [`start`].
pub fn child(arguments: &[String]) -> TestOutcome {
    let [role, lane, processor, one, two] = arguments else {
        return Err("a child needs its five arguments".into());
    };
    cores::pin(processor.parse()?)?;
    let (one, two) = (one.parse()?, two.parse()?);
    let mut control = child::to_parent(PATIENCE)?;
    match (&**role, &**lane) {
        ("flood", "put") => {
            let (out, tickets) = contract_open(two)?;
            give_and_flood(Put(out), tickets, &mut control, one)
        }
        ("flood", "claim") => {
            let (out, tickets) = contract_open(two)?;
            give_and_flood(out, tickets, &mut control, one)
        }
        ("flood", "library") => {
            let (out, tickets) = path_open(MeasuredPath::Library, two)?;
            give_and_flood(out, tickets, &mut control, one)
        }
        ("flood", "rust_library") => {
            let (out, tickets) = path_open(MeasuredPath::RustLibrary, two)?;
            give_and_flood(out, tickets, &mut control, one)
        }
        ("flood", _) => {
            let (out, tickets) = ring_open(two)?;
            give_and_flood(out, tickets, &mut control, one)
        }
        ("sleeper", _) => crate::silence::sleeper(&mut control, one),
        ("echo", _) => crate::latency::echo(&mut control, one),
        _ => Err("no such role".into()),
    }
}

fn give_and_flood(
    mut out: impl Sends,
    tickets: Vec<EdgeTicket>,
    control: &mut ControlSocket,
    len: usize,
) -> TestOutcome {
    for ticket in &tickets {
        control.give(ticket)?;
        // One after the other: the bytes of one ticket must not run into the next.
        control.hear(b'n')?;
    }
    drop(tickets);
    control.hear(b'g')?;
    let windows = flood(&mut out, len)?;
    let bytes = windows.to_bytes();
    let written = rustix::io::write(&*control, &bytes)?;
    match written == bytes.len() {
        true => Ok(()),
        false => Err("the windows do not fit into the socket".into()),
    }
}

/// Receives the windows that the child has noted.
pub fn hear_windows(control: &mut ControlSocket, len: usize) -> Result<CoreWindows, TestFailure> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        match rustix::io::read(&*control, &mut part)? {
            0 => {
                let mut sent = windows(len);
                sent.read_edges(&bytes);
                return Ok(sent);
            }
            more => bytes.extend(&part[..more]),
        }
    }
}
