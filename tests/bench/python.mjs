// Environments in Python on the page at VOLARY_URL: steps a second of fhaviary's DummyEnv in an evaluation, the same for
// the built-in environment, how long Stop takes, and the memory of the browser after restarts of Python. Prints one
// JSON object.

import { readdirSync, readFileSync } from "node:fs";
import { chromium } from "@playwright/test";

import { Evaluate } from "../e2e/support/evaluate.mjs";

const EPISODES = 200;
const STEPS = 50;
/** Restarts until caches are full and memory is compared. */
const WARM = 10;
const RESTARTS = 100;
/** How long a worker in reserve takes to start, on a busy machine, in milliseconds. */
const SPARE = 4_000;

const DUMMY = `from aviary.core import DummyEnv


class LongDummy(DummyEnv):
    def __init__(self):
        super().__init__(end_immediately=False)
`;
const LOOP = "while True:\n    pass\n";

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${process.env.VOLARY_URL}#/environments`);
  await page.getByRole("button", { name: "New environment" }).click();
  await page.getByRole("button", { name: "Use template Counter" }).click();
  await write(page, DUMMY);
  await checked(page, "LongDummy is ready to be played");

  await page.getByRole("link", { name: "Evaluate" }).click();
  const python = await rate(page, { label: "Counter" });
  await page.getByRole("link", { name: "All evaluations" }).click();
  const ours = await rate(page, "environment:dummy", "end_immediately");

  await page.goto(`${process.env.VOLARY_URL}#/environments`);
  await page.getByRole("link", { name: "Edit Counter" }).click();
  const stops = [];
  let before;
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    if (restart === WARM) before = resident();
    stops.push(await stop(page));
  }
  const after = resident();
  stops.sort((a, b) => a - b);
  const [median, slowest] = [stops[stops.length >> 1], stops.at(-1)];
  console.log(JSON.stringify({ python, ours, stop: median, slowest, before, after }));
} finally {
  await browser.close();
}

/** Replaces the code, as a person who pastes does. */
async function write(page, text) {
  await page.getByRole("textbox", { name: "Code" }).click();
  await page.keyboard.press("Control+A");
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press("Control+V");
}

async function checked(page, words) {
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByRole("status", { name: "Result" }).getByText(words).waitFor();
}

/** Steps a second of an evaluation of random actions, by the status and the results that a person sees. */
async function rate(page, source, checked) {
  const evaluate = new Evaluate(page);
  await evaluate.from(source);
  if (checked) await evaluate.field(checked).uncheck();
  await evaluate.field("Seeds").fill(String(EPISODES));
  await evaluate.policy(0).selectOption("Random");
  await evaluate.field("Maximum steps").fill(String(STEPS));
  const took = page.evaluate(until, { selector: ".evaluation-status", start: `Finished: ${EPISODES} of` });
  await evaluate.button("Start").click();
  const seconds = (await took) / 1000;
  const cells = await evaluate.row("Random");
  console.error(`  ${seconds.toFixed(2)} s: ${cells.join(" | ")}`);
  const headers = await evaluate.results.getByRole("columnheader").allInnerTexts();
  const place = headers.findIndex((header) => header.startsWith("Steps"));
  // The first header is that of the row.
  const steps = Number(cells[place - 1]);
  if (!(steps > 1)) throw new Error(`no mean number of steps in: ${headers.join(" | ")}: ${cells.join(" | ")}`);
  return (EPISODES * steps) / seconds;
}

/** Runs an endless loop and stops it: milliseconds from the click until Python is ready again, by a worker in reserve. */
async function stop(page) {
  // The first answer of a worker starts the next one in reserve.
  await write(page, DUMMY);
  await checked(page, "LongDummy is ready to be played");
  await page.waitForTimeout(SPARE);
  await write(page, LOOP);
  await page.getByRole("button", { name: "Save and check" }).click();
  const button = page.getByRole("button", { name: "Stop Python" });
  await button.waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-label="Python"]').textContent.includes("running"));
  const took = page.evaluate(until, { selector: '[aria-label="Python"]', start: "Python is ready" });
  await button.click();
  return await took;
}

/** In the page: milliseconds from the next click until the text of an element begins with these words. */
function until({ selector, start }) {
  return new Promise((resolve) => {
    let clicked;
    addEventListener("click", () => (clicked = performance.now()), { capture: true, once: true });
    const observer = new MutationObserver(() => {
      const text = document.querySelector(selector)?.textContent.trim() ?? "";
      if (clicked && text.startsWith(start)) {
        observer.disconnect();
        resolve(performance.now() - clicked);
      }
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

/** The resident memory of this process' descendants, which are the browser's; in bytes. */
function resident() {
  const parents = new Map();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${entry}/status`, "utf8");
      const number = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      parents.set(Number(entry), { parent: number("PPid"), bytes: number("VmRSS") * 1024 });
    } catch {
      // It ended meanwhile.
    }
  }
  const isOurs = (id) => id === process.pid || (parents.has(id) && isOurs(parents.get(id).parent));
  const ours = [...parents].filter(([id]) => id !== process.pid && isOurs(id));
  const bytes = ours.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  console.error(`  ${(bytes / 1e6).toFixed(0)} MB in ${ours.length} processes`);
  return bytes;
}
