// `volary view`: a folder in the browser, and live updates while files are written.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { VOLARY } from "./support/servers.mjs";
import { Library, folder, lines, trajectory } from "./support/trajectories.mjs";

/** The command of a release, with the page inside, if the test is about one. */
const PACKAGED = process.env.VOLARY_PACKAGED;
const DIST = process.env.VOLARY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));

/** Starts `volary view`; returns its address, with the token, and a function that stops it. */
async function view(path, ...options) {
  const [command, ...page] = PACKAGED ? [PACKAGED] : [VOLARY, "--page", DIST];
  const child = spawn(command, ["view", path, "--json", ...page, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.on("exit", (code) => reject(new Error(`volary view ended with ${code}`)));
  });
  return { ...JSON.parse(line), stop: () => child.kill() };
}

/** Opens an address that `view` printed, once the page that is left has no requests, which would fail. */
async function enter(page, url) {
  await page.waitForLoadState("networkidle");
  await page.goto("about:blank");
  await page.goto(url);
  return new Library(page).ready();
}

/** A line of chat messages. */
function conversation(...words) {
  const messages = words.flatMap((word) => [
    { role: "user", content: `Say ${word}.` },
    { role: "assistant", content: `${word} words` },
  ]);
  return JSON.stringify({ messages });
}

