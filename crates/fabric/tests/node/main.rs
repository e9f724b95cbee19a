//! Pairs of nodes in one process: over libfabric's providers `tcp` and `shm` if the library is
//! here, over `verbs` at the address that `THALWEG_VERBS_ADDRESS` has, and over the fabric for
//! tests, tame and wild.

mod pair;
mod refusals;

use rustix::event::{PollFd, PollFlags, Timespec};
use thalweg_fabric::{
    Completion, CompletionKind, FabricError, FabricEvent, PinnedMemory, PostOptions, RemoteAccess,
};

use crate::pair::{Pair, accept, numbered, openers, slice, wait_for};

#[test]
fn writes_land_in_the_peers_memory() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let mut source = PinnedMemory::new(8192).unwrap();
        let target = PinnedMemory::new(8192).unwrap();
        let from = pair.register(0, &source, RemoteAccess::None);
        let to = pair.register(1, &target, RemoteAccess::Write);
        let remote = pair.nodes[1].remote_memory(to);
        for number in 1..=100u64 {
            source
                .bytes_mut(0..8)
                .copy_from_slice(&number.to_ne_bytes());
            // An inline write may be changed at once, others when they are done.
            let is_inline = number % 2 == 0;
            let options = PostOptions {
                is_inline,
                ..numbered(number)
            };
            pair.write(&slice(from, 0..8), &remote, 8 * number, options);
            if is_inline {
                source.bytes_mut(0..8).fill(0xff);
            }
            // A completion may be late; it comes with the next one.
            wait_for("word", || {
                pair.poll();
                (target.word(8 * number as usize) == number).then_some(())
            });
        }
        let (node, connection) = (&mut pair.nodes[0], pair.connections[0]);
        for (range, offset) in [(0..8193, 0), (0..2, 8191), (0..1, u64::MAX)] {
            let options = PostOptions::default();
            let from = slice(from, range);
            let beyond = node.post_write(connection, &from, &remote, offset, options);
            assert!(
                matches!(beyond, Err(FabricError::OutOfBounds(_))),
                "{beyond:?}"
            );
        }
    }
}

#[test]
fn a_number_comes_after_its_write() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let mut source = PinnedMemory::new(4096).unwrap();
        let target = PinnedMemory::new(4096).unwrap();
        let from = pair.register(0, &source, RemoteAccess::None);
        let to = pair.register(1, &target, RemoteAccess::Write);
        let remote = pair.nodes[1].remote_memory(to);
        source.bytes_mut(0..1001).fill(7);
        let options = PostOptions {
            immediate: Some(77),
            ..PostOptions::default()
        };
        if pair.nodes[1].limits().immediate_uses_receive {
            pair.receive(&slice(to, 0..8), 5);
        }
        pair.write(&slice(from, 0..1001), &remote, 16, options);
        let kind = CompletionKind::RemoteWrite { immediate: 77 };
        let number = match pair.nodes[1].limits().immediate_uses_receive {
            true => 5,
            false => 0,
        };
        let expected = Completion { number, kind };
        wait_for("write with a number", || {
            pair.poll();
            pair.seen[1].iter().position(|one| *one == expected)
        });
        assert!(target.bytes(16..1017).iter().all(|byte| *byte == 7));
        assert_eq!(target.bytes(1017..1018), [0]);
    }
}

#[test]
fn messages_fill_receive_buffers_in_order() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let mut source = PinnedMemory::new(4096).unwrap();
        let target = PinnedMemory::new(4096).unwrap();
        let from = pair.register(0, &source, RemoteAccess::None);
        let to = pair.register(1, &target, RemoteAccess::None);
        for number in 0..4 {
            pair.receive(&slice(to, 64 * number..64 * number + 64), number as u64);
        }
        for number in 0..4 {
            let range = 64 * number..64 * number + 10 + number;
            source.bytes_mut(range.clone()).fill(number as u8 + 1);
            let options = PostOptions {
                is_more: number < 3,
                ..PostOptions::default()
            };
            pair.send(&slice(from, range), options);
        }
        for number in 0..4 {
            let bytes = 10 + number;
            let immediate = None;
            pair.wait_for(
                1,
                number as u64,
                CompletionKind::Received { bytes, immediate },
            );
            let start = 64 * number;
            let filled = target.bytes(start..start + bytes);
            assert!(filled.iter().all(|byte| *byte == number as u8 + 1));
            assert_eq!(target.bytes(start + bytes..start + bytes + 1), [0]);
        }
    }
}

