//! Tests of a ring, one end after the other on one thread; Miri runs these too.

use crate::frame::frame_bytes;
use crate::{Reader, RingShape, Writer, private_ring};

fn ring(bytes: usize) -> (Writer, Reader) {
    let (writer, mut readers) = private_ring(RingShape { bytes, readers: 1 }).expect("memory");
    (writer, readers.remove(0))
}

fn put(writer: &mut Writer, kind: u8, payload: &[u8]) -> bool {
    let Some(room) = writer.claim(payload.len()) else {
        return false;
    };
    room.copy_from_slice(payload);
    writer.commit(kind, 7, payload.len());
    true
}

fn take(reader: &mut Reader) -> Vec<(u8, Vec<u8>)> {
    let frames = reader.poll().map(|f| (f.kind, f.bytes.to_vec())).collect();
    reader.release();
    frames
}

#[test]
fn frames_come_out_as_they_went_in() {
    let (mut writer, mut reader) = ring(256);
    assert!(reader.poll().is_empty());
    assert!(put(&mut writer, 1, b"one") && put(&mut writer, 2, b""));
    let frames: Vec<_> = reader.poll().map(|f| (f.kind, f.flags, f.bytes)).collect();
    assert_eq!(frames, [(1, 7, &b"one"[..]), (2, 7, b"")]);
    assert!(reader.poll().is_empty());
    reader.release();
    assert_eq!(writer.queued_bytes(), 0);
}

#[test]
fn a_lone_frame_needs_no_publish() {
    let (mut writer, mut reader) = ring(1 << 16);
    for n in 1..100 {
        assert!(put(&mut writer, n, &[n; 9]));
        assert_eq!(take(&mut reader), [(n, vec![n; 9])]);
    }
}

#[test]
fn a_full_ring_has_no_room_until_a_release() {
    let (mut writer, mut reader) = ring(64);
    for n in 1..5 {
        assert!(put(&mut writer, n, &[n; 8]), "{n}");
    }
    assert!(!put(&mut writer, 4, b""));
    assert_eq!(writer.queued_bytes(), 64);
    let polled = reader.poll().count();
    assert!(!put(&mut writer, 4, b""), "polled is not released");
    reader.release();
    for n in 0..polled as u8 {
        assert!(put(&mut writer, 4 + n, &[0; 8]), "{n}");
    }
}

#[test]
fn the_largest_frame_fits_wherever_the_writer_stands() {
    let (mut writer, mut reader) = ring(128);
    let len = writer.payload_bytes_max();
    assert!(len >= 128 / 4);
    for start in 0..40u8 {
        assert!(put(&mut writer, 1, &[start; 8]));
        assert_eq!(take(&mut reader), [(1, vec![start; 8])]);
        assert!(put(&mut writer, 2, &vec![start; len]), "{start}");
        assert_eq!(take(&mut reader), [(2, vec![start; len])]);
    }
    assert!(writer.claim(len + 1).is_none());
    assert!(writer.claim(usize::MAX).is_none());
}

#[test]
fn less_than_claimed_can_be_committed_and_a_claim_forgotten() {
    let (mut writer, mut reader) = ring(256);
    writer.claim(100).expect("room").fill(1);
    writer.claim(50).expect("room")[..3].copy_from_slice(b"abc");
    writer.commit(1, 0, 3);
    assert_eq!(writer.queued_bytes(), frame_bytes(3));
    assert_eq!(take(&mut reader), [(1, b"abc".to_vec())]);
}

#[test]
fn a_claim_behind_the_wrap_is_committed_there_however_short() {
    let (mut writer, mut reader) = ring(256);
    for len in 0..100 {
        writer.claim(100).expect("room")[..len].fill(len as u8);
        writer.commit(1, 0, len);
        assert_eq!(take(&mut reader), [(1, vec![len as u8; len])]);
    }
}

#[test]
#[should_panic(expected = "not claimed")]
fn a_commit_without_a_claim_is_a_bug() {
    let (mut writer, _reader) = ring(256);
    writer.claim(8).expect("room");
    writer.commit(1, 0, 8);
    writer.commit(1, 0, 0);
}

#[test]
fn payloads_are_aligned() {
    let (mut writer, mut reader) = ring(512);
    for len in 0..50 {
        let room = writer.claim(len).expect("room");
        assert_eq!(room.as_ptr() as usize % 8, 0);
        writer.commit(1, 0, len);
        for frame in reader.poll() {
            assert_eq!(
                (frame.bytes.as_ptr() as usize % 8, frame.bytes.len()),
                (0, len)
            );
        }
        reader.release();
    }
}

#[test]
fn room_is_given_back_in_parts() {
    let (mut writer, mut reader) = ring(1024);
    while put(&mut writer, 1, &[0; 24]) {}
    let mut polled = 0;
    loop {
        let bytes = reader.poll().bytes().len();
        if bytes == 0 {
            break;
        }
        assert!(bytes <= 1024 / 4, "{bytes}");
        polled += bytes;
    }
    assert_eq!(polled, 1024);
}

