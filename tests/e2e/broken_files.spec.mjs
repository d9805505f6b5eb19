// Broken and oversized files in the library: readable data is shown, the rest is reported, and the page never
// blocks. (The importers are tested natively, in crates/formats/tests/imports.)

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";
import { zipped } from "./support/zip.mjs";

/** Nobody may wait longer for the page to move, on a machine that does other things too. */
const LONGEST = 2000;

/** For `init`: the page notes the longest time in which it did nothing. */
const watched = (context) =>
  context.addInitScript(() => {
    let last = performance.now();
    globalThis.stoodStill = 0;
    setInterval(() => {
      const now = performance.now();
      globalThis.stoodStill = Math.max(globalThis.stoodStill, now - last);
      last = now;
    }, 20);
  });

async function moves(page, what) {
  const longest = await page.evaluate(() => {
    const longest = globalThis.stoodStill;
    globalThis.stoodStill = 0;
    return longest;
  });
  assert.ok(longest < LONGEST, `${what}: the page stood still for ${longest} ms`);
}

const says = (id, ...words) => trajectory(id, words.map((word) => ({ says: word })));
const json = (value) => Buffer.from(JSON.stringify(value));

function cut() {
  const whole = json(says("cut", "before the cut", "after the cut".repeat(100)));
  return whole.subarray(0, whole.length - 500);
}

function cutZip() {
  const whole = zipped([["first.json", says("first", "first in a zip")], ["second.json", says("second", "second in a zip")]]);
  return whole.subarray(0, Math.floor((whole.length * 2) / 3));
}

/** Arguments of a call that are nested so deeply. */
function deep(depth) {
  const nested = `${"[".repeat(depth)}1${"]".repeat(depth)}`;
  const call = `{"id": "c", "name": "f", "arguments": {"a": ${nested}}}`;
  return Buffer.from(`{"messages": [{"role": "assistant", "content": "deep down", "tool_calls": [${call}]}]}`);
}

/** Events that are each other's parents, and their own. */
function circle() {
  const event = (uuid, parentUuid) =>
    JSON.stringify({ type: "assistant", sessionId: "s", uuid, parentUuid, message: { role: "assistant", content: `circle ${uuid}` } });
  return Buffer.from([event("a", "b"), event("b", "a"), event("c", "c")].join("\n"));
}

/** Files, what is said of each, and words that are found in what was read of it; none if it is refused. */
const BROKEN = [
  ["cut.json", cut(), /cut off/, "before the cut"],
  ["cut.zip", cutZip(), /the directory at its end/, "first in a zip"],
  ["wide.json", Buffer.from(`\ufeff${JSON.stringify(says("wide", "wörter ↔ wide"))}`, "utf16le"), /UTF-16/, "wörter wide"],
  ["old.json", Buffer.from(JSON.stringify(says("old", "très déjà vu")), "latin1"), /Latin-1/, "déjà"],
  ["deep.json", deep(10_000), /nested too deeply/, "deep down"],
  ["circle.jsonl", circle(), undefined, "circle c"],
  ["out.zip", zipped([["../../etc/passwd.json", says("out", "out of its folder")], ["in.json", says("in", "within it")]]), /leads outside its folder/, "within it"],
  ["up.zip", zipped([["../up.json", says("up", "out of its folder")]]), /leads outside its folder/, undefined],
  ["noise.json", Buffer.from([0x50, 0x4b, 3, 4, 0xff, 0, 7]), /noise\.json|zip/, undefined],
];

test("broken files are read as far as possible, and each problem is reported", () =>
  visit({ hash: "#/review", init: watched }, async (page) => {
    const library = await new Library(page).ready();
    for (const [name, bytes, said, words] of BROKEN) {
      await library.import([name, bytes]);
      if (words === undefined) {
        const alert = page.getByRole("alert").filter({ hasText: "Nothing could be imported." });
        await alert.filter({ hasText: said }).waitFor();
        await alert.getByRole("button", { name: "Dismiss" }).click();
      } else {
        if (said) await page.locator(".import-report").filter({ hasText: said }).waitFor();
        await library.search(words);
        await library.rows(1);
        await library.search("");
      }
      await moves(page, name);
    }
    await library.search('"out of its folder"');
    await page.getByText("No trajectories match.").waitFor();
    await library.search("");
    // Duplicate ids, in one file and across files.
    const before = Number(await library.table.getAttribute("aria-rowcount")) - 1;
    const twice = (word) => Buffer.from([`${word} one`, `${word} two`].map((each) => JSON.stringify(says("1", each))).join("\n"));
    await library.import(["a.jsonl", twice("red")], ["b.jsonl", twice("blue")]);
    await library.rows(before + 4);
    // Nested calls can be opened too.
    await library.search("deep down");
    await library.rows(1);
    await library.table.getByRole("link").first().click();
    await library.transcript.getByText("deep down").waitFor();
    await moves(page, "what is nested deeply");
  }));

test("a hundred thousand steps and a text of twenty megabytes do not block the page", () =>
  visit({ hash: "#/review", init: watched }, async (page) => {
    const library = await new Library(page).ready();
    const turn = '{"role":"user","content":"ask"},{"role":"assistant","content":"answer"}';
    // From disk, as a person picks files: passing large buffers through the protocol would keep the page busy.
    const folder = mkdtempSync(join(tmpdir(), "volary-"));
    const give = (name, text) => {
      writeFileSync(join(folder, name), text);
      return library.give("Import", [join(folder, name)]);
    };
    await give("many.json", `{"messages":[${Array(100_000).fill(turn).join(",")}]}`);
    await library.rows(1);
    await moves(page, "reading many steps");
    await library.table.getByRole("link").first().click();
    await library.slider.waitFor();
    assert.equal(await library.slider.getAttribute("max"), "100000");
    await moves(page, "opening many steps");
    await library.slider.focus();
    await page.keyboard.press("End");
    await page.waitForFunction((slider) => slider.value === "100000", await library.slider.elementHandle());
    await library.transcript.getByText("answer").last().waitFor();
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < 8000, `${elements} elements`);
    await moves(page, "going to the end of many steps");
    await page.getByRole("link", { name: "Review" }).click();
    const long = `start ${"x".repeat(20 << 20)} end`;
    await give("long.json", json(says("long", long)));
    await library.rows(2);
    await moves(page, "reading a long text");
    await library.link(/long/).click();
    await library.transcript.getByText(/start x/).first().waitFor();
    await moves(page, "opening a long text");
  }));

test("a file can be imported again if the code that reads it did not arrive", () => {
  const allowedErrors = [/Failed to (load|fetch)/, /net::ERR/, /compil/i];
  return visit({ hash: "#/review", allowedErrors }, async (page) => {
    const library = await new Library(page).ready();
    const file = ["one.json", json(says("one", "at the second attempt"))];
    await page.route("**/split_readers.wasm", (route) => route.abort());
    await library.import(file);
    const alert = page.getByRole("alert").filter({ hasText: "Nothing could be imported." });
    await alert.filter({ hasText: "The code that reads files could not be loaded" }).waitFor();
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await page.unrouteAll();
    await library.import(file);
    await library.rows(1);
  });
});
