//! Names, places and days in the parts that other formats want.

/// A name in its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name<'n> {
    /// What stands behind the comma.
    pub given: Option<&'n str>,
    /// What stands before it; the whole name where there is no comma.
    pub family: Option<&'n str>,
}

/// The parts of `Family, Given`. A name without a comma is not cut: which part of it is the family's differs from
/// country to country.
pub fn name(tag: Option<&str>) -> Name<'_> {
    let Some(tag) = tag.map(str::trim).filter(|tag| !tag.is_empty() && *tag != "?") else {
        return Name::default();
    };
    let (family, given) = tag.split_once(',').unwrap_or((tag, ""));
    let part = |text: &'_ str| -> bool { !text.trim().is_empty() };
    Name {
        given: Some(given.trim()).filter(|text| part(text)),
        family: Some(family.trim()).filter(|text| part(text)),
    }
}

/// The country of a site such as `Bonn GER`, as PGN writes them: three capital letters at the end.
pub fn country(site: &str) -> Option<&str> {
    let (_, last) = site.trim().rsplit_once(' ')?;
    (last.len() == 3 && last.bytes().all(|c| c.is_ascii_uppercase())).then_some(last)
}

/// A site without its country.
pub fn location(site: &str) -> &str {
    let site = site.trim();
    country(site).and_then(|country| site.strip_suffix(country)).map_or(site, str::trim)
}

/// The day of a tag `Date` as `YYYY-MM-DD`; nothing where a part of it is not known.
pub fn date(tag: &str) -> Option<String> {
    (!tag.contains('?')).then(|| tag.replace('.', "-"))
}
