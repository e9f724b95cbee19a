//! Settings of an edge over `rdma`, as words of a plan: `provider=verbs mode=channel`.

use std::sync::{Mutex, PoisonError};

use super::adapter::CLASS_MAX;
use super::provider::Provider;
use crate::{Error, MediumSetting};

/// The settings that there are.
pub(super) const SETTINGS: &[MediumSetting] = &[
    MediumSetting {
        key: "provider",
        values: &[
            Provider::Tcp.name(),
            Provider::Verbs.name(),
            Provider::Shm.name(),
        ],
        example: "provider=tcp",
    },
    MediumSetting {
        key: "mode",
        values: &[
            RdmaMode::Write.name(),
            RdmaMode::Channel.name(),
            RdmaMode::Batch.name(),
        ],
        example: "mode=write",
    },
    MediumSetting {
        key: "device",
        values: &[],
        example: "device=mlx5_0",
    },
    MediumSetting {
        key: "gid",
        values: &[],
        example: "gid=3",
    },
    MediumSetting {
        key: "class",
        values: &[],
        example: "class=26",
    },
];

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

impl RdmaMode {
    /// Name of the mode in settings.
    pub(super) const fn name(self) -> &'static str {
        match self {
            RdmaMode::Write => "write",
            RdmaMode::Channel => "channel",
            RdmaMode::Batch => "batch",
        }
    }
}

/// Provider and mode of an edge, and the part of an adapter that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RdmaSettings {
    pub(super) provider: Provider,
    pub(super) mode: RdmaMode,
    /// Name of the device at libfabric, such as `mlx5_0`; `None`: the one that has the address.
    pub(super) device: Option<&'static str>,
    /// Index of the GID of the device's first port whose address is used.
    pub(super) gid: Option<u16>,
    /// Traffic class (DSCP) that connections of the device have to have.
    pub(super) class: Option<u8>,
}

impl RdmaSettings {
    pub(super) const DEFAULT: RdmaSettings = RdmaSettings {
        provider: Provider::Tcp,
        mode: RdmaMode::Write,
        device: None,
        gid: None,
        class: None,
    };

    /// Reads settings: words `key=value` with blanks between them, each key once at most.
    ///
    /// # Errors
    /// A word is no setting, its value is not one of those there are, or the provider cannot do it.
    pub(super) fn parse(text: &str) -> Result<RdmaSettings, Error> {
        let mut settings = RdmaSettings::DEFAULT;
        let mut keys: Vec<&str> = Vec::new();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if keys.contains(&key) {
                return Err(refusal(format!("`{key}` is there twice")));
            }
            keys.push(key);
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key)
                && value.is_empty()
            {
                let example = setting.example;
                return Err(refusal(format!("`{key}` needs a value, as in `{example}`")));
            }
            settings.set(key, value).map_err(refusal)?;
        }
        settings.check().map_err(refusal)?;
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "provider" => self.provider = provider(value)?,
            "mode" => self.mode = mode(value)?,
            "device" => self.device = Some(device(value)?),
            "gid" => {
                let why = "`gid` is the number of a GID of the device's port, as in gid=3";
                self.gid = Some(value.parse().map_err(|_| why.to_owned())?);
            }
            "class" => {
                let class = value.parse().ok().filter(|class| *class <= CLASS_MAX);
                let why = || format!("`class` is a traffic class (DSCP), 0 to {CLASS_MAX}");
                self.class = Some(class.ok_or_else(why)?);
            }
            _ => {
                return Err(format!(
                    "`{key}` is no setting; there are provider, mode, device, gid and class"
                ));
            }
        }
        Ok(())
    }

    /// Checks that the settings go together.
    fn check(&self) -> Result<(), String> {
        if self.mode == RdmaMode::Batch && self.provider == Provider::Shm {
            let why = "mode batch runs over the providers tcp and verbs; within a host, mode write \
                       runs over shm";
            return Err(why.to_owned());
        }
        if self.mode == RdmaMode::Channel && self.provider == Provider::Shm {
            let why = "the provider shm takes messages of at most 4,096 bytes, fewer than mode \
                       channel sends; mode write runs over it";
            return Err(why.to_owned());
        }
        if self.provider == Provider::Shm && self.device.is_some() {
            return Err("the provider shm has no devices".to_owned());
        }
        let of_adapters = [("gid", self.gid.is_some()), ("class", self.class.is_some())];
        for (key, is_set) in of_adapters {
            if is_set && self.provider != Provider::Verbs {
                let provider = self.provider.name();
                return Err(format!(
                    "`{key}` is a setting of the provider verbs; the provider {provider} has none"
                ));
            }
            if is_set && self.device.is_none() {
                return Err(format!("`{key}` needs `device`, whose {key} it is"));
            }
        }
        Ok(())
    }
}

