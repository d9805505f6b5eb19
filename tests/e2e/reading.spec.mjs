// Reading one episode: Markdown, collapsing, search, highlights, links, notes, state history, Check, forks,
// side-by-side comparison.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { SIZES, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MARKDOWN = [
  "# Plan",
  "I will *look* at `box` twice: the box is **red**, the box is big.",
  "- first\n- second",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "```py\nprint('hi')\n```",
  "[a page](https://example.org/x) [a trick](javascript:document.title='executed') <img src=x onerror=document.title='executed'>",
  `![inside](${PIXEL}) ![outside](https://example.org/y.png)`,
].join("\n\n");
const LONG = `${"nothing here\n".repeat(3_000)}the needle\n${"nothing here\n".repeat(3_000)}`;
const RICH = trajectory("rich", [
  { says: MARKDOWN, thinks: "Where is *it*?", calls: [["look", { where: "box\nor bag", deep: { a: [1, 2] } }]], sees: ["\u001b[31mred\u001b[0m and \u001b[1mbold\u001b[0m"] },
  { says: "Again.", calls: [["look", { where: "bag" }]], sees: [LONG], reward: 1 },
  { says: "Done." },
]);

/** Opens the newest trajectory, after files were imported. */
async function open(page, ...files) {
  const review = await new Library(page).ready();
  if (files.length > 0) await review.import(...files);
  const name = files.length > 0 ? RICH.session_id : /./;
  await review.link(name).first().click();
  await review.transcript.getByRole("listitem").first().waitFor();
  return review;
}

/** What is marked under a name, as the page shows it. */
function marked(page, name) {
  return page.evaluate(
    (name) => [...(CSS.highlights.get(name) ?? [])].map((range) => range.toString()),
    name,
  );
}

async function untilMarked(page, name, expected) {
  await page.waitForFunction(
    ([name, expected]) => {
      const found = [...(CSS.highlights.get(name) ?? [])].map((range) => range.toString());
      return JSON.stringify(found) === JSON.stringify(expected);
    },
    [name, expected],
  );
}

/** Selects words of a message as a pointer would; `nth` of several. */
async function select(locator, words, nth = 0) {
  await locator.evaluate(
    (element, [words, nth]) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let left = nth;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let at = node.data.indexOf(words); at >= 0; at = node.data.indexOf(words, at + 1)) {
          if (left-- > 0) continue;
          getSelection().setBaseAndExtent(node, at, node, at + words.length);
          return;
        }
      }
      throw new Error(`no such words: ${words}`);
    },
    [words, nth],
  );
}

for (const size of Object.keys(SIZES)) {
  for (const theme of ["light", "dark"]) {
    test(`Markdown, terminal colours and images are drawn and nothing runs, ${size}, ${theme}`, () =>
      visit({ hash: "#/review", size, theme }, async (page) => {
        const { transcript } = await open(page, ["rich.json", RICH]);
        await transcript.getByRole("list").locator("strong", { hasText: "red" }).waitFor();
        await transcript.getByRole("cell", { name: "2", exact: true }).waitFor();
        await transcript.locator("code", { hasText: "print('hi')" }).waitFor();
        const link = transcript.getByRole("link", { name: "a page" });
        assert.equal(await link.getAttribute("href"), "https://example.org/x");
        assert.match(await link.getAttribute("rel"), /noopener noreferrer/);
        assert.equal(await transcript.getByRole("link", { name: "a trick" }).count(), 0);
        await transcript.getByText("<img src=x onerror").waitFor();
        assert.equal(await transcript.getByRole("img", { name: "inside" }).evaluate((image) => image.naturalWidth), 1);
        assert.equal(await transcript.locator("img").count(), 1);
        await transcript.getByText("Image not loaded").waitFor();
        const red = transcript.getByText("red", { exact: true }).last();
        await red.waitFor();
        assert.notEqual(
          await red.evaluate((element) => getComputedStyle(element).color),
          await transcript.getByText("and", { exact: false }).last().evaluate((element) => getComputedStyle(element.parentElement).color),
        );
        assert.notEqual(await page.title(), "executed");
      }));
  }
}

