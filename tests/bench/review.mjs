// Review beside Inspect View: the same logs (tests/bench/inspect_logs.py made them, in VOLARY_LOGS) in the same
// Chromium, one after the other, each visit in a browser of its own. Prints one JSON object of flat numbers,
// `{tool}_{log}_{figure}`: milliseconds from the start of the navigation to the first frame with rows (medians of RUNS
// visits; of a log of one sample: with messages of that sample), megabytes of the renderer's own memory then and at its
// most, and milliseconds of the main thread for a step of scrolling, 95 of 100 and the worst.
//
// Both pages are asked with each of their frames whether the rows are there. Playwright's own waiting asks after 0, 20,
// 70, 170, 270, 770, 1270… ms, and would round by up to half a second.

import { createReadStream, readFileSync, statSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { chromium } from "@playwright/test";

import { p95, scrollSteps } from "./support/main_thread.mjs";

const RUNS = Number(process.env.VOLARY_RUNS ?? 5);
const LOGS = process.env.VOLARY_LOGS;
const ALL = { few: "table", many: "table", "many-json": "table", long: "sample", huge: "sample" };
/** What is measured, if not all: names of logs and tools. */
const only = process.env.VOLARY_ONLY?.split(",");
const wanted = (...names) => !only || names.every((name) => only.includes(name));
/** The number of scroll steps, the pixels of each, and the milliseconds to wait after it. */
const SCROLL = { steps: 40, pixels: 900, rest: 150 };
/** The milliseconds that a browser needs to settle after its start. */
const SETTLED = 1_500;

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Both sites and the logs, from one origin: /ours/, /theirs/{log}/. With ranges, which Inspect View reads by. */
const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  const [, whose, ...rest] = path.split("/");
  const [log, ...within] = rest;
  const file =
    whose === "ours" ? join(process.env.VOLARY_DIST, ...rest) : join(LOGS, log, "site", ...within);
  let size;
  const name = file.endsWith("/") ? join(file, "index.html") : file;
  try {
    size = statSync(name).size;
  } catch {
    response.writeHead(404).end();
    return;
  }
  const headers = {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Accept-Ranges": "bytes",
    "Cache-Control": "no-store",
  };
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  let [start, end] = [0, size - 1];
  if (range) {
    start = range[1] === "" ? Math.max(0, size - Number(range[2])) : Number(range[1]);
    end = range[1] === "" || range[2] === "" ? end : Math.min(end, Number(range[2]));
    headers["Content-Range"] = `bytes ${start}-${end}/${size}`;
  }
  headers["Content-Length"] = end - start + 1;
  response.writeHead(range ? 206 : 200, headers);
  if (request.method === "HEAD" || size === 0) response.end();
  else createReadStream(name, { start, end }).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;

const file = (log) => readdirSync(join(LOGS, log, "site", "logs")).find((name) => name !== "listing.json");

/** What is looked for, as XPath: a row of the table, or a message. */
const tools = {
  theirs: {
    address: (log) => {
      const sample = ALL[log] === "sample" ? "/samples/sample/1/1/messages" : "";
      return `${origin}/theirs/${log}/index.html#/logs/${encodeURIComponent(file(log))}${sample}`;
    },
    table: "//*[normalize-space(text()) = 'marble']",
    sample: "//*[translate(normalize-space(text()), 'ANST', 'anst') = 'assistant']",
  },
  ours: {
    address: (log) => {
      const sample = ALL[log] === "sample" ? "&open=1" : "";
      const address = encodeURIComponent(`${origin}/theirs/${log}/logs/${file(log)}`);
      return `${origin}/ours/index.html#/review?url=${address}${sample}`;
    },
    table: "//*[@role = 'table'][@aria-label = 'Trajectories']//a",
    sample: "//*[@role = 'log'][@aria-label = 'Transcript']//*[contains(text(), 'marble')]",
  },
};

const figures = {};
for (const [log, kind] of Object.entries(ALL)) {
  for (const [name, tool] of Object.entries(tools)) {
    if (!wanted(log, name)) continue;
    const visits = [];
    for (let run = 0; run < RUNS; run += 1) visits.push(await visit(tool, log, kind, run === 0));
    const set = (figure, value) => (figures[`${name}_${log}_${figure}`] = value);
    set("first", median(visits.map((one) => one.first)));
    set("memory", median(visits.map((one) => one.memory)));
    set("peak", median(visits.map((one) => one.peak)));
    const { steps } = visits[0];
    if (steps) {
      set("scroll_p95", p95(steps));
      set("scroll_most", steps.at(-1));
    }
    console.error(`  ${name} ${log}: ${visits.map((one) => one.first.toFixed(0)).join(" ")} ms,`,
      `${visits.map((one) => `${one.memory.toFixed(0)}/${one.peak.toFixed(0)}`).join(" ")} MB`,
      steps ? `scroll ${steps.map((ms) => ms.toFixed(0)).join(" ")}` : "");
  }
}
server.close();
console.log(JSON.stringify(figures));

/** One visit: how long it takes, what it holds, and on the first one how it scrolls. */
async function visit(tool, log, kind, scrolls) {
  const browser = await chromium.launch({
    executablePath: process.env.VOLARY_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(180_000);
    await page.addInitScript(watchFor, tool[kind]);
    // The browser's own start is no part of the visit.
    await page.waitForTimeout(SETTLED);
    await page.goto(tool.address(log), { waitUntil: "commit" });
    const taken = await (await page.waitForFunction(() => globalThis.seen?.after)).jsonValue();
    await page.waitForTimeout(2_000);
    const held = await memory(browser);
    let steps;
    if (scrolls && kind === "sample") {
      const { x, y } = await page.evaluate(() => globalThis.seen.at);
      await page.mouse.move(x + 40, y + 4);
      steps = await scrollSteps(page, SCROLL);
    }
    return { first: taken, ...held, steps };
  } finally {
    await browser.close();
  }
}

/** In the page: says in `seen` after how many milliseconds something that is looked for could be seen, and where. */
function watchFor(wanted) {
  const look = () => {
    const found = document.evaluate(wanted, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue;
    const box = found?.checkVisibility() && found.getBoundingClientRect();
    if (box && box.height > 0) globalThis.seen = { after: performance.now(), at: { x: box.x, y: box.y } };
    else requestAnimationFrame(look);
  };
  if (globalThis === top) requestAnimationFrame(look);
}

/** The renderer's own memory and the most that it had, in megabytes. */
async function memory(browser) {
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
  await devtools.detach();
  const renderers = processInfo.filter((one) => one.type === "renderer");
  const sizes = renderers.map(({ id }) => {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    const of = (key) => Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)[1]) / 1024;
    return { memory: of("RssAnon"), peak: of("VmHWM") };
  });
  // A spare one may stand by; the page has the largest.
  return sizes.sort((a, b) => b.memory - a.memory)[0];
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
