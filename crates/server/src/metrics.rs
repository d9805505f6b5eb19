//! Metrics for Prometheus.

use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The values of the label `endpoint`; all other paths are counted under the last one.
const ENDPOINTS: [&str; 17] = [
    "/start",
    "/reset",
    "/step",
    "/close",
    "/close_old_envs",
    "/info",
    "/steps",
    "/frame",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/ws",
    "/mcp",
    "/health",
    "/metadata",
    "/schema",
    "other",
];

/// A value of the label `endpoint`, as its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint(usize);

impl Endpoint {
    /// The path.
    pub fn name(self) -> &'static str {
        ENDPOINTS.get(self.0).copied().unwrap_or("other")
    }
}

/// The metrics of one endpoint, looked up once, so that every combination of labels is exported from the start.
struct Counts {
    by_class: [Counter; CLASSES.len()],
    seconds: Histogram,
}

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const BUCKETS: [f64; 11] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// All metrics of a server.
pub struct Metrics {
    counts: Vec<Counts>,
    /// Environments that panicked or exceeded the time limit.
    pub lost: Counter,
    /// Open connections.
    pub connections: Gauge,
    /// Operations of environments that run or wait.
    pub operations: Gauge,
    running: Gauge,
    started: Gauge,
    stuck: Gauge,
    registry: Registry,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::<[(&str, &str); 2], Counter>::default();
        let seconds = Family::<[(&str, &str); 1], Histogram>::new_with_constructor(|| {
            Histogram::new(BUCKETS)
        });
        let counts = ENDPOINTS.iter().map(|endpoint| Counts {
            by_class: CLASSES.map(|class| {
                let labels = [("endpoint", *endpoint), ("status", class)];
                requests.get_or_create(&labels).clone()
            }),
            seconds: seconds.get_or_create(&[("endpoint", *endpoint)]).clone(),
        });
        let counts = counts.collect();
        let lost = Counter::default();
        let [connections, operations, running, started, stuck] =
            std::array::from_fn(|_| Gauge::default());
        let mut registry = Registry::with_prefix("volary");
        registry.register("requests", "Requests answered", requests);
        registry.register("request_seconds", "Time to answer", seconds);
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge("environments_running", "Environments that run", &running);
        gauge(
            "environments_started",
            "Environments that were started",
            &started,
        );
        gauge("connections", "Connections that are open", &connections);
        gauge(
            "operations",
            "Operations of environments that run or wait",
            &operations,
        );
        gauge(
            "workers_stuck",
            "Workers that are stuck in the code of an environment",
            &stuck,
        );
        registry.register(
            "environments_lost",
            "Environments that panicked or exceeded the time limit",
            lost.clone(),
        );
        Metrics {
            counts,
            lost,
            connections,
            operations,
            running,
            started,
            stuck,
            registry,
        }
    }
}

impl Metrics {
    /// All metrics as text, with these values of the gauges.
    pub fn to_text(&self, running: usize, started: u64, stuck: usize) -> String {
        let as_signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.running.set(as_signed(running));
        self.started.set(i64::try_from(started).unwrap_or(i64::MAX));
        self.stuck.set(as_signed(stuck));
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// The endpoint of a path.
    pub fn endpoint(&self, path: &str) -> Endpoint {
        let place = ENDPOINTS.iter().position(|known| *known == path);
        Endpoint(place.unwrap_or(ENDPOINTS.len() - 1))
    }

    /// Counts a request.
    pub fn observe(&self, endpoint: Endpoint, status: StatusCode, elapsed: Duration) {
        if let Some(counts) = self.counts.get(endpoint.0) {
            let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
            counts.by_class[class].inc();
            counts.seconds.observe(elapsed.as_secs_f64());
        }
    }
}
