// A system clock that jumps, backwards and forwards, in the page and in its workers: waits last as long as they should, and
// nothing is repeated.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { inWorkers, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { GenerateServer } from "./support/generate.mjs";
import { connected, ModelPlayground, story } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { until } from "./support/state.mjs";

const provider = provided();
const told = (more = {}) => ({ calls: [story("Once.")], ...more });
const DAY = 24 * 3600 * 1000;

/** In the page and in its workers: a clock that jumps by a day or more whenever it is read, forwards and backwards. */
const JUMPING = `{
  const RealDate = Date;
  const jumps = [0, ${DAY}, -${DAY}, ${3650 * DAY}, -${3650 * DAY}];
  let reads = 0;
  const now = () => RealDate.now() + jumps[reads++ % jumps.length];
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [now()] : given));
    }
    static now() {
      return now();
    }
  };
}`;

/** A visit with that clock, and with a model of a provider. */
function jumped({ hash, seat }, journey) {
  const init = async (context) => {
    await seat.init(context);
    await context.addInitScript(JUMPING);
    await inWorkers(JUMPING)(context);
  };
  return visit({ hash, allowedErrors: FAILED_LOADS, ...seat, init }, journey);
}

const seat = () => connected({ kind: "openai-chat", base: provider.base("chat") });

test("an evaluation waits as long as Retry-After says, and pays for nothing twice", () =>
  jumped({ hash: HASH, seat: seat() }, async (page) => {
    const evaluate = new Evaluate(page);
    provider.tell({ exposes: "retry-after", script: [told(), { status: 429, retry_after: 3, message: "Slow down." }], otherwise: told() });
    await evaluate.leaveToModel(3);
    await page.getByText(/^Waiting [123] s, then retrying\. .*Slow down/).waitFor();
    const before = Date.now();
    await evaluate.says("Finished: 3 of 3 episodes");
    assert.ok(Date.now() - before > 1_000, "it waited");
    assert.equal(provider.requests.length, 4);
    await page.reload();
    await evaluate.says("Finished: 3 of 3 episodes");
  }));

test("the meter of requests per minute neither lets all through nor waits for a day", () =>
  jumped({ hash: HASH, seat: seat() }, async (page) => {
    const evaluate = new Evaluate(page);
    provider.tell({ otherwise: told() });
    await evaluate.leaveToModel(3, { "Requests per minute": 2, Concurrency: 3 });
    const wait = page.getByText(/^Waiting \d+ s to stay within the rate limits/);
    await wait.waitFor();
    const seconds = Number((await wait.innerText()).match(/\d+/)[0]);
    assert.ok(seconds <= 60, `it waits ${seconds} s`);
    await page.waitForTimeout(1_500);
    assert.equal(provider.requests.length, 2);
    await evaluate.button("Limits").click();
    const dialog = page.getByRole("dialog", { name: "Limits" });
    await dialog.getByLabel("Requests per minute", { exact: true }).fill("");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await evaluate.says("Finished: 3 of 3 episodes");
    assert.equal(provider.requests.length, 3);
  }));

test("a rollout is recorded with its tokens, and each request takes a plausible time", async () => {
  const server = new GenerateServer();
  await server.listen();
  try {
    const seat = connected({ kind: "sglang", base: server.url, model: "qwen" });
    await jumped({ hash: "#/run/library_desk", seat }, async (page) => {
      const playground = new ModelPlayground(page);
      await playground.seated();
      server.reset("Good morning.", "Goodbye.");
      await playground.button("Run").click();
      await playground.says("2 steps", "done");
      assert.equal(server.requests.length, 2);
      const facts = await playground.transcript.locator(".step-facts").allInnerTexts();
      assert.ok(facts.length >= 2);
      for (const fact of facts) assert.doesNotMatch(fact, /\d (h|min|d)\b|-\d/, `how long it took: ${fact}`);
    });
  } finally {
    await server.close();
  }
});

test("a countdown of the playground goes on, and Stop ends it", () =>
  jumped({ hash: "#/run/dummy", seat: seat() }, async (page) => {
    const playground = new ModelPlayground(page);
    await playground.seated();
    provider.tell({ exposes: "retry-after", script: [{ status: 429, retry_after: 40, message: "Slow down." }] });
    await playground.button("Run").click();
    await playground.turn.getByText(/Retrying in (40|41|39) s/).waitFor();
    await playground.turn.getByText(/Retrying in 3[5-8] s/).waitFor();
    await until(() => provider.requests.length === 1);
    await playground.button("Stop").click();
    await playground.turn.getByText("Stopped").waitFor();
    assert.equal(provider.requests.length, 1);
  }));