test("messages, tools and reasoning are folded together or one by one, and shown as JSON", () =>
  visit({ hash: "#/review" }, async (page) => {
    const { transcript } = await open(page, ["rich.json", RICH]);
    const show = page.getByRole("group", { name: "Show" });
    await transcript.getByRole("button", { name: "Thinking" }).first().waitFor();
    assert.equal(await transcript.getByText("Where is").count(), 0);
    await show.getByRole("button", { name: "Reasoning" }).click();
    await transcript.getByText("Where is").waitFor();
    await show.getByRole("button", { name: "Tools" }).click();
    await transcript.getByText("or bag", { exact: true }).waitFor({ state: "detached" });
    await show.getByRole("button", { name: "Tools" }).click();
    await show.getByRole("button", { name: "Messages" }).click();
    const folded = transcript.getByRole("button", { name: /# Plan/ });
    await folded.click();
    await transcript.locator("strong", { hasText: "red" }).waitFor();
    await show.getByRole("button", { name: "Messages" }).click();
    await show.getByRole("button", { name: "Markdown" }).click();
    await transcript.getByText("**red**").waitFor();
    const action = transcript.getByRole("listitem").filter({ hasText: "# Plan" });
    await action.hover();
    await action.getByRole("button", { name: "JSON", exact: true }).click();
    await action.getByText('"tool_calls"').waitFor();
    // By keyboard: fold and unfold a step.
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("h");
    await transcript.getByRole("button", { name: /Again\./ }).waitFor();
    await page.keyboard.press("l");
    await transcript.getByRole("button", { name: /Again\./ }).waitFor({ state: "detached" });
  }));

test("keys move message by message and from failure to failure", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await new Library(page).ready();
    const file = new URL("./fixtures/recorded_natively.jsonl", import.meta.url);
    await review.import(["recorded_natively.jsonl", await readFile(file)]);
    await review.link("hands, recorded natively").click();
    const message = (text) => review.transcript.getByRole("listitem").filter({ hasText: text });
    await message("You are the president").waitFor();
    await page.keyboard.press("g");
    const focused = async (item) =>
      page.waitForFunction((item) => item === document.activeElement, await item.elementHandle());
    // The start, the call, its error, the next call.
    const way = [message("You are the president"), message("assistant").nth(0), message("This step failed").nth(0), message("assistant").nth(1)];
    for (const item of way) {
      await page.keyboard.press("J");
      await focused(item);
    }
    for (const item of way.slice(0, 3).reverse()) {
      await page.keyboard.press("K");
      await focused(item);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("broken");
    await page.getByRole("search").getByText("1 of 4").waitFor();
    await untilMarked(page, "found-here", ["broken"]);
    const failure = message("This step failed").nth(0);
    await failure.evaluate((item) => {
      const [range] = CSS.highlights.get("found-here");
      if (!item.contains(range.startContainer)) throw new Error("other words are marked");
    });
  }));

test("search finds and marks words in folded text", () =>
  visit({ hash: "#/review" }, async (page) => {
    const { transcript } = await open(page, ["rich.json", RICH]);
    await transcript.getByText("Image not loaded").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("needle");
    await page.getByRole("search").getByText("1 of 1").waitFor();
    await untilMarked(page, "found-here", ["needle"]);
    const seen = await page.evaluate(() => {
      const [range] = CSS.highlights.get("found-here");
      const box = range.getBoundingClientRect();
      return box.top > 0 && box.bottom < innerHeight;
    });
    assert.ok(seen, "the words are in sight");
    await page.getByRole("searchbox", { name: "Find in episode" }).fill("where");
    await page.getByRole("search").getByText("1 of 3").waitFor();
    await page.keyboard.press("Enter");
    await untilMarked(page, "found-here", ["where"]);
    // Escape leaves the field: letters are shortcuts again.
    await page.keyboard.press("Escape");
    await untilMarked(page, "found-here", []);
    await page.keyboard.press("G");
    await page.waitForURL(/step=3/);
  }));

test("a link leads to a passage, also to the second of two equal ones", () =>
  visit({ hash: "#/review" }, async (page) => {
    const { transcript } = await open(page, ["rich.json", RICH]);
    const message = transcript.getByRole("listitem").filter({ hasText: "twice" });
    await select(message, "the box", 1);
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /step=1&at=0-c-\d+&words=the%20box/);
    await page.keyboard.press("G");
    await page.waitForURL(/step=3/);
    await page.evaluate((link) => (location.hash = new URL(link).hash), link);
    await untilMarked(page, "linked", ["the box"]);
    const before = await page.evaluate(() => {
      const [range] = CSS.highlights.get("linked");
      return range.startContainer.data.slice(0, range.startOffset);
    });
    assert.equal(before, ", ");
  }));