test("a folder is shown where it is, and while it grows", async () => {
  const path = folder([
    ["runs/a/one.json", trajectory("one", [{ says: "The marble is red." }])],
    ["runs/b/two #1?.json", trajectory("two", [{ says: "The marble is blue." }])],
    ["runs/.hidden/three.json", trajectory("three", [{ says: "The marble is hidden." }])],
    ["runs/large.jsonl", lines(60, 90_000)],
    ["runs/notes.txt", "no trajectory"],
  ]);
  const runs = join(path, "runs");
  const shown = await view(runs);
  const { origin } = new URL(shown.url);
  // The first requests are those of a browser that was not let in, and of a file that is gone.
  const allowedErrors = [/icon-[0-9a-f]+\.png' violates/, /status of 40[134]/];
  try {
    await visit({ at: "about:blank", axe: false, allowedErrors, origins: [origin] }, async (page, { requests }) => {
      await page.goto(`${origin}/`);
      await page.getByLabel("Token or key").waitFor();
      await accessible(page);
      assert.equal(await page.evaluate(async () => (await fetch("/api/files")).status), 401);
      const open = page.getByRole("button", { name: "Open" });
      await page.getByLabel("Token or key").fill("wrong");
      await open.click();
      await page.getByRole("alert").getByText("That token is wrong.").waitFor();
      await page.getByLabel("Token or key").fill(new URL(shown.url).hash.replace("#token=", ""));
      await open.click();
      await (await new Library(page).ready()).rows(62);
      // The address with the token, in a browser that is not let in. A hash alone would load nothing.
      await page.context().clearCookies();
      await page.goto("about:blank");
      await page.goto(shown.url);
      await page.waitForURL(`${origin}/#/review`);
      const library = await new Library(page).ready();
      await library.rows(62);
      await page.getByText("runs", { exact: true }).first().waitFor();
      assert.ok(!(await page.evaluate(() => document.cookie)), "scripts do not see the cookie");
      // A large file is read in ranges: its end before it is stored anywhere.
      await library.search("word59");
      await library.rows(1);
      await library.link(/episode-59/).click();
      await library.transcript.getByText("word59").waitFor();
      await page.goto(`${origin}/#/review`);
      await library.search("blue");
      await library.rows(1);
      await library.link(/two/).click();
      await library.transcript.getByText("The marble is blue.").waitFor();
      // A new file, one that grows while it is read, and one that goes.
      writeFileSync(join(runs, "b/grows.jsonl"), `${conversation("first")}\n`);
      await page.goto(`${origin}/#/review`);
      await library.search("");
      await library.rows(63);
      await library.search("first words");
      await library.rows(1);
      await library.table.getByRole("link").first().click();
      await library.transcript.getByText("first words").waitFor();
      writeFileSync(join(runs, "b/grows.jsonl"), `${conversation("first", "second")}\n`);
      await library.transcript.getByText("second words").waitFor();
      appendFileSync(join(runs, "b/grows.jsonl"), `${conversation("third")}\n`);
      await page.goto(`${origin}/#/review`);
      await library.search("");
      await library.rows(64);
      rmSync(join(runs, "a/one.json"));
      await library.search("red");
      await library.rows(1);
      // In the table, or in the line that names what all rows have in common.
      await page.getByText("file deleted").first().waitFor();
      assert.ok(requests.every((url) => !url.includes("token=")), "browsers send no fragment");
    });
    assert.equal(readFileSync(join(runs, "notes.txt"), "utf8"), "no trajectory");
  } finally {
    shown.stop();
    rmSync(path, { recursive: true });
  }
});

test("tables and batches of trainers are shown, and no checkpoints", async () => {
  const table = readFileSync(new URL("../../crates/parquet/tests/fixtures/trl.parquet", import.meta.url));
  const path = folder([
    ["run/completions/completions_00005.parquet", table],
    ["run/model.bin", Buffer.from("weights")],
    ["run/rollouts/step_1/rank_0.bin", Buffer.from("no batches")],
  ]);
  const shown = await view(join(path, "run"));
  const { origin } = new URL(shown.url);
  try {
    await visit({ at: "about:blank", axe: false, allowedErrors: [/icon-[0-9a-f]+\.png' violates/], origins: [origin] }, async (page) => {
      const library = await enter(page, shown.url);
      await library.rows(2);
      await library.link("Step 5, sample 1").waitFor();
      await page.getByText("This is a file of prime-rl's batches for a rank of the trainer, but").first().waitFor();
      await expect(page.getByText("model.bin")).toHaveCount(0);
    });
  } finally {
    shown.stop();
    rmSync(path, { recursive: true });
  }
});

test("a training run is followed while it is written, and the reader's place stays", async () => {
  const step = (step) => {
    const sample = (place) => ({ input: `user\nCount to ${place % 2}.\nassistant\n`, output: `${step} and ${place}`, gts: null, score: (step + place) % 2, step });
    return `${[0, 1, 2, 3].map((place) => JSON.stringify(sample(place))).join("\n")}\n`;
  };
  const path = folder([1, 2].map((number) => [`run/rollout_data/${number}.jsonl`, step(number)]));
  const shown = await view(join(path, "run"));
  const { origin } = new URL(shown.url);
  try {
    await visit({ at: "about:blank", axe: false, allowedErrors: [/icon-[0-9a-f]+\.png' violates/], origins: [origin] }, async (page) => {
      await enter(page, shown.url);
      await page.getByRole("link", { name: "Training run", exact: true }).click();
      await page.getByText("2 steps · 8 samples").waitFor();
      await page.getByText("Tasks over steps").click();
      const curve = page.getByRole("slider", { name: /^Reward over steps/ });
      await curve.focus();
      await page.keyboard.press("Home");
      writeFileSync(join(path, "run/rollout_data/3.jsonl"), step(3).slice(0, -40));
      await page.getByText(/^3 steps · 1\d samples/).waitFor();
      appendFileSync(join(path, "run/rollout_data/3.jsonl"), step(3).slice(-40));
      await page.getByText("3 steps · 12 samples").waitFor();
      await expect(curve).toBeFocused();
      assert.match(await curve.getAttribute("aria-valuetext"), /^Step 1: /);
      await page.getByRole("table", { name: "Tasks over steps" }).waitFor();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Step 3", exact: true }).waitFor();
      // What the reader looks at is not drawn again when a later step arrives.
      const groups = await page.getByRole("list", { name: "Groups" }).elementHandle();
      writeFileSync(join(path, "run/rollout_data/4.jsonl"), step(4));
      await page.getByRole("link", { name: "Step 4 ›" }).waitFor();
      assert.ok(await groups.evaluate((list) => list.isConnected));
    });
  } finally {
    shown.stop();
    rmSync(path, { recursive: true });
  }
});

test("notes are kept next to the files, and read there by another view", async () => {
  const path = folder([["runs/one.json", trajectory("one", [{ says: "The marble is red." }])]]);
  const runs = join(path, "runs");
  const views = [await view(runs, "--notes"), await view(runs, "--notes")];
  const origins = views.map((shown) => new URL(shown.url).origin);
  const allowedErrors = [/icon-[0-9a-f]+\.png' violates/];
  const file = join(runs, ".volary/notes.jsonl");
  try {
    await visit({ at: "about:blank", axe: false, allowedErrors, origins }, async (page) => {
      const open = async (shown, page) => {
        const library = await enter(page, shown.url);
        await library.rows(1);
        await library.link(/one/).click();
        await library.transcript.getByText("The marble is red.").waitFor();
        await page.getByRole("tab", { name: "Notes" }).click();
      };
      await open(views[0], page);
      const form = page.getByRole("form", { name: "Note" });
      await form.getByLabel("Note", { exact: true }).fill("The marble is blue.");
      await form.getByRole("button", { name: "Add note" }).click();
      await page.getByRole("list", { name: "Notes" }).getByText("The marble is blue.").waitFor();
      await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toContain("The marble is blue.");
      // Another address is another origin, whose storage is empty. Both views stay open.
      const other = await page.context().newPage();
      await open(views[1], other);
      await other.getByRole("list", { name: "Notes" }).getByText("The marble is blue.").waitFor();
      await other.getByRole("button", { name: "Delete" }).click();
      await other.getByText("No notes on this episode yet.").waitFor();
      await expect.poll(() => readFileSync(file, "utf8")).toContain('"deleted"');
      await page.getByText("No notes on this episode yet.").waitFor();
      // A tag is kept there too.
      await other.goto(`${origins[1]}/#/review`);
      await other.getByRole("checkbox", { name: /Select .*one/ }).check();
      await other.getByLabel("Tag", { exact: true }).fill("to discuss");
      await other.getByRole("button", { name: "Add tag" }).click();
      await expect.poll(() => readFileSync(file, "utf8")).toContain('"to discuss"');
      await page.goto(`${origins[0]}/#/review`);
      await page.getByText("Columns", { exact: true }).click();
      await page.getByRole("checkbox", { name: "Tags" }).check();
      await page.getByText("to discuss").first().waitFor();
      // Here it is only a note, and it is exported all the same.
      await page.getByRole("checkbox", { name: /Select .*one/ }).check();
      await page.getByRole("button", { name: "Export", exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Volary (JSON Lines)" }).click(),
      ]);
      assert.match(readFileSync(await download.path(), "utf8"), /"library_tags": \["to discuss"\]/);
    });
  } finally {
    views.forEach((shown) => shown.stop());
    rmSync(path, { recursive: true });
  }
});

for (const format of ["volary", "slime", "parquet"]) {
  test(`a run of the school is a training run, written as ${format}`, async () => {
    const path = join(folder([]), "run");
    const trained = spawn(VOLARY, ["school", "--updates", "3", "--format", format, "--out", path], { stdio: ["ignore", "ignore", "inherit"] });
    assert.equal(await new Promise((resolve) => trained.on("exit", resolve)), 0);
    const shown = await view(path);
    const { origin } = new URL(shown.url);
    const allowedErrors = [/icon-[0-9a-f]+\.png' violates/];
    try {
      await visit({ at: shown.url, axe: false, allowedErrors, origins: [origin] }, async (page) => {
        await new Library(page).ready();
        await page.getByRole("link", { name: "Training run", exact: true }).click();
        await page.getByText("3 steps · 384 samples · 48 groups").waitFor();
      });
    } finally {
      shown.stop();
    }
  });
}
