//! What evidence weighs: the costs of the readings, in thousandths of a nat.
//!
//! A cost is the negative logarithm of a probability ratio, so that costs of independent evidence
//! add up and a difference of 2300 between two readings says "ten times as likely". Integers keep
//! every replay bit-identical. Each value says what it means on a real board; they are starting
//! values from the handling rates that were assumed for tournament play, and can be measured by
//! counting the incident in recorded games: cost = -1000 ln(incidents / opportunities).

/// A cost in thousandths of a nat.
pub type Cost = u32;

/// Any move at all; keeps a reading with fewer moves ahead when nothing else speaks.
pub const MOVE: Cost = 250;
/// A capture whose target was never seen empty: the men were swapped faster than the sensor sees.
pub const UNSEEN_CAPTURE: Cost = 3_000;
/// The same, where the contact of the target opened for less than the debounce time.
pub const DIPPED_CAPTURE: Cost = 700;
/// The same while nobody read the board.
pub const MISSED_CAPTURE: Cost = 500;
/// A man that is not part of the move was lifted and put back meanwhile (adjusted, brushed).
pub const OTHER_TOUCHED: Cost = 350;
/// The same, and it does not stand beside the way of the man that moves.
pub const STRAY_MAN: Cost = 700;
/// A free square was filled for a moment that is not beside the way of the man that moves.
pub const STRAY_CONTACT: Cost = 2_000;
/// No square on its way was filled for a moment: the man was not slid.
pub const NOT_SLID: Cost = 250;
/// A contradiction that the reading has paid for is still there at the next move.
pub const PAID: Cost = 300;
/// A king or a rook moves, and the other man of its castling was in the air with it for longer than a brush.
pub const OTHER_CARRIED: Cost = 4_500;
/// A brush opens a contact for less than this, in microseconds.
pub const BRUSH_US: u64 = 250_000;
/// A man that a hand nudges in passing opens its contact for less than this, in microseconds.
pub const NUDGE_US: u64 = 100_000;
/// A man of the player who is next to move is missing: it is in that player's hand already.
pub const NEXT_IN_HAND: Cost = 1_500;
/// A man is lifted that the player to move does not own and cannot capture.
pub const IDLE_LIFT: Cost = 1_500;
/// A man of the mover is missing while the next player holds one of his own: it is being captured.
pub const VICTIM_IN_HAND: Cost = 2_000;
/// A man moves from a square on which it was never seen.
pub const FROM_UNSEEN: Cost = 1_500;
/// A man of the mover is missing: knocked over or off its sensor.
pub const OWN_MISSING: Cost = 6_000;
/// The mover's king is missing.
pub const KING_MISSING: Cost = 9_000;
/// The man's new square was filled before its old one was left, by more than a scan or a slide.
pub const WRONG_ORDER: Cost = 6_000;
/// The same by more than a slide and less than that.
pub const ODD_ORDER: Cost = 3_000;
/// A man that is slid is read on two squares for up to this many microseconds.
pub const SLID_US: u64 = 80_000;
/// Up to this many microseconds a man can be read on two squares.
pub const TWO_SQUARES_US: u64 = 300_000;
/// The moved man left its square but no sensor saw it land.
pub const UNSEEN_LANDING: Cost = 4_500;
/// The board reads another man where the one landed, and the clock was pressed over it: paid once
/// (identity boards).
pub const MISREAD_MAN: Cost = 3_500;
/// The man landed on a square whose sensor is not believed.
pub const MASKED_LANDING: Cost = 1_000;
/// A man captured from a square whose sensor is not believed, or still reads occupied at the press:
/// only the captured man was seen to leave.
pub const MASKED_CAPTURE: Cost = 2_600;
/// The mover's square still reads occupied: a reed that releases late.
pub const LATE_RELEASE: Cost = 4_000;
/// A man castled from a square that was never seen empty.
pub const CASTLED_UNSEEN: Cost = 4_500;
/// The king has castled and the rook has not followed.
pub const HALF_CASTLED: Cost = 3_500;
/// The pawn that was captured en passant still stands.
pub const EN_PASSANT_STANDS: Cost = 3_000;
/// A square reads occupied that no rule explains.
pub const FOREIGN: Cost = 3_500;
/// The board reads another man on a square than the reading has there (identity boards).
pub const WRONG_MAN: Cost = 6_000;
/// A pawn became something else than a queen.
pub const UNDERPROMOTION: Cost = 2_500;
/// A move that was on the board is taken back or goes on before the press.
pub const RETRACT: Cost = 1_000;
/// Another man of the mover is lifted after a move: castling that began with the rook, or a change
/// of mind.
pub const RETRACT_BY_OTHER: Cost = 1_500;
/// The same after the press, as long as the board may not have told yet where the man went.
pub const RETRACT_PRESSED: Cost = 1_500;
/// So long after the press a board that is read in scans may tell what was before it, in microseconds.
pub const SCAN_LAG_US: u64 = 300_000;
/// Two plies at once, without having seen the first one complete.
pub const TWO_PLIES: Cost = 1_500;
/// A man of the player who presses is missing after it has stood: the next player has taken it
/// already, or it lost its contact.
pub const TAKEN_AT_PRESS: Cost = 2_500;
/// The same for a man that had stood for no longer than a man takes to pass over a square.
pub const IN_HAND_AT_PRESS: Cost = 4_000;
/// The same for a man that could have gone on and whose square was filled for no longer than a man takes to pass over it.
pub const PASSED_AT_PRESS: Cost = 6_000;
/// A man that is slid fills a square on its way for less than this, in microseconds.
pub const PASSING_US: u64 = 150_000;
/// A move was answered before it was pressed, where players press as a rule.
pub const UNPRESSED: Cost = 1_500;
/// A player touches a man before the opponent has pressed, where players press as a rule.
pub const TOUCHED_EARLY: Cost = 1_000;
/// A reply stood before the man that it replies to had left its square.
pub const REPLY_TOO_EARLY: Cost = 6_000;
/// The same where the two moves explain a board that nothing else does: played out of turn.
pub const OUT_OF_TURN: Cost = 2_000;
/// A player pressed a second time over the same move.
pub const PRESSED_TWICE: Cost = 4_000;
/// A player pressed who has not moved in this reading.
pub const PRESS_WITHOUT_MOVE: Cost = 5_000;
/// The same, with a man of his own in the air; twice where one of the opponent's is off the board as well.
pub const PRESSED_IN_HAND: Cost = 1_500;
/// Men stand where a reading has none at this moment, before any time has passed over it.
pub const STANDS_WRONG: Cost = 3_200;
/// Men are missing at this moment, before any time has passed over it.
pub const IN_THE_AIR: Cost = 900;