#[test]
fn every_reader_gets_every_frame_and_the_slowest_holds_the_writer_up() {
    let shape = RingShape {
        bytes: 64,
        readers: 3,
    };
    let (mut writer, mut readers) = private_ring(shape).expect("memory");
    while put(&mut writer, 1, b"12345678") {}
    for reader in &mut readers[1..] {
        while !take(reader).is_empty() {}
    }
    assert!(!put(&mut writer, 1, b""));
    drop(readers.remove(0));
    assert!(!put(&mut writer, 1, b""));
    writer.dismiss(0);
    assert_eq!(writer.live_reader_count(), 2);
    assert!(put(&mut writer, 2, b""));
    assert_eq!(take(&mut readers[0]), [(2, vec![])]);
    assert_eq!(take(&mut readers[1]), [(2, vec![])]);
}

#[test]
fn with_no_reader_left_there_is_always_room() {
    let (mut writer, reader) = ring(64);
    drop(reader);
    assert_eq!(writer.gone_readers(), 1);
    writer.dismiss(0);
    writer.dismiss(17);
    assert_eq!(writer.live_reader_count(), 0);
    for _ in 0..100 {
        assert!(put(&mut writer, 1, &[1; 20]));
    }
    assert_eq!(writer.queued_bytes(), 0);
}

#[test]
fn what_was_committed_outlives_the_writer() {
    let (mut writer, mut reader) = ring(256);
    put(&mut writer, 1, b"last");
    assert!(!reader.is_closed());
    drop(writer);
    assert!(reader.is_closed());
    assert_eq!(take(&mut reader), [(1, b"last".to_vec())]);
    assert!(take(&mut reader).is_empty());
}

#[test]
fn a_reader_sleeps_only_when_there_is_nothing_and_is_reported_once() {
    let (mut writer, mut reader) = ring(256);
    put(&mut writer, 1, b"");
    assert!(!reader.arm());
    assert_eq!(writer.take_sleeping_readers(), 0);
    take(&mut reader);
    assert!(reader.arm());
    put(&mut writer, 1, b"");
    assert_eq!(writer.take_sleeping_readers(), 1);
    assert_eq!(writer.take_sleeping_readers(), 0);
    reader.disarm();
    take(&mut reader);
    assert!(reader.arm());
    reader.disarm();
    assert_eq!(writer.take_sleeping_readers(), 0);
    drop(writer);
    assert!(!reader.arm());
}

#[test]
fn a_writer_sleeps_only_when_there_is_no_room_and_is_told_when_there_is_enough() {
    let (mut writer, mut reader) = ring(64);
    assert!(!writer.arm(8));
    assert!(!writer.arm(usize::MAX));
    while put(&mut writer, 1, b"12345678") {}
    assert!(!reader.take_sleeping_writer());
    assert!(writer.arm(24));
    assert_eq!(reader.poll().count(), 1);
    reader.release();
    assert!(!reader.take_sleeping_writer(), "16 bytes of 32");
    assert_eq!(reader.poll().count(), 1);
    reader.release();
    assert!(reader.take_sleeping_writer());
    assert!(!reader.take_sleeping_writer());
    writer.disarm();
    assert!(put(&mut writer, 1, &[0; 24]));
}

#[test]
fn a_fast_reader_lets_the_writer_sleep_until_the_slowest_has_made_room() {
    let shape = RingShape {
        bytes: 64,
        readers: 3,
    };
    let (mut writer, mut readers) = private_ring(shape).expect("memory");
    drop(readers.pop());
    writer.dismiss(2);
    while put(&mut writer, 1, b"12345678") {}
    assert!(writer.arm(8));
    take(&mut readers[0]);
    assert!(!readers[0].take_sleeping_writer(), "there is no room yet");
    take(&mut readers[1]);
    assert!(readers[1].take_sleeping_writer());
    assert!(!readers[0].take_sleeping_writer(), "it is woken once");
    writer.disarm();
    assert!(put(&mut writer, 2, b""));
}

#[test]
fn the_frames_of_a_reader_stay_as_they_are_although_it_is_dismissed() {
    let (mut writer, mut reader) = ring(64);
    while put(&mut writer, 1, &[1; 8]) {}
    let frames = reader.poll();
    writer.dismiss(0);
    assert!((0..4).all(|_| !put(&mut writer, 2, &[2; 8])));
    assert!(frames.into_iter().all(|frame| frame.bytes == [1; 8]));
    assert_eq!((writer.live_reader_count(), writer.queued_bytes()), (0, 64));
    drop(reader);
    assert!(put(&mut writer, 2, &[2; 8]));
    assert_eq!(writer.queued_bytes(), 0);
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    for (bytes, readers) in [(64, 0), (64, 65), (usize::MAX, 1)] {
        let refused = private_ring(RingShape { bytes, readers });
        assert!(refused.is_err(), "{bytes} {readers}");
    }
    let (writer, _) = private_ring(RingShape {
        bytes: 5000,
        readers: 64,
    })
    .expect("memory");
    assert_eq!(writer.payload_bytes_max(), 4096 - 8);
    assert_eq!(writer.live_reader_count(), 64);
}

