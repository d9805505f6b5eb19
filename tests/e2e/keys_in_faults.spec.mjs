// A provider that repeats the API key in each of its faults: it is in no message, record, file or console.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { GenerateServer } from "./support/generate.mjs";
import { connected, FORMATS, KEY, ModelPlayground, story } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { stateOf } from "./support/state.mjs";

const provider = provided();

/** A reply that repeats the key, for each way of failing that ends a run. */
const FAULTS = {
  "a rejected key": { status: 401, message: `Incorrect API key provided: ${KEY}` },
  "a forbidden request": { status: 403, message: `${KEY} may not do this.`, code: KEY },
  "a bad request": { status: 400, message: `Authorization: Bearer ${KEY}` },
  "an unknown path": { status: 404, raw: `no route for ${KEY}` },
  "a text": { type: "text/plain", raw: `key=${KEY}` },
  "an error in the stream": { text: `So ${KEY}`, piece: 3, error: { code: "invalid", message: `Broken by ${KEY}.` } },
  "an answer that is cut": { text: `Your key is ${KEY}`, piece: 3, finish: "length" },
  "a refusal": { text: `I won't say ${KEY}.`, piece: 3, finish: "filter" },
};

/** Plays each fault, and then an episode that ends; looks for the key in all that the page keeps, shows, says and saves. */
async function searched(page, { problems, requests }, faults, tell, done) {
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  const playground = new ModelPlayground(page);
  await playground.seated();
  const without = (place, text) => {
    const at = text.indexOf(KEY);
    assert.equal(at, -1, `the key is in ${place}: ${text.slice(Math.max(0, at - 100), at)}…`);
  };
  const look = async (place) => {
    // Session storage holds the key, because this visit chose so.
    const { page: shown, local, session } = await stateOf(page);
    const others = Object.entries(JSON.parse(session)).filter(([name]) => name !== "volary.keys");
    for (const text of [shown, local, JSON.stringify(others)]) without(place, text);
  };
  for (const [name, reply] of Object.entries(faults)) {
    await test.step(name, async () => {
      await playground.button("Reset").click();
      await playground.says("0 steps");
      tell(reply);
      await playground.button("Step").click();
      const retry = playground.turn.getByText(/Retrying in/);
      const step = playground.status.filter({ hasText: "1 step" });
      await playground.alert.or(retry).or(step).first().waitFor();
      await look(name);
      if (await retry.isVisible()) await playground.button("Stop request").click();
      else if (await playground.alert.first().isVisible()) await playground.dismissAlert();
    });
  }
  await playground.button("Reset").click();
  await playground.says("0 steps");
  tell(done);
  await playground.button("Step").click();
  await playground.says("1 step");
  await look("the episode");
  await playground.button("Export").click();
  const dialog = page.getByRole("dialog", { name: "Export" });
  const choices = await dialog.getByRole("button", { name: /JSON|HTML|Markdown|ATIF|Renderer|messages/i }).allInnerTexts();
  assert.ok(choices.length > 2, choices.join());
  await page.keyboard.press("Escape");
  for (const name of choices.map((text) => text.split("\n")[0])) {
    await playground.button("Export").click();
    const button = dialog.getByRole("button").filter({ hasText: name }).first();
    if (await button.isEnabled()) {
      const [download] = await Promise.all([page.waitForEvent("download", { timeout: 5_000 }).catch(() => null), button.click()]);
      if (download) without(`the file ${download.suggestedFilename()}`, await readFile(await download.path(), "latin1"));
    }
    if (await dialog.isVisible()) await page.keyboard.press("Escape");
  }
  // Review reads the records of the database.
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await page.getByRole("table", { name: "Trajectories" }).getByRole("link").first().click();
  await page.getByRole("log", { name: "Transcript" }).getByText("YOUR_API_KEY").first().waitFor();
  await look("Review");
  for (const text of [...said, ...problems, ...requests]) without("the console or an address", text);
}

for (const { format, kind } of FORMATS) {
  test(`${format}: a key that is repeated in faults occurs nowhere`, () =>
    visit({ hash: "#/run/dummy", allowedErrors: FAILED_LOADS, axe: false, ...connected({ kind, base: provider.base(format) }) }, (page, about) =>
      searched(page, about, FAULTS, (reply) => provider.tell({ script: [reply] }), {
        text: `It is ${KEY}.`,
        thinking: `${KEY}?`,
        piece: 4,
        calls: [story(`A story of ${KEY}`)],
      }),
    ));
}

test("sglang: a key that is repeated in faults occurs nowhere", async () => {
  const server = new GenerateServer();
  await server.listen();
  const meta = (finish_reason) => ({ meta_info: { finish_reason } });
  const faults = {
    "an abort": { abort: `${KEY} is over its limit` },
    "an error": { body: JSON.stringify({ error: { message: `no ${KEY}` } }) },
    "no JSON": { body: `{"text": ${KEY}}` },
    "another reason": { body: JSON.stringify({ text: KEY, ...meta({ type: KEY }) }) },
    "a broken call": { text: `<tool_call>\n${KEY}\n</tool_call><|im_end|>` },
  };
  try {
    const seat = connected({ kind: "sglang", base: server.url, model: "qwen" });
    await visit({ hash: "#/run/library_desk", allowedErrors: FAILED_LOADS, axe: false, ...seat }, (page, about) =>
      searched(page, about, faults, (reply) => server.reset(reply), `Is ${KEY} yours?`),
    );
  } finally {
    await server.close();
  }
});

test("a key that the reason of a crash quotes is not on the page that reports it", () =>
  visit(
    { hash: "#/run/counter", allowedErrors: [/unreachable/], ...connected({ kind: "openai-chat", base: provider.base("chat") }) },
    async (page) => {
      const playground = new ModelPlayground(page);
      // The page has read the stored keys.
      await playground.seated();
      await playground.policy.selectOption("Manual");
      await playground.act("incr");
      await playground.says("1 step");
      // Leptos copies the elements that it draws.
      await page.evaluate((key) => {
        Node.prototype.cloneNode = () => {
          throw new Error(`No copy of ${key}.`);
        };
      }, KEY);
      await playground.button("Step").click();
      const report = page.getByRole("alert").filter({ hasText: "The page crashed" });
      await report.getByText("No copy of").waitFor();
      assert.equal((await report.innerText()).indexOf(KEY), -1, await report.innerText());
      await report.getByText("The episode so far was saved.").waitFor();
      assert.equal((await page.content()).indexOf(KEY), -1);
    },
  ));
