//! JUnit XML: one case a rule, and one for each validity check that bars a pass, so that a run which may not be judged is never all
//! green.

use super::Report;
use super::rows;
use super::text::visible;
use crate::spec::RuleKind;
use crate::verdict::{RuleResult, Status, Validity, ValidityStatus, Verdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// Spells `report`. Fail is a failure, invalid an error, and so is every rule of a measurement that may not be judged; inconclusive, unjudged and advice that is not kept are skipped with a message.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut suite = TestSuite::new(visible(&report.conditions.name));
    suite.add_property(("summary", visible(&report.summary).as_str()));
    suite.add_property(("verdict", rows::headline(report).1));
    if let Some(verdict) = &report.verdict {
        suite.add_test_cases(verdict.rules.iter().map(|rule| rule_case(rule, verdict)));
        suite.add_test_cases(verdict.validity.iter().filter_map(validity_case));
    }
    let mut junit = quick_junit::Report::new("goodput-gate");
    junit.add_test_suite(suite);
    junit.to_string().expect("XML of clean strings into memory cannot fail")
}

fn rule_case(rule: &RuleResult, verdict: &Verdict) -> TestCase {
    let decides = rule.kind != RuleKind::Advise;
    let status = match rule.status {
        status if rows::is_not_judged(status, verdict) => {
            let unjudged = if decides { TestCaseStatus::non_success(NonSuccessKind::Error) } else { TestCaseStatus::skipped() };
            with(unjudged, "not judged", &format!("the measurement is invalid; {}", rule.why))
        }
        Status::Pass => TestCaseStatus::success(),
        Status::Fail if decides => with(TestCaseStatus::non_success(NonSuccessKind::Failure), rule.status.name(), &rule.why),
        Status::Invalid if decides => with(TestCaseStatus::non_success(NonSuccessKind::Error), rule.status.name(), &rule.why),
        Status::Fail | Status::Invalid | Status::Inconclusive | Status::NoBaseline | Status::Skipped => {
            with(TestCaseStatus::skipped(), rule.status.name(), &rule.why)
        }
    };
    let mut case = TestCase::new(visible(&rule.rule), status);
    case.set_classname(format!("{}.{}", rule.kind.name(), visible(&rule.level)));
    let evidence = [
        ("observed", rows::observed(rule)),
        ("interval", rows::bounds(rule)),
        ("limit", rows::limit(rule)),
        ("baseline", rows::maybe(rule.baseline, rule.unit)),
        ("change", rows::change(rule)),
    ];
    for (name, value) in evidence.iter().filter(|(_, value)| value != rows::NOTHING) {
        case.add_property((*name, value.as_str()));
    }
    case
}

fn validity_case(row: &Validity) -> Option<TestCase> {
    let status = match row.status {
        ValidityStatus::Ok | ValidityStatus::Warn => return None,
        ValidityStatus::Inconclusive => TestCaseStatus::skipped(),
        ValidityStatus::Invalid => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let mut case = TestCase::new(visible(row.check), with(status, row.status.name(), &row.text));
    case.set_classname("validity");
    Some(case)
}

fn with(mut status: TestCaseStatus, kind: &str, why: &str) -> TestCaseStatus {
    status.set_type(kind);
    status.set_message(format!("{kind}: {}", visible(why)));
    status
}