/// Frames by the grant as long as there is room at hand, else by the writer, and all are read; how
/// many went by the grant.
#[cfg(not(miri))]
fn by_grant(bytes: usize, frames: u64, len: impl Fn(u64) -> usize) -> u64 {
    let (mut writer, mut reader) = ring(bytes);
    let grant = writer.grant().expect("there is membarrier");
    let mut granted = 0;
    let mut expected = std::collections::VecDeque::new();
    let check = |reader: &mut Reader, expected: &mut std::collections::VecDeque<Vec<u8>>| {
        for (kind, payload) in take(reader) {
            assert_eq!((kind, payload), (9, expected.pop_front().unwrap()));
        }
    };
    for n in 0..frames {
        let payload = vec![n as u8; len(n)];
        // SAFETY: this is the writer's thread.
        match unsafe { grant.try_write(9, &payload) } {
            Some(is_asleep) => {
                granted += 1;
                assert!(!is_asleep);
            }
            None => {
                while !put_plain(&mut writer, &payload) {
                    check(&mut reader, &mut expected);
                }
            }
        }
        expected.push_back(payload);
        if n % 7 == 0 {
            check(&mut reader, &mut expected);
        }
        if n % 11 == 0 {
            writer.publish();
            assert!(writer.queued_bytes() <= bytes);
        }
    }
    while !expected.is_empty() {
        check(&mut reader, &mut expected);
    }
    granted
}

#[cfg(not(miri))]
fn put_plain(writer: &mut Writer, payload: &[u8]) -> bool {
    let Some(room) = writer.claim(payload.len()) else {
        return false;
    };
    room.copy_from_slice(payload);
    writer.commit(9, 0, payload.len());
    true
}

#[test]
#[cfg(not(miri))]
fn a_grant_and_its_writer_take_turns() {
    assert!(by_grant(1 << 16, 10_000, |_| 64) > 8_000);
    assert!(by_grant(1 << 12, 10_000, |n| (n * 37 % 300) as usize) > 1_000);
    by_grant(256, 1_000, |n| (n % 100) as usize);
}

#[test]
#[cfg(not(miri))]
fn a_sleeper_is_seen_by_whoever_uses_the_grant() {
    let (mut writer, mut reader) = ring(1 << 12);
    let grant = writer.grant().expect("there is membarrier");
    assert!(put_plain(&mut writer, b"first"));
    take(&mut reader);
    assert!(reader.arm());
    // SAFETY: this is the writer's thread.
    assert_eq!(unsafe { grant.try_write(9, b"second") }, Some(true));
    assert_eq!(writer.take_sleeping_readers(), 1);
    // SAFETY: this is the writer's thread.
    assert_eq!(unsafe { grant.try_write(9, b"third") }, Some(false));
    assert_eq!(take(&mut reader).len(), 2);
}

#[test]
fn frames_are_put_by_counting_as_far_as_that_goes() {
    // Miri takes a thousand times as long: a few turns around the ring show it the same accesses.
    let frames_in_all = if cfg!(miri) { 150 } else { 1000 };
    for (bytes, len) in [(1 << 12, 24), (1 << 12, 100), (256, 17)] {
        let (mut writer, mut reader) = ring(bytes);
        let (mut counted, mut claimed) = (0, 0);
        for n in 0..frames_in_all {
            let payload = vec![n as u8; len];
            if writer.try_write(9, 3, &payload) {
                counted += 1;
            } else {
                claimed += 1;
                let room = writer.claim(len).expect("it is read at once");
                room.copy_from_slice(&payload);
                writer.commit(9, 3, len);
            }
            let frames: Vec<_> = reader.poll().map(|frame| frame.bytes.to_vec()).collect();
            assert_eq!(frames, [payload], "{n}");
            reader.release();
        }
        assert!(
            claimed > 0 && (counted > frames_in_all / 2 || bytes == 256),
            "{counted}"
        );
    }
}

#[test]
fn what_is_put_forgets_a_claim_and_stops_where_room_is_capped() {
    let (mut writer, mut reader) = ring(1 << 12);
    assert!(
        !writer.try_write(9, 0, b"first"),
        "nothing is known of the room"
    );
    writer.claim(5).expect("room").copy_from_slice(b"first");
    writer.commit(9, 0, 5);
    writer.claim(6).expect("room").copy_from_slice(b"forgot");
    assert!(writer.try_write(9, 0, b"second"));
    writer.cap_grant(16);
    assert!(!writer.try_write(9, 0, b"too large"));
    assert!(writer.try_write(9, 0, b"third"));
    assert!(!writer.try_write(9, 0, b""));
    let frames: Vec<_> = take(&mut reader)
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect();
    assert_eq!(frames, [&b"first"[..], b"second", b"third"]);
}
