// How long tokens and mask of an episode take in a browser: opens the folder in VOLARY_BENCH_URL, and prints one
// JSON object: seconds, tokens and trained tokens by the number of turns.

import { chromium } from "@playwright/test";

const SECONDS = 2;
const TURNS = [30, 60, 120];

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const page = await browser.newPage();
  await page.goto(process.env.VOLARY_BENCH_URL);
  const figures = await page.evaluate(
    async ([seconds, all]) => {
      const bench = await import("./volary_bench.js");
      await bench.default({ module_or_path: "./volary_bench_bg.wasm" });
      const file = await (await fetch("./tokenizer.json")).arrayBuffer();
      if (!bench.set_tokenizer(new Uint8Array(file))) throw new Error("the tokenizer can't be read");
      const figures = {};
      for (const turns of all) {
        const [tokens, trained] = bench.token_deltas(turns);
        if (!tokens) throw new Error(`an episode of ${turns} turns has no tokens`);
        const start = performance.now();
        let count = 0;
        while (performance.now() - start < seconds * 1000) {
          bench.token_deltas(turns);
          count += 1;
        }
        figures[`seconds_${turns}`] = (performance.now() - start) / 1000 / count;
        figures[`tokens_${turns}`] = tokens;
        figures[`trained_${turns}`] = trained;
      }
      return figures;
    },
    [SECONDS, TURNS],
  );
  console.log(JSON.stringify(figures));
} finally {
  await browser.close();
}
