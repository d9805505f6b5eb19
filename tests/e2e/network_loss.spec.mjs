// A network that is lost in the middle of something: what has arrived stays, what did not is named, and nothing is done twice.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, HOME, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { connected, endless, ModelPlayground, cast, story } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { site } from "./support/site.mjs";
import { until } from "./support/state.mjs";
import { Library, lines } from "./support/trajectories.mjs";

const provider = provided();
const told = (more = {}) => ({ calls: [story("Once.")], ...more });
const seat = () => connected({ kind: "openai-chat", base: provider.base("chat") });
// Code that is being fetched ahead is lost with the connection too, and fetched again when it is needed.
const lostCode = /TypeError: Failed to fetch[^]*__wasm_split/;
const allowedErrors = [...FAILED_LOADS, FAILED, lostCode, /ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE|ERR_INTERNET/];

test("a stream of a model that breaks off with the connection is retried until the connection is back", () =>
  visit({ hash: "#/run/dummy", ...seat(), allowedErrors }, async (page) => {
    const playground = new ModelPlayground(page);
    await playground.seated();
    await endless(playground);
    provider.tell({ script: [{ calls: [cast(1)] }, { text: "Well, well, well.", hang: "within" }, { calls: [cast(2)] }] });
    await playground.button("Step").click();
    await playground.says("1 step");
    await playground.button("Step").click();
    await playground.turn.getByText("Well").waitFor();
    await page.context().setOffline(true);
    provider.cut();
    await playground.turn.getByText(/Retrying in \d+ s/).waitFor();
    await playground.turn.getByText("Nothing responds at").waitFor();
    assert.equal(await playground.steps(), 1, "half a reply is no step");
    await page.context().setOffline(false);
    await playground.says("2 steps");
    assert.equal(provider.requests.length, 3);
  }));

test("an evaluation whose stream breaks off offline pauses without a failure, and continues", () =>
  visit({ hash: HASH, ...seat(), allowedErrors }, async (page) => {
    const evaluate = new Evaluate(page);
    provider.tell({ script: [told(), { text: "Well, well", hang: "within" }], otherwise: told() });
    await evaluate.leaveToModel(4);
    await until(() => provider.requests.length === 2);
    await page.context().setOffline(true);
    provider.cut();
    await evaluate.alert("offline").waitFor();
    assert.doesNotMatch(await evaluate.status.innerText(), /failed/);
    await page.context().setOffline(false);
    await evaluate.button("Resume").click();
    await evaluate.says("Finished: 4 of 4 episodes");
    assert.match((await evaluate.row("Test model")).at(-1), /none/);
  }));

test("a file whose download breaks off keeps what was received, and is whole after another import", async () => {
  const bytes = Buffer.from(lines(400, 20_000));
  let isWhole = false;
  let half;
  const asked = new Promise((resolve) => (half = resolve));
  const other = await site((_, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Content-Length", bytes.length);
    if (isWhole) return response.end(bytes);
    response.write(bytes.subarray(0, bytes.length >> 1), () => half(response));
  });
  const hash = `#/review?url=${encodeURIComponent(`${other.origin}/runs.jsonl`)}`;
  try {
    await visit({ hash, origins: [other.origin], allowedErrors }, async (page) => {
      const library = await new Library(page).ready();
      await library.agree({ keep: true });
      const response = await asked;
      // The code that reads the file has arrived, too.
      await library.rows(1, 399);
      await page.context().setOffline(true);
      response.destroy();
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      await page.getByText(/runs\.jsonl/).first().waitFor();
      await library.rows(1, 399);
      await page.context().setOffline(false);
      isWhole = true;
      await page.goto("about:blank");
      await page.goto(HOME + hash);
      await library.agree({ keep: true });
      await library.rows(400);
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      for (const dismiss of await page.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click();
    });
  } finally {
    other.close();
  }
});
