// The library: importing, storing and deleting.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { test } from "@playwright/test";
import { fileURLToPath } from "node:url";

import { HOME, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { VOLARY } from "./support/servers.mjs";
import { site } from "./support/site.mjs";
import { Library, folder, trajectory } from "./support/trajectories.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ONE = trajectory("one", [{ says: "The marble is red." }]);
const TWO = trajectory("two", [{ says: "The marble is blue." }]);

test("an imported trajectory is there at the next visit, until it is deleted", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE], ["two.json", TWO]);
    await library.rows(2);
    await (await library.again()).rows(2);
    await library.link(/one/).click();
    await library.transcript.getByText("The marble is red.").waitFor();
    await page.getByRole("link", { name: "Review" }).click();
    await library.search("blue");
    await library.rows(1);
    await library.search("");
    await library.table.getByRole("checkbox", { name: /Select .*one/ }).check();
    await library.delete();
    await library.rows(1);
    await (await library.again()).rows(1);
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    await library.delete();
    await page.getByText("No trajectories yet").waitFor();
  }));

test("rows keep their order at the next visit, and exports follow the table", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    const ids = ["t10", "t2", "t30"];
    await library.import(...ids.map((id) => [`${id}.json`, trajectory(id, [{ says: "The marble is red." }])]));
    await library.rows(3);
    const shown = () => library.table.getByRole("link").allInnerTexts();
    const before = await shown();
    await (await library.again()).rows(3);
    assert.deepEqual(await shown(), before);
    const name = library.table.getByRole("columnheader", { name: "Name" });
    await name.getByRole("button").click();
    await name.getByRole("button").click();
    await library.link(/t30/).first().waitFor();
    assert.equal(await name.getAttribute("aria-sort"), "descending");
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    const exported = (await library.exported()).trimEnd().split("\n").map(JSON.parse);
    assert.deepEqual(exported.map(({ id }) => id), ["t30", "t10", "t2"]);
  }));

test("an empty library offers an example", () =>
  visit({ hash: "#/review" }, async (page) => {
    await page.getByText("No trajectories yet").waitFor();
    await accessible(page);
    await page.getByRole("link", { name: "Open an example" }).click();
    const library = new Library(page);
    await library.rows(6);
    await library.link(/Roses that wilt, hasty/).click();
    await library.transcript.getByText("Each bunch brings 14 - 8 dollars.").waitFor();
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByText(/^Replayed: all 2 steps match the recording/).waitFor();
  }));

test("ids that look like nested positions are distinct", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    for (const id of ["runs/a", "runs/000000", "runs%2Fa", "runs"]) {
      await library.import(["one.json", trajectory(id, [{ says: `This is ${id}.` }])]);
    }
    await library.rows(4);
    await library.table.getByRole("checkbox", { name: "Select runs", exact: true }).check();
    await library.delete();
    await library.rows(3);
    for (const id of ["runs/a", "runs/000000", "runs%2Fa"]) {
      await page.goto(`${HOME}#/review/${encodeURIComponent(id)}`);
      await library.transcript.getByText(`This is ${id}.`).waitFor();
    }
  }));

test("a played episode is in the library once, and its fork next to it", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("incr");
    await playground.says("1 step");
    await page.getByRole("link", { name: "Review" }).click();
    const library = await new Library(page).ready();
    await library.rows(1);
    await page.getByRole("link", { name: "Playground" }).click();
    await playground.act("incr");
    await playground.says("2 steps");
    await page.getByRole("link", { name: "Review" }).click();
    await library.rows(1);
    await library.table.getByRole("link", { name: /counter/ }).click();
    await page.waitForURL(/played/);
    await library.slider.waitFor();
    assert.equal(await library.slider.getAttribute("max"), "2");
    // A reset leaves the episode; the next one is another episode.
    await page.getByRole("link", { name: "Playground" }).click();
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await playground.act("incr");
    await playground.says("1 step");
    await page.getByRole("link", { name: "Review" }).click();
    await page.goto(`${HOME}#/review`);
    await library.rows(2);
  }));

