//! Ranks on two hosts: network namespaces of this machine, joined by a link, with names of their
//! own. mpirun starts its daemon on the other one by a script instead of ssh.
//!
//! Without the permission for namespaces, or without `ip`, the tests say `PASSED OVER`.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use super::{by_mpi, finish, library_folder, mpirun};
use crate::scratch::{Run, Scratch};

const NEAR: &str = "10.78.0.1";
const FAR: &str = "10.78.0.2";

/// A host: a process that keeps its namespaces, and ends with the test.
struct Host(Child);

impl Host {
    fn new(name: &str) -> Result<Host, String> {
        let process = Command::new("unshare")
            .args(["--net", "--uts", "--", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let process = process.map_err(|error| format!("cannot start `unshare`: {error}"))?;
        let mut host = Host(process);
        let (stdin, stdout) = (
            host.0.stdin.as_mut().unwrap(),
            host.0.stdout.as_mut().unwrap(),
        );
        // An echo shows that it is in its namespaces.
        let is_ready = stdin.write_all(b"\n").is_ok() && stdout.read_exact(&mut [0]).is_ok();
        if !is_ready {
            return Err("no permission for network namespaces".to_owned());
        }
        host.run(&["hostname", name])?;
        host.run(&["ip", "link", "set", "lo", "up"])?;
        Ok(host)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Words before a command that run it on the host.
    fn prefix(&self) -> [String; 4] {
        let of = |kind: &str| format!("--{kind}=/proc/{}/ns/{kind}", self.pid());
        ["nsenter".to_owned(), of("net"), of("uts"), "--".to_owned()]
    }

    fn run(&self, words: &[&str]) -> Result<(), String> {
        let prefix = self.prefix();
        let done = Command::new(&prefix[0])
            .args(&prefix[1..])
            .args(words)
            .output();
        let done = done.map_err(|error| format!("cannot start `nsenter`: {error}"))?;
        let said = String::from_utf8_lossy(&done.stderr);
        match done.status.success() {
            true => Ok(()),
            false => Err(format!("`{}` failed: {}", words.join(" "), said.trim())),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two hosts, and the script that starts a command on the far one.
struct TwoHosts {
    near: Host,
    _far: Host,
    agent: String,
}

impl TwoHosts {
    fn new(scratch: &Scratch) -> Result<TwoHosts, String> {
        let (near, far) = (Host::new("near")?, Host::new("far")?);
        let peer = far.pid();
        near.run(&[
            "ip", "link", "add", "thalweg", "type", "veth", "peer", "name", "thalweg", "netns",
            &peer,
        ])?;
        for (host, address) in [(&near, NEAR), (&far, FAR)] {
            let address = format!("{address}/30");
            host.run(&["ip", "address", "add", &address, "dev", "thalweg"])?;
            host.run(&["ip", "link", "set", "thalweg", "up"])?;
        }
        // Called as ssh is: with the host, then the words of a command for its shell.
        let enter = far.prefix().join(" ");
        let agent = scratch.write(
            "agent",
            format!("#!/bin/sh\nshift\nexec {enter} sh -c \"$*\"\n"),
        );
        fs::set_permissions(&agent, Permissions::from_mode(0o755)).unwrap();
        let agent = agent.to_str().unwrap().to_owned();
        let _far = far;
        Ok(TwoHosts { near, _far, agent })
    }

    /// Runs ranks in turn on the near and the far host.
    fn run(&self, scratch: &Scratch, ranks: usize, args: &[&str]) -> Run {
        let each = ranks.div_ceil(2);
        let hosts = format!("{NEAR}:{each},{FAR}:{each}");
        let prefix = self.near.prefix();
        let prefix: Vec<&str> = prefix.iter().map(String::as_str).collect();
        let command = mpirun(scratch, &prefix, ranks, args);
        // The options of mpirun stand behind its name.
        let mut all = Command::new(command.get_program());
        let (before, behind): (Vec<_>, Vec<_>) = {
            let words: Vec<_> = command.get_args().map(|word| word.to_owned()).collect();
            let at = words.iter().position(|word| word == "mpirun").unwrap() + 1;
            (words[..at].to_vec(), words[at..].to_vec())
        };
        all.args(before);
        all.args([
            "--host",
            &hosts,
            "--map-by",
            "node",
            "--mca",
            "plm_rsh_agent",
            &self.agent,
        ]);
        all.args([
            "--mca",
            "btl_tcp_if_include",
            "thalweg",
            "--mca",
            "oob_tcp_if_include",
            "thalweg",
        ]);
        all.args(behind);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => all.env(name, value),
                None => all.env_remove(name),
            };
        }
        all.current_dir(crate::scratch::root());
        finish(all)
    }
}

/// Two hosts, or `None` with a word on why not.
fn two_hosts(scratch: &Scratch) -> Option<TwoHosts> {
    let hosts = TwoHosts::new(scratch);
    if let Err(why) = &hosts {
        eprintln!("PASSED OVER: no two hosts on this machine: {why}");
    }
    hosts.ok()
}

#[test]
fn streams_cross_hosts_by_mpi_and_beside_it() {
    let scratch = Scratch::new();
    let (Some(folder), Some(hosts)) = (library_folder(), two_hosts(&scratch)) else {
        return;
    };
    let vwap = "examples/vwap/Vwap.spl";
    let args = [&["run", vwap][..], &by_mpi(folder, "none")].concat();
    let run = hosts.run(&scratch, super::pe_count(vwap, "none"), &args);
    let expected = fs::read_to_string(crate::scratch::root().join("examples/vwap/expected.txt"));
    assert!(run.ok() == expected.unwrap(), "another output");
    let hello = "examples/hello/Hello.spl";
    let pes = "pe 0\n operators Greetings\npe 1\n operators Printer\n";
    for medium in ["mpi", "rum", "tcp"] {
        let crossing = format!("{pes}crossing Greetings.0 -> pe 1 on {medium}\n");
        let plan = scratch.write("hello.plan", crossing);
        let options = by_mpi(folder, plan.to_str().unwrap());
        let run = hosts.run(&scratch, 2, &[&["run", hello][..], &options].concat());
        let expected =
            fs::read_to_string(crate::scratch::root().join("examples/hello/expected.txt"));
        assert_eq!(run.ok(), expected.unwrap(), "{medium}");
    }
    let plan = scratch.write(
        "shm.plan",
        format!("{pes}crossing Greetings.0 -> pe 1 on shm\n"),
    );
    let options = by_mpi(folder, plan.to_str().unwrap());
    let run = hosts.run(&scratch, 2, &[&["run", hello][..], &options].concat());
    let words = "thalweg: stream Greetings.0 by shm: pe 1 is not on the host of rank 0";
    assert!(run.status != 0 && run.stderr.contains(words), "{run:?}");
}
