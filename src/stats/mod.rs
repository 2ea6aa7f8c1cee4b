//! Numbers in, intervals out. This room knows no metric, no latency and no rule, and draws no random number.
//!
//! The unit of all of it is the round: requests of one round share its weather, and runs differ by more than their rounds show.

mod cluster;
mod paired;
mod proportion;
mod quantile;
mod run_to_run;
mod sample;
mod sequential;
mod student;
#[cfg(test)]
mod tests;
mod trimmed;

pub use paired::{paired, paired_shares};
pub use proportion::{Proportion, history_deff, needed_n_eff, needed_n_eff_at, proportion, ratio_cells, rule_out_share, woodruff};
pub use quantile::quantile;
pub use run_to_run::{Change, Estimate, against_history, holm, tau_upper};
pub use sequential::{FIRST_LOOK, Look, look_alpha, looks, looks_between, obrien_fleming, one_look};
pub use student::{t_quantile, t_upper_tail, welch_p};
pub use trimmed::{Trimmed, trimmed};