fn provider(name: &str) -> Result<Provider, String> {
    Provider::find(name).ok_or_else(|| {
        let names = Provider::ALL.map(Provider::name).join(", ");
        format!("there is no provider `{name}`; there are {names}")
    })
}

fn mode(name: &str) -> Result<RdmaMode, String> {
    match name {
        "write" => Ok(RdmaMode::Write),
        "channel" => Ok(RdmaMode::Channel),
        "batch" => Ok(RdmaMode::Batch),
        _ => Err(format!(
            "there is no mode `{name}`; there are write, channel and batch"
        )),
    }
}

/// The one copy of a device's name, which stays as long as the process.
fn device(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_in_name) {
        return Err(format!(
            "`{name}` is no name of a device; `fi_info` lists those there are as domains"
        ));
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return Ok(known);
    }
    let name: &'static str = Box::leak(name.into());
    names.push(name);
    Ok(name)
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
        let all = parsed("class=26 gid=3 device=mlx5_0 mode=channel provider=verbs");
        let expected = RdmaSettings {
            provider: Provider::Verbs,
            mode: RdmaMode::Channel,
            device: Some("mlx5_0"),
            gid: Some(3),
            class: Some(26),
        };
        assert_eq!(all, expected);
        let (one, two) = (parsed("device=eth0"), parsed("device=eth0"));
        let name = |settings: RdmaSettings| settings.device.unwrap().as_ptr();
        assert_eq!(name(one), name(two), "a name is kept once");
    }

    #[test]
    fn examples_are_settings_and_values_are_known() {
        for setting in SETTINGS {
            let text = match setting.key {
                "gid" | "class" => format!("provider=verbs device=a {}", setting.example),
                _ => setting.example.to_owned(),
            };
            assert!(RdmaSettings::parse(&text).is_ok(), "{text}");
            for value in setting.values {
                let text = format!("{}={value}", setting.key);
                assert!(RdmaSettings::parse(&text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn other_words_are_said() {
        let device = "is no name of a device; `fi_info` lists those there are as domains";
        for (text, why) in [
            (
                "mode=best",
                "there is no mode `best`; there are write, channel and batch",
            ),
            ("mode", "`mode` needs a value, as in `mode=write`"),
            ("mode=", "`mode` needs a value, as in `mode=write`"),
            (
                "provider=pigeon",
                "there is no provider `pigeon`; there are tcp, verbs, shm",
            ),
            (
                "speed=9",
                "`speed` is no setting; there are provider, mode, device, gid and class",
            ),
            ("mode=write mode=write", "`mode` is there twice"),
            ("device", "`device` needs a value, as in `device=mlx5_0`"),
            ("device=a/b", &format!("`a/b` {device}")),
            ("device=..", &format!("`..` {device}")),
            (
                "provider=verbs gid=x",
                "`gid` is the number of a GID of the device's port, as in gid=3",
            ),
            (
                "provider=verbs class=64",
                "`class` is a traffic class (DSCP), 0 to 63",
            ),
            (
                "device=eth0 gid=1",
                "`gid` is a setting of the provider verbs; the provider tcp has none",
            ),
            (
                "provider=shm mode=batch",
                "mode batch runs over the providers tcp and verbs; within a host, mode write runs \
                 over shm",
            ),
            (
                "provider=shm mode=channel",
                "the provider shm takes messages of at most 4,096 bytes, fewer than mode channel \
                 sends; mode write runs over it",
            ),
            (
                "provider=shm device=eth0",
                "the provider shm has no devices",
            ),
            (
                "provider=verbs class=1",
                "`class` needs `device`, whose class it is",
            ),
        ] {
            let refusal = RdmaSettings::parse(text).unwrap_err().to_string();
            assert_eq!(refusal, format!("settings of rdma: {why}"));
        }
    }
}
