//! The thread that scans, before all others that wait for the processor (`SCHED_FIFO`).

use thread_priority::{
    Error, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// `EPERM` of Linux.
const NOT_PERMITTED: i32 = 1;

/// Why the system gives no such priority.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not permitted.
    #[error(
        "the system does not permit real-time priority {0}, and the matrix is scanned like any other work; the unit of the \
         service permits it with LimitRTPRIO={0} (`sudo systemctl edit touchmoved`, then `sudo systemctl restart \
         touchmoved`), a shell with `ulimit -r {0}` set by root; or leave realtime-priority out"
    )]
    NotPermitted(
        /// What was asked for.
        u8,
    ),
    /// It does not know it.
    #[error(
        "the system has no real-time priority {0} ({1}), and the matrix is scanned like any other work; leave realtime-priority out"
    )]
    Unknown(
        /// What was asked for.
        u8,
        /// What it says.
        String,
    ),
}

/// Gives the calling thread this priority, 1 to 99, under `SCHED_FIFO`: it runs as soon as it is to run, and its waits
/// end without the slack that the kernel grants itself otherwise.
///
/// # Errors
/// The system does not give it; the thread goes on as it was.
pub fn claim(priority: u8) -> Result<(), Refused> {
    let unknown = |error: &dyn std::fmt::Debug| Refused::Unknown(priority, format!("{error:?}"));
    let value = ThreadPriorityValue::try_from(priority).map_err(|error| unknown(&error))?;
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    match set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy) {
        Ok(()) => Ok(()),
        Err(Error::OS(NOT_PERMITTED)) => Err(Refused::NotPermitted(priority)),
        Err(error) => Err(unknown(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread of its own, so that no other test runs before its time.
    #[test]
    fn a_priority_is_given_or_the_refusal_says_what_helps() {
        let asked = std::thread::spawn(|| claim(7)).join().unwrap();
        if let Err(refused) = asked {
            assert_eq!(refused, Refused::NotPermitted(7));
            assert!(refused.to_string().contains("LimitRTPRIO=7"), "{refused}");
        }
        let beyond = std::thread::spawn(|| claim(100)).join().unwrap();
        assert!(matches!(beyond, Err(Refused::Unknown(100, _))), "{beyond:?}");
    }
}
