// `volary view` beside `inspect view`, over the folder VOLARY_LOGS with one log (tests/bench/inspect_logs.py made it), in the
// same Chromium, in turn. Prints one JSON object: the milliseconds from the start of the command until a row with one of the
// samples could be seen, as medians of RUNS runs.

import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { chromium } from "@playwright/test";

const { VOLARY_LOGS, VOLARY_SERVER, VOLARY_HARNESSES, VOLARY_CHROMIUM } = process.env;
const RUNS = Number(process.env.VOLARY_RUNS ?? 5);
/** Each sample has this target, and Review lists the samples in a table. */
const THEIR_ROW = "//*[normalize-space(text()) = 'marble']";
const OUR_ROW = "//*[@role = 'table'][@aria-label = 'Trajectories']//a";
const [LOG] = readdirSync(VOLARY_LOGS);

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** The commands, each with the address to open, once it is known. */
const tools = {
  ours: async () => {
    const options = process.env.VOLARY_DIST ? ["--page", process.env.VOLARY_DIST] : [];
    const child = spawn(VOLARY_SERVER, ["view", VOLARY_LOGS, "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
    const line = await new Promise((done) => child.stdout.once("data", done));
    return { child, url: JSON.parse(line).url, row: OUR_ROW };
  },
  theirs: async () => {
    const port = await freePort();
    const program = join(dirname(VOLARY_HARNESSES), "inspect");
    const options = ["view", "start", "--log-dir", VOLARY_LOGS, "--host", "127.0.0.1", "--port", String(port)];
    // A script of pip names its interpreter by a path that may have moved.
    const child = spawn(VOLARY_HARNESSES, [program, ...options], { stdio: "ignore" });
    const origin = `http://127.0.0.1:${port}/`;
    for (let tries = 0; tries < 6000; tries += 1) {
      const answered = await fetch(origin).then(() => true, () => false);
      if (answered) break;
      await new Promise((done) => setTimeout(done, 10));
    }
    return { child, url: `${origin}#/logs/${encodeURIComponent(LOG)}`, row: THEIR_ROW };
  },
};

/** In the page: says in `seen` that a row can be seen. */
function watchFor(wanted) {
  const look = () => {
    const found = document.evaluate(wanted, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue;
    if (found?.checkVisibility() && found.getBoundingClientRect().height > 0) globalThis.seen = true;
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function run(start) {
  const browser = await chromium.launch({
    executablePath: VOLARY_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  let child;
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(180_000);
    // The browser's own start is no part of the command.
    await page.waitForTimeout(1_500);
    const begin = performance.now();
    const tool = await start();
    child = tool.child;
    await page.addInitScript(watchFor, tool.row);
    await page.goto(tool.url, { waitUntil: "commit" });
    // Asked with each frame.
    await page.waitForFunction(() => globalThis.seen, undefined, { polling: "raf" });
    return performance.now() - begin;
  } finally {
    child?.kill();
    await browser.close();
  }
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const taken = { ours: [], theirs: [] };
for (let round = 0; round < RUNS; round += 1) {
  for (const name of Object.keys(tools)) taken[name].push(await run(tools[name]));
}
for (const [name, all] of Object.entries(taken)) console.error(`  ${name}: ${all.map((ms) => ms.toFixed(0)).join(" ")} ms`);
console.log(JSON.stringify({ ours: median(taken.ours), theirs: median(taken.theirs) }));
