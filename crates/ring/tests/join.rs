//! Joining a segment: which files are refused, and that a broken peer does no harm.
#![cfg(not(any(loom, miri)))]

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{pread, pwrite};
use thalweg_ring::{
    JoinError, Reader, RingFault, RingShape, Writer, join_ring, private_ring, shared_ring,
};

const SHAPE: RingShape = RingShape {
    bytes: 4096,
    readers: 2,
};

/// Where things lie: see the picture of a segment.
const COMMITTED: u64 = 128;
const PUBLISHED: u64 = 256;
const MARKS: u64 = 384;
const PARKING: u64 = 512;
const SLEEPERS: u64 = 640;
const CURSOR: u64 = 768;
const DATA: u64 = 4096;

fn put(writer: &mut Writer, payload: &[u8]) -> bool {
    let Some(room) = writer.claim(payload.len()) else {
        return false;
    };
    room.copy_from_slice(payload);
    writer.commit(1, 0, payload.len());
    true
}

fn poke(fd: &OwnedFd, at: u64, word: u64) {
    let written = pwrite(fd, &word.to_ne_bytes(), at).expect("a segment can be written");
    assert_eq!(written, 8);
}

fn ring() -> (Writer, OwnedFd, Reader) {
    let (writer, fd) = shared_ring(SHAPE).expect("memory");
    let reader = join_ring(fd.as_fd(), 0).expect("a ring");
    (writer, fd, reader)
}

fn file(bytes: u64, seals: SealFlags) -> OwnedFd {
    let fd = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memfd");
    ftruncate(&fd, bytes).expect("room");
    fcntl_add_seals(&fd, seals).expect("seals");
    fd
}

fn refusal(fd: &OwnedFd, reader: u32) -> JoinError {
    match join_ring(fd.as_fd(), reader) {
        Err(error) => error,
        Ok(_) => panic!("joined"),
    }
}

#[test]
fn a_joined_reader_gets_what_was_and_is_committed() {
    let (mut writer, fd) = shared_ring(SHAPE).expect("memory");
    assert!(put(&mut writer, b"before"));
    let mut one = join_ring(fd.as_fd(), 1).expect("a ring");
    let mut zero = join_ring(fd.as_fd(), 0).expect("a ring");
    drop(fd);
    assert!(put(&mut writer, b"after"));
    for reader in [&mut zero, &mut one] {
        let frames: Vec<_> = reader.poll().map(|frame| frame.bytes).collect();
        assert_eq!(frames, [&b"before"[..], b"after"]);
    }
    zero.release();
    assert!(writer.queued_bytes() > 0);
    one.release();
    assert_eq!(writer.queued_bytes(), 0);
}

#[test]
fn what_is_not_a_ring_is_refused() {
    let all = SealFlags::SHRINK | SealFlags::GROW;
    let pipe = rustix::pipe::pipe().expect("a pipe").0;
    assert!(matches!(refusal(&pipe, 0), JoinError::NotSealed));
    for seals in [SealFlags::empty(), SealFlags::GROW, SealFlags::SHRINK] {
        assert!(matches!(
            refusal(&file(8192, seals), 0),
            JoinError::NotSealed
        ));
    }
    assert!(matches!(
        refusal(&file(0, all), 0),
        JoinError::InvalidSize { bytes: 0 }
    ));
    let huge = file(1 << 40, all);
    assert!(matches!(refusal(&huge, 0), JoinError::InvalidSize { .. }));
    assert!(matches!(
        refusal(&file(8192, all), 0),
        JoinError::InvalidMagic(0)
    ));
}

