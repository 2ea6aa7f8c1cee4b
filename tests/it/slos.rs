//! Every published objective in tests/cases/slos stands beside the spec that says it, and each such spec can be planned.

use crate::common::Place;
use std::path::Path;

#[test]
fn every_published_objective_has_a_spec_that_validates_and_plans() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/slos");
    let mut texts = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        texts += 1;
        let spec = path.with_extension("yaml");
        let text = std::fs::read_to_string(&spec).unwrap_or_else(|_| panic!("{} has no spec", path.display()));
        assert!(text.contains("# Not said:"), "{}: what the spec can't say is said", spec.display());
        let place = Place::new();
        place.file("slo.yaml", &text);
        let done = place.gate().args(["validate", "slo.yaml"]).expect(0);
        assert!(!done.stderr.contains("error"), "{}: {}", spec.display(), done.stderr);
        let done = place.gate().args(["plan", "slo.yaml"]).expect(0);
        assert!(done.stdout.contains("requests"), "{}: {}", spec.display(), done.stdout);
    }
    assert_eq!(texts, 10);
}
