//! What is generated is compared with what is committed; `UPDATE_GENERATED=1 cargo test generated` writes it anew.

use std::fs;
use std::path::Path;

#[test]
fn the_schema_for_editors_is_the_one_the_parser_stands_for() {
    let schema = serde_json::to_string_pretty(&goodput_gate::spec::schema()).unwrap() + "\n";
    compare("gate-configs/goodput-gate.schema.json", &schema);
}

#[test]
fn every_preset_parses_and_names_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# yaml-language-server: $schema=goodput-gate.schema.json\n"), "{}", path.display());
        let source = goodput_gate::spec::Source { name: path.display().to_string(), text };
        if let Err(error) = goodput_gate::spec::parse(&source, &goodput_gate::spec::Permissions::default()) {
            panic!("{}", error.problems().render(false));
        }
    }
    assert!(seen > 0, "no preset was found");
}

#[test]
fn the_reference_of_the_simulated_server_tells_its_own_options_and_defaults() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs/README.md")).unwrap();
    let (_, section) = text.split_once("## The simulated server").expect("the reference tells of the simulated server");
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<String>>();
    let mut common: Vec<String> = Vec::new();
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').collect();
        let first = words(cells[1]);
        if first[0].starts_with("sim://") {
            kinds.push((first[0].clone(), words(cells[3])));
        } else {
            common.extend(first.iter().zip(words(cells[2])).map(|(name, default)| format!("{name}={default}")));
        }
    }
    assert_eq!((kinds.len(), common.len()), (2, 14));
    for (kind, own) in kinds {
        let all: Vec<String> = own.into_iter().chain(common.clone()).collect();
        let told = goodput_gate::sim::parse(&format!("{kind}?{}", all.join("&"))).unwrap();
        assert_eq!(told, goodput_gate::sim::parse(&kind).unwrap());
    }
}

#[test]
fn the_reference_holds_every_key_and_every_metric() {
    let path = "gate-configs/README.md";
    let mut text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    for (name, table) in [("keys", goodput_gate::spec::keys_table()), ("metrics", goodput_gate::spec::metrics_table())] {
        let (open, close) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->"));
        let start = text.find(&open).expect("the reference has its marks") + open.len();
        let end = text.find(&close).expect("the reference has its marks");
        text.replace_range(start..end, &table);
    }
    compare(path, &text);
}

fn compare(path: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&file, generated).expect("the folder of the generated file can be written");
        return;
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == generated, "{path} is not what the code generates; UPDATE_GENERATED=1 cargo test generated writes it");
}
