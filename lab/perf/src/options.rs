//! Options of the three programs, and the line that repeats them.

use std::fmt::Write;
use std::path::PathBuf;

use topic::PublisherConfig;

use crate::error::Error;
use crate::message::MESSAGE_BYTES_MIN;

/// Name of the topic, unless another is given.
pub const DEFAULT_TOPIC: &str = "smx_perf";

/// Flags that say how a publisher sends: a bit map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishFlags(pub u32);

impl PublishFlags {
    /// Flag: messages carry the time at which they were sent.
    pub const TIMESTAMP: u32 = 1;
    /// Flag: a full ring does not make the sender wait; the send is counted and tried again.
    pub const NON_BLOCKING: u32 = 2;
    /// Flag: messages are copied into the ring instead of being built there.
    pub const GENERIC: u32 = 4;
    /// All flags that there are.
    pub const ALL: u32 = 7;

    pub(crate) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Only this flag, if it is set.
    pub(crate) fn masked(self, flag: u32) -> PublishFlags {
        PublishFlags(self.0 & flag)
    }
}

/// The processor of the time-critical thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuAffinity {
    /// The processor that the user has requested.
    Requested(u32),
    /// The default processor, used if it exists.
    Preferred(u32),
}

impl CpuAffinity {
    fn cpu(self) -> u32 {
        let (CpuAffinity::Requested(cpu) | CpuAffinity::Preferred(cpu)) = self;
        cpu
    }
}

/// Options of the publisher.
#[derive(Clone, Debug)]
pub struct PublishOptions {
    /// Processor of the sending thread.
    pub affinity_cpu: CpuAffinity,
    /// Configuration files, in the order in which they are read.
    pub config: Vec<PathBuf>,
    /// Flags that say how it sends.
    pub flags: PublishFlags,
    /// Loops of a jitter measurement, which replaces sending; 0: none.
    pub jitter_loops: u64,
    /// Milliseconds that the publisher stays after its last message.
    pub linger_ms: u64,
    /// Bytes of a message.
    pub msg_len: u64,
    /// Number of measured messages.
    pub num_msgs: u64,
    /// Messages a second, at least 1.
    pub rate: u64,
    /// Name of the topic.
    pub topic: String,
    /// Number of warm-up messages before the measured ones.
    pub warmup_loops: u64,
}

/// Options of the subscriber.
#[derive(Clone, Debug)]
pub struct SubscribeOptions {
    /// Processor of the receiving thread.
    pub affinity_cpu: CpuAffinity,
    /// Configuration files, in the order in which they are read.
    pub config: Vec<PathBuf>,
    /// Whether messages are only counted, not measured.
    pub fast: bool,
    /// Turns of an empty loop for each message, as simulated work.
    pub spin_cnt: u64,
    /// Name of the topic.
    pub topic: String,
}

/// Options of the jitter measurement.
#[derive(Clone, Debug)]
pub struct JitterOptions {
    /// Processor of the measuring thread.
    pub affinity_cpu: CpuAffinity,
    /// Number of pairs of readings.
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
    /// Reads the configuration files, and checks that the options fit together.
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

    /// Line with the options, as smx_perf prints it.
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
    /// Reads the configuration files. They hold nothing that a subscriber needs, but they may be
    /// wrong.
    pub(crate) fn config(&self) -> Result<PublisherConfig, Error> {
        read_config(&self.config)
    }

    /// Line with the options, as smx_perf prints it.
    pub(crate) fn options_line(&self) -> String {
        let mut line = format!(
            "o_affinity_cpu={}, o_config={}, ",
            self.affinity_cpu.cpu(),
            last_file_name(&self.config)
        );
        let (fast, spins, topic) = (u8::from(self.fast), self.spin_cnt, &self.topic);
        // Writing to a string does not fail.
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

/// Name of the last file, or the word that smx_perf prints if there is none.
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
