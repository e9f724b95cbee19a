//! Programs whose streams cross between ranks give what they give in one process.

use std::fs;

use super::{by_mpi, finish, library_folder, mpirun, pe_count};
use crate::examples;
use crate::programs::{sorted, split_programs_by};
use crate::scratch::Scratch;

/// Most ranks of a test: each is a process that starts MPI.
const RANKS_MAX: usize = 8;

#[test]
fn examples_give_over_mpi_what_they_should() {
    let Some(folder) = library_folder() else {
        return;
    };
    let mut count = 0;
    for program in examples::programs() {
        let file = program.to_str().unwrap();
        let ranks = pe_count(file, "none");
        if !(2..=RANKS_MAX).contains(&ranks) {
            continue;
        }
        count += 1;
        let expected = fs::read_to_string(program.with_file_name("expected.txt")).unwrap();
        let scratch = Scratch::new();
        let args = [&["run", file][..], &by_mpi(folder, "none")].concat();
        let run = finish(mpirun(&scratch, &[], ranks, &args));
        assert_eq!((run.status, &*run.stderr), (0, ""), "{file}");
        // The lines of two operators may come in any order.
        let is_expected = sorted(&run.stdout) == sorted(&expected);
        assert!(is_expected, "{file} gives\n{}", run.stdout);
    }
    assert!(count >= 5, "{count} examples");
}

#[test]
fn golden_programs_give_over_mpi_what_they_say() {
    let Some(folder) = library_folder() else {
        return;
    };
    let is_selected = |path: &str| {
        let kinds = ["/functor/", "/punct/", "/aggregate/"];
        let is_of_kind = kinds.iter().any(|kind| path.contains(kind));
        is_of_kind && (2..=RANKS_MAX).contains(&pe_count(path, "none"))
    };
    let start = |scratch: &Scratch, args: &[&str]| {
        let ranks = pe_count(args[1], "none");
        finish(mpirun(scratch, &[], ranks, args))
    };
    split_programs_by(&start, &by_mpi(folder, "none"), is_selected);
}

/// Several threads of a rank, one of them asleep on several ends, and a stream to several ranks.
#[test]
fn streams_part_and_meet_between_ranks() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let program = "composite Main {
        graph
            stream<int32 n> In = Beacon() {
                param iterations : 20000;
                output In : n = (int32) IterationCount();
            }
            stream<int32 n> Even = Filter(In) { param filter : n % 2 == 0; }
            stream<int32 n> Odd = Filter(In) { param filter : n % 2 == 1; }
            () as Sum = Custom(Even; Odd) {
                logic
                    state : { mutable int64 sum = 0l; mutable int32 finals = 0; }
                    onTuple Even : sum += (int64) n;
                    onTuple Odd : sum -= (int64) n;
                    onPunct Even : if (currentPunct() == Sys.FinalMarker) { finals++; if (finals == 2) println(sum); }
                    onPunct Odd : if (currentPunct() == Sys.FinalMarker) { finals++; if (finals == 2) println(sum); }
            }
    }";
    let file = scratch.write("Main.spl", program);
    let file = file.to_str().unwrap();
    for idle in ["adaptive", "park", "spin"] {
        for level in ["serialized", "funneled"] {
            let args = [&["run", file, "--idle", idle][..], &by_mpi(folder, "none")].concat();
            let mut command = mpirun(&scratch, &[], pe_count(file, "none"), &args);
            command.env("THALWEG_MPI_THREADS", level);
            assert_eq!(finish(command).ok(), "-10000\n", "{idle}, {level}");
        }
    }
}

/// Media without and with descriptors beside MPI, on one host.
#[test]
fn other_media_work_beside_mpi() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let program = "composite Main {
        graph
            stream<int32 n> A = Beacon() {
                param iterations : 1000;
                output A : n = (int32) IterationCount();
            }
            stream<int32 n> B = Functor(A) { output B : n = n + 1; }
            stream<int32 n> C = Functor(B) { output C : n = n + 1; }
            () as Out = Custom(C) { logic onTuple C : if (n % 500 == 1) println(n); }
    }";
    let file = scratch.write("Main.spl", program);
    let pes = "pe 0\n operators A\npe 1\n operators B\npe 2\n operators C\npe 3\n operators Out\n";
    for medium in ["shm", "rum", "tcp"] {
        let crossing = format!("{pes}crossing A.0 -> pe 1 on {medium}\n");
        let plan = scratch.write("some.plan", crossing);
        let options = by_mpi(folder, plan.to_str().unwrap());
        let args = [&["run", file.to_str().unwrap()][..], &options].concat();
        let run = finish(mpirun(&scratch, &[], 4, &args));
        assert_eq!(run.ok(), "501\n1001\n", "{medium}");
    }
}
