//! The reed matrix on the lines of a GPIO chip, through the character device of Linux: any board, also a
//! Raspberry Pi. The kernel keeps the lines for this program, and lets nobody else have them.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use gpiocdev::{
    Request,
    line::{Bias, Value, Values},
    request::Builder,
};

use super::{
    LINES, MatrixPort, PortError, Settling,
    pins::{Chip, Pins, Polarity, Pull, refused},
};
use crate::sensor::SourceError;

/// Labels of the chips that the header of a Raspberry Pi belongs to. Their numbers differ between kernels.
const HEADERS: [&str; 3] = ["pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1"];

/// A matrix on a GPIO chip. The kernel gives the lines back when it is dropped, or when the program dies.
#[derive(Debug)]
pub struct CdevPort {
    name: String,
    request: Request,
    rows: [u32; LINES],
    columns: [u32; LINES],
    inputs: Vec<u32>,
    leds: Vec<u32>,
    /// What is set and what was read: made once.
    outgoing: Values,
    incoming: Values,
    settling: Settling,
}

impl CdevPort {
    /// Takes the lines.
    ///
    /// # Errors
    /// The chip is not there or belongs to another group, or it has no such line, or somebody else holds it.
    pub fn open(pins: &Pins, chip: &Chip) -> Result<CdevPort, SourceError> {
        let path = find(chip)?;
        let name = path.display().to_string();
        check(&name, &path, pins)?;
        let mut builder = Request::builder();
        builder.on_chip(&path).with_consumer("touchmoved");
        // Each set of lines says everything of itself: none takes anything from the one before.
        builder.with_lines(&pins.columns).as_input().with_bias(bias(pins.polarity, pins.pull));
        level(&mut builder, pins.polarity);
        builder.with_lines(&pins.rows).with_bias(None).as_output(Value::Inactive);
        level(&mut builder, pins.polarity);
        if !pins.inputs.is_empty() {
            let bias = bias(pins.inputs_polarity, Pull::Internal);
            builder.with_lines(&pins.inputs).as_input().with_bias(bias);
            level(&mut builder, pins.inputs_polarity);
        }
        if !pins.leds.is_empty() {
            builder.with_lines(&pins.leds).with_bias(None).as_output(Value::Inactive);
            level(&mut builder, pins.leds_polarity);
        }
        let request = builder.request().map_err(|error| {
            let remedy = "check that rows, columns, inputs and LEDs name lines that can be inputs and outputs, and that the \
                          chip has pull resistors (with external ones set pull = \"external\")";
            refused(&name, error.to_string(), remedy)
        })?;
        let read: Vec<u32> = pins.columns.iter().chain(&pins.inputs).copied().collect();
        Ok(CdevPort {
            name,
            request,
            rows: pins.rows,
            columns: pins.columns,
            inputs: pins.inputs.clone(),
            leds: pins.leds.clone(),
            outgoing: Values::from_offsets(&pins.rows),
            incoming: Values::from_offsets(&read),
            settling: Settling::of(pins.settle_us.min(5_000)),
        })
    }

    fn error(&self, error: &gpiocdev::Error) -> PortError {
        PortError(format!("{}: {error}", self.name))
    }

    fn set(&self, values: &Values) -> Result<(), PortError> {
        self.request.set_values(values).map_err(|error| self.error(&error))
    }

    fn closed(&self, lines: &[u32]) -> u32 {
        let active = |line: &u32| self.incoming.get(*line) == Some(Value::Active);
        lines.iter().enumerate().fold(0, |bits, (index, line)| bits | u32::from(active(line)) << index)
    }
}

fn level(lines: &mut Builder, polarity: Polarity) {
    match polarity {
        Polarity::ActiveHigh => lines.as_active_high(),
        Polarity::ActiveLow => lines.as_active_low(),
    };
}

const fn bias(polarity: Polarity, pull: Pull) -> Bias {
    match (pull, polarity) {
        (Pull::External, _) => Bias::Disabled,
        (Pull::Internal, Polarity::ActiveHigh) => Bias::PullDown,
        (Pull::Internal, Polarity::ActiveLow) => Bias::PullUp,
    }
}

impl MatrixPort for CdevPort {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        for (row, line) in self.rows.iter().enumerate() {
            self.outgoing.set(*line, value(rows >> row & 1 == 1));
        }
        self.set(&self.outgoing)
    }

    fn settle(&mut self) {
        self.settling.wait();
    }

    /// One call of the kernel for the columns and the inputs.
    fn read_columns(&mut self) -> Result<u8, PortError> {
        let read = self.request.values(&mut self.incoming);
        read.map_err(|error| self.error(&error))?;
        Ok(u8::try_from(self.closed(&self.columns) & 0xff).unwrap_or(0))
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        Ok(self.closed(&self.inputs))
    }

    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        if self.leds.is_empty() {
            return Ok(());
        }
        let mut values = Values::default();
        for (led, line) in self.leds.iter().enumerate() {
            values.set(*line, value(leds >> led & 1 == 1));
        }
        self.set(&values)
    }
}

