//! What a test asks of the web page.

use std::path::PathBuf;

use serde_json::json;

use super::{cdp::Browser, hall::Server};

/// Where a picture of the page goes.
pub fn picture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/screenshots").join(name)
}

/// The men that the page shows, as a piece placement.
const SHOWN: &str = "[...'87654321'].map(rank => [...'abcdefgh'].map(file => \
    document.querySelector(`#board [data-square=${file}${rank}]`).dataset.man ?? '1').join('')).join('/')";

/// Waits until the page shows the men of a piece placement.
pub async fn wait_for_men(browser: &mut Browser, placement: &str) {
    let ones: String = placement
        .chars()
        .map(|sign| sign.to_digit(10).map_or_else(|| sign.to_string(), |n| "1".repeat(n as usize)))
        .collect();
    browser.wait_for(&format!("{SHOWN} === '{ones}'")).await;
}

/// The text of an element.
pub async fn text(browser: &mut Browser, selector: &str) -> String {
    let value = browser.evaluate(&format!("document.querySelector({}).textContent", json!(selector))).await;
    value.as_str().unwrap_or_default().to_owned()
}

/// Waits until an element has a text.
pub async fn wait_for_text(browser: &mut Browser, selector: &str, expected: &str) {
    let wanted = format!("document.querySelector({}).textContent === {}", json!(selector), json!(expected));
    browser.wait_for(&wanted).await;
}

/// Nothing was asked of another origin, and the page complained of nothing.
pub fn assert_clean(browser: &Browser, server: &Server) {
    let origin = server.url("");
    for url in browser.requests() {
        assert!(url.starts_with(&origin) || url == "about:blank", "a request left the origin: {url}");
    }
    assert!(browser.requests().iter().any(|url| url.ends_with("/events")), "the page asked for no events");
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
}

/// Nothing of the page is wider than the window or cut off by it; the row of boards scrolls inside
/// itself.
pub async fn assert_no_overflow(browser: &mut Browser) {
    let width = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(width).await, json!(0), "the page scrolls sideways");
    let outside = "[...document.body.querySelectorAll('*')] \
        .filter(e => e.checkVisibility() && !e.closest('#boards ul, .hidden-text')) \
        .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5) \
        .map(e => `${e.tagName} ${e.id} ${e.className}`)";
    assert_eq!(browser.evaluate(outside).await, json!([]), "outside of the window");
}

/// Contrast of text against what is behind it, for every element with text of its own: the lowest
/// of WCAG's ratios, with the element.
pub const LOWEST_CONTRAST: &str = r"(() => {
    const rgb = (text) => {
        const n = text.match(/[\d.]+/g).map(Number);
        return text.startsWith('color(') ? [...n.slice(0, 3).map((x) => x * 255), n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
    };
    const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
    const behind = (e) => {
        if (!e) return [255, 255, 255];
        const own = rgb(getComputedStyle(e).backgroundColor);
        return own[3] >= 1 ? own.slice(0, 3) : over(own, behind(e.parentElement));
    };
    const light = (c) => {
        const [r, g, b] = c.map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let lowest = [99, ''];
    for (const e of document.body.querySelectorAll('*')) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !e.checkVisibility() || e.matches('.hidden-text')) continue;
        const under = behind(e);
        const [a, b] = [light(over(rgb(getComputedStyle(e).color), under)), light(under)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < lowest[0]) lowest = [ratio, `${e.tagName} ${e.id} ${e.className} ${e.textContent.trim()}`];
    }
    return lowest;
})()";
