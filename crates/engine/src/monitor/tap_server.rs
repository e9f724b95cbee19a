//! The PE's side of taps: copies tuples of streams that commands ask for into rings, as text.
//!
//! ```text
//!   operator --copy, as long as there is budget--> StreamTaps --text--> ring --> thalweg tap
//! ```
//! A tap gets as many tuples a second as it asks for, or all of a slower stream. What a second did
//! not use is kept for the next one, so a burst of that many is seen whole. Neither a slow command
//! nor a dead one holds an operator up: what finds no room is left out.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use graph::{PortIndex, Program};
use ring::{RingShape, Writer, shared_ring};
use runtime::{StreamTaps, TappedTuple};
use tuple::Layout;
use tuple::text::{RecordWriter, WriteOptions, new_writer};

use super::process_life::is_alive;
use super::tap_words::{REQUEST_COUNT, RequestState, TapRequest, TapWords};

/// Bytes of the ring of a tap: some thousand lines.
const RING_BYTES: usize = 1 << 20;

/// Kind of a frame with a tuple as text.
pub const TUPLE_FRAME: u8 = 1;
/// Kind of a frame that stands for a tuple whose text is longer than a frame may be: the bytes of
/// the text, 8 bytes in native order.
pub const LARGE_TUPLE_FRAME: u8 = 2;

/// The taps of a PE.
pub struct TapServer {
    words: TapWords,
    fd: OwnedFd,
    taps: StreamTaps,
    /// By operator and output port: the layout of its tuples.
    layouts: Vec<Vec<Arc<Layout>>>,
    granted: Vec<GrantedTap>,
    served_at: Instant,
}

/// A request that was granted.
struct GrantedTap {
    number: usize,
    request: TapRequest,
    ring: Writer,
    ring_fd: OwnedFd,
    records: Box<dyn RecordWriter>,
    text: Vec<u8>,
    /// Tuples that the command may still get now; grows with time.
    allowance: f64,
    /// Number of tuples of the stream before.
    submitted_before: u64,
}

impl TapServer {
    /// The taps of a PE, none granted yet; `None` if the system has no memory or descriptor left.
    pub fn new(program: &Program, taps: StreamTaps) -> Option<TapServer> {
        let (words, fd) = TapWords::create().ok()?;
        let layouts = program.operators.iter().map(|operator| {
            let ports = operator.outputs.iter();
            ports.map(|port| Layout::new(&port.schema)).collect()
        });
        Some(TapServer {
            words,
            fd,
            taps,
            layouts: layouts.collect(),
            granted: Vec::new(),
            served_at: Instant::now(),
        })
    }

    /// Descriptor by which commands reach the requests.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Whether anybody taps a stream.
    pub fn is_tapped(&self) -> bool {
        !self.granted.is_empty()
    }

    /// Grants new requests, ends those that are done, and hands tuples to the others.
    pub fn serve(&mut self) {
        let seconds = self.served_at.elapsed().as_secs_f64();
        self.served_at = Instant::now();
        for number in 0..REQUEST_COUNT {
            self.look_at(number);
        }
        for tapped in self.taps.take_tuples() {
            let wants = |tap: &&mut GrantedTap| tap.is_of(tapped.operator, tapped.port);
            let taps = self.granted.iter_mut().filter(wants);
            taps.for_each(|tap| tap.show(&tapped));
        }
        for tap in &mut self.granted {
            let (operator, port) = (tap.request.operator, tap.request.port);
            let submitted = self.taps.submitted_count(operator, port);
            let request = self.words.request(tap.number);
            request.set_submitted_count(submitted.wrapping_sub(tap.submitted_before));
            tap.ring.publish();
            let rate = f64::from(tap.request.rate);
            tap.allowance = (tap.allowance + rate * seconds).min(rate);
        }
        self.renew_budgets();
    }

    /// Does what the state of a request asks for.
    fn look_at(&mut self, number: usize) {
        let request = self.words.request(number);
        let is_dead = request.process().is_some_and(|process| !is_alive(process));
        match request.state() {
            RequestState::Free => {}
            RequestState::Asked if !is_dead => self.answer(number),
            RequestState::Done => self.end(number),
            _ if is_dead => self.end(number),
            _ => {}
        }
    }

    fn answer(&mut self, number: usize) {
        let request = self.words.request(number);
        let asked = request.request();
        if self.taps.is_hidden(asked.operator, asked.port) {
            return request.set_state(RequestState::Hidden);
        }
        match self.grant(number, asked) {
            Some(tap) => {
                self.words.request(number).grant(&tap.ring_fd);
                self.granted.push(tap);
            }
            None => request.set_state(RequestState::Refused),
        }
    }

    fn grant(&self, number: usize, request: TapRequest) -> Option<GrantedTap> {
        let ports = self.layouts.get(request.operator as usize)?;
        let layout = ports.get(request.port.index())?;
        let records = new_writer(request.format, layout.clone(), WriteOptions::default()).ok()?;
        let shape = RingShape {
            bytes: RING_BYTES,
            readers: 1,
        };
        let (ring, ring_fd) = shared_ring(shape).ok()?;
        Some(GrantedTap {
            number,
            request,
            ring,
            ring_fd,
            records,
            text: Vec::new(),
            allowance: f64::from(request.rate),
            submitted_before: self.taps.submitted_count(request.operator, request.port),
        })
    }

    fn end(&mut self, number: usize) {
        let (ended, granted) = std::mem::take(&mut self.granted)
            .into_iter()
            .partition(|tap| tap.number == number);
        self.granted = granted;
        let ended: Vec<GrantedTap> = ended;
        for tap in ended {
            let (operator, port) = (tap.request.operator, tap.request.port);
            self.taps.set_budget(operator, port, 0);
        }
        self.words.request(number).free();
    }

    /// Lets each stream copy as many tuples as the largest allowance of its taps.
    fn renew_budgets(&self) {
        self.taps.set_open(self.is_tapped());
        for tap in &self.granted {
            let (operator, port) = (tap.request.operator, tap.request.port);
            let same = self.granted.iter().filter(|tap| tap.is_of(operator, port));
            let budget = same.map(|tap| tap.allowance).fold(0.0, f64::max);
            self.taps.set_budget(operator, port, budget as u32);
        }
    }
}

impl GrantedTap {
    fn is_of(&self, operator: u32, port: PortIndex) -> bool {
        (self.request.operator, self.request.port) == (operator, port)
    }

    /// Writes a tuple into the ring, if the allowance and the room suffice.
    fn show(&mut self, tapped: &TappedTuple) {
        if self.allowance < 1.0 {
            return;
        }
        self.allowance -= 1.0;
        self.text.clear();
        let tuple = tapped.tuple.as_ref();
        self.records.write(tuple, None, &mut self.text);
        let (kind, len) = match self.text.len() {
            len if len <= self.ring.payload_bytes_max() => (TUPLE_FRAME, len),
            len => {
                self.text.clear();
                self.text.extend((len as u64).to_ne_bytes());
                (LARGE_TUPLE_FRAME, self.text.len())
            }
        };
        if let Some(room) = self.ring.claim(len) {
            room.copy_from_slice(&self.text);
            self.ring.commit(kind, 0, len);
        }
    }
}
