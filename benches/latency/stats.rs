//! Percentiles.

/// Measured times in microseconds.
#[derive(Default)]
pub struct Sample {
    micros: Vec<u64>,
    missed: usize,
}

impl Sample {
    pub fn add(&mut self, micros: u64) {
        self.micros.push(micros);
    }

    /// Counts something that was expected and did not come.
    pub fn miss(&mut self) {
        self.missed += 1;
    }

    /// Prints a line and gives the median. `floor`: a median to compare with.
    pub fn show(&self, name: &str, floor: Option<u64>) -> u64 {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let Some(last) = sorted.len().checked_sub(1) else {
            println!("  {name:<34} nothing measured, {} missed", self.missed);
            return 0;
        };
        let at = |percent: usize| sorted[last * percent / 100];
        let ratio = floor.filter(|floor| *floor > 0).map_or_else(String::new, |floor| {
            let tenths = at(50) * 10 / floor;
            format!("  p50 = {}.{} x floor", tenths / 10, tenths % 10)
        });
        println!(
            "  {name:<34} n {:>5}  missed {}  p50 {:>6}  p90 {:>6}  p99 {:>6}  max {:>6} us{ratio}",
            sorted.len(),
            self.missed,
            at(50),
            at(90),
            at(99),
            sorted[last],
        );
        at(50)
    }
}
