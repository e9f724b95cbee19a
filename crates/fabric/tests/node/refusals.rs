//! Refusals: of requests, queries, registrations, keys and sizes; and peers that are gone.

use std::net::{IpAddr, Ipv4Addr};

use thalweg_fabric::sim::{SimFabric, SimFabricFaults};
use thalweg_fabric::{
    Completion, CompletionKind, FabricAddress, FabricError, FabricEvent, FabricNode, PinnedMemory,
    PostOptions, ProviderQuery, RdmaNode, RemoteAccess,
};

use crate::pair::{
    Opener, Pair, has_library, libraries, numbered, openers, query, slice, wait_for,
};

#[test]
fn a_refused_request_reaches_nothing() {
    for opener in openers() {
        let (mut server, to) = opener.listen();
        let mut client = opener.connect(to);
        let connection = client.connect(b"wrong").unwrap();
        wait_for("refusal", || {
            if let Some(FabricEvent::Request(request)) = server.next_event().unwrap() {
                server.reject(request, "not you").unwrap();
            }
            match client.next_event().unwrap()? {
                FabricEvent::Closed {
                    connection: of,
                    why,
                    ..
                } => {
                    assert_eq!(of, connection);
                    assert!(why.ends_with(": not you"), "{why}");
                    Some(())
                }
                _ => panic!("a refused request was accepted"),
            }
        });
    }
}

#[test]
fn an_unknown_provider_is_said() {
    let localhost = FabricAddress::Listen(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let Err(error) = FabricNode::open(&query("pigeon", localhost)) else {
        panic!("opened");
    };
    let expected = if has_library() {
        "provider pigeon"
    } else {
        "libfabric1"
    };
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn refused_registrations_are_errors() {
    let faults = SimFabricFaults {
        refuses_registrations: true,
        ..SimFabricFaults::NONE
    };
    let (mut node, _) = SimFabric::new(faults).listen().unwrap();
    let memory = PinnedMemory::new(1).unwrap();
    let refused = node.register(&memory, RemoteAccess::None);
    let expected = "libfabric's fi_mr_reg failed: Cannot allocate memory (12)";
    assert_eq!(refused.unwrap_err().to_string(), expected);
}

#[test]
fn a_wrong_key_ends_the_connection() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let mut source = PinnedMemory::new(64).unwrap();
        source.bytes_mut(0..64).fill(7);
        let target = PinnedMemory::new(64).unwrap();
        let from = pair.register(0, &source, RemoteAccess::None);
        let to = pair.register(1, &target, RemoteAccess::Write);
        let mut remote = pair.nodes[1].remote_memory(to);
        remote.key ^= 1;
        // The provider `verbs` tells of no failure of an operation without a completion.
        let (from, options) = (slice(from, 0..64), numbered(4));
        wait_for("room", || {
            let (node, connection) = (&mut pair.nodes[0], pair.connections[0]);
            let posted = node.post_write(connection, &from, &remote, 0, options);
            // Some providers have room once the peer has looked.
            pair.nodes[1].poll_completions(&mut pair.seen[1]).unwrap();
            posted.unwrap().then_some(())
        });
        if pair.nodes[0].limits().provider == "shm" {
            // It places nothing, and tells nobody.
            let into = slice(pair.register(1, &source, RemoteAccess::None), 0..64);
            pair.receive(&into, 5);
            pair.send(&from, PostOptions::default());
            let (bytes, immediate) = (64, None);
            pair.wait_for(1, 5, CompletionKind::Received { bytes, immediate });
            assert!(target.bytes(0..64).iter().all(|byte| *byte == 0));
            continue;
        }
        wait_for("end", || {
            pair.nodes[0].poll_completions(&mut pair.seen[0]).unwrap();
            pair.nodes[1].poll_completions(&mut pair.seen[1]).unwrap();
            // Adapters tell the writer alone, whose end the other side sees.
            let is_failed = |one: &Completion| matches!(one.kind, CompletionKind::Failed(_));
            if pair.seen[0].iter().any(is_failed) {
                pair.nodes[0].disconnect(pair.connections[0]);
            }
            let event = pair.nodes[1].next_event().unwrap()?;
            matches!(event, FabricEvent::Closed { .. }).then_some(())
        });
        assert!(target.bytes(0..64).iter().all(|byte| *byte == 0));
    }
}

#[test]
fn too_many_inline_bytes_are_refused() {
    for opener in openers() {
        let mut pair = Pair::connect(&opener);
        let source = PinnedMemory::new(1 << 16).unwrap();
        let target = PinnedMemory::new(1 << 16).unwrap();
        let from = pair.register(0, &source, RemoteAccess::None);
        let to = pair.register(1, &target, RemoteAccess::Write);
        let remote = pair.nodes[1].remote_memory(to);
        let bytes_max = pair.nodes[0].limits().inline_bytes_max;
        let options = PostOptions {
            is_inline: true,
            ..PostOptions::default()
        };
        pair.write(&slice(from, 0..bytes_max), &remote, 0, options);
        let too_many = slice(from, 0..bytes_max + 1);
        let connection = pair.connections[0];
        let node = &mut pair.nodes[0];
        let write = node.post_write(connection, &too_many, &remote, 0, options);
        let send = node.post_send(connection, &too_many, options);
        for result in [write, send] {
            assert!(
                matches!(result, Err(FabricError::OutOfBounds(_))),
                "{result:?}"
            );
        }
    }
}

