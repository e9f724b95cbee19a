//! Settings of an edge over `rdma`, as words of a plan: `provider=tcp mode=channel`.

use crate::Error;

/// Keys that will be settings once there are providers for adapters.
const FUTURE_KEYS: [&str; 3] = ["device", "gid", "class"];

/// The way in which frames cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RdmaMode {
    /// By writes into a ring of the receiver's.
    #[default]
    Write,
    /// By messages, which fill buffers that the receiver has posted.
    Channel,
    /// By writes of batches, over connections that may break and be made again.
    Batch,
}

/// Provider and mode of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RdmaSettings {
    /// Name of libfabric's provider.
    pub(super) provider: &'static str,
    pub(super) mode: RdmaMode,
}

impl RdmaSettings {
    pub(super) const DEFAULT: RdmaSettings = RdmaSettings {
        provider: "tcp",
        mode: RdmaMode::Write,
    };

    /// Reads settings: words `key=value` with blanks between them, each key once at most.
    ///
    /// # Errors
    /// A word is no setting, or its value is not one of those there are.
    pub(super) fn parse(text: &str) -> Result<RdmaSettings, Error> {
        let mut settings = RdmaSettings::DEFAULT;
        let mut keys: Vec<&str> = Vec::new();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if keys.contains(&key) {
                return Err(refusal(format!("`{key}` is there twice")));
            }
            keys.push(key);
            match (key, value) {
                ("provider", "tcp") => settings.provider = "tcp",
                ("mode", "write") => settings.mode = RdmaMode::Write,
                ("mode", "channel") => settings.mode = RdmaMode::Channel,
                ("mode", "batch") => settings.mode = RdmaMode::Batch,
                ("provider", _) => {
                    let why = format!("the provider `{value}` cannot be used yet; `tcp` can");
                    return Err(refusal(why));
                }
                ("mode", _) => {
                    let why =
                        format!("there is no mode `{value}`; there are write, channel and batch");
                    return Err(refusal(why));
                }
                _ if FUTURE_KEYS.contains(&key) => {
                    let why = format!("`{key}` cannot be set yet; provider and mode can");
                    return Err(refusal(why));
                }
                _ => {
                    let why = format!("`{key}` is no setting; there are provider and mode");
                    return Err(refusal(why));
                }
            }
        }
        Ok(settings)
    }
}

fn refusal(why: String) -> Error {
    Error::Refused(format!("settings of rdma: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_settings() {
        let parsed = |text| RdmaSettings::parse(text).unwrap();
        assert_eq!(parsed(""), RdmaSettings::DEFAULT);
        assert_eq!(parsed("mode=write provider=tcp"), RdmaSettings::DEFAULT);
        assert_eq!(
            parsed(" provider=tcp  mode=channel").mode,
            RdmaMode::Channel
        );
    }

    #[test]
    fn other_words_are_said() {
        for (text, why) in [
            (
                "mode=read",
                "there is no mode `read`; there are write, channel and batch",
            ),
            (
                "mode",
                "there is no mode ``; there are write, channel and batch",
            ),
            (
                "provider=verbs",
                "the provider `verbs` cannot be used yet; `tcp` can",
            ),
            (
                "device=mlx5_0",
                "`device` cannot be set yet; provider and mode can",
            ),
            ("gid=1", "`gid` cannot be set yet; provider and mode can"),
            (
                "class=8",
                "`class` cannot be set yet; provider and mode can",
            ),
            (
                "speed=9",
                "`speed` is no setting; there are provider and mode",
            ),
            ("mode=write mode=write", "`mode` is there twice"),
        ] {
            let refusal = RdmaSettings::parse(text).unwrap_err().to_string();
            assert_eq!(refusal, format!("settings of rdma: {why}"));
        }
    }
}
