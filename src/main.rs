//! The `touchmoved` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    touchmoved::cli::main()
}
