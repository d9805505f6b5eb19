// A training run of many torch files in `volary view`: the folder VOLARY_RUN, which tests/bench/training.py wrote, with
// VOLARY_SAMPLES samples. Prints one JSON object: milliseconds from the start of the command to the first row, and to all
// rows; the memory of page and worker in bytes after that (the wasm memories, which never shrink, and the heap of scripts);
// milliseconds from the address of a sample to its tokens (median and worst of OPENED in different files); and milliseconds of
// the main thread for a step of scrolling 32,000 and 128,000 coloured tokens, 95 of 100 and the worst, and for colouring
// 128,000 by another stream (the worst of COLOURED). With SLIME_DIR, a checkout of slime, also the milliseconds until its
// timeline viewer has drawn one of the dumps.

import { spawn } from "node:child_process";
import { copyFileSync, createReadStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { chromium } from "@playwright/test";

import { mainThread, p95, scrollSteps } from "./support/main_thread.mjs";
import { memory } from "./support/memory.mjs";

const { VOLARY_RUN, VOLARY_SERVER, VOLARY_CHROMIUM, VOLARY_DIST, VOLARY_TORCH, SLIME_DIR } = process.env;
const SAMPLES = Number(process.env.VOLARY_SAMPLES);
const OPENED = 15;
const COLOURED = 6;
/** The milliseconds to wait after colouring: by then the address is written, too. */
const REST = 600;

const temporary = mkdtempSync(join(tmpdir(), "volary-bench-"));
const children = [];

/** Starts `volary view` on a folder; returns the address. */
async function view(folder) {
  const page = VOLARY_DIST ? ["--page", VOLARY_DIST] : [];
  const child = spawn(VOLARY_SERVER, ["view", folder, "--json", ...page], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const line = await new Promise((done) => child.stdout.once("data", done));
  return JSON.parse(line).url;
}

async function opened(run) {
  const browser = await chromium.launch({
    executablePath: VOLARY_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(600_000);
    // The browser's own start is no part of the visit.
    await page.waitForTimeout(1_500);
    return await run(page);
  } finally {
    await browser.close();
  }
}

/** In the page: resolves with the first frame in which an element is there. */
const appears = (page, selector) =>
  page.waitForFunction((selector) => document.querySelector(selector)?.checkVisibility(), selector, { polling: "raf" });

/** A sample with this number of tokens. */
function long(count) {
  const response = Array.from({ length: count - 8 }, (_, at) => (at * 7919) % 150_000);
  return {
    index: 1,
    prompt: "Count.",
    response: "one two three ".repeat(40),
    response_length: response.length,
    tokens: [1, 2, 3, 4, 5, 6, 7, 8, ...response],
    loss_mask: response.map(() => 1),
    rollout_log_probs: response.map((id) => -(id % 97) / 50),
    advantages: response.map((id) => (id % 31) / 15 - 1),
    reward: 1,
    status: "completed",
  };
}

/** Opens a sample with this number of tokens, colours and scrolls them. */
async function scrolled(page, count) {
  const folder = join(temporary, String(count));
  mkdirSync(folder);
  writeFileSync(join(folder, "long.json"), JSON.stringify(long(count)));
  await page.goto(await view(folder), { waitUntil: "commit" });
  await page.getByRole("table", { name: "Trajectories" }).getByRole("link").first().click();
  const streams = page.getByRole("combobox", { name: "Colour by" });
  await streams.selectOption("rollout_log_probs");
  const grid = page.getByRole("grid", { name: "Tokens of step 1, message 1" });
  await grid.locator(".token.shaded").first().waitFor();
  await grid.hover();
  const steps = await scrollSteps(page);
  console.error(`  scroll ${count}: ${steps.map((ms) => ms.toFixed(0)).join(" ")} ms`);
  return { steps, streams };
}

/** Serves the files of a folder on this machine. */
async function serve(folder) {
  const types = { html: "text/html", json: "application/json" };
  const server = createServer((request, response) => {
    const name = basename(new URL(request.url, "http://127.0.0.1").pathname);
    response.setHeader("content-type", types[name.split(".").pop()] ?? "application/octet-stream");
    const file = createReadStream(join(folder, name));
    file.on("error", () => response.writeHead(404).end());
    file.pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

/**
 * The milliseconds from the start of slime's viewer until it has drawn the first dump. Its own server would listen to other
 * machines.
 */
async function timeline(page) {
  const folder = join(temporary, "timeline");
  mkdirSync(folder);
  copyFileSync(join(VOLARY_RUN, "0.pt"), join(folder, "0.pt"));
  const server = await serve(folder);
  try {
    const start = performance.now();
    const script = join(SLIME_DIR, "tools/trace_timeline_viewer.py");
    const child = spawn(VOLARY_TORCH, [script, join(folder, "0.pt"), "--no-serve"], { stdio: ["ignore", "ignore", "inherit"] });
    const code = await new Promise((done) => child.once("exit", done));
    if (code !== 0) throw new Error(`slime's viewer ended with ${code}`);
    await page.goto(`http://127.0.0.1:${server.address().port}/0.trace_timeline_viewer.html`, { waitUntil: "commit" });
    // The height is set when the timeline is laid out, in the frame in which it is drawn.
    await page.waitForFunction(() => document.querySelector("#canvasWrap")?.style.height, null, { polling: "raf" });
    return performance.now() - start;
  } finally {
    server.close();
  }
}

const figures = {};
try {
  await opened(async (page) => {
    const start = performance.now();
    const url = await view(VOLARY_RUN);
    await page.goto(url, { waitUntil: "commit" });
    await appears(page, "[role=table][aria-label=Trajectories] a");
    figures.first_row = performance.now() - start;
    const rows = (count) => document.querySelector("[role=table]")?.ariaRowCount === String(count + 1);
    await page.waitForFunction(rows, SAMPLES, { polling: 50 });
    figures.all_rows = performance.now() - start;
    console.error(`  first row after ${figures.first_row.toFixed(0)} ms, all ${SAMPLES} after ${figures.all_rows.toFixed(0)} ms`);
    // Remarks and search are still under way.
    await page.waitForFunction(() => !document.querySelector("progress"));
    figures.memory = await memory(page);
    const address = await page.locator("[role=table][aria-label=Trajectories] a").first().getAttribute("href");
    const first = decodeURIComponent(address.split("/").pop().split("?")[0]);
    // Names are those of the files and the places in them: `STEP-PLACE`, with the name of the folder or without.
    const [, before, ,] = /^(.*?)(\d+)-(\d+)(.*)$/.exec(first) ?? [first, ""];
    const times = [];
    for (let place = 0; place < OPENED; place += 1) {
      const id = `${before}${(place * 7) % 50}-${(place * 37) % 256}`;
      const begun = performance.now();
      await page.evaluate((id) => (location.hash = `#/review/${encodeURIComponent(id)}`), id);
      await page.waitForFunction(
        (name) => document.querySelector(".review-episode h1")?.textContent.includes(name) && document.querySelector("[role=gridcell]")?.checkVisibility(),
        `sample ${((place * 7) % 50) * 256 + ((place * 37) % 256)}`,
        { polling: "raf" },
      );
      times.push(performance.now() - begun);
    }
    console.error(`  opened: ${times.map((ms) => ms.toFixed(0)).join(" ")} ms`);
    times.sort((one, other) => one - other);
    figures.open_median = times[times.length >> 1];
    figures.open_most = times.at(-1);
  });
  await opened(async (page) => {
    const { steps } = await scrolled(page, 32_000);
    figures.scroll_p95 = p95(steps);
    figures.scroll_most = steps.at(-1);
  });
  await opened(async (page) => {
    const { steps, streams } = await scrolled(page, 128_000);
    figures.scroll_128k_p95 = p95(steps);
    figures.scroll_128k_most = steps.at(-1);
    const { cost } = await mainThread(page);
    const times = [];
    for (let place = 0; place < COLOURED; place += 1) {
      times.push(await cost(() => streams.selectOption(place % 2 ? "rollout_log_probs" : "advantages"), REST));
    }
    console.error(`  coloured: ${times.map((ms) => ms.toFixed(0)).join(" ")} ms`);
    figures.coloured_most = Math.max(...times);
  });
  if (SLIME_DIR) {
    await opened(async (page) => {
      figures.timeline = await timeline(page);
    });
  }
  console.log(JSON.stringify(figures));
} finally {
  children.forEach((child) => child.kill());
  rmSync(temporary, { recursive: true });
}