#[test]
fn a_label_that_lies_is_refused() {
    let (_writer, fd) = shared_ring(SHAPE).expect("memory");
    let mut label = [0; 40];
    pread(&fd, &mut label, 0).expect("a label");
    let lie = |at: usize, bytes: &[u8]| {
        let mut lie = label;
        lie[at..at + bytes.len()].copy_from_slice(bytes);
        pwrite(&fd, &lie, 0).expect("a segment can be written");
        refusal(&fd, 0)
    };
    assert!(matches!(lie(0, b"x"), JoinError::InvalidMagic(_)));
    assert!(matches!(
        lie(8, &9u32.to_ne_bytes()),
        JoinError::UnsupportedVersion(9)
    ));
    for readers in [0u32, 65, u32::MAX] {
        assert!(matches!(
            lie(12, &readers.to_ne_bytes()),
            JoinError::InvalidHeader(_)
        ));
    }
    for capacity in [0u64, 16, 4095, 8192, 1 << 33, 1 << 63, u64::MAX] {
        assert!(matches!(
            lie(16, &capacity.to_ne_bytes()),
            JoinError::InvalidHeader(_)
        ));
    }
    for data in [0u64, 4095, 8192, u64::MAX - 4095] {
        assert!(matches!(
            lie(24, &data.to_ne_bytes()),
            JoinError::InvalidHeader(_)
        ));
    }
    assert!(matches!(
        lie(32, &3u32.to_ne_bytes()),
        JoinError::InvalidHeader(_)
    ));
    pwrite(&fd, &label, 0).expect("a segment can be written");
    assert!(join_ring(fd.as_fd(), 0).is_ok());
}

#[test]
fn a_reader_joins_once_and_only_if_there_is_one() {
    let (_writer, fd, _reader) = ring();
    let refused = refusal(&fd, 0);
    assert!(matches!(refused, JoinError::ReaderTaken { reader: 0 }));
    assert_eq!(refused.to_string(), "reader 0 has joined already");
    let refused = refusal(&fd, 2);
    assert_eq!(
        refused.to_string(),
        "no reader 2 in a ring of 2; the first is 0"
    );
    assert!(join_ring(fd.as_fd(), 1).is_ok());
}

#[test]
fn nobody_can_cut_a_segment_off() {
    let (_writer, fd, _reader) = ring();
    assert!(ftruncate(&fd, 0).is_err());
    assert!(ftruncate(&fd, 1 << 20).is_err());
}

#[test]
fn an_index_that_cannot_be_is_a_fault_of_the_writer() {
    for (index, is_fault) in [
        (24, false),
        (4096, false),
        (4104, true),
        (20, true),
        (8, true),
    ] {
        let (mut writer, fd, mut reader) = ring();
        assert!(put(&mut writer, &[1; 8]));
        assert_eq!(reader.poll().count(), 1);
        // Frames without a payload, all over the ring.
        for at in (16..4096).step_by(8) {
            poke(&fd, DATA + at, 1 << 32);
        }
        poke(&fd, COMMITTED, index);
        while !reader.poll().is_empty() {}
        let is = reader.fault();
        assert_eq!(is.is_some(), is_fault, "{index}: {is:?}");
        if is_fault {
            assert_eq!(
                is,
                Some(RingFault::Index {
                    previous: 16,
                    current: index
                })
            );
            poke(&fd, COMMITTED, 32);
            assert!(reader.poll().is_empty(), "nothing is believed any more");
            assert!(!reader.arm());
        }
    }
}

#[test]
fn a_published_index_that_cannot_be_is_a_fault_too() {
    let (mut writer, fd, mut reader) = ring();
    assert!(put(&mut writer, &[1; 1000]));
    assert_eq!(reader.poll().count(), 1);
    poke(&fd, PUBLISHED, u64::MAX);
    assert!(reader.poll().is_empty());
    assert!(matches!(
        reader.fault(),
        Some(RingFault::Index {
            current: u64::MAX,
            ..
        })
    ));
}

#[test]
fn a_frame_that_runs_over_is_a_fault_after_the_sound_ones() {
    let too_long = 9u64 | 1 << 32;
    let reserved = 8u64 | 1 << 32 | 1 << 48;
    let endless = u32::MAX as u64 | 1 << 32;
    for header in [too_long, reserved, endless] {
        let (mut writer, fd, mut reader) = ring();
        assert!(put(&mut writer, &[1; 8]) && put(&mut writer, &[2; 8]));
        poke(&fd, DATA + 16, header);
        assert_eq!(reader.poll().count(), 1);
        assert_eq!(reader.fault(), Some(RingFault::Frame { index: 16, header }));
        assert!(reader.poll().is_empty());
    }
}

#[test]
fn nothing_behind_a_torn_frame_is_handed_out() {
    let (mut writer, fd, mut reader) = ring();
    while put(&mut writer, &[1; 24]) {}
    let header = u64::MAX;
    poke(&fd, DATA + 32, header);
    assert_eq!(reader.poll().count(), 1, "the run ends with an eighth");
    let fault = Some(RingFault::Frame { index: 32, header });
    for _ in 0..8 {
        assert_eq!(reader.fault(), fault);
        assert!(reader.poll().is_empty(), "frames of the next eighth");
    }
    assert!(!reader.has_more());
}

