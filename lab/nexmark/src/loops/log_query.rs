//! Query 10: bids in files, one for each minute.

use std::fs::{File, OpenOptions};
use std::io;

use super::fields::EventLine;
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;
use super::time::{day_text, minute_text};

/// Milliseconds of a minute.
const MINUTE_MS: i64 = 60_000;

/// The file of the latest bid's minute; other minutes' files are closed.
pub struct LogFiles {
    prefix: String,
    minute: i64,
    /// Day and minute as they are written.
    stamp: Vec<u8>,
    file: Option<ResultLines>,
}

impl LogFiles {
    /// Files whose names begin with this.
    pub fn new(prefix: String) -> LogFiles {
        LogFiles {
            prefix,
            minute: i64::MIN,
            stamp: Vec::new(),
            file: None,
        }
    }

    fn open(&mut self, time: i64) -> io::Result<()> {
        self.close()?;
        let (day, minute) = (day_text(time), minute_text(time));
        let parts = [&day[..], &minute].map(String::from_utf8_lossy);
        let name = format!("{}{}.csv", self.prefix, parts.join("-"));
        let file: File = OpenOptions::new().create(true).append(true).open(name)?;
        self.file = Some(ResultLines::new(file));
        self.stamp = [&day[..], b",", &minute].concat();
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.file.take().map_or(Ok(()), |mut file| file.flush())
    }
}

impl QueryLoop for LogFiles {
    fn event(&mut self, event: &EventLine<'_>, _: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let minute = bid.date_time.div_euclid(MINUTE_MS);
        if minute != self.minute {
            self.minute = minute;
            self.open(bid.date_time)?;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.number(bid.auction).number(bid.bidder);
        file.number(bid.price).number(bid.date_time);
        file.text(bid.extra).text(&self.stamp).end()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.close()
    }
}
