//! Messages about a job of ranks that cannot be: one sentence, with what to type or install.

use super::{by_mpi, finish, library_folder, mpirun};
use crate::scratch::{Scratch, command, thalweg};

const HELLO: &str = "examples/hello/Hello.spl";

/// The lines of this program among those of mpirun.
fn said(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines();
    lines.filter(|line| line.starts_with("thalweg: ")).collect()
}

#[test]
fn without_mpirun_it_is_said_how_to_start_ranks() {
    let Some(folder) = library_folder() else {
        return;
    };
    let args = [&["run", HELLO][..], &by_mpi(folder, "none")].concat();
    let stderr = thalweg(&args).fails(1);
    assert_eq!(said(&stderr).len(), 1, "{stderr}");
    assert!(stderr.contains("`mpirun -n 2 thalweg run ...`"), "{stderr}");
    // The plan alone names the medium.
    let scratch = Scratch::new();
    let pes = "pe 0\n operators Greetings\npe 1\n operators Printer\n";
    let plan = scratch.write(
        "by.plan",
        format!("{pes}crossing Greetings.0 -> pe 1 on mpi\n"),
    );
    let plan = plan.to_str().unwrap();
    let stderr = thalweg(&["run", HELLO, "--media-path", folder, "--fuse", plan]).fails(1);
    assert!(
        stderr.contains("`mpirun -n 2 thalweg run -F mpi ...`"),
        "{stderr}"
    );
    // A single PE needs no ranks.
    let args = [&["run", HELLO][..], &by_mpi(folder, "all")].concat();
    assert!(thalweg(&args).ok().starts_with("hello, world 0\n"));
}

#[test]
fn another_number_of_ranks_than_pes_is_said_once() {
    let Some(folder) = library_folder() else {
        return;
    };
    let args = [&["run", HELLO][..], &by_mpi(folder, "none")].concat();
    for (ranks, words) in [(1, "started 1 rank:"), (3, "started 3 ranks:")] {
        let scratch = Scratch::new();
        let run = finish(mpirun(&scratch, &[], ranks, &args));
        let stderr = run.fails(1);
        let lines = said(&stderr);
        assert_eq!(lines.len(), 1, "{stderr}");
        assert!(
            lines[0].starts_with("thalweg: the plan has 2 PEs, and mpirun has "),
            "{stderr}"
        );
        assert!(
            lines[0].contains(words) && lines[0].contains("`mpirun -n 2`"),
            "{stderr}"
        );
    }
}

#[test]
fn ranks_that_each_run_the_whole_job_are_warned_of_once() {
    if library_folder().is_none() {
        return;
    }
    let scratch = Scratch::new();
    let run = finish(mpirun(&scratch, &[], 2, &["run", HELLO]));
    let warning = "thalweg: warning: mpirun has started 2 processes, and each runs the whole job; \
                   with `-F mpi` they run one job together";
    assert_eq!(said(&run.stderr), [warning], "{}", run.stderr);
    let stdout = run.ok();
    assert_eq!(stdout.matches("hello, world 0\n").count(), 2, "{stdout}");
}

#[test]
fn errors_of_the_program_are_said_by_rank_0_alone() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let file = scratch.write("Wrong.spl", "composite Main { graph () as S = Custm() {} }");
    let args = [
        &["run", file.to_str().unwrap()][..],
        &by_mpi(folder, "none"),
    ]
    .concat();
    let run = finish(mpirun(&scratch, &[], 2, &args));
    let stderr = run.fails(1);
    assert_eq!(stderr.matches("unknown-operator").count(), 1, "{stderr}");
    let fault = "composite Main { graph
        stream<int32 n> In = Beacon() {
            param iterations : 3;
            output In : n = (int32) IterationCount();
        }
        () as Out = Custom(In) { logic onTuple In : println(1 / (n - 2)); }
    }";
    let file = scratch.write("Main.spl", fault);
    let args = [
        &["run", file.to_str().unwrap()][..],
        &by_mpi(folder, "none"),
    ]
    .concat();
    let run = finish(mpirun(&scratch, &[], 2, &args));
    assert_eq!(run.stdout, "0\n-1\n");
    let stderr = run.fails(1);
    let lines = said(&stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(
        lines[0].contains("pe 1: ") && lines[0].contains("division by zero"),
        "{stderr}"
    );
}