#[test]
fn only_the_node_of_a_request_answers_it() {
    for opener in libraries() {
        other_nodes_are_refused(&opener);
    }
}

fn other_nodes_are_refused(opener: &Opener) {
    let (mut server, to) = opener.listen();
    let (mut other, _) = opener.listen();
    let mut client = opener.connect(to);
    client.connect(b"one").unwrap();
    client.connect(b"two").unwrap();
    let mut request = || {
        wait_for("request", || {
            client.next_event().unwrap();
            match server.next_event().unwrap()? {
                FabricEvent::Request(request) => Some(request),
                _ => panic!("an event before the request"),
            }
        })
    };
    let (one, two) = (request(), request());
    let accepted = other.begin_accept(&one);
    assert!(
        matches!(accepted, Err(FabricError::OutOfBounds(_))),
        "{accepted:?}"
    );
    // The node of a request may be gone.
    drop(server);
    let rejected = other.reject(two, "");
    assert!(
        matches!(rejected, Err(FabricError::OutOfBounds(_))),
        "{rejected:?}"
    );
}

#[test]
fn a_node_that_listens_does_not_connect() {
    for opener in openers() {
        let (mut server, _) = opener.listen();
        let connected = server.connect(b"");
        assert!(
            matches!(connected, Err(FabricError::OutOfBounds(_))),
            "{connected:?}"
        );
    }
}

#[test]
fn a_peer_that_is_gone_before_it_is_accepted_is_told() {
    for opener in openers() {
        let (mut server, to) = opener.listen();
        let mut client = opener.connect(to);
        client.connect(b"let me in").unwrap();
        let request = wait_for("request", || {
            client.next_event().unwrap();
            match server.next_event().unwrap()? {
                FabricEvent::Request(request) => Some(request),
                _ => panic!("an event before the request"),
            }
        });
        drop(client);
        // Some providers know at once that there is nobody to accept.
        let Ok(connection) = server.begin_accept(&request) else {
            drop(server.reject(request, "no"));
            continue;
        };
        if server.finish_accept(connection, b"come in").is_err() {
            continue;
        }
        let mut seen = Vec::new();
        wait_for("end", || {
            server.poll_completions(&mut seen).unwrap();
            match server.next_event().unwrap()? {
                FabricEvent::Closed { connection: of, .. } => {
                    assert_eq!(of, connection);
                    Some(())
                }
                _ => None,
            }
        });
    }
}

/// The buffers of a connection that has ended fail in a row, before what comes from others.
#[test]
fn one_poll_takes_a_row_of_failures() {
    const BUFFERS: usize = 8;
    if !has_library() {
        return;
    }
    let tcp = openers().remove(0);
    let mut pair = Pair::connect(&tcp);
    let memory = PinnedMemory::new(64).unwrap();
    let into = slice(pair.register(1, &memory, RemoteAccess::None), 0..64);
    (0..BUFFERS as u64).for_each(|number| pair.receive(&into, number));
    let ([left, _], [one, two]) = (pair.connections, &mut pair.nodes);
    one.disconnect(left);
    let failed = wait_for("failures", || {
        let mut seen = Vec::new();
        two.poll_completions(&mut seen).unwrap();
        two.next_event().unwrap();
        (!seen.is_empty()).then_some(seen.len())
    });
    assert_eq!(failed, BUFFERS);
}

#[test]
fn tcp_is_on_the_device_that_is_named() {
    if !has_library() {
        return;
    }
    let listen = FabricAddress::Listen(Ipv4Addr::LOCALHOST.into());
    let on = |device: &str| {
        FabricNode::open(&ProviderQuery {
            device: Some(device.to_owned()),
            ..query("tcp", listen)
        })
    };
    let node = on("lo").unwrap();
    assert_eq!(node.limits().device, "lo");
    let error = on("no-device").err().map(|error| error.to_string());
    let error = error.expect("no such device");
    let words = "libfabric's provider tcp has no device `no-device`; on this host it has ";
    let devices = error
        .strip_prefix(words)
        .unwrap_or_else(|| panic!("{error}"));
    assert!(devices.split(", ").any(|device| device == "lo"), "{error}");
}

/// Hosts of the tests have no adapter, or none of this name.
#[test]
fn a_device_of_verbs_that_is_not_there_is_named() {
    if !has_library() {
        return;
    }
    let opened = FabricNode::open(&ProviderQuery {
        device: Some("no-adapter".to_owned()),
        ..query("verbs", FabricAddress::Listen(Ipv4Addr::LOCALHOST.into()))
    });
    let error = opened.err().expect("no such device").to_string();
    let words = "libfabric's provider verbs has no device `no-adapter`";
    assert!(error.starts_with(words), "{error}");
}

#[test]
fn an_address_of_another_host_is_said_with_the_error() {
    if !has_library() {
        return;
    }
    // Of the documentation's network: no host has it.
    let foreign = Ipv4Addr::new(192, 0, 2, 1);
    let opened = FabricNode::open(&query("tcp", FabricAddress::Listen(foreign.into())));
    let error = opened.err().expect("no address of this host").to_string();
    assert!(error.contains("192.0.2.1"), "{error}");
}
