use super::{super::shape::TURNS, *};
use proptest::prelude::*;

fn walked(turn: impl Fn(Square) -> Square) -> Map {
    let mut map = Map::default();
    for square in Square::ALL {
        map.set(square, Finding::Contact(turn(square)));
    }
    map
}

#[test]
fn a_straight_board_needs_no_map() {
    let map = walked(|square| square);
    assert_eq!(map.shape(), Some(Shape::Straight));
    assert!(map.is_whole());
    let text = map.to_toml();
    assert!(text.starts_with("map = [\n    \"a1 b1 c1 d1 e1 f1 g1 h1\",\n"), "{text}");
    assert_eq!(text.lines().count(), 10);
}

#[test]
fn boards_that_lie_another_way_are_named() {
    for (words, turn) in &TURNS[1..] {
        let mut map = Map::default();
        for contact in Square::ALL {
            map.set(turn(contact), Finding::Contact(contact));
        }
        assert_eq!(map.shape(), Some(Shape::Turned(words)));
    }
}

#[test]
fn exchanged_wires_are_named() {
    let swap = |square: Square| {
        let file = match square.file() {
            File::C => File::D,
            File::D => File::C,
            file => file,
        };
        Square::from_coords(file, square.rank())
    };
    let words = walked(swap).shape().unwrap().words();
    assert!(words.starts_with("columns 0 to 7 are a b d c e f g h; wires are exchanged"), "{words}");
    let words = walked(|square| swap(square.flip_diagonal())).shape().unwrap().words();
    assert!(
        words.starts_with("ranks and files are exchanged; columns 0 to 7 are 1 2 4 3 5 6 7 8; wires"),
        "{words}"
    );
    let single = |square: Square| match square {
        Square::E4 => Square::D5,
        Square::D5 => Square::E4,
        other => other,
    };
    let words = walked(single).shape().unwrap().words();
    assert_eq!(words, "e4 is wired as d5, d5 is wired as e4: use the map, or change the wires");
}

#[test]
fn dead_and_doubled_squares_are_told() {
    let mut map = walked(|square| square);
    map.set(Square::E4, Finding::Dead);
    map.set(Square::A2, Finding::Contact(Square::A1));
    map.set(Square::H8, Finding::Several(vec![Square::H8, Square::G8]));
    assert!(!map.is_whole());
    assert_eq!(map.square_of(Square::H8), Some(Square::H8), "the other contact belongs to g8");
    assert_eq!(map.square_of(Square::A1), None, "two squares claim it");
    let remarks = map.remarks().join("\n");
    assert!(remarks.contains("dead: e4;") && remarks.contains("the contact of a1 sees a1 a2"), "{remarks}");
    assert!(remarks.contains("h8 closes several contacts (h8 g8)"), "{remarks}");
    assert_eq!(Map::from_file(&map.to_file("x")), Ok(map));
}

#[test]
fn other_files_are_refused() {
    for text in [
        "",
        "map = 1",
        "map = [[]]",
        "map = [\"a1\"]",
        "[",
        "map = [\"z9 b1 c1 d1 e1 f1 g1 h1\", \"\", \"\", \"\", \"\", \"\", \"\", \"\"]",
    ] {
        assert!(Map::from_file(text).is_err(), "{text}");
    }
}

fn finding() -> impl Strategy<Value = Finding> {
    let square = || (0u32..64).prop_map(Square::new);
    prop_oneof![
        Just(Finding::Open),
        Just(Finding::Dead),
        square().prop_map(Finding::Contact),
        prop::collection::btree_set(0u32..64, 2..4)
            .prop_map(|set| Finding::Several(set.into_iter().map(Square::new).collect())),
    ]
}

proptest! {
    /// Whatever was found, the file of a walk gives it back.
    #[test]
    fn what_is_kept_is_read_back(findings in prop::collection::vec(finding(), 64), whole in any::<bool>()) {
        let mut map = Map::default();
        for (square, finding) in Square::ALL.into_iter().zip(findings) {
            map.set(square, finding);
        }
        let map = if whole { walked(Square::flip_diagonal) } else { map };
        prop_assert_eq!(Map::from_file(&map.to_file("board 1\nsecond line")), Ok(map.clone()));
        // No square and no contact is there twice.
        let pairs = map.assigned();
        for (index, (square, contact)) in pairs.iter().enumerate() {
            for (other, second) in &pairs[..index] {
                prop_assert!(square != other && contact != second);
            }
        }
    }
}
