//! Adapters with verbs as the system tells of them: their GIDs, and their traffic class.
//!
//! ```text
//!   /sys/class/infiniband/mlx5_0/ports/1/gids/3                        0000:...:ffff:0a00:0001
//!   /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos         104
//! ```
//! Connections are made by addresses (RDMA_CM), and each address of a port of RoCE is one of its
//! GIDs, as IPv6 writes it. So an index of a GID chooses an address. The traffic class of
//! connections is one of the system's, for all programs: libfabric's provider `verbs` sets none
//! (versions 1.17 to 2.3). So a class is asked for, and not set.

use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

use crate::Error;

/// Largest traffic class: a DSCP has 6 bits (RFC 2474).
pub(super) const CLASS_MAX: u8 = 63;

/// Folders of the system, elsewhere in tests.
#[derive(Clone, Debug)]
pub(super) struct AdapterFolders {
    /// Folder of adapters: their ports and GIDs.
    devices: PathBuf,
    /// Folder with defaults of RDMA_CM.
    defaults: PathBuf,
}

impl AdapterFolders {
    /// The folders of this system.
    pub(super) fn of_system() -> AdapterFolders {
        AdapterFolders {
            devices: "/sys/class/infiniband".into(),
            defaults: "/sys/kernel/config/rdma_cm".into(),
        }
    }

    /// Checks that there is a device of this name.
    ///
    /// # Errors
    /// No device has it; the sentence says which there are.
    fn check_device(&self, device: &str) -> Result<(), Error> {
        let entries = fs::read_dir(&self.devices).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        if names.iter().any(|name| name == device) {
            return Ok(());
        }
        Err(refused(match names.is_empty() {
            true => format!("there is no adapter `{device}`: this host has none"),
            false => format!(
                "there is no adapter `{device}`; this host has {}",
                names.join(", ")
            ),
        }))
    }

    /// The address that a GID of a device's first port is.
    ///
    /// # Errors
    /// The device or the GID does not exist, or the GID is no address that connections are made by.
    pub(super) fn address(&self, device: &str, gid: u16) -> Result<IpAddr, Error> {
        self.check_device(device)?;
        let file = self.devices.join(device).join("ports/1/gids");
        let text = read(&file.join(gid.to_string())).map_err(|why| {
            refused(format!(
                "gid {gid} of the device {device} cannot be read: {why}"
            ))
        })?;
        let address: Option<Ipv6Addr> = text.parse().ok();
        match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V6(address)) if address.is_unspecified() => Err(refused(format!(
                "gid {gid} of the device {device} is empty"
            ))),
            Some(IpAddr::V6(address)) if address.is_unicast_link_local() => Err(refused(format!(
                "gid {gid} of the device {device} is {address}, which is an address of one link \
                 alone; choose one of another address of the port"
            ))),
            Some(address) => Ok(address),
            None => Err(refused(format!(
                "gid {gid} of the device {device} is `{text}`, which is no address"
            ))),
        }
    }

    /// Checks that connections of a device's first port have a traffic class.
    ///
    /// # Errors
    /// No device has the name, it has another class, or the system does not say which; the sentence
    /// says how to set it.
    pub(super) fn check_class(&self, device: &str, class: u8) -> Result<(), Error> {
        self.check_device(device)?;
        let folder = self.defaults.join(device);
        let file = folder.join("ports/1/default_roce_tos");
        // Type of service: the class, and two bits of its own.
        let wanted = u32::from(class) << 2;
        let set = format!(
            "`mkdir -p {}; echo {wanted} > {}` as root sets it",
            folder.display(),
            file.display()
        );
        let found = match read(&file) {
            Ok(text) => text.parse::<u32>().map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        match found {
            Ok(found) if found >> 2 == wanted >> 2 => Ok(()),
            Ok(found) => Err(refused(format!(
                "connections of the device {device} have traffic class {}, not {class}; {set}",
                found >> 2
            ))),
            Err(why) => Err(refused(format!(
                "the traffic class of the device {device} cannot be read: {why}; {set}"
            ))),
        }
    }
}

/// The first line of a file.
fn read(file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

fn refused(why: String) -> Error {
    Error::Refused(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders below one that is removed when the value is dropped.
    struct TestFolders(AdapterFolders, PathBuf);

    impl TestFolders {
        fn new(name: &str) -> TestFolders {
            let root = std::env::temp_dir().join(format!("adapter-{name}-{}", std::process::id()));
            let folders = AdapterFolders {
                devices: root.join("devices"),
                defaults: root.join("defaults"),
            };
            TestFolders(folders, root)
        }

        fn write(&self, file: &str, text: &str) {
            let file = self.1.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }

    impl Drop for TestFolders {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.1);
        }
    }

    #[test]
    fn a_gid_is_an_address() {
        let folders = TestFolders::new("gid");
        for (gid, text) in [
            "fe80:0000:0000:0000:64c3:88ff:fe21:c121\n",
            "0000:0000:0000:0000:0000:ffff:0a75:0001\n",
            "fd00:0000:0000:0000:0000:0000:0000:0007\n",
            "0000:0000:0000:0000:0000:0000:0000:0000\n",
            "strange\n",
        ]
        .into_iter()
        .enumerate()
        {
            folders.write(&format!("devices/rxe0/ports/1/gids/{gid}"), text);
        }
        let address = |gid| {
            folders
                .0
                .address("rxe0", gid)
                .map_err(|why| why.to_string())
        };
        assert_eq!(address(1), Ok("10.117.0.1".parse().unwrap()));
        assert_eq!(address(2), Ok("fd00::7".parse().unwrap()));
        for (gid, why) in [
            (0, "an address of one link alone"),
            (3, "gid 3 of the device rxe0 is empty"),
            (4, "is `strange`, which is no address"),
            (5, "gid 5 of the device rxe0 cannot be read"),
        ] {
            let refusal = address(gid).unwrap_err();
            assert!(refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_named_with_those_that_are() {
        let folders = TestFolders::new("device");
        let checks = |device| {
            let (address, class) = (
                folders.0.address(device, 0),
                folders.0.check_class(device, 1),
            );
            [address.map(drop), class].map(|checked| checked.unwrap_err().to_string())
        };
        let none = "there is no adapter `rxe7`: this host has none";
        assert_eq!(checks("rxe7"), [none, none]);
        folders.write("devices/rxe1/ports/1/gids/0", "");
        folders.write("devices/rxe0/ports/1/gids/0", "");
        let others = "there is no adapter `rxe7`; this host has rxe0, rxe1";
        assert_eq!(checks("rxe7"), [others, others]);
    }

    #[test]
    fn a_class_is_that_of_the_system() {
        let folders = TestFolders::new("class");
        folders.write("devices/rxe0/ports/1/gids/0", "");
        let check = |class| {
            let checked = folders.0.check_class("rxe0", class);
            checked.map_err(|why| why.to_string())
        };
        let unknown = check(26).unwrap_err();
        assert!(unknown.contains("cannot be read"), "{unknown}");
        assert!(unknown.contains("echo 104 > "), "{unknown}");
        folders.write("defaults/rxe0/ports/1/default_roce_tos", "106\n");
        assert_eq!(check(26), Ok(()));
        let other = check(8).unwrap_err();
        assert!(
            other.contains("have traffic class 26, not 8; `mkdir -p "),
            "{other}"
        );
    }
}
