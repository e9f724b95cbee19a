//! Every order in which the ends of tiny rings can run, under `--cfg loom`.
//!
//! The rings are the real ones; loom's cells shadow the frames, so that a read or write which the
//! indexes do not order is found, and a wake-up that gets lost is a deadlock, which is found too.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p thalweg-ring --test loom --release --target-dir
//! target/loom`
#![cfg(loom)]

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use thalweg_ring::{Reader, RingShape, Writer, private_ring};

/// How often threads are interrupted at places where they would not yield themselves: three find
/// all that is known to be found with two threads and few variables.
fn model(preemptions: usize, threads: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(threads);
}

fn ring(bytes: usize, readers: u32) -> (Writer, Vec<Reader>) {
    private_ring(RingShape { bytes, readers }).expect("memory")
}

fn try_put(writer: &mut Writer, kind: u8, len: usize) -> bool {
    let Some(room) = writer.claim(len) else {
        return false;
    };
    room.fill(kind);
    writer.commit(kind, 0, len);
    true
}

/// Takes what is there; each frame has to be the next one.
fn take(reader: &mut Reader, next: &mut u8, lens: &[usize]) -> bool {
    let mut found = false;
    for frame in reader.poll() {
        found = true;
        assert_eq!(frame.kind, *next);
        assert_eq!(frame.bytes, vec![*next; lens[*next as usize - 1]]);
        *next += 1;
    }
    found
}

/// A reader, how many polls it is given while the writer writes, and what it takes next.
struct Taking {
    reader: Reader,
    next: u8,
    lens: &'static [usize],
}

impl Taking {
    fn take(&mut self) {
        if take(&mut self.reader, &mut self.next, self.lens) {
            self.reader.release();
        }
    }
}

/// All frames get to all readers, in order and whole. No end waits: a call that was refused while
/// readers and writer ran side by side is written afterwards, what was not found then is read then.
fn stream(bytes: usize, readers: u32, lens: &'static [usize], polls: usize, preemptions: usize) {
    model(preemptions, move || {
        let (mut writer, ends) = ring(bytes, readers);
        let start = |reader| {
            let next = 1;
            let mut taking = Taking { reader, next, lens };
            thread::spawn(move || {
                (0..polls).for_each(|_| taking.take());
                taking
            })
        };
        let threads: Vec<_> = ends.into_iter().map(start).collect();
        let mut left = (1..)
            .zip(lens)
            .skip_while(|(kind, len)| try_put(&mut writer, *kind, **len));
        let left: Vec<_> = left.by_ref().collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let mut ended: Vec<Taking> = ended.map(|end| end.expect("a reader")).collect();
        for (kind, len) in left {
            ended
                .iter_mut()
                .for_each(|taking| (0..2).for_each(|_| taking.take()));
            assert!(try_put(&mut writer, kind, *len));
        }
        for taking in &mut ended {
            (0..lens.len()).for_each(|_| taking.take());
            assert_eq!(taking.next as usize, lens.len() + 1);
            assert_eq!(taking.reader.fault(), None);
        }
        assert_eq!((writer.queued_bytes(), writer.fault()), (0, None));
    });
}

#[test]
fn one_reader() {
    stream(64, 1, &[8, 8, 8], 3, 4);
}

#[test]
fn one_reader_and_a_full_ring() {
    stream(32, 1, &[8, 8, 8, 8], 4, 3);
}

#[test]
fn one_reader_and_a_wrap_with_padding() {
    stream(64, 1, &[24, 8, 24, 8], 4, 3);
}

/// Batches of four frames, of which some are looked for one by one.
#[test]
fn one_reader_and_batches() {
    stream(256, 1, &[8; 9], 3, 3);
}

#[test]
fn two_readers() {
    stream(64, 2, &[8, 8], 2, 2);
}

#[test]
fn two_readers_and_batches() {
    stream(256, 2, &[8; 5], 2, 2);
}

#[test]
fn two_readers_and_a_full_ring_with_padding() {
    stream(64, 2, &[24, 8, 24], 2, 2);
}

#[test]
fn what_is_committed_is_found_after_the_end_is_seen() {
    model(4, || {
        let (mut writer, mut ends) = ring(64, 1);
        let mut reader = ends.remove(0);
        let writing = thread::spawn(move || {
            assert!(try_put(&mut writer, 1, 8));
            assert!(try_put(&mut writer, 2, 8));
        });
        let mut next = 1;
        take(&mut reader, &mut next, &[8, 8]);
        if reader.is_closed() {
            while take(&mut reader, &mut next, &[8, 8]) {}
            assert_eq!(next, 3);
        }
        writing.join().expect("the writer");
    });
}

/// A wakeup as a medium has it: it ends the sleep of a thread.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    ringing: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung.lock().expect("no panics") = true;
        self.ringing.notify_one();
    }

    fn wait(&self) {
        let mut rung = self.rung.lock().expect("no panics");
        while !*rung {
            rung = self.ringing.wait(rung).expect("no panics");
        }
        *rung = false;
    }
}

/// Two wakeups: that of the readers, and that of the writer.
#[derive(Clone)]
struct Bells {
    readers: Vec<Arc<Bell>>,
    writer: Arc<Bell>,
}

impl Bells {
    fn new(readers: u32) -> Bells {
        Bells {
            readers: (0..readers).map(|_| Arc::default()).collect(),
            writer: Arc::default(),
        }
    }
}

