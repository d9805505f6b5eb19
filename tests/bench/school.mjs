// The school in Chromium: trains with several seeds, each until nine of ten samples of the last five updates are right, on
// average. Prints one JSON object: the updates a second of the first 100 updates, the seconds to 90 % (median, and how
// many seeds never reached it), the longest time between two drawings while it trained, the gzipped bytes that the
// school's page and worker load after the first view of the playground, and those of them that only the school needs.

import { chromium } from "@playwright/test";

import { slowServer } from "./support/slow_network.mjs";

const SEEDS = Number(process.env.SEEDS ?? 10);
/** A seed that needs more updates has failed. */
const MOST = Number(process.env.UPDATES ?? 400);
const RATED = 100;

const server = await slowServer(process.env.VOLARY_DIST, { bytesPerSecond: 1e9, latency: 0, cacheControl: "max-age=600" });
const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const lazy = await loaded();
  console.error(JSON.stringify(lazy));
  const runs = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const run = await train(seed);
    console.error(`seed ${seed}: ${JSON.stringify(run)}`);
    runs.push(run);
  }
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  const reached = runs.filter((run) => run.seconds !== null);
  console.log(
    JSON.stringify({
      updates_per_second: median(runs.map((run) => run.rate)),
      // A seed that fails takes longest.
      seconds_to_90: median(runs.map((run) => run.seconds ?? Infinity)),
      updates_to_90: median(reached.map((run) => run.updates)),
      failed: runs.length - reached.length,
      seeds: runs.length,
      drawing_median: median(runs.map((run) => run.drawing)),
      lazy_bytes: lazy.all,
      own_bytes: lazy.own,
      drawing_most: Math.max(...runs.map((run) => run.drawing)),
    }),
  );
} finally {
  await browser.close();
  await server.close();
}

async function loaded() {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
  const page = await context.newPage();
  try {
    await page.goto(server.url);
    // What the playground loads by itself is not the school's.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(5_000);
    const before = server.sent.length;
    await page.goto(`${server.url}#/learn/school`);
    await page.getByRole("status", { name: "Run" }).getByText("Not trained yet").waitFor();
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await page.getByRole("status", { name: "Run" }).getByText(/^Update \d/).waitFor();
    const sent = server.sent.slice(before);
    const sum = (files) => files.reduce((total, { bytes }) => total + bytes, 0);
    return { all: sum(sent), own: sum(sent.filter(({ path }) => path.includes("split_school"))) };
  } finally {
    await context.close();
  }
}

async function train(seed) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
  const page = await context.newPage();
  try {
    page.setDefaultTimeout(600_000);
    await page.goto(`${server.url}#/learn/school?seed=${seed}`);
    await page.getByRole("status", { name: "Run" }).getByText("Not trained yet").waitFor();
    await page.evaluate(observe);
    await page.getByRole("button", { name: "Train", exact: true }).click();
    const measured = await page.evaluate(([most, rated]) => globalThis.reached(most, rated), [MOST, RATED]);
    return measured;
  } finally {
    await context.close();
  }
}

/** In the page: notes the time of each update, and the time between drawings. */
function observe() {
  const status = document.querySelector("[aria-label=Run]");
  const successes = [];
  let begun, end, last, drawing = 0, rate;
  const drawn = (now) => {
    if (begun !== undefined && last !== undefined) drawing = Math.max(drawing, now - last);
    last = begun === undefined ? undefined : now;
    if (!end?.isOver) requestAnimationFrame(drawn);
  };
  requestAnimationFrame(drawn);
  globalThis.reached = (most, rated) =>
    new Promise((resolve) => {
      const note = () => {
        const found = /^Update (\d+): (\d+) %/.exec(status.textContent);
        if (!found || Number(found[1]) === successes.length) return;
        begun ??= performance.now();
        const seconds = (performance.now() - begun) / 1000;
        // An update that was not drawn counts with the next one.
        while (successes.length < Number(found[1])) successes.push(Number(found[2]));
        if (successes.length >= rated) rate ??= (successes.length - 1) / seconds;
        const latest = successes.slice(-5);
        const isGood = latest.length === 5 && latest.reduce((sum, share) => sum + share, 0) >= 450;
        if (!isGood && successes.length < most) return;
        end = { isOver: true };
        rate ??= (successes.length - 1) / seconds;
        resolve({ seconds: isGood ? seconds : null, updates: successes.length, rate, drawing });
      };
      new MutationObserver(note).observe(status, { subtree: true, characterData: true, childList: true });
    });
}