#[test]
fn a_missing_library_is_said_with_the_command_that_builds_it() {
    let empty = Scratch::new();
    let folder = empty.path("");
    let options = [
        "-F",
        "mpi",
        "--fuse",
        "none",
        "--media-path",
        folder.to_str().unwrap(),
    ];
    let args = [&["run", HELLO], &options[..]].concat();
    let stderr = thalweg(&args).fails(2);
    assert!(stderr.contains("`thalweg medium build mpi`"), "{stderr}");
    if library_folder().is_some() {
        let run = finish(mpirun(&empty, &[], 2, &args));
        let stderr = run.fails(2);
        assert_eq!(said(&stderr).len(), 1, "{stderr}");
    }
}

#[test]
fn a_compiler_that_is_missing_or_fails_is_said() {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    let build = |mpicc: &str| {
        let args = ["medium", "build", "mpi", "--mpicc", mpicc, "--out"];
        thalweg(&[&args[..], &[folder.to_str().unwrap()]].concat()).fails(1)
    };
    let stderr = build("/none/mpicc");
    assert!(
        stderr.starts_with("thalweg: there is no `/none/mpicc`: install"),
        "{stderr}"
    );
    assert!(stderr.contains("libopenmpi-dev"), "{stderr}");
    let stderr = build("false");
    assert!(
        stderr.contains("`false` cannot compile the library of mpi"),
        "{stderr}"
    );
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, 0, "files are left");
    // A compiler that is no wrapper, unless the header is where every compiler looks.
    let args = ["medium", "build", "mpi", "--mpicc", "cc", "--out"];
    let run = thalweg(&[&args[..], &[folder.to_str().unwrap()]].concat());
    if run.status != 0 {
        let stderr = run.fails(1);
        let words = "thalweg: `cc` does not find mpi.h, so it is not the compiler wrapper of an MPI: \
                     name that, mostly `mpicc`, by --mpicc COMMAND";
        assert!(stderr.starts_with(words), "{stderr}");
    }
    // A folder that is not there is made, but for one within a file.
    let file = scratch.write("taken", "");
    let within = file.join("media");
    let within = within.to_str().unwrap();
    let stderr = thalweg(&["medium", "build", "mpi", "--out", within]).fails(2);
    assert!(
        stderr.contains(&format!("there is no folder {within}")),
        "{stderr}"
    );
}

#[test]
fn a_level_of_threads_that_is_none_is_said() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let args = [&["run", HELLO][..], &by_mpi(folder, "none")].concat();
    let mut command = mpirun(&scratch, &[], 2, &args);
    command.env("THALWEG_MPI_THREADS", "many");
    let stderr = finish(command).fails(1);
    let words = "THALWEG_MPI_THREADS has to be `serialized` or `funneled`";
    assert!(
        said(&stderr).iter().any(|line| line.contains(words)),
        "{stderr}"
    );
}

/// Each process of a plain launch, as a rank of its own, would run the whole program.
#[test]
fn a_library_of_another_mpi_is_found_out() {
    let Some(folder) = library_folder() else {
        return;
    };
    // OpenMPI knows nothing of these variables: each process is a job of its own for it. The files
    // of such a job stay behind, in the test's folder.
    let scratch = Scratch::new();
    let args = [&["run", HELLO][..], &by_mpi(folder, "none")].concat();
    let mut command = command(&args);
    command
        .env("TMPDIR", scratch.path(""))
        .env("PMI_RANK", "0")
        .env("PMI_SIZE", "2")
        .env("MPI_LOCALNRANKS", "2");
    let stderr = finish(command).fails(1);
    assert_eq!(said(&stderr).len(), 1, "{stderr}");
    let words = "says that this is rank 0 of 1, and the command that started it says rank 0 of 2";
    assert!(
        stderr.contains(words) && stderr.contains("--mpicc COMMAND"),
        "{stderr}"
    );
}
