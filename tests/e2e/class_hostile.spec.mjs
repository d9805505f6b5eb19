// Hostile names and hand-ins on the teacher's board: they are shown as plain text, break no layout, and become no formula
// in a spreadsheet.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";

import { SIZES, visit } from "./support/browser.mjs";
import { HOSTILE, hostileEpisode, inert, read } from "./support/hostile.mjs";
import { ORIGIN, ours } from "./support/servers.mjs";

const KEY = "the teacher's key";

/** The plain ones, and a sample of the disguised ones. */
const TEXTS = HOSTILE.filter((_, place) => place < 65 || place % 9 === 0);

/** Names that only a board shows. */
const NAMES = [
  "W".repeat(10_000),
  "\u202e\u2066\u061c\u200fadA\u202c",
  "Ada\u0000\u0007\u001b[31m\r\n\tBo\u0085\u2028Cy",
  "=cmd|' /C calc'!A0",
  "-1+1",
  "\t+SUM(A1)",
  '"=1+1"',
  "＝1+1",
  "@A1;=1+1",
  "z\u0301\u0302\u0303\u0304".repeat(200),
];

/** A hand-in in which every text is `text`; `episodes` of them. */
function handIn(pupil, text, { assignment = "a1", episodes = 0 } = {}) {
  const title = (place) => ({ title: text, episode: place < episodes ? place : null });
  return {
    format: "volary-hand-in",
    version: 1,
    assignment,
    title: text,
    pupil,
    handed_in: 1,
    tasks: [title(0), title(1)],
    episodes: Array.from({ length: episodes }, () => hostileEpisode(text)),
  };
}

/** The records of a CSV file (RFC 4180). */
function records(text) {
  const all = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  while (field.lastIndex < text.length) {
    const [, quoted, plain, end] = field.exec(text);
    all.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") all.push([]);
  }
  assert.deepEqual(all.pop(), []);
  return all;
}

/** What does not fit into the page, which scrolls in one direction only. */
function overflow() {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}

test("hostile names and hand-ins stay texts on the board", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "volary-")), "10b.db");
  const server = await ours(["--class", file, "--class-key", KEY, "--cors-origin", ORIGIN]);
  const ask = async (path, key, body) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    const method = body ? "POST" : "GET";
    const reply = await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: reply.status, value: await reply.json() };
  };
  try {
    const { code } = (await ask("/class", KEY)).value;
    let sent = 0;
    const put = async (hand_in) => {
      sent += 1;
      const { status, value } = await ask("/class/hand-ins", code, { secret: `secret-of-browser-${sent}`, hand_in });
      assert.equal(status, 201, JSON.stringify(value));
    };
    for (const name of [...TEXTS, ...NAMES]) await put(handIn(name, name));
    // Every text of these episodes is hostile, too.
    const whole = TEXTS.slice(0, 65).join("\n\n");
    await put(handIn("Eve <b>bold</b>", whole, { episodes: 2 }));
    await put(handIn("Mallory", "<i>another</i>", { assignment: "a2" }));
    const { rows } = (await ask("/class/hand-ins", KEY)).value;
    assert.equal(rows.length, sent);
    for (const { pupil } of rows) {
      assert.ok([...pupil].length <= 120, pupil);
      assert.doesNotMatch(pupil, /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    }

    for (const [size, theme] of [["wide", "light"], ["narrow", "dark"]]) {
      await visit({ hash: "#/class/board", size, theme, origins: [server.url] }, async (page) => {
        const button = (name) => page.getByRole("button", { name, exact: true });
        await page.getByLabel("Address of the class server").fill(server.url);
        await page.getByLabel("Class key").fill(KEY);
        await button("Connect").click();
        await page.getByText("Live", { exact: true }).waitFor();
        await page.getByLabel("Assignment").selectOption("a1");
        await page.getByText(`${sent - 1} hand-ins`).waitFor();
        await inert(page);
        assert.equal(await page.evaluate(overflow), 0);
        const names = page.getByRole("rowheader");
        await page.getByRole("rowheader", { name: "<script>globalThis.__ran=1</script>", exact: true }).waitFor();
        await page.getByRole("rowheader", { name: "adA", exact: true }).waitFor();
        await page.getByRole("rowheader", { name: "Ada [31m Bo Cy", exact: true }).waitFor();
        // The longest name leaves room for the tasks.
        const { width } = await names.first().boundingBox();
        assert.ok(width < SIZES[size].width * 0.6, `the names are ${width} pixels wide`);

        const saved = async (name) => {
          const [download] = await Promise.all([page.waitForEvent("download"), button(name).click()]);
          assert.match(download.suggestedFilename(), /^[\p{L}\p{N}-]+\.(csv|jsonl)$/u);
          return readFileSync(await download.path(), "utf8");
        };
        const [head, ...lines] = records(await saved("Export CSV"));
        assert.equal(lines.length, (sent - 1) * 2);
        for (const line of lines) {
          assert.equal(line.length, head.length, line.join("|"));
          // A reward is a number, and may be negative.
          const texts = line.filter((_, place) => head[place] !== "reward");
          for (const text of texts) assert.doesNotMatch(text, /(^|[;\t\r\n])"*[=+\-@＝＋－＠\t\r]/);
        }
        const exported = (await saved("Export JSONL")).trim().split("\n").map((line) => JSON.parse(line));
        assert.deepEqual(exported.map((episode) => episode.metadata.pupil), Array(2).fill("Eve <b>bold</b>"));

        await button("Hide names").click();
        assert.equal(await names.filter({ hasText: "<" }).count(), 0);
        await button("Hide names").click();
        await page.getByRole("button", { name: /^Eve <b>bold<\/b>, task 1: .* Open in Review$/ }).click();
        await read(page);
        assert.equal(await page.evaluate(overflow), 0);
        await page.goBack();
        await page.getByRole("button", { name: "Eve <b>bold</b>, task 2: play against a model" }).click();
        // Its environment does not exist, so nobody plays.
        await page.waitForURL(/#\/run\//);
        await inert(page);
      });
    }
  } finally {
    await server.stop();
  }
});