/// Per second: the board shows a man where the reading has none.
pub const EXTRA_PER_S: u32 = 2_200;
/// Per second: a man of the side to move is missing, presumably in the player's hand.
pub const IN_HAND_PER_S: u32 = 350;
/// Per second: another man is missing.
pub const MISSING_PER_S: u32 = 900;
/// Per second: another man stands there (identity boards).
pub const WRONG_PER_S: u32 = 2_200;
/// Per second: a contradiction that the reading has paid for.
pub const PAID_PER_S: u32 = 300;
/// Time between two events counts up to this many microseconds: a long think is no evidence.
pub const TIME_CAP_US: u64 = 2_500_000;

/// A reading that costs this much more than the best one is not asked what a lift says.
pub const FAR: Cost = 6_000;
/// Readings that cost this much more than the best one are given up.
pub const GIVE_UP: Cost = 14_000;
/// The same while the best reading explains the board.
pub const GIVE_UP_CALM: Cost = 11_000;
/// A move that would cost this much more than the best reading is not taken up.
pub const TOO_DEAR: Cost = 12_000;
/// A move is published when every reading without it costs at least this much more.
pub const PATIENCE: Cost = 4_000;
/// Two readings closer than this are not told apart.
pub const CLOSE: Cost = 2_500;
/// What chess says against a reading counts up to this much more than what it says against another one.
pub const CHESS: Cost = 2_500;
/// A reading has to be ahead by this much before a move that was told is taken back.
pub const OVERTAKE: Cost = 500;

/// What costs this much more is half as likely.
pub const HALF: Cost = 693;

/// How likely a reading is that costs so much more than another one, in 65,536ths of that one: e^(-behind / 1000),
/// between two halvings along a straight line.
pub fn chance(behind: Cost) -> u32 {
    let rest = behind % HALF;
    65_536u32.saturating_sub(32_768 * rest / HALF).checked_shr(behind / HALF).unwrap_or(0)
}
