// How Playwright runs the journeys. `cargo xtask test` sets the variables that they read (VOLARY_URL and others).

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.mjs",
  outputDir: "../target/e2e",
  // A journey has no timeout of its own: waiting for something on the page has one (support/browser.mjs).
  timeout: 300_000,
  // The tests of a file share servers, so they run in order; two files run at a time.
  fullyParallel: false,
  workers: Number(process.env.VOLARY_WORKERS ?? 2),
  // A test that passes only on retry is reported as flaky. `cargo xtask test` fails if three are.
  retries: 1,
  forbidOnly: true,
  // Recording a trace takes a quarter of the time, so only the second try of a failed test has one.
  use: { trace: "on-first-retry" },
  reporter: [["list"], ["json", { outputFile: "../target/e2e/report.json" }]],
});