test("two tabs show the same library", () =>
  visit({ hash: "#/review" }, async (page) => {
    const here = await new Library(page).ready();
    const tab = await page.context().newPage();
    await tab.goto(`${HOME}#/review`);
    const there = await new Library(tab).ready();
    await tab.getByText("No trajectories yet").waitFor();
    await here.import(["one.json", ONE]);
    await there.rows(1);
    // The focus stays on a row's trajectory when another row is inserted above it.
    const choice = here.table.getByRole("checkbox", { name: /Select .*one/ });
    await choice.focus();
    await there.import(["two.json", TWO]);
    await here.rows(2);
    assert.match(await here.table.getByRole("row").nth(1).innerText(), /two/);
    assert.ok(await choice.evaluate((box) => box === document.activeElement));
    assert.equal(await here.table.getByRole("row").nth(2).getAttribute("aria-rowindex"), "3");
    // The same holds for a group.
    const [choosing, groups] = [page.getByRole("combobox", { name: "Group by" }), page.getByRole("table", { name: "Groups" })];
    await choosing.selectOption("model");
    const group = groups.getByRole("rowheader", { name: "model-one" }).getByRole("button");
    await group.focus();
    await there.import(["three.json", trajectory("three", [{ says: "The marble is green." }])]);
    await groups.getByRole("rowheader", { name: "model-three" }).waitFor();
    assert.match(await groups.getByRole("rowheader").first().innerText(), /three/);
    assert.ok(await group.evaluate((button) => button === document.activeElement));
    await choosing.selectOption("nothing");
    await here.rows(3);
    await here.table.getByRole("checkbox", { name: "Select all" }).check();
    await here.delete();
    await tab.getByText("No trajectories yet").waitFor();
  }));

test("folders, zip files and compressed tar files are unpacked", () =>
  visit({ hash: "#/review" }, async (page) => {
    const path = folder([
      ["runs/a/one.json", ONE],
      ["runs/b/two.json", TWO],
      ["runs/.DS_Store", "x"],
    ]);
    execFileSync("tar", ["-czf", "runs.tar.gz", "runs/a"], { cwd: path });
    execFileSync("python3", ["-m", "zipfile", "-c", "runs.zip", "runs/b/two.json"], { cwd: path });
    const library = await new Library(page).ready();
    await library.import(["runs.tar.gz", readFileSync(join(path, "runs.tar.gz"))]);
    await library.rows(1);
    await library.import(["runs.zip", readFileSync(join(path, "runs.zip"))]);
    await library.rows(2);
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    await library.delete();
    await library.give("Import folder", join(path, "runs"));
    await library.rows(2);
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    await library.delete();
    // A folder that is dropped as a person drops it.
    const devtools = await page.context().newCDPSession(page);
    const data = { items: [], files: [join(path, "runs")], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await devtools.send("Input.dispatchDragEvent", { type, x: 400, y: 400, data });
    }
    await library.rows(2);
  }));

test("Parquet files are read, and a damaged one is named", () =>
  visit({ hash: "#/review" }, async (page) => {
    const file = (name) => readFileSync(join(ROOT, "crates/parquet/tests/fixtures", `${name}.parquet`));
    const library = await new Library(page).ready();
    await library.import(["completions_00005.parquet", file("trl")]);
    await library.rows(2);
    await library.import(["chat.parquet", file("chat-zstd")]);
    await library.rows(4);
    await library.import(["cut.parquet", file("trl").subarray(0, 900)]);
    await page.getByText("This Parquet file cannot be read").waitFor();
    await library.rows(4);
    // The reader panics on this one. The worker, and what is read with it, are not lost.
    const damaged = Buffer.from(file("trl"));
    damaged[105] = 0;
    await library.import(["damaged.parquet", damaged], ["chat2.parquet", file("chat-snappy")]);
    await page.getByText("a page contradicts the metadata").waitFor();
    await library.rows(6);
    await library.link("Step 5, sample 1").click();
    await page.getByText("How many boxes?").first().waitFor();
  }));

