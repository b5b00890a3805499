//! The words of announcements.

use shakmaty::Role;

/// The words of one language. Of several words for one thing the first one is said, all are understood.
pub(super) struct Vocabulary {
    /// King, queen, rook, bishop, knight, pawn.
    pub pieces: [&'static [&'static str]; 6],
    /// From a to h.
    pub files: [&'static [&'static str]; 8],
    /// From 1 to 8.
    pub ranks: [&'static [&'static str]; 8],
    /// The calls for castling on the king's side and on the queen's side.
    pub castling: [&'static str; 2],
    /// Words for castling itself.
    pub castle: &'static [&'static str],
    /// Words for the king's side, beside a word for castling.
    pub short: &'static [&'static str],
    /// Words for the queen's side, beside a word for castling.
    pub long: &'static [&'static str],
    /// Words that change nothing: to, takes, check.
    pub passed_over: &'static [&'static str],
}

/// In the order of [`Vocabulary::pieces`].
pub(super) const ROLES: [Role; 6] =
    [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

pub(super) static GERMAN: Vocabulary = Vocabulary {
    pieces: [&["Koenig"], &["Dame"], &["Turm"], &["Laeufer"], &["Springer", "Pferd"], &["Bauer"]],
    files: [
        &["Anna"],
        &["Bella"],
        &["Cesar", "Caesar"],
        &["David"],
        &["Eva"],
        &["Felix"],
        &["Gustav"],
        &["Hector", "Hektor"],
    ],
    ranks: [
        &["eins"],
        &["zwei", "zwo"],
        &["drei"],
        &["vier"],
        &["fuenf"],
        &["sechs"],
        &["sieben"],
        &["acht"],
    ],
    castling: ["Kurze Rochade", "Lange Rochade"],
    castle: &["Rochade", "Rockhade", "rochiert"],
    short: &["kurze", "kurz", "kleine"],
    long: &["lange", "lang", "grosse"],
    passed_over: &["nach", "auf", "von", "schlaegt", "nimmt", "wird", "Schach", "matt", "Schachmatt"],
};

pub(super) static ENGLISH: Vocabulary = Vocabulary {
    pieces: [&["king"], &["queen"], &["rook"], &["bishop"], &["knight"], &["pawn"]],
    files: LATIN_FILES,
    ranks: [&["one"], &["two"], &["three"], &["four"], &["five"], &["six"], &["seven"], &["eight"]],
    castling: ["short castling", "long castling"],
    castle: &["castling", "castles", "castle"],
    short: &["short", "kingside", "king"],
    long: &["long", "queenside", "queen"],
    passed_over: &[
        "to",
        "from",
        "on",
        "at",
        "takes",
        "captures",
        "becomes",
        "promotes",
        "en",
        "passant",
        "check",
        "mate",
        "checkmate",
        "side",
    ],
};

pub(super) static ROMANIAN: Vocabulary = Vocabulary {
    pieces: [&["rege"], &["damă", "dama", "regină"], &["turn"], &["nebun"], &["cal"], &["pion"]],
    files: LATIN_FILES,
    ranks: [&["unu"], &["doi"], &["trei"], &["patru"], &["cinci"], &["șase"], &["șapte"], &["opt"]],
    castling: ["rocada mică", "rocada mare"],
    castle: &["rocada", "rocadă"],
    short: &["mică", "mica", "scurtă"],
    long: &["mare", "lungă"],
    passed_over: &["la", "pe", "de", "ia", "bate", "devine", "șah", "mat"],
};

pub(super) static UKRAINIAN: Vocabulary = Vocabulary {
    pieces: [&["король"], &["ферзь"], &["тура"], &["слон"], &["кінь"], &["пішак"]],
    files: [&["а"], &["бе"], &["це"], &["де"], &["е"], &["еф"], &["же", "ге"], &["аш"]],
    ranks: [&["один"], &["два"], &["три"], &["чотири"], &["п'ять"], &["шість"], &["сім"], &["вісім"]],
    castling: ["коротка рокіровка", "довга рокіровка"],
    castle: &["рокіровка"],
    short: &["коротка"],
    long: &["довга"],
    passed_over: &["на", "з", "із", "б'є", "стає", "шах", "мат"],
};

const LATIN_FILES: [&[&str]; 8] = [&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"], &["h"]];
