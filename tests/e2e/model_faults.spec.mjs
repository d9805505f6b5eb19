// Faults while a model acts: each is shown at its step, and the episode continues.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED } from "./support/browser.mjs";
import { cast, endless, playedOn, story } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { until } from "./support/state.mjs";

const provider = provided();
const played = playedOn(provider);

/** What can go wrong with a request, what is said of it, and whether it is tried again by itself. */
const FAULTS = [
  { name: "a wrong key", tell: { key: "another" }, says: /rejected the API key/ },
  { name: "a 4xx with JSON", reply: { status: 400, message: "No such thing." }, says: /400: No such thing/ },
  { name: "a 4xx without JSON", reply: { status: 404, raw: "nothing here" }, says: /404/ },
  { name: "HTML instead of JSON", reply: { html: true }, says: /web page/ },
  { name: "empty choices", reply: { choices: 0 }, says: /not a valid action|cannot be read/i },
  { name: "an error within the stream", reply: { text: "half", error: { code: "invalid", message: "Broken inside." } }, says: /Broken inside/ },
  { name: "an answer cut at the limit of tokens", reply: { text: "half", finish: "length" }, says: /token limit/ },
  { name: "a filter", reply: { text: "no", finish: "filter" }, says: /declined/ },
  { name: "50 MB", reply: { text: "x", bytes: 50_000_000 }, says: /exceeds/, patience: 60_000 },
];

test("each fault is shown at its step, and the episode continues", () =>
  played({}, async (playground) => {
    for (const { name, reply, tell, says, patience } of FAULTS) {
      await test.step(name, async () => {
        await endless(playground);
        provider.tell({ script: [{ calls: [cast(1)] }] });
        await playground.button("Step").click();
        await playground.says("1 step");
        provider.tell(tell ?? { script: [reply] });
        await playground.button("Step").click();
        await playground.alert.filter({ hasText: says }).waitFor({ timeout: patience });
        await playground.turn.getByText(says).first().waitFor();
        assert.equal(await playground.steps(), 1, "the episode is as it was");
        await playground.dismissAlert();
        provider.tell({ key: null, script: [{ calls: [story()] }] });
        await playground.button("Ask again").click();
        await playground.says("2 steps");
      });
    }
  }));

/** What passes: it is tried again, or makes no difference. */
const MENDED = [
  { name: "a 5xx", reply: { status: 503, message: "Overloaded." }, tries: 2 },
  { name: "a 429 without Retry-After", reply: { status: 429, message: "Slow down." }, tries: 2 },
  { name: "a stream cut within an event", reply: { text: "half of it", cut: "event" }, tries: 2 },
  { name: "a stream cut within a character", reply: { text: "hälf öf ït", cut: "character" }, tries: 2 },
];

test("temporary faults are retried", () =>
  played({}, async (playground) => {
    for (const { name, reply, tries } of MENDED) {
      await test.step(name, async () => {
        await playground.button("Reset").click();
        await playground.says("0 steps");
        const before = provider.requests.length;
        provider.tell({ script: [reply, { calls: [story()] }] });
        await playground.button("Run").click();
        await playground.turn.getByText(/Retrying in/).waitFor();
        await playground.says("1 step", "done");
        assert.equal(provider.requests.length - before, tries);
      });
    }
  }));

test("fault: a 429 with Retry-After shows a countdown that Stop ends", () =>
  played({}, async (playground) => {
    provider.tell({ exposes: "retry-after", script: [{ status: 429, retry_after: 40, message: "Slow down." }] });
    await playground.button("Run").click();
    await playground.turn.getByText(/Retrying in (40|41|39) s/).waitFor();
    await playground.turn.getByText(/Retrying in 3[78] s/).waitFor();
    await playground.button("Stop").click();
    await playground.turn.getByText("Stopped").waitFor();
    assert.equal(provider.requests.length, 1);
    assert.equal(await playground.steps(), 0);
  }));

/**
 * For journeys that install a clock: a timer that the page set before can no longer be cleared, so it fires although its
 * closure is gone. That is the clock's doing, not the page's.
 */
const CLOCK = { allowedErrors: [...FAILED_LOADS, /closure invoked recursively or after being dropped/] };

for (const { hang, seconds } of [{ hang: "before", seconds: 300 }, { hang: "within", seconds: 120 }]) {
  test(`fault: silence ${hang} a reply lasts until the deadline, then the request is retried`, () =>
    played(CLOCK, async (playground, page) => {
      await page.clock.install();
      provider.tell({ script: [{ text: "Well, well.", hang }, { calls: [story()] }] });
      await playground.button("Step").click();
      await until(() => provider.requests.length === 1);
      if (hang === "within") await playground.turn.getByText("Well").waitFor();
      await page.clock.fastForward((seconds - 20) * 1000);
      await playground.turn.getByRole("button", { name: "Stop request" }).waitFor();
      assert.equal(provider.requests[0].aborted, false, "it may still come");
      await page.clock.fastForward(21_000);
      await playground.turn.getByText(`sent nothing for ${seconds} s`).waitFor();
      await playground.says("1 step", "done");
      assert.deepEqual(provider.requests.map((sent) => sent.aborted), [true, false]);
    }));
}

