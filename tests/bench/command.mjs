// `volary view` in Chromium: from the start of the command until a row can be seen, beside `inspect view`; 100,000 small
// files; and from a line that is appended to a file until its row can be seen, with the memory after that. Each visit is a
// browser of its own.
//
// VOLARY_LOGS is a folder with one log of 5,000 samples (tests/bench/inspect_logs.py made it), VOLARY_AGENTS one with files
// of SWE-agent, VOLARY_SMALL one with small files, and VOLARY_GROWING a file of lines. Prints one JSON object: milliseconds
// (medians of RUNS visits), and megabytes of page, worker and command.

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { chromium } from "@playwright/test";

import { memory } from "./support/memory.mjs";

const { VOLARY_LOGS, VOLARY_AGENTS, VOLARY_SMALL, VOLARY_GROWING } = process.env;
const { VOLARY_SERVER, VOLARY_HARNESSES, VOLARY_CHROMIUM } = process.env;
const RUNS = Number(process.env.VOLARY_RUNS ?? 5);
const APPENDS = Number(process.env.VOLARY_APPENDS ?? 1_000);
/** Between two appended lines, in milliseconds: so that they meet any moment of the page. */
const PAUSE = [40, 160];
/** Each sample has this target, and Review lists the samples in a table. */
const THEIR_ROW = "//*[normalize-space(text()) = 'marble']";
const TABLE = "[role=table][aria-label=Trajectories]";
const OUR_ROW = "//*[@role = 'table'][@aria-label = 'Trajectories']//a";

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts `volary view`; gives the address to open, once it is known. */
async function ours(path) {
  const options = process.env.VOLARY_DIST ? ["--page", process.env.VOLARY_DIST] : [];
  const child = spawn(VOLARY_SERVER, ["view", path, "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise((done) => child.stdout.once("data", done));
  return { child, url: JSON.parse(line).url, row: OUR_ROW };
}

async function theirs(path) {
  const port = await freePort();
  const program = join(dirname(VOLARY_HARNESSES), "inspect");
  const options = ["view", "start", "--log-dir", path, "--host", "127.0.0.1", "--port", String(port)];
  // A script of pip names its interpreter by a path that may have moved.
  const child = spawn(VOLARY_HARNESSES, [program, ...options], { stdio: "ignore" });
  const origin = `http://127.0.0.1:${port}/`;
  for (let tries = 0; tries < 6000; tries += 1) {
    const answered = await fetch(origin).then(() => true, () => false);
    if (answered) break;
    await new Promise((done) => setTimeout(done, 10));
  }
  const [log] = readdirSync(path);
  return { child, url: `${origin}#/logs/${encodeURIComponent(log)}`, row: THEIR_ROW };
}

/** In the page: says in `seen` that a row can be seen, and from then on in `counts` when there were how many. */
function watchFor({ row, table }) {
  globalThis.counts = [];
  const look = () => {
    const found = document.evaluate(row, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue;
    if (!globalThis.seen && found?.checkVisibility() && found.getBoundingClientRect().height > 0) globalThis.seen = true;
    const rows = Number(document.querySelector(table)?.getAttribute("aria-rowcount") ?? 1) - 1;
    if (rows !== globalThis.counts.at(-1)?.rows) globalThis.counts.push({ rows, at: Date.now() });
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Starts a command, and a browser that shows it. Gives the milliseconds until a row can be seen, and what `then` gives. */
async function visit(start, path, then = () => {}) {
  const browser = await chromium.launch({
    executablePath: VOLARY_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  let child;
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(600_000);
    // The browser's own start is no part of the command.
    await page.waitForTimeout(1_500);
    const begin = performance.now();
    const tool = await start(path);
    child = tool.child;
    await page.addInitScript(watchFor, { row: tool.row, table: TABLE });
    await page.goto(tool.url, { waitUntil: "commit" });
    // Asked with each frame.
    await page.waitForFunction(() => globalThis.seen, undefined, { polling: "raf" });
    return { first: performance.now() - begin, ...(await then(page, child)) };
  } finally {
    child?.kill();
    await browser.close();
  }
}

/** Waits until the table has this number of rows. */
async function rows(page, count) {
  await page.waitForFunction((count) => globalThis.counts.at(-1)?.rows >= count, count, { polling: 200 });
}

/** The most memory that a process had, in megabytes. */
const most = ({ pid }) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const taken = { ours: [], theirs: [], agents: [], small: [] };
for (let round = 0; round < RUNS; round += 1) {
  taken.ours.push((await visit(ours, VOLARY_LOGS)).first);
  taken.theirs.push((await visit(theirs, VOLARY_LOGS)).first);
  taken.agents.push((await visit(ours, VOLARY_AGENTS)).first);
  taken.small.push((await visit(ours, VOLARY_SMALL)).first);
}
for (const [name, all] of Object.entries(taken)) console.error(`  ${name}: ${all.map((ms) => ms.toFixed(0)).join(" ")} ms`);
const figures = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]));

const { whole, page, command } = await visit(ours, VOLARY_SMALL, async (page, child) => {
  const begin = performance.now();
  await rows(page, Number(process.env.VOLARY_SMALL_COUNT));
  const whole = performance.now() - begin;
  return { whole, page: (await memory(page)) / 1e6, command: most(child) };
});
Object.assign(figures, { small_whole: whole, small_page: page, small_command: command });

const { waits, followed } = await visit(ours, VOLARY_GROWING, async (page) => {
  const line = (number) => `${JSON.stringify({ messages: [{ role: "user", content: `Say ${number}. ${"some words ".repeat(100)}` }, { role: "assistant", content: `answer ${number}` }] })}\n`;
  const before = Number(process.env.VOLARY_GROWING_COUNT);
  await rows(page, before);
  const written = [];
  for (let number = 0; number < APPENDS; number += 1) {
    appendFileSync(VOLARY_GROWING, line(number));
    written.push(Date.now());
    const [least, most] = PAUSE;
    await new Promise((done) => setTimeout(done, least + ((number * 37) % (most - least))));
  }
  await rows(page, before + APPENDS);
  const counts = await page.evaluate(() => globalThis.counts);
  const waits = written.map((at, number) => counts.find(({ rows }) => rows > before + number).at - at);
  return { waits: waits.sort((a, b) => a - b), followed: await memory(page) };
});
// The same lines, loaded at once.
const { loaded } = await visit(ours, VOLARY_GROWING, async (page) => {
  await rows(page, Number(process.env.VOLARY_GROWING_COUNT) + APPENDS);
  return { loaded: await memory(page) };
});
Object.assign(figures, { followed: followed / 1e6, loaded: loaded / 1e6 });
const at = (share) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))];
Object.assign(figures, { append_median: at(0.5), append_p99: at(0.99), append_most: waits.at(-1) });
console.log(JSON.stringify(figures));
