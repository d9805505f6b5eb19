// What a large library costs: a file of a gigabyte with 100,000 trajectories is shown by a site of its own (the page of
// VOLARY_DIST with the file beside it, of which the browser keeps nothing); at VOLARY_URL it is imported, and 5,000
// trajectories are searched. Prints one JSON object: megabytes a second of each, the first row in milliseconds, the
// memory of page and worker in bytes (the wasm memories, which never shrink, and the heap of scripts), the longest
// task of the page meanwhile, sorting them by a text, opening one in the middle, and searches (median and 95th percentile, from the letter
// that is typed to the rows that are shown).
//
// Each visit has a profile of its own on the disk, as people have one. In a private window, which Playwright opens
// otherwise, the browser keeps its databases in memory, and takes longer for a record the more there are (docs/measured.md).

import { closeSync, createReadStream, createWriteStream, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { chromium } from "@playwright/test";

import { Library, trajectory } from "../e2e/support/trajectories.mjs";
import { memory } from "./support/memory.mjs";

const EPISODES = Number(process.env.VOLARY_EPISODES ?? 100_000);
const SEARCHED = 5_000;
const BYTES = 10_000;
const SEARCHES = 25;

/** Words as a text has them: the same few often, others rarely. */
function* words(seed) {
  let state = seed * 2_654_435_761 + 1;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield `w${((state >>> 8) % 30_000).toString(36)}`;
  }
}

/** A trajectory of about this number of bytes: ten messages, and a word that no other has. */
function line(number, bytes) {
  const source = words(number);
  const text = () => {
    const parts = [];
    for (let length = 0; length < bytes / 11; ) {
      const word = source.next().value;
      parts.push(word);
      length += word.length + 1;
    }
    return parts.join(" ");
  };
  const act = (place) => ({ says: text(), calls: [["look", { at: place }]], sees: [text()], reward: place % 2 });
  const made = trajectory(`episode-${number}`, [0, 1, 2, 3, 4].map(act));
  made.steps[0].message = `Task number${number}`;
  return `${JSON.stringify(made)}\n`;
}