test("a clock that jumps breaks nothing, and a machine that slept keeps its time limit", () =>
  played(CLOCK, async (playground, page) => {
    await page.clock.install();
    await endless(playground);
    await playground.unfold("Limits");
    await playground.setting("Maximum seconds").fill("60");
    provider.tell({ otherwise: { calls: [cast(1)], delay: 500 } });
    for (const [steps, day] of [[1, "2040-01-01"], [2, "2001-01-01"]]) {
      await playground.button("Step").click();
      await until(() => provider.requests.length === steps);
      // As when the clock of a machine is corrected.
      await page.clock.setSystemTime(day);
      await playground.says(`${steps} step`);
    }
    const facts = await playground.transcript.locator(".step-facts").allInnerTexts();
    for (const fact of facts.slice(-2)) assert.match(fact, /\b\d+ ms|\b[12]\.\d s/, `how long it took: ${fact}`);
    provider.tell({ otherwise: { text: "Well", hang: "before" } });
    await playground.button("Step").click();
    await until(() => provider.requests.length === 3);
    await page.clock.fastForward(3_600_000);
    await playground.says("2 steps", "truncated");
    await page.getByText("The time limit of 60 s was reached.").first().waitFor();
    provider.tell({ otherwise: { calls: [cast(2)] } });
    await playground.button("Step").click();
    await playground.says("3 steps");
  }));

/** Calls that are broken in themselves: they are answered, so that the model can mend them. */
const BROKEN_CALLS = [
  { name: "arguments that never become JSON", calls: [{ name: "print_story", arguments: '{"story": "on' }], says: "INVALID" },
  { name: "an unknown tool", calls: [{ name: "fly_away", arguments: {} }], says: /fly_away\s+unknown tool/ },
  { name: "a call without a name", calls: [{ name: "", arguments: {} }], says: "INVALID" },
  { name: "a call without an id", calls: [{ id: "", name: "cast_int", arguments: { x: 5 } }], says: "cast_int" },
];

test("a broken call is an ordinary step", () =>
  played({}, async (playground) => {
    for (const { name, calls, says } of BROKEN_CALLS) {
      await test.step(name, async () => {
        await endless(playground);
        provider.tell({ script: [{ calls }, { calls: [story()] }] });
        await playground.button("Step").click();
        await playground.says("1 step");
        await playground.messages().filter({ hasText: says }).first().waitFor();
        await playground.button("Step").click();
        await playground.says("2 steps");
      });
    }
  }));

test("fault: repeated or reordered deltas break nothing", () =>
  played({}, async (playground) => {
    await endless(playground);
    for (const [count, fault] of [{ duplicate: true }, { reorder: true }, { choices: 2 }].entries()) {
      provider.tell({ script: [{ text: "Well, well, well.", calls: [cast(1)], ...fault }] });
      await playground.button("Step").click();
      // Action or error, it is shown, and the next request works.
      const failed = playground.turn.getByRole("button", { name: "Ask again" });
      await Promise.race([playground.says(`${count * 2 + 1} step`), failed.waitFor()]);
      if (await failed.isVisible()) {
        await playground.dismissAlert();
        provider.tell({ script: [{ calls: [cast(1)] }] });
        await playground.button("Step").click();
      }
      await playground.says(`${count * 2 + 1} step`);
      provider.tell({ script: [{ calls: [cast(2)] }] });
      await playground.button("Step").click();
      await playground.says(`${count * 2 + 2} steps`);
    }
  }));

test("fault: a server that starts to reject pages (CORS) is named at once, and not retried", () =>
  played({ allowedErrors: [FAILED] }, async (playground, page) => {
    await endless(playground);
    provider.tell({ script: [{ calls: [cast(1)] }] });
    await playground.button("Step").click();
    await playground.says("1 step");
    provider.tell({ cors: "none" });
    const asked = () => provider.requests.filter(({ method }) => method === "POST").length;
    const before = asked();
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: /does not allow pages from/ }).waitFor({ timeout: 5_000 });
    assert.equal(await page.getByText("TypeError").count(), 0, "the browser's words are shown");
    assert.ok(asked() - before <= 1, "it was tried again");
    await playground.dismissAlert();
    // The run continues after the second step: a missing reply keeps it there.
    provider.tell({ cors: "open", script: [{ calls: [story()] }], otherwise: { text: "Well", hang: "before" } });
    await playground.button("Ask again").click();
    await playground.says("2 steps");
  }));

test("fault: offline, and back", () =>
  played({}, async (playground, page) => {
    await page.context().setOffline(true);
    await playground.button("Step").click();
    await playground.alert.filter({ hasText: /offline|reached/i }).waitFor();
    assert.equal(await playground.steps(), 0);
    await playground.dismissAlert();
    await page.context().setOffline(false);
    provider.tell({ script: [{ calls: [story()] }] });
    await playground.button("Ask again").click();
    await playground.says("1 step", "done");
  }));
