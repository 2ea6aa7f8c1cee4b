//! The specs that come with the tool: SPEC may be one of these names, though a file of that name wins.

/// Name and text of every bundled preset.
pub const PRESETS: &[(&str, &str)] =
    &[("chat", include_str!("../../gate-configs/chat.yaml")), ("quickstart", include_str!("../../gate-configs/quickstart.yaml"))];

/// The text of the preset with this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spec_of_gate_configs_is_a_preset_and_starts_with_the_line_that_editors_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_string_lossy().strip_suffix(".yaml").map(str::to_owned))
            .collect();
        names.sort();
        assert_eq!(names, PRESETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, text) in PRESETS {
            assert!(text.starts_with("# yaml-language-server: $schema=goodput-gate.schema.json\n"), "{name}");
        }
    }
}
