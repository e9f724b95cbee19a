//! The options of the programs, and the line that repeats them.

use std::fmt::Write;
use std::path::PathBuf;

use topic::PublisherConfig;

use crate::error::Error;
use crate::message::MESSAGE_BYTES_MIN;

/// The topic, unless another is named.
pub const DEFAULT_TOPIC: &str = "smx_perf";

/// What the flags mean, for the help.
pub const FLAGS_HELP: &str = "1: time stamps, to measure latency; 2: non-blocking; 4: sends copies";

/// How a publisher sends: a bit map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishFlags(pub u32);

impl PublishFlags {
    /// Messages carry the time at which they were sent.
    pub const TIMESTAMP: u32 = 1;
    /// A full ring does not make the sender wait: the send is counted and tried again.
    pub const NON_BLOCKING: u32 = 2;
    /// Messages are copied into the ring instead of being made there.
    pub const GENERIC: u32 = 4;
    /// All of them.
    pub const ALL: u32 = 7;

    pub(crate) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Only that flag, if it is set.
    pub(crate) fn masked(self, flag: u32) -> PublishFlags {
        PublishFlags(self.0 & flag)
    }
}

/// The processor of the time-critical thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuAffinity {
    /// This one, by the user's wish.
    Requested(u32),
    /// This one, if there is one.
    Preferred(u32),
}

impl CpuAffinity {
    fn cpu(self) -> u32 {
        let (CpuAffinity::Requested(cpu) | CpuAffinity::Preferred(cpu)) = self;
        cpu
    }
}

/// Of the publisher.
#[derive(Clone, Debug)]
pub struct PublishOptions {
    /// Where the sending thread runs.
    pub affinity_cpu: CpuAffinity,
    /// Files, in their order.
    pub config: Vec<PathBuf>,
    /// How it sends.
    pub flags: PublishFlags,
    /// Loops of a jitter measurement, which is then all that is done.
    pub jitter_loops: u64,
    /// How long it stays after its last message.
    pub linger_ms: u64,
    /// Bytes of a message.
    pub msg_len: u64,
    /// How many messages are measured.
    pub num_msgs: u64,
    /// Messages a second, at least 1.
    pub rate: u64,
    /// The topic.
    pub topic: String,
    /// Messages before those that are measured.
    pub warmup_loops: u64,
}

/// Of the subscriber.
#[derive(Clone, Debug)]
pub struct SubscribeOptions {
    /// Where the receiving thread runs.
    pub affinity_cpu: CpuAffinity,
    /// Files, in their order.
    pub config: Vec<PathBuf>,
    /// Only counts.
    pub fast: bool,
    /// Turns of an empty loop for each message.
    pub spin_cnt: u64,
    /// The topic.
    pub topic: String,
}

/// Of the jitter measurement.
#[derive(Clone, Debug)]
pub struct JitterOptions {
    /// Where it runs.
    pub affinity_cpu: CpuAffinity,
    /// How many pairs of readings.
    pub jitter_loops: u64,
}

impl Default for PublishOptions {
    fn default() -> PublishOptions {
        PublishOptions {
            affinity_cpu: CpuAffinity::Preferred(1),
            config: Vec::new(),
            flags: PublishFlags::default(),
            jitter_loops: 0,
            linger_ms: 1000,
            msg_len: 25,
            num_msgs: 10_000_000,
            rate: 1_000_000,
            topic: DEFAULT_TOPIC.to_owned(),
            warmup_loops: 10_000,
        }
    }
}

impl Default for SubscribeOptions {
    fn default() -> SubscribeOptions {
        SubscribeOptions {
            affinity_cpu: CpuAffinity::Preferred(0),
            config: Vec::new(),
            fast: false,
            spin_cnt: 0,
            topic: DEFAULT_TOPIC.to_owned(),
        }
    }
}

impl Default for JitterOptions {
    fn default() -> JitterOptions {
        JitterOptions {
            affinity_cpu: CpuAffinity::Preferred(1),
            jitter_loops: 100_000_000,
        }
    }
}

impl PublishOptions {
    /// What the files say; that the options go together.
    pub(crate) fn config(&self) -> Result<PublisherConfig, Error> {
        let least = MESSAGE_BYTES_MIN as u64;
        if self.flags.has(PublishFlags::TIMESTAMP) && self.msg_len < least {
            return Err(Error::Option(format!(
                "a message with a time stamp (-f 1) has at least {least} bytes, not {} (-m)",
                self.msg_len
            )));
        }
        read_config(&self.config)
    }

    /// The options as smx_perf repeats them.
    pub(crate) fn options_line(&self) -> String {
        format!(
            "o_affinity_cpu={}, o_config={}, o_flags=0x{:02x}, o_jitter_loops={}, o_linger_ms={}, \
             o_msg_len={}, o_num_msgs={}, o_rate={}, o_topic='{}', o_warmup_loops={}, ",
            self.affinity_cpu.cpu(),
            last_file_name(&self.config),
            self.flags.0,
            self.jitter_loops,
            self.linger_ms,
            self.msg_len,
            self.num_msgs,
            self.rate,
            self.topic,
            self.warmup_loops,
        )
    }
}

impl SubscribeOptions {
    /// What the files say: nothing that a subscriber needs, but it may be wrong.
    pub(crate) fn config(&self) -> Result<PublisherConfig, Error> {
        read_config(&self.config)
    }

    /// The options as smx_perf repeats them.
    pub(crate) fn options_line(&self) -> String {
        let mut line = format!(
            "o_affinity_cpu={}, o_config={}, ",
            self.affinity_cpu.cpu(),
            last_file_name(&self.config)
        );
        let (fast, spins, topic) = (u8::from(self.fast), self.spin_cnt, &self.topic);
        // Writing to a text does not fail.
        let _ = write!(
            line,
            "o_fast={fast}, o_spin_cnt={spins}, o_topic='{topic}', "
        );
        line
    }
}

fn read_config(files: &[PathBuf]) -> Result<PublisherConfig, Error> {
    let mut config = PublisherConfig::default();
    for file in files {
        config.read(file)?;
    }
    Ok(config)
}

/// The last file's name; as smx_perf says it if there is none.
fn last_file_name(files: &[PathBuf]) -> String {
    files
        .last()
        .map_or("(null)".to_owned(), |file| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_document() {
        let options = PublishOptions {
            affinity_cpu: CpuAffinity::Requested(7),
            config: vec!["other.cfg".into(), "smx.cfg".into()],
            flags: PublishFlags(3),
            linger_ms: 2000,
            msg_len: 100,
            num_msgs: 2_500_000,
            rate: 250_000,
            ..PublishOptions::default()
        };
        assert_eq!(
            options.options_line(),
            "o_affinity_cpu=7, o_config=smx.cfg, o_flags=0x03, o_jitter_loops=0, \
             o_linger_ms=2000, o_msg_len=100, o_num_msgs=2500000, o_rate=250000, \
             o_topic='smx_perf', o_warmup_loops=10000, "
        );
        assert_eq!(
            SubscribeOptions::default().options_line(),
            "o_affinity_cpu=0, o_config=(null), o_fast=0, o_spin_cnt=0, o_topic='smx_perf', "
        );
    }

    #[test]
    fn a_time_stamp_needs_room() {
        let options = |flags, msg_len| PublishOptions {
            flags: PublishFlags(flags),
            msg_len,
            ..PublishOptions::default()
        };
        assert!(options(1, 23).config().is_err());
        assert!(options(1, 24).config().is_ok());
        assert!(options(6, 0).config().is_ok());
    }
}