test("tags are added, filtered by, and removed", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE], ["two.json", TWO]);
    await library.rows(2);
    await library.table.getByRole("checkbox", { name: /Select .*one/ }).check();
    const tags = page.getByRole("form", { name: "Tags" });
    await tags.getByLabel("Tag", { exact: true }).fill("good");
    await tags.getByRole("button", { name: "Add tag" }).click();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Tags" }).check();
    await library.table.getByText("good").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("checkbox", { name: "Tags" }).waitFor({ state: "hidden" });
    await (await library.again()).rows(2);
    const filter = page.getByRole("form", { name: "New filter" });
    await filter.getByRole("combobox", { name: "Column" }).selectOption({ label: "Steps" });
    await filter.getByRole("combobox", { name: "Condition" }).fill("many");
    await filter.getByRole("button", { name: "Filter" }).click();
    await filter.getByRole("alert").getByText("This column contains numbers").waitFor();
    await library.rows(2);
    await filter.getByRole("combobox", { name: "Condition" }).fill("> 1000");
    await filter.getByRole("alert").waitFor({ state: "detached" });
    await filter.getByRole("combobox", { name: "Column" }).selectOption({ label: "Tags" });
    await filter.getByRole("combobox", { name: "Condition" }).fill("good");
    await filter.getByRole("button", { name: "Filter" }).click();
    await library.rows(1);
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    await tags.getByLabel("Tag", { exact: true }).fill("good");
    await tags.getByRole("button", { name: "Remove tag" }).click();
    await page.getByText("No trajectories match.").waitFor();
  }));

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".css": "text/css", ".json": "application/json" };

test("a published site shows its trajectories read-only", async () => {
  const path = folder([
    ["runs/one.json", ONE],
    ["runs/two.json", TWO],
  ]);
  const out = join(path, "site");
  execFileSync(VOLARY, ["publish", join(path, "runs"), "--out", out, "--title", "Marbles"], { cwd: ROOT, stdio: "ignore" });
  const published = await site((path, response) => {
    try {
      const name = path === "/" ? "/index.html" : decodeURIComponent(path);
      response.setHeader("Content-Type", KINDS[extname(name)] ?? "text/plain");
      response.end(readFileSync(join(out, name)));
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  try {
    // The icon of the left page may be requested late; the new page's policy then refuses it.
    const allowedErrors = [/icon-[0-9a-f]+\.png' violates/];
    await visit({ axe: false, allowedErrors, origins: [published.origin] }, async (page) => {
      // A request of the page that is left would fail.
      await page.waitForLoadState("networkidle");
      await page.goto(`${published.origin}/`);
      await page.waitForURL(/#\/review/);
      const library = await new Library(page).ready();
      await library.rows(2);
      await page.getByText("Marbles").waitFor();
      await page.getByText("read-only").waitFor();
      await library.link(/two/).click();
      await library.transcript.getByText("The marble is blue.").waitFor();
      await page.goto(`${published.origin}/#/review`);
      await library.table.getByRole("checkbox", { name: "Select all" }).check();
      await library.delete();
      await library.rows(2);
      await accessible(page);
    });
  } finally {
    published.close();
  }
});

test("a worker whose script cannot be loaded is started again", () => {
  let asked = 0;
  // Review's worker starts with the page: the second request for the script is the worker's.
  const init = (context) =>
    context.route(/\/start-[0-9a-f]+\.js$/, (route) => ((asked += 1) === 2 ? route.fulfill({ status: 503 }) : route.continue()));
  return visit({ hash: "#/review", allowedErrors: [/503|Failed to load/], init }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.rows(1);
    assert.ok(asked >= 3, `the script was asked for ${asked} times`);
  });
});
