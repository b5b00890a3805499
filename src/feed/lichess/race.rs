//! The first of several ways that works.

use std::{future::Future, time::Duration};

use tokio::{task::JoinSet, time::sleep};

/// The first attempt that succeeds. They begin in order: each when the one before it failed, or has taken as long as
/// `head_start`. What is under way then goes on beside it, and is dropped once one has succeeded.
///
/// # Errors
/// All attempts failed: the failure of the first one, or a later one that `tells_more`. Nothing without attempts.
pub(super) async fn first<A, T, E, F>(
    ways: Vec<A>,
    head_start: Duration,
    attempt: impl Fn(A) -> F,
    tells_more: impl Fn(&E, &E) -> bool,
) -> Result<T, Option<E>>
where
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    let mut waiting = ways.into_iter();
    let mut under_way = JoinSet::new();
    let mut failure: Option<E> = None;
    loop {
        if let Some(way) = waiting.next() {
            under_way.spawn(attempt(way));
        }
        tokio::select! {
            biased;
            ended = under_way.join_next() => match ended {
                Some(Ok(Ok(success))) => return Ok(success),
                Some(Ok(Err(failed))) => {
                    if failure.as_ref().is_none_or(|known| tells_more(&failed, known)) {
                        failure = Some(failed);
                    }
                }
                Some(Err(_)) => {}
                None => return Err(failure),
            },
            () = sleep(head_start), if waiting.len() > 0 => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails a test that hangs.
    const LONG: Duration = Duration::from_secs(60);

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Way {
        /// Neither works nor fails.
        Dead,
        Fails(u8),
        Works(u8),
    }

    async fn go(way: Way) -> Result<u8, u8> {
        match way {
            Way::Dead => std::future::pending().await,
            Way::Fails(by) => Err(by),
            Way::Works(by) => Ok(by),
        }
    }

    async fn run(ways: &[Way], head_start: Duration) -> Result<u8, Option<u8>> {
        let run = first(ways.to_vec(), head_start, go, |one, other| one > other);
        tokio::time::timeout(LONG, run).await.expect("the test hangs")
    }

    #[tokio::test]
    async fn a_dead_way_holds_up_no_other() {
        let soon = Duration::from_millis(1);
        assert_eq!(run(&[Way::Dead, Way::Dead, Way::Works(3)], soon).await, Ok(3));
        assert_eq!(run(&[Way::Dead, Way::Fails(1), Way::Works(3), Way::Dead], soon).await, Ok(3));
        let hangs = first(vec![Way::Dead, Way::Fails(1)], soon, go, |_, _| false);
        assert!(
            tokio::time::timeout(Duration::from_millis(50), hangs).await.is_err(),
            "the first may work yet"
        );
    }

    #[tokio::test]
    async fn a_failure_does_not_wait_for_the_head_start_to_end() {
        let never = Duration::from_secs(3600);
        assert_eq!(run(&[Way::Works(1), Way::Works(2)], never).await, Ok(1));
        assert_eq!(run(&[Way::Fails(1), Way::Fails(2), Way::Works(3)], never).await, Ok(3));
        assert_eq!(run(&[Way::Fails(2), Way::Fails(3), Way::Fails(1)], never).await, Err(Some(3)));
        assert_eq!(run(&[Way::Fails(2), Way::Fails(1)], never).await, Err(Some(2)));
        assert_eq!(run(&[], never).await, Err(None));
    }
}
