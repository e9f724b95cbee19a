//! Plans of `--fuse cola` on several hosts: pools and placements of a program, the options that
//! describe hosts, and what is said if they do not suffice.

use crate::scratch::{Run, Scratch, thalweg};

const PROGRAM: &str = "composite Main {
    graph
        stream<uint64 n> Numbers = Beacon() {
            param iterations : 5;
            output Numbers : n = IterationCount();
            config placement : host(Ingest);
        }
        stream<uint64 n> Doubled = Custom(Numbers) {
            logic onTuple Numbers : submit({ n = 2ul * n }, Doubled);
            config placement : hostExlocation(\"x\");
        }
        () as Printer = Custom(Doubled) {
            logic onTuple Doubled : println(n);
            config placement : hostExlocation(\"x\"), host(\"far\");
        }
    config
        hostPool : Ingest = createPool({ size = 1u, tags = [\"ingest\"] }, Sys.Exclusive);
}
";

const HOSTS: [&str; 6] = [
    "--host",
    "near=127.0.0.1",
    "--host",
    "far=127.0.0.2",
    "--host",
    "other=127.0.0.3",
];

fn run(command: &[&str], options: &[&str]) -> Run {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", PROGRAM);
    let file = file.to_str().unwrap();
    thalweg(&[command, &["--fuse", "cola"], options, &[file]].concat())
}

/// The host line of the process that has an operator.
fn host_of(plan: &str, operator: &str) -> String {
    let mut own = plan.lines().map(str::trim).skip_while(|line| {
        let names = line.strip_prefix("operators ").unwrap_or_default();
        names.split(' ').all(|name| name != operator)
    });
    own.nth(1).unwrap_or_default().to_owned()
}

#[test]
fn processes_get_the_hosts_that_the_program_asks_for() {
    let tags = ["--host-tags", "other=ingest,fast"];
    let plan = run(&["dump", "--stage", "plan"], &[&HOSTS[..], &tags].concat());
    assert!(!plan.stderr.contains("is not kept"), "{}", plan.stderr);
    let plan = plan.ok();
    assert_eq!(host_of(&plan, "Numbers"), "host other", "{plan}");
    assert_eq!(host_of(&plan, "Doubled"), "host near", "{plan}");
    assert_eq!(host_of(&plan, "Printer"), "host far", "{plan}");
    let said = run(&["run"], &[&HOSTS[..], &tags].concat()).ok();
    assert_eq!(said, "0\n2\n4\n6\n8\n");
}

#[test]
fn an_explanation_names_the_hosts() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", PROGRAM);
    let tags = ["--host-tags", "other=ingest", file.to_str().unwrap()];
    let said = thalweg(&[&["plan", "explain"], &HOSTS[..], &tags].concat()).ok();
    assert!(
        said.contains("`Numbers` is in pe 0 on host other ("),
        "{said}"
    );
    assert!(
        said.contains("With another core on each host the best plan found"),
        "{said}"
    );
}

#[test]
fn hosts_that_do_not_suffice_are_told_with_places() {
    let dump = ["dump", "--stage", "plan"];
    let said = run(&dump, &HOSTS).fails(1);
    let why = "Main.spl:6:20: `Numbers` is placed on host(Ingest), but no host belongs to the pool \
               `Ingest = createPool({size = 1, tags = [\"ingest\"]}, Sys.Exclusive)`";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("the hosts are near, far, other"), "{said}");
    // The pool takes the host that the printer names.
    let said = run(
        &dump,
        &[&HOSTS[..], &["--host-tags", "far=ingest"]].concat(),
    )
    .fails(1);
    for part in [
        "`Numbers` has host(Ingest) here",
        "`Printer` has host(\"far\") here",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains("`Doubled`"), "{said}");
}

#[test]
fn options_of_hosts_are_checked() {
    let dump = ["dump", "--stage", "plan"];
    let said = run(&dump, &["--host-tags", "near=a"]).fails(2);
    let why = "--host-tags: host near is not described: --host near=ADDRESS says where it is";
    assert!(said.contains(why), "{said}");
    let twice = ["--host-cores", "far=1", "--host-cores", "far=2"];
    let said = run(&dump, &[&HOSTS[..], &twice].concat()).fails(2);
    assert!(
        said.contains("--host-cores is given twice for host far"),
        "{said}"
    );
    let said = run(&dump, &["--host-cores", "far=0"]).fails(2);
    assert!(said.contains("must have the form NAME=CORES"), "{said}");
    let said = run(&dump, &["--host", "a=127.0.0.1", "--host", "a=127.0.0.2"]).fails(1);
    assert!(
        said.contains("host a is described twice by --host"),
        "{said}"
    );
    let hello = "examples/hello/Hello.spl";
    let hosts = ["--host", "a=127.0.0.1", "--host-cores", "a=4"];
    let said = thalweg(&[&dump[..], &hosts, &[hello]].concat()).fails(2);
    let why = "--host-cores has an effect with `--fuse cola` only";
    assert!(said.contains(why), "{said}");
}
