//! Where a serial port is: under a path, or wherever the adapter with a serial number is plugged in.

use std::{
    fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::WHICH_PORT;

/// How a port is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortName {
    /// By its path. A link such as `/dev/serial/by-id/...` follows the device to its next name.
    Path(PathBuf),
    /// By the serial number that its USB part tells, whatever its name is now.
    UsbSerial(String),
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortName::Path(path) => path.display().fmt(f),
            PortName::UsbSerial(number) => write!(f, "USB serial number {number}"),
        }
    }
}

/// Where the system keeps its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The kernel's list of terminals; `/sys/class/tty`.
    pub terminals: PathBuf,
    /// The device files; `/dev`.
    pub devices: PathBuf,
}

impl Default for Roots {
    fn default() -> Roots {
        Roots { terminals: "/sys/class/tty".into(), devices: "/dev".into() }
    }
}

/// A device file at one moment. Another one means that a device was plugged in, or that its permissions
/// changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The path that is opened.
    pub path: PathBuf,
    /// File system, file, device, and when the file was changed (not written).
    mark: (u64, u64, u64, i64, i64),
}

impl Sighting {
    /// Looks at a path, through links; nothing where there is nothing.
    pub fn of(path: PathBuf) -> Option<Sighting> {
        let seen = fs::metadata(&path).ok()?;
        Some(Sighting { mark: (seen.dev(), seen.ino(), seen.rdev(), seen.ctime(), seen.ctime_nsec()), path })
    }

    /// The number of the device, the same under all its names; nothing where this is no device.
    pub fn device(&self) -> Option<u64> {
        Some(self.mark.2).filter(|number| *number != 0)
    }
}

/// Why a port is not there, with what an operator can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Nothing has the path.
    Path {
        /// The path.
        path: PathBuf,
        /// The adapters that are plugged in, each with its serial number.
        there: Vec<(PathBuf, String)>,
    },
    /// No adapter has the serial number.
    UsbSerial {
        /// The number.
        number: String,
        /// The adapters that are plugged in, each with its serial number.
        there: Vec<(PathBuf, String)>,
    },
    /// Several ports have the serial number, and none is taken: cheap adapters have the same number all.
    Several {
        /// The number.
        number: String,
        /// The ports.
        ports: Vec<PathBuf>,
    },
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |there: &[(PathBuf, String)]| {
            let named = there.iter().map(|(path, number)| format!("{} ({number})", path.display()));
            if there.is_empty() { "none".to_owned() } else { named.collect::<Vec<_>>().join(", ") }
        };
        match self {
            Absent::Path { path, there } => {
                let path = path.display().to_string();
                let how = if path.contains("rfcomm") {
                    "`sudo rfcomm bind 0 ADDRESS 1` makes the port of a Bluetooth board"
                } else {
                    "`ls -l /dev/serial/by-id` shows its lasting name, and udev/60-touchmoved.rules makes links in \
                     /dev/touchmoved"
                };
                let there = list(there);
                write!(
                    f,
                    "{path}: no such device; is the board plugged in? {how}. Serial adapters on USB now: {there}"
                )
            }
            Absent::UsbSerial { number, there } => write!(
                f,
                "no serial adapter with the USB serial number {number} is plugged in; {WHICH_PORT}. Serial adapters \
                 on USB now: {}",
                list(there)
            ),
            Absent::Several { number, ports } => {
                let ports: Vec<_> = ports.iter().map(|port| port.display().to_string()).collect();
                write!(
                    f,
                    "{} all have the USB serial number {number}; `ls -l /dev/serial/by-path` shows each under the \
                     socket that it is in: give the name of the board's as port = \"...\" in place of serial-number",
                    ports.join(" and ")
                )
            }
        }
    }
}

impl std::error::Error for Absent {}

impl PortName {
    /// Looks for the port.
    pub fn sight(&self, roots: &Roots) -> Result<Sighting, Absent> {
        match self {
            PortName::Path(path) => Sighting::of(path.clone())
                .ok_or_else(|| Absent::Path { path: path.clone(), there: adapters(roots) }),
            PortName::UsbSerial(number) => {
                let there = adapters(roots);
                let ports: Vec<PathBuf> = there
                    .iter()
                    .filter(|(_, serial)| serial == number)
                    .map(|(path, _)| path.clone())
                    .collect();
                match ports.as_slice() {
                    [path] => Sighting::of(path.clone()),
                    [] => None,
                    [_, _, ..] => return Err(Absent::Several { number: number.clone(), ports }),
                }
                .ok_or_else(|| Absent::UsbSerial { number: number.clone(), there })
            }
        }
    }
}

