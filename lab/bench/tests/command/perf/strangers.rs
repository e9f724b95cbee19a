//! Other users at a topic's names: nothing is handed to them and nothing of theirs is believed.
//!
//! Only root can be two users; for others this is said and passed over.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, recv,
    socket_with,
};
use rustix::process::geteuid;

use super::{Live, PATIENCE, topic};
use crate::scratch::{Run, command};

/// Nobody, on every system.
const OTHER: u32 = 65534;

/// The command as another user; `None` if that cannot be: then that is said.
fn as_other(args: &[&str]) -> Option<Command> {
    let mut probe = command(&["--version"]);
    let can = geteuid().is_root()
        && probe
            .uid(OTHER)
            .current_dir("/")
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
    if !can {
        eprintln!("PASSED OVER: this user cannot run the command as another one");
        return None;
    }
    let mut command = command(&[&["perf"], args].concat());
    command.uid(OTHER).current_dir("/");
    Some(command)
}

fn socket() -> OwnedFd {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    socket_with(family, kind, SocketFlags::CLOEXEC, None).unwrap()
}

/// A name of the other user's topics.
fn address(role: &str, topic: &str) -> SocketAddrUnix {
    let name = format!("thalweg/{OTHER}/{role}/{topic}");
    SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()
}

#[test]
fn a_name_that_another_user_has_taken_is_not_believed() {
    let topic = topic();
    let held = socket();
    bind(&held, &address("publisher", &topic)).unwrap();
    listen(&held, 4).unwrap();
    let says = format!(
        "thalweg: topic `{topic}` of this user is held by a process of user {}; it is not trusted\n",
        geteuid().as_raw()
    );
    for program in ["pub", "sub"] {
        let Some(mut command) = as_other(&[program, "-t", &topic]) else {
            return;
        };
        let run = Run::from(command.output().unwrap());
        assert_eq!(run.fails(1), says);
    }
}

#[test]
fn a_stranger_at_the_door_gets_nothing() {
    let topic = topic();
    let args = [
        "pub", "-t", &topic, "-r", "1000", "-n", "1000000", "-w", "0",
    ];
    let Some(command) = as_other(&args) else {
        return;
    };
    let mut publisher = Live::spawn(command);
    let (stranger, start) = (socket(), Instant::now());
    while connect(&stranger, &address("publisher", &topic)).is_err() {
        assert!(start.elapsed() < PATIENCE, "there is no publisher");
        sleep(Duration::from_millis(5));
    }
    let mut bytes = [0; 64];
    let got = recv(&stranger, &mut bytes[..], RecvFlags::empty());
    publisher.kill();
    // Closed without a word: at an end, or reset.
    assert_eq!(got.map_or(0, |(got, _)| got), 0);
}

#[test]
fn users_have_topics_of_their_own() {
    let topic = topic();
    let (sub, _) = super::subscribe(&["-t", &topic]);
    let args = ["pub", "-t", &topic, "-n", "10", "-w", "0", "-l", "0"];
    let Some(mut command) = as_other(&args) else {
        return;
    };
    let out = Run::from(command.output().unwrap()).ok();
    assert!(out.contains("+ sender: receivers=0, "), "{out}");
    super::publish(&["-t", &topic, "-n", "7", "-w", "0", "-l", "0"]).ok();
    let lines = sub.until(super::LAST);
    assert!(lines[1].contains(", num_rcv_msgs=7, "), "{}", lines[1]);
}
