//! Plans that name hosts. Here all of them are this machine, by addresses of its loopback.

use crate::processes::media;
use crate::scratch::{Scratch, thalweg};

const PROGRAM: &str = "composite Main {
    graph
        stream<int32 n> Numbers = Beacon() {
            param iterations : 3;
            output Numbers : n = (int32) IterationCount();
        }
        () as Sink = Custom(Numbers) {
            logic onTuple Numbers : println(n);
        }
}";

const APART: &str = "pe 0\n host near\n operators Numbers\npe 1\n host far\n operators Sink\n";

const NEAR: &str = "near=127.0.0.2";

/// A process that is started by another command.
const FAR: &str = "far=127.0.0.3,env,THALWEG_FAR=1";

#[test]
fn streams_get_from_host_to_host() {
    let media = media().filter(|medium| *medium == "tcp" || medium.starts_with('r'));
    for medium in ["auto"].into_iter().chain(media) {
        let scratch = Scratch::new();
        let plan = scratch.write("apart.plan", APART);
        let plan = plan.to_str().unwrap();
        let hosts = ["--fuse", plan, "--host", NEAR, "--host", FAR, "-F", medium];
        assert_eq!(scratch.run(PROGRAM, &hosts).ok(), "0\n1\n2\n", "{medium}");
    }
}

/// Streams over two rails or Multipath TCP, between two hosts and within one.
#[test]
fn rails_carry_a_stream() {
    let scratch = Scratch::new();
    let by_library = ["on rum-rdma ", "on rdma mode=batch "].into_iter();
    let by_library = by_library.filter(|_| media().any(|medium| medium == "rdma"));
    for medium in ["", "on rum ", "on tcp "].into_iter().chain(by_library) {
        for rails in ["127.0.0.2 127.0.0.4", "mptcp"] {
            if rails == "mptcp" && medium.contains("rdma") {
                continue;
            }
            if rails == "mptcp" && !has_mptcp() {
                println!("PASSED OVER: this kernel has no Multipath TCP, or it is switched off");
                continue;
            }
            let crossing = format!("crossing Numbers -> pe 1 {medium}rails {rails}\n");
            let apart = scratch.write("apart.plan", format!("{APART}{crossing}"));
            let plan = apart.to_str().unwrap();
            let hosts = ["--fuse", plan, "--host", NEAR, "--host", FAR];
            assert_eq!(scratch.run(PROGRAM, &hosts).ok(), "0\n1\n2\n", "{crossing}");
            let near = "pe 0\n operators Numbers\npe 1\n operators Sink\n";
            let near = scratch.write("near.plan", format!("{near}{crossing}"));
            let near = ["--fuse", near.to_str().unwrap()];
            assert_eq!(scratch.run(PROGRAM, &near).ok(), "0\n1\n2\n", "{crossing}");
        }
    }
}

/// Whether the kernel lets programs use Multipath TCP.
fn has_mptcp() -> bool {
    let enabled = std::fs::read_to_string("/proc/sys/net/mptcp/enabled");
    enabled.is_ok_and(|enabled| enabled.trim() == "1")
}

#[test]
fn rails_are_refused_by_media_that_have_none_and_on_foreign_addresses() {
    let scratch = Scratch::new();
    let plan = |crossing: &str| {
        let pes = "pe 0\n operators Numbers\npe 1\n operators Sink\n";
        let text = format!("{pes}crossing Numbers -> pe 1 {crossing}");
        let file = scratch.write("rails.plan", text);
        file.to_str().unwrap().to_owned()
    };
    let run = |crossing: &str| scratch.run(PROGRAM, &["--fuse", &plan(crossing)]).fails(1);
    let program = scratch.write("Rails.spl", PROGRAM);
    let dump = |crossing: &str, options: &[&str]| {
        let plan = plan(crossing);
        let args = ["dump", "--stage", "plan", "--fuse", &plan];
        thalweg(&[&args[..], options, &[program.to_str().unwrap()]].concat())
    };
    let striped = "; media with `rails`: rum, tcp, rum-rdma\n";
    let by_kernel = "; media with `rails mptcp`: rum, tcp\n";
    let two = "127.0.0.2 127.0.0.4";
    for (medium, rails, why, media) in [
        ("shm", two, "shm has no rails", striped),
        ("shm", "mptcp", "shm has no rails", by_kernel),
        (
            "rdma",
            two,
            "rdma in mode write has no rails, which are for mode=batch",
            striped,
        ),
        (
            "rdma mode=channel",
            two,
            "rdma in mode channel has no rails, which are for mode=batch",
            striped,
        ),
        (
            "rum-rdma",
            "mptcp",
            "rum-rdma has no rails by Multipath TCP",
            by_kernel,
        ),
        (
            "rdma mode=batch device=lo",
            two,
            "rdma with device=lo has no rails: libfabric takes the device of each address",
            striped,
        ),
    ] {
        let crossing = format!("on {medium} rails {rails}");
        let sentence = format!("thalweg: `Numbers -> pe 1`: {why}{media}");
        assert_eq!(run(&crossing), sentence);
        // Before anything runs.
        assert_eq!(dump(&crossing, &[]).fails(1), sentence);
    }
    // Settings of the job are those of a crossing without its own.
    let by_batch = dump(&format!("on rdma rails {two}"), &["--rdma", "mode=batch"]);
    let by_batch = by_batch.ok();
    assert!(by_batch.contains("on rdma mode=batch rails"), "{by_batch}");
    let said = run("rails 127.0.0.2 192.0.2.1");
    assert!(said.contains("listen on 192.0.2.1 for Numbers.0"), "{said}");
}