#[test]
fn a_read_fetches_the_peers_memory() {
    const BYTES: usize = 1 << 18;
    for opener in openers().into_iter().take(6) {
        let mut pair = Pair::connect(&opener);
        let mut source = PinnedMemory::new(BYTES).unwrap();
        let target = PinnedMemory::new(BYTES).unwrap();
        let all: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
        source.bytes_mut(0..BYTES).copy_from_slice(&all);
        let from = pair.register(1, &source, RemoteAccess::Read);
        let into = slice(pair.register(0, &target, RemoteAccess::None), 0..BYTES);
        let remote = pair.nodes[1].remote_memory(from);
        let most = pair.nodes[0].limits().message_bytes_max.min(BYTES);
        for start in (0..BYTES).step_by(most) {
            let (part, offset) = (slice(into.region, start..start + most), start as u64);
            pair.post(|node, connection| {
                node.post_read(connection, &part, &remote, offset, numbered(5))
            });
        }
        wait_for("bytes", || {
            pair.poll();
            (target.bytes(0..BYTES) == all).then_some(())
        });
    }
}

#[test]
fn the_end_of_a_connection_is_told() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let [connection, closed] = pair.connections;
        pair.nodes[0].disconnect(connection);
        wait_for("end", || {
            // Providers notice it while they make progress.
            pair.nodes[1].poll_completions(&mut pair.seen[1]).unwrap();
            match pair.nodes[1].next_event().unwrap()? {
                FabricEvent::Closed { connection, .. } => {
                    assert_eq!(connection, closed);
                    Some(())
                }
                _ => None,
            }
        });
        let memory = PinnedMemory::new(1).unwrap();
        let from = slice(pair.register(0, &memory, RemoteAccess::None), 0..1);
        let after = pair.nodes[0].post_send(connection, &from, PostOptions::default());
        assert!(
            matches!(after, Err(FabricError::Disconnected(_))),
            "{after:?}"
        );
    }
}

#[test]
fn a_thread_sleeps_until_a_message_comes() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let source = PinnedMemory::new(4096).unwrap();
        let target = PinnedMemory::new(4096).unwrap();
        let from = slice(pair.register(0, &source, RemoteAccess::None), 0..8);
        let into = slice(pair.register(1, &target, RemoteAccess::None), 0..64);
        // The first message of some providers finds room once the peer has looked.
        pair.receive(&into, 8);
        pair.send(&from, PostOptions::default());
        let (bytes, immediate) = (8, None);
        pair.wait_for(1, 8, CompletionKind::Received { bytes, immediate });
        pair.receive(&into, 9);
        wait_for("sleep", || {
            pair.poll();
            pair.nodes[1].may_sleep().unwrap().then_some(())
        });
        wait_for("room", || {
            let (node, connection) = (&mut pair.nodes[0], pair.connections[0]);
            let options = PostOptions::default();
            node.post_send(connection, &from, options)
                .unwrap()
                .then_some(())
        });
        // The fabric for tests moves by the polls of the sender alone.
        for _ in 0..1000 {
            pair.nodes[0].poll_completions(&mut pair.seen[0]).unwrap();
        }
        let fds = pair.nodes[1].wait_fds().unwrap();
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let timeout = Timespec {
            tv_sec: 20,
            tv_nsec: 0,
        };
        assert!(rustix::event::poll(&mut fds, Some(&timeout)).unwrap() > 0);
        let (bytes, immediate) = (8, None);
        pair.wait_for(1, 9, CompletionKind::Received { bytes, immediate });
    }
}

#[test]
fn nodes_of_two_threads_connect() {
    for opener in openers() {
        let (mut server, to) = opener.listen();
        let mut client = opener.connect(to);
        let thread = std::thread::spawn(move || {
            client.connect(b"let me in").unwrap();
            let mut seen = Vec::new();
            wait_for("connection", || {
                client.poll_completions(&mut seen).unwrap();
                matches!(client.next_event().unwrap()?, FabricEvent::Connected { .. }).then_some(())
            });
            client
        });
        let mut seen = Vec::new();
        wait_for("request", || {
            server.may_sleep().unwrap();
            server.poll_completions(&mut seen).unwrap();
            match server.next_event().unwrap()? {
                FabricEvent::Request(request) => Some(accept(&mut *server, request)),
                _ => None,
            }
        });
        wait_for("connection", || {
            server.poll_completions(&mut seen).unwrap();
            server.next_event().unwrap();
            thread.is_finished().then_some(())
        });
        drop(thread.join().unwrap());
    }
}
