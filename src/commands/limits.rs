//! What the system lets this process have, against what the plan needs: told before the first request, not by failed ones.

use super::Error;
use crate::console::Console;
use crate::plan::Plan;

/// Files that are open beside the connections: terminal, run file, timers, the server's metrics.
const BESIDE: u64 = 64;

/// Refuses a plan with more connections than files may be open, and warns of one with more than there are local ports.
///
/// # Errors
/// Where a closed loop needs more open files than the process may have.
pub(super) fn check(plan: &Plan, console: &Console) -> Result<(), Error> {
    let slots = plan.levels.iter().filter_map(|level| level.info.concurrency.map(|slots| slots.min(level.requests()))).max();
    let Some(slots) = slots else { return Ok(()) };
    // Anything but Linux tells neither.
    if let Some(files) = read("/proc/self/limits").as_deref().and_then(open_files).filter(|files| slots + BESIDE > *files) {
        return Err(Error::usage(
            format!("{slots} requests at once need {} open files, and this process may have {files}", slots + BESIDE),
            format!(
                "allow more: `ulimit -n {}` in the shell that starts it, or nofile in the container",
                (slots + BESIDE).next_power_of_two()
            ),
        ));
    }
    if let Some(ports) = read("/proc/sys/net/ipv4/ip_local_port_range").as_deref().and_then(ports).filter(|ports| slots > *ports) {
        console.warn(&format!("{slots} requests at once to one address need as many local ports, and the system has {ports}: widen net.ipv4.ip_local_port_range"));
    }
    Ok(())
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The soft limit on open files; `None` where there is none.
fn open_files(limits: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace().next()?.parse().ok()
}

/// How many local ports connections may come from.
fn ports(range: &str) -> Option<u64> {
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some((last + 1).saturating_sub(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_system_spells_them() {
        let text = "Limit    Soft Limit   Hard Limit   Units\nMax processes  5  6  processes\nMax open files            1024                 524288               files     \n";
        assert_eq!(open_files(text), Some(1024));
        assert_eq!(open_files("Max open files            unlimited            unlimited            files"), None);
        assert_eq!(ports("32768\t60999\n"), Some(28_232));
        assert_eq!(ports(""), None);
    }
}
