//! The signs of a text, whatever keyboard or font they come from.

use shakmaty::Role;

/// The longest text that is read, in signs without blanks; no move is half as long.
const LONGEST: usize = 40;

/// One sign of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    /// The sign; a Cyrillic letter that looks like a Latin one is the Latin one.
    pub letter: char,
    /// It was a Cyrillic letter.
    pub cyrillic: bool,
}

/// The signs of a text without blanks and brackets, or nothing where it is far too long for a move.
pub(super) fn signs(text: &str) -> Option<Vec<Sign>> {
    let mut signs = Vec::new();
    for raw in text.chars().filter(|raw| !is_blank(*raw)) {
        if signs.len() == LONGEST {
            return None;
        }
        signs.push(Sign { letter: fold(raw), cyrillic: ('\u{400}'..='\u{4ff}').contains(&raw) });
    }
    Some(signs)
}

/// Blanks, signs without a shape, and brackets, which nothing depends on.
fn is_blank(raw: char) -> bool {
    raw.is_whitespace()
        || matches!(
            raw,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0e}' | '\u{fe0f}'
        )
        || matches!(raw, '(' | ')' | '[' | ']' | '\u{ff08}' | '\u{ff09}')
}

/// One sign for all that look or mean the same: `-` for dashes, `x` for signs of capture, `#` for daggers
/// of mate, white figurines for black ones.
pub(super) fn fold(raw: char) -> char {
    // Letters and digits of full width.
    let raw = match raw {
        '\u{ff01}'..='\u{ff5e}' => u32::from(raw).checked_sub(0xfee0).and_then(char::from_u32).unwrap_or(raw),
        _ => raw,
    };
    match raw {
        '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{2212}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{2e3a}'
        | '\u{2e3b}' => '-',
        'X' | '×' | '✕' | '✖' | '⨯' | '*' | ':' | '∶' | 'х' | 'Х' => 'x',
        '‡' | '≠' => '#',
        '†' => '+',
        '…' => '.',
        'А' => 'A',
        'В' => 'B',
        'С' => 'C',
        'Е' => 'E',
        'Н' => 'H',
        'К' => 'K',
        'М' => 'M',
        'О' => 'O',
        'Р' => 'P',
        'Т' => 'T',
        'а' => 'a',
        'с' => 'c',
        'е' => 'e',
        'к' => 'k',
        'о' => 'o',
        'р' => 'p',
        'т' => 't',
        '♚' => '♔',
        '♛' => '♕',
        '♜' => '♖',
        '♝' => '♗',
        '♞' => '♘',
        '♟' => '♙',
        _ => raw,
    }
}

/// The man that a figurine shows.
pub(super) const fn figurine(letter: char) -> Option<Role> {
    Some(match letter {
        '♔' => Role::King,
        '♕' => Role::Queen,
        '♖' => Role::Rook,
        '♗' => Role::Bishop,
        '♘' => Role::Knight,
        '♙' => Role::Pawn,
        _ => return None,
    })
}