/// The message names the status of the command, whatever connections its exit breaks.
#[test]
fn a_command_of_a_host_that_fails_is_said_with_its_status() {
    let scratch = Scratch::new();
    let plan = scratch.write("apart.plan", APART);
    let plan = plan.to_str().unwrap();
    let run = |far: &str| {
        let hosts = ["--fuse", plan, "--host", NEAR, "--host", far];
        scratch.run(PROGRAM, &hosts).fails(1)
    };
    let said = run("far=127.0.0.3,false");
    let sentence = "thalweg: pe 1 (Sink): ended with status 1 without reporting why\n";
    assert_eq!(said, sentence);
    // The status of PEs that cannot reach their launcher.
    let said = run("far=127.0.0.3,sh,-c,exit 3");
    assert!(said.contains("ended with status 3"), "{said}");
    let said = run("far=127.0.0.3,sh,-c,exec 0<&-; sleep 0.1; exit 3");
    assert!(said.contains("ended with status 3"), "{said}");
}

#[test]
fn what_does_not_leave_its_host_is_refused() {
    let scratch = Scratch::new();
    let plan = scratch.write("apart.plan", APART);
    let plan = plan.to_str().unwrap();
    let hosts = ["--fuse", plan, "--host", NEAR, "--host", FAR, "-F", "shm"];
    let said = scratch.run(PROGRAM, &hosts).fails(1);
    assert!(said.contains("medium `shm` does not cross hosts"), "{said}");
    assert!(said.contains("those that do: rum, tcp"), "{said}");
}

#[test]
fn hosts_are_described_once_and_for_all() {
    let scratch = Scratch::new();
    let plan = scratch.write("apart.plan", APART);
    let plan = plan.to_str().unwrap();
    let said = scratch
        .run(PROGRAM, &["--fuse", plan, "--host", NEAR])
        .fails(1);
    assert!(
        said.contains("pe 1 is to run on host far, which is not described"),
        "{said}"
    );
    let twice = ["--fuse", plan, "--host", NEAR, "--host", NEAR];
    let said = scratch.run(PROGRAM, &twice).fails(1);
    assert!(said.contains("host near is described twice"), "{said}");
    for wide in ["near=0.0.0.0", "near=::", "near=224.0.0.1"] {
        let said = thalweg(&["run", "--host", wide, "Main.spl"]).fails(2);
        assert!(
            said.contains("is not the address of a single host"),
            "{wide}: {said}"
        );
    }
    let half = APART.replace(" host near\n", "");
    let half = scratch.write("half.plan", half);
    let half = half.to_str().unwrap();
    let said = scratch
        .run(PROGRAM, &["--fuse", half, "--host", FAR])
        .fails(1);
    assert!(said.contains("pe 0 has no host, but others have"), "{said}");
    for wrong in ["near=here", "near=10.0.0.1:80"] {
        let said = thalweg(&["run", "--host", wrong, "Main.spl"]).fails(2);
        assert!(said.contains("is no IP address"), "{wrong}: {said}");
    }
    for wrong in ["near", "=127.0.0.1", "near=", "near=10.0.0.1,"] {
        let said = thalweg(&["run", "--host", wrong, "Main.spl"]).fails(2);
        assert!(
            said.contains("must have the form NAME=ADDRESS"),
            "{wrong}: {said}"
        );
    }
}