#[test]
fn marks_that_lie_lead_nowhere() {
    for mark in [0, 8, 1000, 1001, 5000, u64::MAX] {
        let (mut writer, fd, mut reader) = ring();
        while put(&mut writer, &[1; 24]) {}
        for at in 0..8 {
            poke(&fd, MARKS + 8 * at, mark);
        }
        let mut polled = 0;
        loop {
            let bytes = reader.poll().bytes().len();
            polled += bytes;
            if bytes == 0 {
                break;
            }
        }
        assert!(polled == 4096 || reader.fault().is_some(), "{mark}");
    }
}

#[test]
fn a_cursor_that_cannot_be_is_a_fault_of_its_reader() {
    for cursor in [4104, u64::MAX, 0] {
        let (mut writer, fd, mut reader) = ring();
        assert!(put(&mut writer, &[1; 8]));
        assert_eq!(reader.poll().count(), 1);
        reader.release();
        assert!(
            writer.queued_bytes() > 0,
            "the other reader has released nothing"
        );
        assert!(!writer.arm(8), "there is room, as it finds by a look");
        poke(&fd, CURSOR, cursor);
        while put(&mut writer, &[1; 8]) {}
        let (reader, was) = (0, 16);
        let fault = RingFault::Cursor {
            reader,
            previous: was,
            current: cursor,
        };
        assert_eq!(writer.fault(), Some(fault));
        assert!(!writer.arm(8), "a fault is to be looked at");
        writer.dismiss(0);
        writer.dismiss(1);
        assert!(put(&mut writer, &[1; 8]));
    }
}

#[test]
fn a_writer_sleeps_again_once_the_faulty_reader_is_dismissed() {
    let (mut writer, fd, _reader) = ring();
    let _slow = join_ring(fd.as_fd(), 1).expect("a ring");
    poke(&fd, CURSOR, 1 << 40);
    while put(&mut writer, &[1; 8]) {}
    assert!(matches!(
        writer.fault(),
        Some(RingFault::Cursor { reader: 0, .. })
    ));
    assert!(!writer.arm(8), "a fault is to be looked at");
    writer.dismiss(1);
    assert!(writer.fault().is_some(), "that was the other one");
    let (mut writer, fd, _reader) = ring();
    poke(&fd, CURSOR, 1 << 40);
    while put(&mut writer, &[1; 8]) {}
    writer.dismiss(0);
    assert_eq!(writer.fault(), None);
    assert!(writer.arm(8), "reader 1 holds all of the ring");
}

#[test]
fn a_reader_that_changes_the_indexes_leads_the_writer_nowhere() {
    for index in [8, 4090, 4096, 1 << 40, u64::MAX] {
        let (mut writer, fd, _reader) = ring();
        for at in [COMMITTED, PUBLISHED, MARKS, MARKS + 8, PARKING, SLEEPERS] {
            poke(&fd, at, index);
        }
        assert!(put(&mut writer, &[7; 100]));
        assert_eq!(writer.queued_bytes(), 112);
        let mut bytes = [0; 100];
        pread(&fd, &mut bytes, DATA + 8).expect("a segment can be read");
        assert_eq!(bytes, [7; 100]);
    }
}

#[test]
fn a_large_ring_works_with_and_without_huge_pages() {
    let bytes = 32 << 20;
    let (mut writer, fd) = shared_ring(RingShape { bytes, readers: 1 }).expect("memory");
    let mut readers = private_ring(RingShape { bytes, readers: 1 }).expect("memory");
    let mut joined = join_ring(fd.as_fd(), 0).expect("a ring");
    let ends = [
        (&mut writer, &mut joined),
        (&mut readers.0, &mut readers.1[0]),
    ];
    for (writer, reader) in ends {
        for round in 0..100 {
            assert!(put(writer, &vec![round; 1 << 20]));
            let is_right = |bytes: &[u8]| bytes.iter().all(|byte| *byte == round);
            assert_eq!(
                reader.poll().filter(|frame| is_right(frame.bytes)).count(),
                1
            );
            reader.release();
        }
    }
}
