// How fast environments are in a browser: opens the folder in VOLARY_BENCH_URL, calls each function of
// the benchmark's wasm for about two seconds, and prints one JSON object of rates a second.

import { chromium } from "@playwright/test";

const SECONDS = 2;

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const page = await browser.newPage();
  await page.goto(process.env.VOLARY_BENCH_URL);
  const rates = await page.evaluate(async (seconds) => {
    const bench = await import("./volary_bench.js");
    await bench.default({ module_or_path: "./volary_bench_bg.wasm" });
    const rates = {};
    for (const name of ["dummy_steps", "dummy_resets", "dummy_episodes", "calculator_steps"]) {
      const run = bench[name];
      let count = 1000;
      // Warm, and find a count that takes about as long as wanted.
      for (;;) {
        const start = performance.now();
        const done = run(count);
        const elapsed = (performance.now() - start) / 1000;
        if (done !== count) throw new Error(`${name}: ${done} of ${count} went well`);
        if (elapsed > seconds / 2) {
          rates[name] = count / elapsed;
          break;
        }
        count = Math.ceil(count * Math.min(10, (seconds * 1.1) / Math.max(elapsed, 0.001)));
      }
    }
    return rates;
  }, SECONDS);
  console.log(JSON.stringify(rates));
} finally {
  await browser.close();
}