test("notes are attached to passages, exported, imported, and annotators compared", () =>
  visit({ hash: "#/review" }, async (page) => {
    const { transcript } = await open(page, ["rich.json", RICH]);
    const message = transcript.getByRole("listitem").filter({ hasText: "twice" });
    await select(message, "box", 2);
    await page.keyboard.press("a");
    const form = page.getByRole("form", { name: "Note" });
    await form.getByLabel("Note", { exact: true }).fill("Which one?");
    await form.getByLabel("Verdict").selectOption("bad");
    await form.getByLabel("Your name").fill("ada");
    await form.getByRole("button", { name: "Add note" }).click();
    await untilMarked(page, "noted", ["box"]);
    await page.getByRole("list", { name: "Outline" }).getByRole("img", { name: "noted" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save notes" }).click(),
    ]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const theirs = Buffer.concat(chunks).toString().replaceAll("ada", "bob").replace(/"id": ?"[^"]+"/, '"id": "theirs"');
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Import notes" }).click(),
    ]);
    await chooser.setFiles({ name: "theirs.json", mimeType: "application/json", buffer: Buffer.from(theirs) });
    await page.getByText(/ada and bob judged 1 item, agreeing on 100% \(Cohen's kappa/).waitFor();
  }));

/** Plays; what was played is in the library then. */
async function played(page, ...acts) {
  const playground = new Playground(page);
  await playground.ready();
  for (const [place, act] of acts.entries()) {
    await playground.act(...act);
    await playground.says(`${place + 1} step`);
  }
  await page.getByRole("link", { name: "Review" }).click();
  return playground;
}

test("the state shows when a part changed, and Check where a replay differs", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const cast = ["cast_int", { x: 7.9 }];
    await played(page, cast, cast, cast);
    const review = await open(page);
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Volary JSON" }).click(),
    ]);
    // Changed as text: JavaScript would write 0.0 as 0.
    const recorded = await readFile(await download.path(), "utf8");
    let rewards = 0;
    const changed = recorded
      .replace(/"reward": ?0\.0/g, (reward) => (++rewards === 2 ? '"reward": 0.5' : reward))
      .replace(/("id": ?"[^"]*",)( ?"name": ?"[^"]*",)?/, '$1 "name": "tampered with",');
    assert.ok(rewards > 1);
    await page.getByRole("link", { name: "Trajectories" }).click();
    await review.import(["changed.json", changed]);
    await review.link(/tampered with/).click();
    await page.getByRole("heading", { name: "tampered with" }).waitFor();
    await page.getByRole("treeitem").filter({ hasText: "messages" }).first().click();
    const steps = page.getByRole("group", { name: "Steps with changes" });
    await steps.getByRole("button", { name: "2", exact: true }).click();
    await page.waitForURL(/step=2/);
    await page.getByRole("button", { name: "Annotate value" }).click();
    await page.getByRole("form", { name: "Note" }).getByText(/State after step 2/).waitFor();
    await page.keyboard.press("g");
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByRole("status", { name: "Check" }).getByText(/step 2 differs/).waitFor();
    await page.waitForURL(/step=2/);
    await page.getByRole("list", { name: "Outline" }).getByRole("img", { name: "differs on replay" }).waitFor();
  }));

test("a fork continues differently, and is shown next to the original", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = await played(page, ["incr"], ["decr"], ["incr"]);
    const { transcript } = await open(page);
    await page.keyboard.press("j");
    await transcript.getByRole("button", { name: "Continue from here" }).nth(1).click();
    await playground.says("1 step");
    assert.equal(await playground.slider.inputValue(), "1", "it opens where it goes on");
    await playground.act("incr");
    await playground.says("2 steps");
    await page.getByRole("link", { name: "Compare with the original" }).click();
    await page.getByText("First difference: step 2").waitFor();
    const differences = page.getByRole("region", { name: "Differences" });
    await differences.getByText("decr", { exact: false }).first().waitFor();
  }));

for (const size of Object.keys(SIZES)) {
  test(`several episodes of one task are shown as a grid, ${size}`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const first = { says: "I look.", calls: [["look", {}]], sees: ["a box"] };
      const run = (id, says) => [`${id}.json`, trajectory(id, [first, { says, reward: says === "red" ? 1 : 0 }])];
      const review = await new Library(page).ready();
      await review.import(run("a", "red"), run("b", "blue"), run("c", "green"));
      await review.rows(3);
      await review.table.getByRole("checkbox", { name: "Select all" }).check();
      await page.getByRole("button", { name: "Compare" }).click();
      await page.getByText(/3 episodes side by side.*same actions for 1 step/).waitFor();
      const grid = page.getByRole("table", { name: "Steps side by side" });
      // The head, three steps, and the totals.
      assert.equal(await grid.getByRole("row").count(), 5);
      await grid.getByRole("cell", { name: /blue/ }).getByRole("link").click();
      await page.waitForURL(/#\/review\/b\?step=2/);
      await review.transcript.getByText("blue").first().waitFor();
    }));
}

test("token counts above 2^32 are shown exactly", () =>
  visit({ hash: "#/review" }, async (page) => {
    const counted = trajectory("counted", [{ says: "Done." }]);
    counted.final_metrics = { total_prompt_tokens: 5_000_000_000, total_completion_tokens: 6_000_000_000 };
    const review = await new Library(page).ready();
    await review.import(["counted.json", counted]);
    await review.rows(1);
    await review.link(/counted/).first().click();
    await page.getByRole("tab", { name: "Details" }).click();
    await page.getByText("5,000,000,000 input tokens").first().waitFor();
    await page.getByText("6,000,000,000 output tokens").first().waitFor();
  }));
