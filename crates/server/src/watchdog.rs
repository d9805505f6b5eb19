//! Notices a worker that does not come back, because the code of one of its environments neither ends
//! nor yields. Nothing can stop such code, but others need not wait for it: the worker gets no
//! new connections, what others ask of it is refused, and `/healthz` says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::server::Server;

/// How often a worker says that it is there.
const BEAT: Duration = Duration::from_millis(250);

/// The pulse of one worker.
pub struct Watchdog {
    born: Instant,
    /// Milliseconds after birth of the latest beat; 0 before the first.
    latest: AtomicU64,
    stuck: watch::Sender<bool>,
}

impl Default for Watchdog {
    fn default() -> Self {
        Watchdog {
            born: Instant::now(),
            latest: AtomicU64::new(0),
            stuck: watch::Sender::new(false),
        }
    }
}

impl Watchdog {
    /// Beats for as long as the worker does not hang.
    pub async fn keep(&self) {
        loop {
            self.latest.store(self.age().max(1), Ordering::Relaxed);
            tokio::time::sleep(BEAT).await;
        }
    }

    /// Whether the worker hangs.
    pub fn is_stuck(&self) -> bool {
        *self.stuck.borrow()
    }

    /// Waits until the worker hangs.
    pub async fn stuck(&self) {
        let mut stuck = self.stuck.subscribe();
        // The sender lives as long as we do.
        let _ = stuck.wait_for(|stuck| *stuck).await;
    }

    fn age(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Compares the pulse with the time; gives whether that changed anything.
    fn judge(&self, limit: Duration) -> bool {
        let latest = self.latest.load(Ordering::Relaxed);
        let silence = Duration::from_millis(self.age().saturating_sub(latest));
        let stuck = latest > 0 && silence > limit;
        self.stuck
            .send_if_modified(|known| std::mem::replace(known, stuck) != stuck)
    }
}

/// Watches all workers of a server.
pub async fn watch_over(server: Arc<Server>) {
    loop {
        tokio::time::sleep(BEAT).await;
        for (worker, pulse) in server.pulses().enumerate() {
            if !pulse.judge(server.options.stuck_after) {
                continue;
            }
            if pulse.is_stuck() {
                tracing::error!(
                    worker,
                    "an environment's code neither ends nor yields, and all environments of this \
                     worker wait for it; --isolate gives each a thread of its own"
                );
            } else {
                tracing::warn!(worker, "the worker is back");
            }
        }
    }
}
