// What a newcomer waits for: opens the page with an empty cache, takes the first action as soon as it can be taken, and
// waits for the answer. Prints one JSON object: for each line and each way of caching the milliseconds until the view is
// drawn and until the step is answered (medians, from the start of the navigation), the bytes that the view needs and all
// that were sent until the answer, gzipped, and the files that were sent twice. FILES=1 lists the files.

import { chromium } from "@playwright/test";

import { Playground } from "../e2e/support/playground.mjs";
import { slowServer } from "./support/slow_network.mjs";

const VISITS = Number(process.env.VISITS ?? 5);
/** The wasm that the first view does not need. */
const isLater = (path) => path.endsWith(".wasm") && !path.endsWith("volary_bg.wasm");
/** 1.6 Mbit a second, with a processor that is four times slower; and a local server. */
const LINES = {
  fast: { bytesPerSecond: 1e9, latency: 0, slowdown: 1 },
  slow: { bytesPerSecond: 200_000, latency: 150, slowdown: 4 },
};
const CACHES = { cached: "max-age=600", uncached: undefined };

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const found = {};
  for (const [line, { slowdown, ...speed }] of Object.entries(LINES)) {
    for (const [how, cacheControl] of Object.entries(CACHES)) {
      const visits = [];
      for (let number = 0; number < VISITS; number += 1) visits.push(await visit({ ...speed, cacheControl }, slowdown));
      const median = (of) => visits.map(of).sort((a, b) => a - b)[VISITS >> 1];
      for (const what of ["view", "step", "first", "bytes", "twice"]) {
        found[`${line}_${how}_${what}`] = Math.round(median((visit) => visit[what]));
      }
    }
  }
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}

async function visit(speed, slowdown) {
  const server = await slowServer(process.env.VOLARY_DIST, speed);
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  try {
    const devtools = await context.newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    page.setDefaultTimeout(120_000);
    await page.goto(server.url, { waitUntil: "commit" });
    const now = () => page.evaluate(() => performance.now());
    const playground = new Playground(page);
    await playground.ready();
    const view = await now();
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    const step = await now();
    const paths = server.sent.map(({ path }) => path);
    const total = (files) => files.reduce((sum, { bytes }) => sum + bytes, 0);
    const first = total(server.sent.filter(({ path }, place) => !isLater(path) && paths.indexOf(path) === place));
    if (process.env.FILES) for (const { path, bytes } of server.sent) console.error(`  ${String(bytes).padStart(9)}  ${path}`);
    return { view, step, first, bytes: total(server.sent), twice: paths.length - new Set(paths).size };
  } finally {
    await context.close();
    server.close();
  }
}
