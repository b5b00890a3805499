//! From what was measured to what is wrong. A rule that explains squares takes them from those that follow.

use shakmaty::Bitboard;

use super::{Cause, Finding, INITIAL, Probe};
use crate::sensor::matrix::{LINES, Layout, Rows};

/// A line has to have so many men before it can be called broken.
const MEN_OF_A_LINE: u32 = 2;

/// What is wrong where men stand on the squares of `expected` and on no others.
pub fn examine(probe: &Probe, expected: Bitboard, layout: &Layout) -> Vec<Finding> {
    let (ever, always) = probe.ever_and_always();
    let mut case = Case {
        probe,
        layout,
        expected: layout.rows(expected),
        quiet: probe.quiet,
        ever,
        always,
        findings: Vec::new(),
    };
    if case.is_turned(expected) {
        case.tell(Cause::Turned, Bitboard::EMPTY, None, None);
        return case.findings;
    }
    case.stuck_row();
    case.stuck_columns();
    if case.is_silent() {
        case.tell(Cause::Silent, Bitboard::EMPTY, None, None);
        return case.findings;
    }
    case.broken_lines();
    if case.has_no_diodes() {
        case.tell(Cause::NoDiodes, Bitboard::EMPTY, None, None);
        return case.findings;
    }
    case.slow_columns();
    case.shorted_diodes();
    case.single_contacts();
    case.findings
        .sort_by_key(|finding| (finding.cause, finding.row, finding.column, finding.squares.first()));
    case.findings
}

struct Case<'a> {
    probe: &'a Probe,
    layout: &'a Layout,
    /// The contacts that should read closed.
    expected: Rows,
    /// The columns that read closed while no row is driven and that nothing has explained.
    quiet: u8,
    /// Those that did, at least once and always. Rules set them to what is expected where they explain them.
    ever: Rows,
    always: Rows,
    findings: Vec<Finding>,
}

fn column_of(rows: &Rows, column: usize) -> u8 {
    rows.iter().enumerate().fold(0, |men, (row, columns)| men | (columns >> column & 1) << row)
}

fn all_columns(rows: &Rows) -> u8 {
    rows.iter().fold(0, |sum, columns| sum | columns)
}

