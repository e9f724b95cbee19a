//! The process, its job, its host, its environment.
//!
//! What a job was started with comes from [`eval::Services::property`], by the names used below; a
//! program that runs by itself has none of them, and the functions then give 0 or an empty string.

use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;

use eval::{NativeCall, NativeFn};
use tuple::Value;

use crate::function::arguments::{NativeArguments, NativeResult, VOID, rstring};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "stateful void shutdownPE()",
        "Asks the PE to shut down in an orderly way; the call returns at once.",
        |c| {
            c.services.shutdown();
            Ok(VOID)
        },
    ),
    utility(
        "stateful boolean isShutdown()",
        "Whether a shutdown of the PE was asked for.",
        |c| Ok(Value::Boolean(c.services.is_shutdown())),
    ),
    utility(
        "stateful void block(float64 time)",
        "Sleeps for a time in seconds, or until a shutdown.",
        |c| {
            let seconds = c.float64(0);
            c.services.pause(seconds)?;
            Ok(VOID)
        },
    )
    .with_counts(),
    utility(
        "rstring dataDirectory()",
        "The absolute path of the data directory.",
        |c| {
            let path = c.services.data_directory()?;
            c.bounded_rstring(path)
        },
    ),
    utility(
        "stateful rstring getEnvironmentVariable(rstring name)",
        "An environment variable; empty if it is not set.",
        |c| c.bounded_rstring(environment(c).unwrap_or_default()),
    ),
    utility(
        "stateful rstring getEnvironmentVariable(rstring name, rstring defaultValue)",
        "An environment variable, or the default value if it is not set.",
        |c| c.bounded_rstring(environment(c).unwrap_or_else(|| c.bytes(1).to_vec())),
    ),
    utility(
        "stateful rstring getEnvironmentVariable(rstring name, mutable boolean isSet)",
        "An environment variable, and whether it is set; empty if it is not.",
        |c| {
            let value = environment(c);
            c.set_boolean(1, value.is_some());
            c.bounded_rstring(value.unwrap_or_default())
        },
    ),
    utility(
        "stateful rstring mktemp(rstring templat)",
        "Creates an empty file whose name is the template with its last six characters, which must \
         be `XXXXXX`, replaced so that the name is new; a relative one is relative to the data \
         directory. Gives the name; empty if that fails.",
        make_temporary,
    ),
    utility(
        "uint64 jobID()",
        "The number of the job; 0 if there is none.",
        |c| number(c, "jobID"),
    ),
    utility("rstring getJobName()", "The name of the job.", |c| {
        property(c, "jobName")
    }),
    utility("rstring getJobGroup()", "The group of the job.", |c| {
        property(c, "jobGroup")
    }),
    utility(
        "rstring getApplicationName()",
        "The name of the application.",
        |c| property(c, "applicationName"),
    ),
    utility(
        "uint64 PEID()",
        "The number of the PE; 0 if there is none.",
        |c| number(c, "PEID"),
    ),
    utility("rstring instanceID()", "The name of the instance.", |c| {
        property(c, "instanceID")
    }),
    utility("rstring domainID()", "The name of the domain.", |c| {
        property(c, "domainID")
    }),
    utility(
        "uint32 getRelaunchCount()",
        "How often the PE was started again after a failure.",
        |c| match number(c, "relaunchCount")? {
            Value::Uint64(n) => Ok(Value::Uint32(n as u32)),
            other => Ok(other),
        },
    ),
    utility(
        "stateful rstring getHostName()",
        "The name of the host.",
        |c| c.bounded_rstring(host_name(c)),
    ),
    utility(
        "stateful rstring getShortHostName()",
        "The name of the host up to the first point.",
        |c| c.bounded_rstring(host_name(c).split('.').next().unwrap_or_default()),
    ),
    utility(
        "stateful rstring getConfiguredHostName()",
        "The name by which the host is known to the job; the name of the host if it has no other.",
        |c| {
            let configured = c.services.property("configuredHostName");
            c.bounded_rstring(configured.unwrap_or_else(|| host_name(c)))
        },
    ),
    utility(
        "stateful rstring getIPAddress()",
        "An address of the host, of version 4 if it has one; 127.0.0.1 if its name has no address.",
        |c| c.bounded_rstring(address(&host_name(c)).to_string()),
    ),
];

fn environment(c: &NativeCall<'_>) -> Option<Vec<u8>> {
    let name = c.text(0);
    // Such names cannot be set, and asking for them panics.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    std::env::var_os(&*name).map(std::ffi::OsString::into_encoded_bytes)
}

fn property(c: &mut NativeCall<'_>, name: &str) -> NativeResult {
    c.bounded_rstring(c.services.property(name).unwrap_or_default())
}

fn number(c: &mut NativeCall<'_>, name: &str) -> NativeResult {
    let number = c.services.property(name).and_then(|text| text.parse().ok());
    Ok(Value::Uint64(number.unwrap_or_default()))
}

fn host_name(c: &NativeCall<'_>) -> String {
    c.services.property("hostName").unwrap_or_else(|| {
        rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned()
    })
}

fn address(host: &str) -> IpAddr {
    let found = (host, 0)
        .to_socket_addrs()
        .into_iter()
        .flatten()
        .map(|address| address.ip());
    let rank = |ip: &IpAddr| (ip.is_loopback(), ip.is_ipv6());
    found
        .min_by_key(rank)
        .unwrap_or(IpAddr::from([127, 0, 0, 1]))
}

fn make_temporary(c: &mut NativeCall<'_>) -> NativeResult {
    use std::hash::{BuildHasher, RandomState};
    use std::os::unix::fs::OpenOptionsExt;

    const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const ATTEMPTS_MAX: u32 = 100;

    let template = c.text(0).into_owned();
    let Some(stem) = template.strip_suffix("XXXXXX") else {
        return Ok(rstring(""));
    };
    let directory = match stem.starts_with('/') {
        true => String::new(),
        false => c.services.data_directory()?,
    };
    for attempt in 0..ATTEMPTS_MAX {
        let mut random = RandomState::new().hash_one(attempt);
        let mut name = stem.to_string();
        for _ in 0..6 {
            name.push(char::from(LETTERS[(random % 62) as usize]));
            random /= 62;
        }
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        match options.open(Path::new(&directory).join(&name)) {
            Ok(_) => return c.bounded_rstring(name),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => break,
        }
    }
    Ok(rstring(""))
}
