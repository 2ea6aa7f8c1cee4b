//! The specs that come with the tool: SPEC may be one of these names, though a file of that name wins.

/// Name and text of every bundled preset.
pub const PRESETS: &[(&str, &str)] = &[("quickstart", include_str!("../../gate-configs/quickstart.yaml"))];

/// The text of the preset with this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
