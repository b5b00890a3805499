//! The files of the web page, built into the program.

/// A file of the page.
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) body: &'static str,
}

/// What the page may load: its own files and nothing else.
pub(crate) const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; \
     base-uri 'none'; form-action 'none'";

const ASSETS: &[(&str, Asset)] = &[
    ("/", Asset { content_type: "text/html; charset=utf-8", body: include_str!("web/index.html") }),
    ("/index.html", Asset { content_type: "text/html; charset=utf-8", body: include_str!("web/index.html") }),
    ("/clock", Asset { content_type: "text/html; charset=utf-8", body: include_str!("web/clock.html") }),
    (
        "/clock.js",
        Asset { content_type: "text/javascript; charset=utf-8", body: include_str!("web/clock.js") },
    ),
    ("/clock.css", Asset { content_type: "text/css; charset=utf-8", body: include_str!("web/clock.css") }),
    ("/app.js", Asset { content_type: "text/javascript; charset=utf-8", body: include_str!("web/app.js") }),
    ("/page.js", Asset { content_type: "text/javascript; charset=utf-8", body: include_str!("web/page.js") }),
    ("/game.js", Asset { content_type: "text/javascript; charset=utf-8", body: include_str!("web/game.js") }),
    ("/style.css", Asset { content_type: "text/css; charset=utf-8", body: include_str!("web/style.css") }),
    ("/pieces.svg", Asset { content_type: "image/svg+xml", body: include_str!("web/pieces.svg") }),
    ("/favicon.svg", Asset { content_type: "image/svg+xml", body: include_str!("web/favicon.svg") }),
];

/// The file at a path of the address.
pub(super) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|(known, _)| *known == path).map(|(_, asset)| asset)
}
