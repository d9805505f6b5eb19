//! Detects a worker whose thread is stuck in the code of an environment that never ends and never
//! yields.
//!
//! Such code cannot be stopped, but it must not block others: new environments start on other
//! workers, requests to this one are rejected, and `/healthz` fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The interval of heartbeats, and of checks.
const INTERVAL: Duration = Duration::from_millis(250);

/// The watchdog of one worker.
pub struct Watchdog {
    created: Instant,
    /// Milliseconds from the creation to the latest heartbeat; 0 before the first.
    latest: AtomicU64,
    stuck: watch::Sender<bool>,
}

impl Default for Watchdog {
    fn default() -> Self {
        Watchdog {
            created: Instant::now(),
            latest: AtomicU64::new(0),
            stuck: watch::Sender::new(false),
        }
    }
}

impl Watchdog {
    /// Sends heartbeats; runs on the worker's thread and stops with it.
    pub async fn keep_alive(&self) {
        loop {
            self.latest.store(self.age().max(1), Ordering::Relaxed);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Whether the worker is stuck.
    pub fn is_stuck(&self) -> bool {
        *self.stuck.borrow()
    }

    /// Completes when the worker is stuck.
    pub async fn stuck(&self) {
        let mut stuck = self.stuck.subscribe();
        // Fails only without a sender, which `self` is.
        let _ = stuck.wait_for(|stuck| *stuck).await;
    }

    fn age(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Compares the time of the latest heartbeat with the limit; returns whether the state changed.
    fn check(&self, limit: Duration) -> bool {
        let latest = self.latest.load(Ordering::Relaxed);
        let silence = Duration::from_millis(self.age().saturating_sub(latest));
        let is_stuck = latest > 0 && silence > limit;
        self.stuck
            .send_if_modified(|known| std::mem::replace(known, is_stuck) != is_stuck)
    }
}

/// Checks all workers for as long as the server runs. A worker without a heartbeat for `limit` is
/// stuck.
pub async fn monitor(watchdogs: Vec<Arc<Watchdog>>, limit: Duration) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        for (worker, watchdog) in watchdogs.iter().enumerate() {
            if !watchdog.check(limit) {
                continue;
            }
            if watchdog.is_stuck() {
                tracing::error!(
                    worker,
                    "a worker is stuck in the code of an environment, and its other environments \
                     wait; --isolate gives each environment its own thread"
                );
            } else {
                tracing::warn!(worker, "a worker is no longer stuck");
            }
        }
    }
}
