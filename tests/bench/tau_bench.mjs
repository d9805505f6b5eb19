// How long the gold actions of tau-bench's retail tasks take in a browser: opens the folder in VOLARY_BENCH_URL, reads
// the checkout in TAU_BENCH_DIR, and prints one JSON object: seconds for all tasks, tasks, and how many were rewarded.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "@playwright/test";

const SECONDS = 5;
const RETAIL = "tau_bench/envs/retail";

/** The text files of the domain by their paths from the root of the checkout. */
async function checkout(root) {
  const files = {};
  for (const name of await readdir(path.join(root, RETAIL), { recursive: true })) {
    if (!/\.(py|json|md)$/.test(name)) continue;
    const inside = `${RETAIL}/${name}`;
    files[inside] = await readFile(path.join(root, inside), "utf8");
  }
  return JSON.stringify(files);
}

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const page = await browser.newPage();
  await page.goto(process.env.VOLARY_BENCH_URL);
  const figures = await page.evaluate(
    async ([seconds, files]) => {
      const bench = await import("./volary_bench.js");
      await bench.default({ module_or_path: "./volary_bench_bg.wasm" });
      const tasks = bench.set_retail(files);
      if (!tasks) throw new Error("the checkout can't be read");
      const rewarded = bench.retail_gold_actions();
      const start = performance.now();
      let count = 0;
      while (performance.now() - start < seconds * 1000) {
        bench.retail_gold_actions();
        count += 1;
      }
      return { seconds: (performance.now() - start) / 1000 / count, tasks, rewarded };
    },
    [SECONDS, await checkout(process.env.TAU_BENCH_DIR)],
  );
  console.log(JSON.stringify(figures));
} finally {
  await browser.close();
}