const fn value(active: bool) -> Value {
    if active { Value::Active } else { Value::Inactive }
}

const ELSEWHERE: &str = "name it with backend = \"gpiocdev\", chip = \"/dev/gpiochipN\" or its label (gpiodetect lists \
                         them), and its rows and columns, or choose another sensor for this board";

/// The device of a chip, which can be opened.
fn find(chip: &Chip) -> Result<PathBuf, SourceError> {
    let wanted: &[&str] = match chip {
        Chip::Path(path) => {
            open(path)?;
            return Ok(path.clone());
        }
        Chip::Label(label) => &[label],
        Chip::Header => &HEADERS,
    };
    let mut refusal = None;
    for path in gpiocdev::chip::chips().unwrap_or_default() {
        match open(&path) {
            Ok(chip) if chip.info().is_ok_and(|info| wanted.contains(&info.label.as_str())) => {
                return Ok(path);
            }
            Ok(_) => {}
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or_else(|| {
        let reason = match chip {
            Chip::Label(label) => format!("no GPIO chip has the label {label:?}"),
            _ => "this machine has no GPIO chip of a Raspberry Pi".to_owned(),
        };
        refused("GPIO chip", reason, ELSEWHERE)
    }))
}

/// Opens a chip; the error says what is in the way.
fn open(path: &Path) -> Result<gpiocdev::Chip, SourceError> {
    let name = path.display().to_string();
    if let Err(error) = File::open(path) {
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => match group_of(path) {
                Some(group) => format!("add the user of the daemon to the group {group}"),
                None => "give the device to the group gpio (udev/60-touchmoved.rules) and add the user of the daemon \
                         to it"
                    .to_owned(),
            },
            _ => ELSEWHERE.to_owned(),
        };
        return Err(refused(&name, error.to_string(), remedy));
    }
    gpiocdev::Chip::from_path(path).map_err(|error| refused(&name, error.to_string(), ELSEWHERE))
}

/// The group that may open a device, unless that is root's.
fn group_of(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.gid() == 0 || metadata.mode() & 0o060 != 0o060 {
        return None;
    }
    let groups = fs::read_to_string("/etc/group").ok()?;
    Some(group_name(&groups, metadata.gid()).unwrap_or_else(|| metadata.gid().to_string()))
}

/// The name of a group in the text of `/etc/group`.
fn group_name(groups: &str, gid: u32) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
    })
}

/// Looks at every line before it is asked for: the kernel's refusal names none of them.
fn check(name: &str, path: &Path, pins: &Pins) -> Result<(), SourceError> {
    let chip = open(path)?;
    let fail = |error: gpiocdev::Error| refused(name, error.to_string(), ELSEWHERE);
    let lines = chip.info().map_err(fail)?.num_lines;
    let keys = [
        ("rows", &pins.rows[..]),
        ("columns", &pins.columns),
        ("the lever and the buttons", &pins.inputs),
        ("the LEDs", &pins.leds),
    ];
    for (key, line) in keys.into_iter().flat_map(|(key, lines)| lines.iter().map(move |line| (key, *line))) {
        if line >= lines {
            let reason =
                format!("it has no line {line}, which {key} names: its lines are 0 to {}", lines - 1);
            return Err(refused(name, reason, "correct the numbers (gpioinfo lists the lines of each chip)"));
        }
        let info = chip.line_info(line).map_err(fail)?;
        if info.used {
            let holder = if info.consumer.is_empty() { "the kernel" } else { info.consumer.as_str() };
            let reason = format!("line {line}, which {key} names, is held by {holder:?}");
            return Err(refused(
                name,
                reason,
                "end that program, or choose another line (gpioinfo shows who holds which)",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_that_is_not_there_is_named_with_what_to_do() {
        let error = CdevPort::open(&Pins::default(), &Chip::Path("/nowhere/gpiochip9".into())).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("/nowhere/gpiochip9: No such file or directory"), "{text}");
        assert!(text.contains("gpiodetect"), "{text}");
        let error = CdevPort::open(&Pins::default(), &Chip::Label("no-such-chip".to_owned())).unwrap_err();
        assert!(
            error.to_string().contains("no GPIO chip has the label \"no-such-chip\"; name it with backend"),
            "{error}"
        );
    }

    #[test]
    fn a_device_that_is_no_chip_is_refused() {
        let error =
            CdevPort::open(&Pins::default(), &Chip::Path("/dev/null".into())).unwrap_err().to_string();
        assert!(error.starts_with("/dev/null: \"/dev/null\" is not a GPIO character device"), "{error}");
    }

    #[test]
    fn groups_are_found_by_their_number() {
        let groups = "root:x:0:\ndialout:x:20:anna\ngpio:x:986:anna,touchmoved\n";
        assert_eq!(group_name(groups, 986).as_deref(), Some("gpio"));
        assert_eq!(group_name(groups, 20).as_deref(), Some("dialout"));
        assert_eq!(group_name(groups, 98), None);
    }
}
