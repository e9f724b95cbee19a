//! A run of a query as data, and as words for another process.

use std::ffi::OsString;
use std::path::PathBuf;

/// A query, its cores, its events and where its results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTask {
    /// Number of the query.
    pub query: u32,
    /// Number of cores that the engine may use.
    pub cores: usize,
    /// Folder with the files of events.
    pub events: PathBuf,
    /// Beginning of the names of all files of results.
    pub results: PathBuf,
}

impl QueryTask {
    /// The words that [`QueryTask::from_args`] reads.
    pub fn to_args(&self) -> [OsString; 4] {
        [
            self.query.to_string().into(),
            self.cores.to_string().into(),
            self.events.clone().into(),
            self.results.clone().into(),
        ]
    }

    /// Reads the words of a task.
    ///
    /// # Errors
    /// The words are no task.
    pub fn from_args(args: &[String]) -> Result<QueryTask, String> {
        let [query, cores, events, results] = args else {
            return Err("a task has a query, cores, events and results".to_owned());
        };
        Ok(QueryTask {
            query: query.parse().map_err(|_| no_number(query))?,
            cores: cores.parse().map_err(|_| no_number(cores))?,
            events: events.into(),
            results: results.into(),
        })
    }

    /// The file of results of one of several workers.
    pub fn results_of_worker(&self, worker: usize) -> PathBuf {
        let mut path = self.results.clone().into_os_string();
        path.push(format!(".{worker}"));
        path.into()
    }
}

fn no_number(word: &str) -> String {
    format!("`{word}` is no number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_as_they_are_written() {
        let task = QueryTask {
            query: 5,
            cores: 2,
            events: "events".into(),
            results: "results/own".into(),
        };
        let args = task.to_args().map(|word| word.into_string().unwrap());
        assert_eq!(QueryTask::from_args(&args), Ok(task.clone()));
        assert!(QueryTask::from_args(&args[1..]).is_err());
        assert!(QueryTask::from_args(&["x".to_owned()]).is_err());
        let second = task.results_of_worker(1);
        assert_eq!(second, PathBuf::from("results/own.1"));
    }
}