async function file(path, count) {
  const out = createWriteStream(path);
  let bytes = 0;
  // Making them all anew would take longer than reading them.
  const bodies = Array.from({ length: 500 }, (_, number) => line(number, BYTES));
  for (let number = 0; number < count; number += 1) {
    const body = bodies[number % bodies.length].replace(/episode-\d+/, `episode-${number}`).replace(/number\d+/, `number${number}`);
    bytes += body.length;
    if (!out.write(body)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  // People's files were written long ago: the disk is to be at rest.
  const written = openSync(path, "r+");
  fsyncSync(written);
  closeSync(written);
  return bytes;
}

const folder = mkdtempSync(join(tmpdir(), "volary-bench-"));
let browser;
try {
  const figures = { episodes: EPISODES };
  const large = join(folder, "large.jsonl");
  figures.bytes = await file(large, EPISODES);
  console.error(`  ${(figures.bytes / 1e6).toFixed(0)} MB in ${EPISODES} trajectories`);

  const patience = { timeout: 600_000, polling: 100 };
  const allRows = (page) =>
    page.waitForFunction(
      (rows) => document.querySelector("[role=table]")?.ariaRowCount === String(rows + 1),
      EPISODES,
      patience,
    );
  let start = Date.now();
  const site = await published(large);
  try {
    const page = await visited();
    start = Date.now();
    await page.goto(`${site.address}#/review`);
    await allRows(page);
    figures.index_rate = figures.bytes / 1e3 / (Date.now() - start);
    console.error(`  ${figures.index_rate.toFixed(0)} MB/s of a site's own`);
  } finally {
    site.close();
    await browser.close();
  }

  let visit = await opened();
  start = Date.now();
  await visit.library.give("Import", [large]);
  await visit.library.table.getByRole("link").first().waitFor();
  figures.first_row = Date.now() - start;
  await allRows(visit.page);
  const indexed = (Date.now() - start) / 1000;
  figures.rate = figures.bytes / 1e6 / indexed;
  await visit.page.waitForFunction(() => !document.querySelector("progress"), undefined, patience);
  // With the copy that stays in the browser.
  const seconds = (Date.now() - start) / 1000;
  figures.kept_rate = figures.bytes / 1e6 / seconds;
  figures.memory = await memory(visit.page);
  figures.longest_task = await visit.page.evaluate(() => Math.max(0, ...window.longTasks));
  console.error(`  all rows after ${indexed.toFixed(1)} s, imported in ${seconds.toFixed(1)} s`);
  await visit.page.evaluate(() => (window.longTasks.length = 0));
  const heading = visit.library.table.getByRole("columnheader", { name: "Name" }).getByRole("button");
  await heading.click();
  start = Date.now();
  await heading.click();
  await visit.library.link(`episode-${EPISODES - 1}`).waitFor();
  figures.sort = Date.now() - start;
  figures.sort_task = await visit.page.evaluate(() => Math.max(0, ...window.longTasks));
  start = Date.now();
  await visit.page.goto(`${process.env.VOLARY_URL}#/review/episode-${EPISODES >> 1}`);
  await visit.page.getByRole("log", { name: "Transcript" }).getByText(`number${EPISODES >> 1}`).first().waitFor();
  figures.open = Date.now() - start;
  await browser.close();

  const some = join(folder, "some.jsonl");
  await file(some, SEARCHED);
  visit = await opened();
  await visit.library.give("Import", [some]);
  await visit.library.rows(SEARCHED);
  const search = (text) =>
    visit.page.evaluate(
      (text) =>
        new Promise((resolve) => {
          const input = document.getElementById("search-trajectories");
          const status = document.querySelector(".library-head [role=status]");
          const start = performance.now();
          const observer = new MutationObserver(() => {
            observer.disconnect();
            // The rows are shown in the same go.
            requestAnimationFrame(() => resolve(performance.now() - start));
          });
          observer.observe(status, { subtree: true, characterData: true, childList: true });
          input.value = text;
          input.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }),
      text,
    );
  figures.first_search = await search("number17");
  const times = [];
  const source = words(7);
  for (let place = 0; place < SEARCHES; place += 1) {
    // A common word, a rare one, a beginning, a number: each finds another count of rows than the one before.
    const text = [`number${place * 37}`, source.next().value, "task number1", `number${place}`][place % 4];
    times.push(await search(text));
    await search("");
  }
  times.sort((one, other) => one - other);
  figures.search_median = times[times.length >> 1];
  figures.search_p95 = times[Math.floor(times.length * 0.95)];
  console.log(JSON.stringify(figures));
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true });
}

/** The page, with a file beside it as its library. */
async function published(large) {
  const types = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
  const library = { title: "Large", files: [{ name: "large.jsonl", path: "large.jsonl", bytes: statSync(large).size }] };
  const index = readFileSync(join(process.env.VOLARY_DIST, "index.html"), "utf8");
  const made = {
    "/": index.replace("</head>", '<link rel="volary-library" href="./library.json"></head>'),
    "/library.json": JSON.stringify(library),
  };
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    response.setHeader("Content-Type", types[extname(path) || ".html"] ?? "application/octet-stream");
    if (made[path]) return response.end(made[path]);
    const name = path === "/large.jsonl" ? large : join(process.env.VOLARY_DIST, path);
    const { size } = statSync(name, { throwIfNoEntry: false }) ?? {};
    if (size === undefined) return response.writeHead(404).end();
    response.setHeader("Content-Length", size);
    return createReadStream(name).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${server.address().port}/`, close };
}

/** A new profile's first page. */
async function visited() {
  browser = await chromium.launchPersistentContext(mkdtempSync(join(folder, "profile-")), {
    executablePath: process.env.VOLARY_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  return browser.pages()[0];
}

async function opened() {
  const page = await visited();
  page.setDefaultTimeout(60_000);
  await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
    }).observe({ entryTypes: ["longtask"] });
  });
  await page.goto(`${process.env.VOLARY_URL}#/review`);
  const library = await new Library(page).ready();
  await page.getByText("No trajectories yet").waitFor();
  await page.evaluate(() => (window.longTasks.length = 0));
  return { page, library };
}
