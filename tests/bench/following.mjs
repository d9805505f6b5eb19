// The memory of `volary view` while files are written for an hour: every minute that of the page, its worker and the
// command, in three visits at once.
//
// - fixed: a folder whose files keep their sizes: small files, a log of Inspect and a file of lines, one of which is
//   rewritten all the time. The table is shown.
// - open: the same folder; an episode that is rewritten is open.
// - growing: a file of lines that grows, and new files.
//
// VOLARY_SERVER is the command, VOLARY_DIST the page unless it is in the command. VOLARY_MINUTES says how long. Prints a
// table, then one JSON object: the bytes of the last minute less those of the fifth, and of a row that was added.

import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";

import { memoryParts } from "./support/memory.mjs";

const { VOLARY_SERVER, VOLARY_DIST, VOLARY_CHROMIUM } = process.env;
const MINUTES = Number(process.env.VOLARY_MINUTES ?? 60);
/** The minute from which on memory is compared: by then every kind of change has come many times. */
const SETTLED = Math.min(5, MINUTES - 1);
/** Milliseconds between two changes of each folder. */
const PAUSE = Number(process.env.VOLARY_PAUSE ?? 500);
const FILES = 50;
const SAMPLES = 20;
const LINES = 500;
const TABLE = "[role=table][aria-label=Trajectories]";

const words = (number, count) => Array.from({ length: count }, (_, place) => `word${(number * 31 + place * 7) % 5_000}`).join(" ");
/** The same number of characters for each number. */
const padded = (number) => String(number).padStart(8, "0");
const messages = (number, count) => [
  { role: "user", content: `Say ${padded(number)}. ${words(number, count)}` },
  { role: "assistant", content: `answer ${padded(number)}` },
];
const line = (number) => `${JSON.stringify({ messages: messages(number, 1_000) })}\n`;

/** A log of Inspect that is not over. */
function log(number) {
  const samples = Array.from({ length: SAMPLES }, (_, place) => ({
    id: place + 1,
    epoch: 1,
    input: "Say it.",
    target: "it",
    messages: messages(number + place, 400).map((message, at) => ({ id: `m${place}-${at}`, ...message })),
    scores: { includes: { value: (number + place) % 2 ? "C" : "I" } },
  }));
  const head = { eval_id: "e", run_id: "r", created: "2026-03-01T10:00:00+00:00", task: "say", task_id: "t", task_version: 0, dataset: { samples: SAMPLES }, model: "mock/model", config: {} };
  return JSON.stringify({ version: 2, status: "started", eval: head, plan: { name: "plan", steps: [], config: {} }, stats: {}, samples });
}

const folder = mkdtempSync(join(tmpdir(), "volary-following-"));
const [fixed, growing] = ["fixed", "growing"].map((name) => join(folder, name));
for (const path of [fixed, growing]) mkdirSync(path);
const small = (number) => writeFileSync(join(fixed, `${number % FILES}.json`), JSON.stringify({ messages: messages(number, 400) }));
const rewriteLines = (number) => writeFileSync(join(fixed, "lines.jsonl"), Array.from({ length: 20 }, (_, place) => line(number + place)).join(""));
for (let number = 0; number < FILES; number += 1) small(number);
writeFileSync(join(fixed, "log.json"), log(0));
rewriteLines(0);
writeFileSync(join(growing, "lines.jsonl"), Array.from({ length: LINES }, (_, number) => line(number)).join(""));
const FIXED_ROWS = FILES + SAMPLES + 20;

let changes = 0;
/** One change of each folder. */
function change() {
  changes += 1;
  switch (changes % 4) {
    case 0: writeFileSync(join(fixed, "log.json"), log(changes)); break;
    case 2: rewriteLines(changes); break;
    default: small(changes);
  }
  // The open episode.
  small(FILES * changes);
  if (changes % 40 === 0) writeFileSync(join(growing, `${changes}.json`), JSON.stringify({ messages: messages(changes, 400) }));
  else appendFileSync(join(growing, "lines.jsonl"), line(LINES + changes));
}

async function visit(path, rows) {
  const options = VOLARY_DIST ? ["--page", VOLARY_DIST] : [];
  const child = spawn(VOLARY_SERVER, ["view", path, "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  child.on("exit", (code, signal) => console.error(`volary view ended with ${code ?? signal}`));
  const said = await new Promise((done) => child.stdout.once("data", done));
  // A browser of its own, so that no process is shared.
  const browser = await chromium.launch({ executablePath: VOLARY_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.on("pageerror", (error) => console.error(error));
  await page.goto(JSON.parse(said).url);
  await page.waitForFunction(([table, rows]) => Number(document.querySelector(table)?.getAttribute("aria-rowcount")) > rows, [TABLE, rows - 1], { timeout: 120_000 });
  return { child, browser, page };
}

const resident = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
const count = async (page) => Number(await page.locator(TABLE).getAttribute("aria-rowcount").catch(() => 1)) - 1;

const visits = {
  fixed: await visit(fixed, FIXED_ROWS),
  open: await visit(fixed, FIXED_ROWS),
  growing: await visit(growing, LINES),
};
await visits.open.page.getByRole("link", { name: /^0(\.json)?\b/ }).first().click();
const timer = setInterval(change, PAUSE);
const taken = [];
try {
  const begin = Date.now();
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    await new Promise((done) => setTimeout(done, Math.max(0, begin + minute * 60_000 - Date.now())));
    const now = { minute, changes };
    for (const [name, { page, child }] of Object.entries(visits)) {
      const { scripts, nodes, wasm } = await memoryParts(page);
      now[name] = { rows: name === "open" ? undefined : await count(page), scripts, nodes, wasm, command: resident(child) };
    }
    taken.push(now);
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1).padStart(6);
    const shown = Object.keys(visits).map((name) => {
      const { rows, scripts, nodes, wasm, command } = now[name];
      return `${name} ${rows ?? ""} rows, ${nodes} nodes, scripts${megabytes(scripts)}, wasm${wasm.map(megabytes).join(" +")}, command${megabytes(command)}`;
    });
    console.error(`${String(minute).padStart(3)} min ${changes} changes | ${shown.join(" | ")}`);
  }
} finally {
  clearInterval(timer);
  for (const { child, browser } of Object.values(visits)) {
    child.kill();
    await browser.close();
  }
  rmSync(folder, { recursive: true });
}
const all = ({ scripts, wasm }) => wasm.reduce((sum, size) => sum + size, scripts);
const [from, to] = [taken[SETTLED], taken.at(-1)];
const grown = (name) => all(to[name]) - all(from[name]);
const rows = to.growing.rows - from.growing.rows;
console.log(JSON.stringify({ minutes: MINUTES, changes, fixed: grown("fixed"), open: grown("open"), growing: grown("growing"), rows, row: Math.round(grown("growing") / rows) }));
