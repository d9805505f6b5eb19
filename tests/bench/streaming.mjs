// What it costs to show a model's answer while it comes: a provider on this machine sends 200 tokens a second for a
// minute, thinking, text and the arguments of a call in turn, to the page at VOLARY_URL. Prints one JSON object: the
// tokens a second as they came; the tasks of the main thread over 50 milliseconds, and the longest task of all as far
// as browsers tell (they tell of none below 50); the share of time that the thread was busy; and the memory in use
// after ten seconds and at the end, in bytes (the heap of scripts, collected, and the wasm memories).

import { chromium } from "@playwright/test";

import { startProvider } from "../support/provider.mjs";
import { connected, ModelPlayground } from "../e2e/support/models.mjs";
import { memory } from "./support/memory.mjs";

// A little more than a minute: timers run a tenth fast at times, and the rate is measured.
const SECONDS = Number(process.env.VOLARY_BENCH_SECONDS ?? 66);
const TOKENS = 200 * SECONDS;
const TOKEN = "word ";

const provider = await startProvider();
const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await connected({ kind: "openai-chat", base: provider.base("chat") }).init(context);
  await context.addInitScript(() => {
    globalThis.benchTasks = [];
    new PerformanceObserver((list) => {
      globalThis.benchTasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration })));
    }).observe({ type: "longtask" });
  });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`${process.env.VOLARY_URL}#/run/dummy`);
  const playground = new ModelPlayground(page);
  await playground.seated();

  const third = TOKEN.repeat(TOKENS / 3);
  // A little faster than wanted, for timers are late.
  const pace = { pace: 4, piece: TOKEN.length };
  const call = { name: "print_story", arguments: { story: third } };
  provider.tell({ script: [{ thinking: third, text: third, calls: [call], ...pace }] });
  await playground.button("Run").click();
  await playground.turn.getByText("word").first().waitFor();
  // What came before is the loading of the code, not the stream.
  await page.evaluate(() => (globalThis.benchTasks.length = 0));
  const start = Date.now();
  const busyBefore = await busy();
  await page.waitForTimeout(10_000);
  const early = await inUse();
  // To measure memory is a long task of its own.
  const ownTasks = await page.evaluate(() => globalThis.benchTasks.splice(0));
  const during = ownTasks.filter(({ startTime }) => startTime < early.at);
  await playground.turn.getByText("print_story").waitFor({ timeout: 2_000 * SECONDS });
  await page.waitForFunction(
    (enough) => (document.querySelector(".partial-arguments")?.textContent.length ?? 0) > enough,
    0.9 * third.length,
    { timeout: 2_000 * SECONDS, polling: 500 },
  );
  const busyAfter = await busy();
  const seconds = (Date.now() - start) / 1000;
  const tasks = [...during, ...(await page.evaluate(() => globalThis.benchTasks.splice(0)))];
  const late = await inUse();
  await playground.says("1 step");
  console.log(
    JSON.stringify({
      rate: Math.round((TOKENS * (2.9 / 3)) / seconds),
      seconds,
      long_tasks: tasks.length,
      longest: Math.max(0, ...tasks.map(({ duration }) => duration)),
      busy: (busyAfter - busyBefore) / seconds,
      memory_early: early.bytes,
      memory_late: late.bytes,
    }),
  );

  /** Seconds for which the main thread worked, since it began. */
  async function busy() {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value;
  }

  async function inUse() {
    const at = await page.evaluate(() => performance.now());
    return { at, bytes: await memory(page) };
  }
} finally {
  await browser.close();
  await provider.close();
}
