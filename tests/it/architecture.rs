//! The order of the rooms, and the words that pure rooms must not contain.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room may use only rooms before it.
const ORDER: &[&str] = &[
    "units", "wire", "stats", "metric", "record", "spec", "plan", "summary", "history", "compare", "verdict", "search", "diagnose",
    "report", "import", "client", "run", "scrape", "sim", "store", "github", "console", "commands", "cli",
];
/// Rooms up to here have no clock, files, sockets, environment or printing.
const LAST_PURE: &str = "import";
/// Exceptions from the order: `sim` shares no code with `client` except `wire`.
const FORBIDDEN: &[(&str, &str)] =
    &[("sim", "client"), ("sim", "run"), ("run", "client"), ("store", "client"), ("console", "run"), ("compare", "verdict")];
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "tokio::",
    "reqwest::",
    "Instant::now",
    "SystemTime::now",
    "println!",
    "print!(",
    "eprintln!",
    "rand::rng()",
];

#[test]
fn every_room_uses_only_rooms_before_it() {
    let mut broken = Vec::new();
    for (room, file) in sources() {
        let mine = rank(&room);
        for (number, line) in production_lines(&file) {
            if line.contains("super::super::") || line.contains("crate::{") {
                broken.push(format!("{}:{number}: spell another room's path as crate::room", file.display()));
            }
            for used in line.match_indices("crate::").map(|(at, found)| &line[at + found.len()..]) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if used == room || !ORDER.contains(&used.as_str()) {
                    continue;
                }
                let forbidden = FORBIDDEN.contains(&(room.as_str(), used.as_str()));
                if rank(&used) > mine || forbidden {
                    broken.push(format!("{}:{number}: {room} must not use {used}", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn pure_rooms_touch_no_outside_world() {
    let mut broken = Vec::new();
    for (room, file) in sources() {
        if rank(&room) > rank(LAST_PURE) {
            continue;
        }
        for (number, line) in production_lines(&file) {
            for word in IMPURE {
                if line.contains(word) {
                    broken.push(format!("{}:{number}: {room} is pure, but says {word}", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_folder_of_src_is_a_room_of_the_table() {
    let rooms: Vec<String> = fs::read_dir(root())
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            path.is_dir().then(|| path.file_name().unwrap().to_string_lossy().into_owned())
        })
        .collect();
    assert!(rooms.len() > 10, "the rooms are read from the wrong place");
    for room in rooms {
        assert!(ORDER.contains(&room.as_str()), "src/{room} is not in the table of rooms");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rank(room: &str) -> usize {
    ORDER.iter().position(|known| *known == room).unwrap_or(usize::MAX)
}

fn sources() -> Vec<(String, PathBuf)> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                walk(&path, into);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                into.push(path);
            }
        }
    }
    let mut files = Vec::new();
    for room in ORDER {
        let folder = root().join(room);
        if folder.is_dir() {
            walk(&folder, &mut files);
        }
    }
    files
        .into_iter()
        .map(|file| {
            let room = file.strip_prefix(root()).unwrap().components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            (room, file)
        })
        .collect()
}

/// Lines before the file's test module, comments left out.
fn production_lines(file: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(index, line)| (index + 1, line.to_owned()))
        .collect()
}
