//! The files of the web page, built into the program.

/// A file of the page.
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) body: &'static str,
}

/// What the page may load: its own files and nothing else. Other sites cannot show it in a frame.
pub(crate) const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The same for a page that other sites may put into a frame.
const FRAMED: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
     form-action 'none'; frame-ancestors *";

const fn page(body: &'static str) -> Asset {
    Asset { content_type: "text/html; charset=utf-8", body }
}

const fn script(body: &'static str) -> Asset {
    Asset { content_type: "text/javascript; charset=utf-8", body }
}

const fn style(body: &'static str) -> Asset {
    Asset { content_type: "text/css; charset=utf-8", body }
}

const fn picture(body: &'static str) -> Asset {
    Asset { content_type: "image/svg+xml", body }
}

const ASSETS: &[(&str, Asset)] = &[
    ("/", page(include_str!("web/index.html"))),
    ("/index.html", page(include_str!("web/index.html"))),
    ("/clock", page(include_str!("web/clock.html"))),
    ("/overlay", page(include_str!("web/overlay.html"))),
    ("/embed", page(include_str!("web/embed.html"))),
    ("/wall", page(include_str!("web/wall.html"))),
    ("/clock.js", script(include_str!("web/clock.js"))),
    ("/app.js", script(include_str!("web/app.js"))),
    ("/page.js", script(include_str!("web/page.js"))),
    ("/game.js", script(include_str!("web/game.js"))),
    ("/draw.js", script(include_str!("web/draw.js"))),
    ("/feed.js", script(include_str!("web/feed.js"))),
    ("/view.js", script(include_str!("web/view.js"))),
    ("/single.js", script(include_str!("web/single.js"))),
    ("/wall.js", script(include_str!("web/wall.js"))),
    ("/clock.css", style(include_str!("web/clock.css"))),
    ("/style.css", style(include_str!("web/style.css"))),
    ("/view.css", style(include_str!("web/view.css"))),
    ("/pieces.svg", picture(include_str!("web/pieces.svg"))),
    ("/favicon.svg", picture(include_str!("web/favicon.svg"))),
];

/// What the page at a path may load, and who may show it in a frame.
pub(super) fn policy(path: &str) -> &'static str {
    if path == "/embed" { FRAMED } else { POLICY }
}

/// The file at a path of the address.
pub(super) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|(known, _)| *known == path).map(|(_, asset)| asset)
}