impl Case<'_> {
    fn tell(&mut self, cause: Cause, squares: Bitboard, row: Option<usize>, column: Option<usize>) {
        self.findings.push(Finding { cause, squares, row, column });
    }

    fn squares(&self, rows: Rows) -> Bitboard {
        self.layout.occupied(&rows)
    }

    /// Contacts that are explained count as in order.
    fn explain(&mut self, contacts: &Rows) {
        let lines = self.ever.iter_mut().zip(&mut self.always).zip(self.expected).zip(contacts);
        for (((ever, always), expected), explained) in lines {
            *ever = *ever & !explained | expected & explained;
            *always = *always & !explained | expected & explained;
        }
    }

    fn explain_column(&mut self, column: usize) {
        self.explain(&[1 << column; LINES]);
    }

    fn is_turned(&self, expected: Bitboard) -> bool {
        let seen = self.layout.occupied(&self.always);
        expected == INITIAL && seen != INITIAL && seen.flip_diagonal() == INITIAL
    }

    /// A row that is driven all the time shows its men on every row. With men on all its squares it reads as eight
    /// stuck columns do, and as columns that are held at the wrong level.
    fn stuck_row(&mut self) {
        let quiet = self.probe.quiet;
        let rows: Vec<usize> =
            self.expected.iter().enumerate().filter(|(_, men)| **men == quiet).map(|(row, _)| row).collect();
        if quiet.count_ones() < MEN_OF_A_LINE || (rows.is_empty() && quiet != 0xff) {
            return;
        }
        let row = match rows.as_slice() {
            [row] => Some(*row),
            _ => None,
        };
        let men = std::array::from_fn(|row| if rows.contains(&row) { quiet } else { 0 });
        self.tell(Cause::RowStuck, self.squares(men), row, None);
        self.explain(&[quiet; LINES]);
        self.quiet = 0;
    }

    fn stuck_columns(&mut self) {
        let quiet = self.quiet;
        for column in (0..LINES).filter(|column| quiet >> column & 1 == 1) {
            let squares = self.squares([1 << column; LINES]);
            self.tell(Cause::ColumnStuck, squares, None, Some(column));
            self.explain_column(column);
        }
    }

    fn is_silent(&self) -> bool {
        let men: u32 = self.expected.iter().map(|columns| columns.count_ones()).sum();
        men > MEN_OF_A_LINE && all_columns(&self.ever) == 0 && self.probe.all == 0
    }

    fn broken_lines(&mut self) {
        for column in 0..LINES {
            let expected = column_of(&self.expected, column);
            let reads = column_of(&self.ever, column) != 0 || self.probe.all >> column & 1 == 1;
            if expected.count_ones() >= MEN_OF_A_LINE && !reads {
                let squares = self.squares(self.expected.map(|columns| columns & 1 << column));
                self.tell(Cause::ColumnBroken, squares, None, Some(column));
                self.explain_column(column);
            }
        }
        for row in 0..LINES {
            let line = |rows: &Rows| rows.get(row).copied().unwrap_or_default();
            // A matrix without diodes may lose whole rows: then others miss men in the same columns.
            if line(&self.expected).count_ones() < MEN_OF_A_LINE || line(&self.ever) != 0 || self.lost() != 0
            {
                continue;
            }
            let mut contacts = [0; LINES];
            if let Some(slot) = contacts.get_mut(row) {
                *slot = 0xff;
            }
            let squares = self
                .squares(std::array::from_fn(|other| if other == row { line(&self.expected) } else { 0 }));
            self.tell(Cause::RowBroken, squares, Some(row), None);
            self.explain(&contacts);
        }
    }

    /// Columns that are fed by all rows together and by none of them alone.
    fn lost(&self) -> u8 {
        self.probe.all & !all_columns(&self.always) & !self.probe.quiet
    }

    /// Current flows backwards in several columns, or the ghosts are those of a net without diodes.
    fn has_no_diodes(&self) -> bool {
        let many = |men: u8| men.count_ones() >= MEN_OF_A_LINE;
        let columns = || (0..LINES).filter(|column| many(column_of(&self.expected, *column)));
        let weak = |column: usize| {
            let missing = column_of(&self.expected, column) & !column_of(&self.always, column);
            missing == column_of(&self.expected, column) && self.probe.all >> column & 1 == 1
        };
        let (weak, among) = (columns().filter(|column| weak(*column)).count(), columns().count());
        if weak >= 2 && weak * 2 > among {
            return true;
        }
        let ghosts = through_shorts(&self.expected, &[0xff; LINES]);
        let extra: u32 = ghosts.iter().zip(self.expected).map(|(read, men)| (read & !men).count_ones()).sum();
        extra >= 2 && self.always == ghosts
    }

    /// What is gone when the columns get more time.
    fn slow_columns(&mut self) {
        let gone: Rows = std::array::from_fn(|row| {
            let line = |rows: &Rows| rows.get(row).copied().unwrap_or_default();
            line(&self.ever) & !line(&self.expected) & !line(&self.probe.patient)
        });
        let follows = gone.iter().enumerate().all(|(row, gone)| {
            let before =
                row.checked_sub(1).and_then(|row| self.probe.patient.get(row)).copied().unwrap_or_default();
            gone & !before == 0
        });
        if follows && gone != [0; LINES] {
            let squares = self.squares(gone);
            self.tell(Cause::SettleTooShort, squares, None, None);
            self.explain(&gone);
        }
    }

    /// One diode that conducts both ways: the other men of its column are drained by its row, or, where rows
    /// float, show the men of its row.
    fn shorted_diodes(&mut self) {
        for column in 0..LINES {
            let men = column_of(&self.expected, column);
            let (always, ever) = (column_of(&self.always, column), column_of(&self.ever, column));
            let weak = men & !always;
            let good = men & always;
            let drained = good.count_ones() == 1 && (weak.count_ones() >= 2 || weak & ever != 0);
            if drained && weak != 0 && self.probe.all >> column & 1 == 1 {
                let row = usize::try_from(good.trailing_zeros()).unwrap_or(0);
                let square = self.layout.square(row, column);
                self.tell(Cause::DiodeShorted, square.into_iter().collect(), Some(row), Some(column));
                self.explain_column(column);
            }
        }
        let extra = |rows: &Rows| rows.iter().zip(self.expected).any(|(read, men)| read & !men != 0);
        if !extra(&self.always) {
            return;
        }
        let mut suspects = [0; LINES];
        for at in 0..LINES * LINES {
            let (row, column) = (at / LINES, at % LINES);
            let mut shorted = [0; LINES];
            if let Some(slot) = shorted.get_mut(row) {
                *slot = 1 << column;
            }
            let ghosts = through_shorts(&self.expected, &shorted);
            if extra(&ghosts)
                && self.always == ghosts
                && let Some(slot) = suspects.get_mut(row)
            {
                *slot |= 1 << column;
            }
        }
        if suspects != [0; LINES] {
            let squares = self.squares(suspects);
            let (row, column) = self.layout.crossing(squares.first().unwrap_or(shakmaty::Square::A1));
            let one = squares.count() == 1;
            self.tell(Cause::DiodeShorted, squares, one.then_some(row), one.then_some(column));
            self.explain(&[0xff; LINES]);
        }
    }

    fn single_contacts(&mut self) {
        for row in 0..LINES {
            for column in 0..LINES {
                let read = |rows: &Rows| rows.get(row).is_some_and(|columns| columns >> column & 1 == 1);
                let cause = match (read(&self.expected), read(&self.ever), read(&self.always)) {
                    (_, true, false) => Cause::Unstable,
                    (true, false, _) => Cause::NeverCloses,
                    (false, true, true) => Cause::NeverOpens,
                    _ => continue,
                };
                let square = self.layout.square(row, column);
                self.tell(cause, square.into_iter().collect(), Some(row), Some(column));
            }
        }
    }
}

/// What is read of the closed contacts `closed` when the diodes of `shorted` conduct both ways and rows float.
fn through_shorts(closed: &Rows, shorted: &Rows) -> Rows {
    std::array::from_fn(|row| {
        let mut read = closed.get(row).copied().unwrap_or_default();
        for _ in 0..LINES {
            for (columns, shorted) in closed.iter().zip(shorted) {
                if columns & shorted & read != 0 {
                    read |= columns;
                }
            }
        }
        read
    })
}