/// Sleeps whenever it can: a wake-up that is lost is a deadlock.
fn put_all_sleeping(writer: &mut Writer, bells: &Bells, lens: &[usize]) {
    for (kind, len) in (1..).zip(lens) {
        while !try_put(writer, kind, *len) {
            if writer.arm(*len) {
                bells.writer.wait();
            }
            writer.disarm();
        }
        let sleepers = writer.take_sleeping_readers();
        for (number, bell) in bells.readers.iter().enumerate() {
            if sleepers & 1 << number != 0 {
                bell.ring();
            }
        }
    }
}

fn take_all_sleeping(mut reader: Reader, bells: &Bells, lens: &[usize]) {
    let bell = &bells.readers[reader.number() as usize];
    let mut next = 1;
    while usize::from(next) <= lens.len() {
        if take(&mut reader, &mut next, lens) {
            reader.release();
            if reader.take_sleeping_writer() {
                bells.writer.ring();
            }
        } else {
            if reader.arm() {
                bell.wait();
            }
            reader.disarm();
        }
    }
}

fn sleep_and_wake(bytes: usize, readers: u32, lens: &'static [usize], preemptions: usize) {
    model(preemptions, move || {
        let (mut writer, ends) = ring(bytes, readers);
        let bells = Bells::new(readers);
        let mut threads = Vec::new();
        for end in ends {
            let bells = bells.clone();
            threads.push(thread::spawn(move || take_all_sleeping(end, &bells, lens)));
        }
        put_all_sleeping(&mut writer, &bells, lens);
        for thread in threads {
            thread.join().expect("a reader");
        }
    });
}

#[test]
fn no_wake_up_of_a_reader_is_lost() {
    sleep_and_wake(64, 1, &[8, 8], 4);
}

#[test]
fn no_wake_up_of_a_writer_is_lost() {
    sleep_and_wake(32, 1, &[8, 8, 8], 3);
}

#[test]
fn no_wake_up_is_lost_with_two_readers() {
    sleep_and_wake(32, 2, &[8, 8, 8], 2);
}

#[test]
fn a_dismissed_reader_holds_nobody_up() {
    model(3, || {
        let lens = &[8, 8, 8, 8];
        let (mut writer, mut ends) = ring(32, 2);
        let (mut staying, mut leaving) = (ends.remove(1), ends.remove(0));
        let leaving = thread::spawn(move || {
            let mut next = 1;
            take(&mut leaving, &mut next, lens);
        });
        assert!(try_put(&mut writer, 1, 8) && try_put(&mut writer, 2, 8));
        let mut next = 1;
        while take(&mut staying, &mut next, lens) {}
        staying.release();
        if writer.gone_readers() & 1 != 0 {
            writer.dismiss(0);
            assert!(try_put(&mut writer, 3, 8) && try_put(&mut writer, 4, 8));
            while take(&mut staying, &mut next, lens) {}
            assert_eq!(next, 5);
        }
        leaving.join().expect("the first reader");
    });
}

/// The reader looks at its frames until its release, however early it is dismissed.
#[test]
fn a_reader_that_is_dismissed_while_it_looks_keeps_its_frames() {
    model(3, || {
        let lens = &[8, 8, 8, 8];
        let (mut writer, mut ends) = ring(32, 1);
        let mut leaving = ends.remove(0);
        assert!(try_put(&mut writer, 1, 8) && try_put(&mut writer, 2, 8));
        let leaving = thread::spawn(move || {
            take(&mut leaving, &mut 1, lens);
            leaving.release();
        });
        writer.dismiss(0);
        let early = try_put(&mut writer, 3, 8);
        leaving.join().expect("the reader");
        assert!(early || try_put(&mut writer, 3, 8));
    });
}

/// Takes what is there; the first frame is any, each further one has to be the next.
fn take_on(reader: &mut Reader, next: &mut Option<u8>) {
    for frame in reader.poll() {
        assert_eq!(frame.kind, next.unwrap_or(frame.kind));
        assert_eq!(frame.bytes, [frame.kind; 8]);
        *next = Some(frame.kind + 1);
    }
    reader.release();
}

/// A number is given to a new reader while its last reader is dropped: the new one is not gone.
#[test]
fn a_reader_that_is_let_in_during_a_drop_is_not_gone() {
    model(3, || {
        let (mut writer, _) = ring(32, 1);
        let mut admission = writer.start_admission();
        let leaving = admission.admit_in_process(0).expect("a place");
        let leaving = thread::spawn(move || drop(leaving));
        admission.dismiss(0);
        let early = admission.admit_in_process(0);
        leaving.join().expect("the first reader");
        let again = early.or_else(|_| admission.admit_in_process(0));
        assert!(again.is_ok(), "the drop has ended");
        assert_eq!(writer.gone_readers(), 0);
    });
}

/// A reader is let in while the writer writes round and round: from some frame on it gets all of
/// them, and none is written over while it looks.
#[test]
fn a_reader_that_is_let_in_gets_what_follows() {
    model(3, || {
        let (mut writer, _) = ring(32, 1);
        let mut admission = writer.start_admission();
        let reading = thread::spawn(move || {
            let mut reader = admission.admit_in_process(0).expect("a place");
            let mut next = None;
            take_on(&mut reader, &mut next);
            (reader, next)
        });
        let mut kinds = (1..=5).skip_while(|kind| try_put(&mut writer, *kind, 8));
        let left: Vec<u8> = kinds.by_ref().collect();
        let (mut reader, mut next) = reading.join().expect("the reader");
        for kind in left {
            (0..2).for_each(|_| take_on(&mut reader, &mut next));
            assert!(try_put(&mut writer, kind, 8));
        }
        (0..2).for_each(|_| take_on(&mut reader, &mut next));
        assert!(next.is_none_or(|next| next == 6));
        assert_eq!((reader.fault(), writer.fault()), (None, None));
    });
}
