//! Ranks: processes of a job that mpirun, srun or a like program has started, one for each PE.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use transport::media;

use crate::error::Error;

/// Place of this process among the ranks that another program has started, as its environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankEnvironment {
    /// Number of this process, from 0.
    pub rank: u32,
    /// Number of ranks that were started.
    pub size: u32,
    /// Whether all ranks are on this host; `None`: the environment does not say.
    pub is_one_host: Option<bool>,
    /// Command that starts ranks, for sentences: `mpirun` or `srun`.
    pub started_by: &'static str,
}

/// Options of a launch whose PEs are ranks.
#[derive(Clone, Debug)]
pub struct RankOptions {
    /// Name of the medium of the ranks.
    pub medium: String,
    /// Folders in which its library is looked for.
    pub media_path: Vec<PathBuf>,
    /// Place of this process among the ranks; `None`: it is none.
    pub environment: Option<RankEnvironment>,
    /// Address at which the ranks of other hosts reach the launcher; `None`: all of this host.
    pub control_address: Option<IpAddr>,
}

/// Variables of a launcher that say rank, number of ranks, and ranks on this host.
struct RankVariables {
    rank: &'static str,
    size: &'static str,
    local_size: &'static str,
    /// Number of hosts, which some launchers give instead of the ranks on this one.
    hosts: &'static str,
    started_by: &'static str,
}

/// Variables of launchers, the most telling first: srun sets its own also where it starts ranks by
/// PMI. The variables of a step are set by srun alone, not in the script of a batch job.
const VARIABLES: [RankVariables; 3] = [
    RankVariables {
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_size: "OMPI_COMM_WORLD_LOCAL_SIZE",
        hosts: "",
        started_by: "mpirun",
    },
    RankVariables {
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        local_size: "",
        hosts: "SLURM_STEP_NUM_NODES",
        started_by: "srun",
    },
    RankVariables {
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        local_size: "MPI_LOCALNRANKS",
        hosts: "",
        started_by: "mpirun",
    },
];

impl RankEnvironment {
    /// Reads the environment of this process; `None`: no other program has started it as a rank.
    pub fn of_process() -> Option<RankEnvironment> {
        RankEnvironment::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads these variables; `None`: they are of no rank.
    fn from_variables(value: impl Fn(&str) -> Option<String>) -> Option<RankEnvironment> {
        let number = |name: &str| value(name)?.trim().parse::<u32>().ok();
        VARIABLES.iter().find_map(|variables| {
            let (rank, size) = (number(variables.rank)?, number(variables.size)?);
            let by_ranks = number(variables.local_size).map(|local| local == size);
            let by_hosts = number(variables.hosts).map(|hosts| hosts == 1);
            let environment = RankEnvironment {
                rank,
                size,
                is_one_host: by_ranks.or(by_hosts),
                started_by: variables.started_by,
            };
            Some(environment).filter(|_| rank < size)
        })
    }
}

impl RankOptions {
    /// Options for a medium by its name, if its processes are ranks: the library is looked for in
    /// the folders. `None`: they are not.
    pub fn of_medium(
        medium: &str,
        media_path: &[PathBuf],
        control_address: Option<IpAddr>,
    ) -> Option<RankOptions> {
        media::search(media_path);
        let medium = medium.to_lowercase();
        media::plugin::ranks_of(&medium).map(|_| RankOptions {
            medium,
            media_path: media_path.to_vec(),
            environment: RankEnvironment::of_process(),
            control_address,
        })
    }

    /// Checks that there is a rank for each of `pe_count` PEs.
    ///
    /// # Errors
    /// [`Error::Plan`]: no ranks, or another number of them.
    pub fn check(&self, pe_count: usize) -> Result<(), Error> {
        let pes = counted(pe_count, "PE");
        let medium = &self.medium;
        match &self.environment {
            None if pe_count == 1 => Ok(()),
            None => Err(Error::Plan(format!(
                "streams by {medium} cross between ranks, one for each of the {pes} of the plan: \
                 start them by `mpirun -n {pe_count} thalweg run ...` or `srun -n {pe_count} thalweg \
                 run ...`"
            ))),
            Some(environment) if environment.size as usize == pe_count => Ok(()),
            Some(environment) => Err(Error::Plan(format!(
                "the plan has {pes}, and {by} has started {ranks}: one rank is needed for each, by \
                 `{by} -n {pe_count}`, or a plan of so many PEs as ranks, by --fuse FILE",
                by = environment.started_by,
                ranks = counted(environment.size as usize, "rank"),
            ))),
        }
    }
}

fn counted(count: usize, noun: &str) -> impl fmt::Display + use<> {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Option<RankEnvironment> {
        RankEnvironment::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let open_mpi = [
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "3"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "3"),
            ("PMIX_RANK", "2"),
        ];
        let found = environment(&open_mpi).unwrap();
        let expected = (2, 3, Some(true), "mpirun");
        let RankEnvironment { rank, size, .. } = found;
        assert_eq!((rank, size, found.is_one_host, found.started_by), expected);
        let mpich = [
            ("PMI_RANK", "0"),
            ("PMI_SIZE", "4"),
            ("MPI_LOCALNRANKS", "2"),
        ];
        let found = environment(&mpich).unwrap();
        assert_eq!((found.size, found.is_one_host), (4, Some(false)));
        let slurm = [
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_NUM_TASKS", "2"),
            ("SLURM_STEP_NUM_NODES", "2"),
        ];
        let found = environment(&slurm).unwrap();
        assert_eq!((found.rank, found.is_one_host), (1, Some(false)));
        assert_eq!(found.started_by, "srun");
    }

    #[test]
    fn others_are_no_ranks() {
        assert_eq!(environment(&[]), None);
        // The script of a batch job has the first, and no step.
        assert_eq!(
            environment(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]),
            None
        );
        assert_eq!(environment(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), None);
        assert_eq!(environment(&[("PMI_RANK", "x"), ("PMI_SIZE", "4")]), None);
    }

    #[test]
    fn a_rank_is_needed_for_each_pe() {
        let options = |size: Option<u32>| RankOptions {
            medium: "mpi".to_owned(),
            media_path: Vec::new(),
            environment: size.map(|size| RankEnvironment {
                rank: 0,
                size,
                is_one_host: None,
                started_by: "mpirun",
            }),
            control_address: None,
        };
        assert!(options(None).check(1).is_ok() && options(Some(3)).check(3).is_ok());
        let said = options(None).check(3).unwrap_err().to_string();
        assert!(said.contains("`mpirun -n 3 thalweg run ...`"), "{said}");
        let said = options(Some(1)).check(3).unwrap_err().to_string();
        assert!(
            said.contains("has 3 PEs, and mpirun has started 1 rank: "),
            "{said}"
        );
    }
}