/// The serial ports on USB with the serial numbers of their adapters, in the order of their names.
pub fn adapters(roots: &Roots) -> Vec<(PathBuf, String)> {
    let Ok(terminals) = fs::read_dir(&roots.terminals) else { return Vec::new() };
    let mut found: Vec<(PathBuf, String)> = terminals
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let text = name.to_str()?;
            let usb = text.starts_with("ttyUSB") || text.starts_with("ttyACM");
            let number = usb.then(|| usb_serial(&roots.terminals.join(&name).join("device")))??;
            Some((roots.devices.join(&name), number))
        })
        .collect();
    found.sort();
    found
}

/// The serial number of the USB device that a terminal belongs to: some directories above the terminal.
fn usb_serial(device: &Path) -> Option<String> {
    const DEPTH: usize = 5;
    let place = device.canonicalize().ok()?;
    let usb = place.ancestors().take(DEPTH).find(|above| above.join("idVendor").is_file())?;
    let number = fs::read_to_string(usb.join("serial")).ok()?;
    Some(number.trim().to_owned()).filter(|number| !number.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with these adapters: name and serial number.
    fn system(adapters: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { terminals: dir.path().join("class"), devices: dir.path().join("dev") };
        fs::create_dir_all(&roots.devices).unwrap();
        for (index, (name, serial)) in adapters.iter().enumerate() {
            let usb = dir.path().join(format!("devices/usb1/1-{index}"));
            let port = usb.join(format!("1-{index}:1.0")).join(name);
            fs::create_dir_all(&port).unwrap();
            fs::write(usb.join("idVendor"), "0403\n").unwrap();
            if !serial.is_empty() {
                fs::write(usb.join("serial"), format!("{serial}\n")).unwrap();
            }
            fs::create_dir_all(roots.terminals.join(name)).unwrap();
            std::os::unix::fs::symlink(&port, roots.terminals.join(name).join("device")).unwrap();
            fs::write(roots.devices.join(name), "").unwrap();
        }
        (dir, roots)
    }

    #[test]
    fn an_adapter_is_found_by_its_number_under_any_name() {
        let name = PortName::UsbSerial("A50285BI".into());
        for tty in ["ttyUSB0", "ttyUSB7", "ttyACM3"] {
            let (_dir, roots) = system(&[("ttyUSB1", "OTHER"), (tty, "A50285BI"), ("ttyUSB2", "")]);
            assert_eq!(name.sight(&roots).unwrap().path, roots.devices.join(tty));
        }
        let (_dir, roots) = system(&[("ttyUSB1", "OTHER"), ("ttyS0", "A50285BI")]);
        let text = name.sight(&roots).unwrap_err().to_string();
        assert!(text.contains("A50285BI") && text.contains("ttyUSB1 (OTHER)"), "{text}");
    }

    #[test]
    fn of_several_adapters_with_one_number_none_is_taken() {
        let name = PortName::UsbSerial("0001".into());
        let (_dir, roots) = system(&[("ttyUSB0", "0001"), ("ttyUSB1", "A1"), ("ttyUSB2", "0001")]);
        let absent = name.sight(&roots).unwrap_err();
        let ports = vec![roots.devices.join("ttyUSB0"), roots.devices.join("ttyUSB2")];
        assert_eq!(absent, Absent::Several { number: "0001".into(), ports });
        assert!(absent.to_string().contains("`ls -l /dev/serial/by-path`"), "{absent}");
        fs::remove_dir_all(roots.terminals.join("ttyUSB0")).unwrap();
        assert_eq!(name.sight(&roots).unwrap().path, roots.devices.join("ttyUSB2"));
    }

    #[test]
    fn a_system_without_terminals_has_no_adapters() {
        let roots = Roots { terminals: "/nowhere".into(), devices: "/nowhere".into() };
        assert_eq!(adapters(&roots), []);
        let missing = PortName::Path("/dev/rfcomm0".into()).sight(&roots).unwrap_err().to_string();
        assert!(missing.contains("rfcomm bind") && missing.contains("now: none"), "{missing}");
    }

    #[test]
    fn another_device_behind_a_link_is_another_sighting() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("dgt");
        assert_eq!(Sighting::of(link.clone()), None);
        let sight = |device: &str| {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(device, &link).unwrap();
            Sighting::of(link.clone())
        };
        assert!(sight("/dev/null").is_some());
        assert_eq!(sight("/dev/null"), sight("/dev/null"));
        assert_ne!(sight("/dev/null"), sight("/dev/zero"));
    }
}
