//! How far a run is: a bar on a terminal, a plain line now and then elsewhere.

use super::output::Errors;
use crate::report::visible;
use crate::units::{Unit, show};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Without a terminal, a line this often.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

const BAR: &str = "{prefix} {bar:12.cyan/dim} {wide_msg}";

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgressUpdate {
    /// The running level's label.
    pub level: String,
    /// Its place among the levels, from 1.
    pub level_number: usize,
    /// How many levels there are.
    pub level_count: usize,
    /// Requests of this level that have ended.
    pub done: u64,
    /// Requests planned for this level.
    pub planned: u64,
    /// Whole rounds.
    pub rounds_done: u32,
    /// Rounds planned.
    pub rounds_planned: u32,
    /// Errored requests.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Finished requests per second.
    pub rate: Option<f64>,
    /// The running P99 of TTFT, milliseconds.
    pub p99_ttft_ms: Option<f64>,
    /// Since the level began.
    pub elapsed: Duration,
}

impl ProgressUpdate {
    /// How long the level still lasts if it goes on as so far; `None` before the first request has ended.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.planned.saturating_sub(self.done) as f64;
        let seconds = self.elapsed.as_secs_f64() * left / self.done as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// For the line beside a bar, on 80 columns: what matters most first, the rest may be cut.
    fn short(&self) -> String {
        let mut parts = vec![format!("{}/{}", self.done, self.planned), format!("r{}/{}", self.rounds_done, self.rounds_planned)];
        if let Some(rate) = self.rate {
            parts.push(show(rate, Unit::PerSecond).replace(" /s", "/s"));
        }
        parts.push(format!("err {}", self.errors));
        if let Some(p99) = self.p99_ttft_ms {
            parts.push(format!("P99 TTFT {}", show(p99, Unit::Ms)));
        }
        if let Some(left) = self.time_left() {
            parts.push(format!("{} left", spell(left)));
        }
        parts.join(" ")
    }

    /// The level before the bar: `1.5x 2/3`.
    fn short_title(&self) -> String {
        let level = visible(&self.level);
        if self.level_count > 1 { format!("{level} {}/{}", self.level_number, self.level_count) } else { level }
    }

    /// For a line of a log.
    fn figures(&self) -> String {
        let mut parts = vec![
            format!("{}/{} requests", self.done, self.planned),
            format!("round {}/{}", self.rounds_done, self.rounds_planned),
            format!("{} in flight", self.in_flight),
            if self.errors == 1 { "1 error".to_owned() } else { format!("{} errors", self.errors) },
        ];
        if let Some(rate) = self.rate {
            parts.push(show(rate, Unit::PerSecond).replace(" /s", " req/s"));
        }
        if let Some(p99) = self.p99_ttft_ms {
            parts.push(format!("P99 TTFT {}", show(p99, Unit::Ms)));
        }
        if let Some(left) = self.time_left() {
            parts.push(format!("{} left", spell(left)));
        }
        parts.join(", ")
    }

    fn title(&self) -> String {
        let level = visible(&self.level);
        if self.level_count > 1 { format!("level {level} ({}/{})", self.level_number, self.level_count) } else { format!("level {level}") }
    }
}

/// Shows how far a run is. Dropping it removes the bar.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Lines { errors: Errors, last: Mutex<Option<Instant>> },
    Nothing,
}

impl Progress {
    pub(super) fn quiet() -> Self {
        Self { shown: Shown::Nothing }
    }

    pub(super) fn lines(errors: Errors) -> Self {
        Self { shown: Shown::Lines { errors, last: Mutex::new(None) } }
    }

    pub(super) fn bar(bar: ProgressBar) -> Self {
        let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=>-"));
        Self { shown: Shown::Bar(bar) }
    }

    /// Shows `update`; cheap, may be called for every request.
    pub fn update(&self, update: &ProgressUpdate) {
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_length(update.planned);
                bar.set_position(update.done.min(update.planned));
                bar.set_prefix(update.short_title());
                bar.set_message(update.short());
            }
            Shown::Lines { errors, last } => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                if is_due(*last, now) {
                    *last = Some(now);
                    errors.line(&format!("{}: {}", update.title(), update.figures()));
                }
            }
            Shown::Nothing => {}
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn is_due(last: Option<Instant>, now: Instant) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) >= PLAIN_EVERY)
}

/// `50 s`, `4 min 10 s`, `2 h 3 min`.
fn spell(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_way() -> ProgressUpdate {
        ProgressUpdate {
            level: "1.5x".to_owned(),
            level_number: 2,
            level_count: 3,
            done: 1000,
            planned: 3000,
            rounds_done: 16,
            rounds_planned: 40,
            errors: 1,
            in_flight: 60,
            rate: Some(9.1),
            p99_ttft_ms: Some(1234.5),
            elapsed: Duration::from_secs(125),
        }
    }

    #[test]
    fn a_line_tells_how_far_how_fast_how_bad_and_how_long() {
        let update = half_way();
        assert_eq!(update.title(), "level 1.5x (2/3)");
        assert_eq!(
            update.figures(),
            "1000/3000 requests, round 16/40, 60 in flight, 1 error, 9.10 req/s, P99 TTFT 1234 ms, 4 min 10 s left"
        );
    }

    #[test]
    fn the_line_beside_a_bar_fits_eighty_columns() {
        let update = half_way();
        assert_eq!(update.short(), "1000/3000 r16/40 9.10/s err 1 P99 TTFT 1234 ms 4 min 10 s left");
        let busy = ProgressUpdate { done: 300, planned: 320, rounds_done: 11, rounds_planned: 12, errors: 0, rate: Some(43.0), ..update };
        assert!(busy.short_title().len() + busy.short().len() + 14 <= 80, "{}", busy.short());
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known_yet() {
        let update = ProgressUpdate { level: "1x".to_owned(), planned: 100, rounds_planned: 4, ..ProgressUpdate::default() };
        assert_eq!(update.title(), "level 1x");
        assert_eq!(update.time_left(), None);
        assert_eq!(update.figures(), "0/100 requests, round 0/4, 0 in flight, 0 errors");
    }

    #[test]
    fn a_hostile_label_cannot_steer_the_terminal() {
        let update = ProgressUpdate { level: "\x1b[2J".to_owned(), ..ProgressUpdate::default() };
        assert_eq!(update.title(), "level \\u{1b}[2J");
    }

    #[test]
    fn the_bars_template_is_one() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
    }

    #[test]
    fn plain_lines_come_at_once_and_then_every_ten_seconds() {
        let start = Instant::now();
        assert!(is_due(None, start));
        assert!(!is_due(Some(start), start + Duration::from_millis(9_999)));
        assert!(is_due(Some(start), start + Duration::from_secs(10)));
    }
}
