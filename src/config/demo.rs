//! The configuration of `touchmoved demo`.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};

use super::{
    BoardConfig, BoardId, Config, Level, LiveChessBoard, LogLevel, MatrixConfig, ReleaseConfig, SensorConfig,
    Speed,
    board::{GameOptions, base_setup},
    emulation::{BoardEmulation, DgtEmulation},
    read, sha256,
};
use crate::{
    publish::{Tags, release::Threshold},
    simulate::matrix::Fault,
};

impl Config {
    /// Simulated boards `1` to `boards` (at least one, at most 99) with everything else as in an
    /// empty configuration, and all files under `dir`. Board `n` plays with the seed
    /// `seed + n - 1`.
    pub fn demo(dir: &Path, boards: u8, speed: Speed, seed: u64) -> Config {
        let boards = boards.clamp(1, 99);
        let sensor = |offset: u64| SensorConfig::Simulated {
            speed,
            seed: seed.wrapping_add(offset),
            level: Level::default(),
        };
        let local = |port| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        Config {
            source: "demo".to_owned(),
            digest: sha256(&format!("demo boards={boards} speed={speed} seed={seed}")),
            log: LogLevel::default(),
            data_dir: dir.join("data"),
            sync_interval_ms: read::SYNC_INTERVAL_MS,
            http: local(read::HTTP_PORT),
            livechess: local(read::LIVECHESS_PORT),
            livechess_origins: Vec::new(),
            livechess_tls: None,
            operator: None,
            stream: None,
            livechess_moves: Threshold::Completed,
            release: ReleaseConfig::default(),
            max_connections: read::MAX_CONNECTIONS,
            dgt_emulation: DgtEmulation { enabled: true, dir: Some(dir.to_owned()) },
            pgn_dir: Some(dir.join("pgn")),
            lichess: None,
            pgn_stops: false,
            cloud: None,
            arbiter_token: None,
            assistant_token: None,
            notes: Vec::new(),
            boards: (1..=boards)
                .filter_map(|number| {
                    let id = BoardId::new(&number.to_string())?;
                    let sensor = sensor(u64::from(number) - 1);
                    let tags = Tags {
                        event: Some("touchmoved demo".to_owned()),
                        site: Some("simulated board".to_owned()),
                        board: Some(id.to_string()),
                        ..Tags::default()
                    };
                    let setup = base_setup(&sensor, None);
                    Some(BoardConfig {
                        id,
                        serial: None,
                        livechess: LiveChessBoard::default(),
                        setup,
                        tags,
                        sensor,
                        second: None,
                        emulation: BoardEmulation::default(),
                        log_game: GameOptions::default(),
                    })
                })
                .collect(),
        }
    }

    /// The same boards as matrices of simulated wires with these faults, in real time.
    #[must_use]
    pub fn on_wires(mut self, faults: &[Fault]) -> Config {
        for board in &mut self.boards {
            if let SensorConfig::Simulated { seed, level, .. } = board.sensor {
                let matrix = MatrixConfig::simulated(seed, level, faults.to_vec());
                board.sensor = SensorConfig::Matrix(Box::new(matrix));
                let settings = &board.setup.settings;
                let debounce = Some((settings.debounce_close_ms, settings.debounce_open_ms));
                board.setup = base_setup(&board.sensor, debounce);
            }
        }
        self
    }
}
