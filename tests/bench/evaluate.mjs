// What an evaluation of a thousand dummy episodes costs on the page at VOLARY_URL: a built-in policy plays them in
// #/evaluate, from the press of Start until all are finished and kept. Prints one JSON object: the seconds of each
// run in order, of the median run and of the first (which starts the workers), and the tasks of the main thread over 50 milliseconds in
// all runs, with the longest.

import { chromium } from "@playwright/test";

import { Evaluate, HASH } from "../e2e/support/evaluate.mjs";

const EPISODES = Number(process.env.VOLARY_BENCH_EPISODES ?? 1_000);
const RUNS = 5;
/** By then the page has put into its place what it kept of a run, in milliseconds. */
const REST = 2_000;

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(120_000);
  await page.addInitScript(() => {
    globalThis.benchTasks = [];
    new PerformanceObserver((list) => {
      globalThis.benchTasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration })));
    }).observe({ type: "longtask" });
  });
  await page.goto(`${process.env.VOLARY_URL}${HASH}`);
  const evaluate = new Evaluate(page);
  const seconds = [];
  const tasks = [];
  for (let run = 0; run < RUNS; run += 1) {
    await evaluate.from("environment:dummy");
    await evaluate.field("Seeds").fill(String(EPISODES));
    await page.waitForTimeout(REST);
    // Measured in the page: what asking from outside costs is not the page's.
    const took = page.evaluate(
      (wanted) =>
        new Promise((resolve) => {
          let start;
          addEventListener("click", () => (start = performance.now()), { capture: true, once: true });
          const observer = new MutationObserver(() => {
            const status = document.querySelector(".evaluation-status")?.textContent ?? "";
            if (status.startsWith(wanted)) {
              observer.disconnect();
              const end = performance.now();
              // What follows in the next frames belongs to it.
              setTimeout(() => {
                const long = globalThis.benchTasks.splice(0).filter((task) => task.startTime >= start);
                resolve({ seconds: (end - start) / 1000, long: long.map((task) => task.duration) });
              }, 500);
            }
          });
          observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        }),
      `Finished: ${EPISODES.toLocaleString("en")} of`,
    );
    await evaluate.button("Start").click();
    const result = await took;
    console.error(`  ${result.seconds.toFixed(3)} s, long tasks: ${result.long.map(Math.round).join(" ") || "none"}`);
    seconds.push(result.seconds);
    tasks.push(...result.long);
    await page.getByRole("link", { name: "All evaluations" }).click();
  }
  const [first] = seconds;
  const median = [...seconds].sort((a, b) => a - b)[RUNS >> 1];
  console.log(
    JSON.stringify({ episodes: EPISODES, first, median, long_tasks: tasks.length, longest: Math.max(0, ...tasks) }),
  );
} finally {
  await browser.close();
}
