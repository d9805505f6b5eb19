// Evaluations with a model as policy: cost, faults, and no duplicate charges.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, HOME, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { connected, FORMATS, KEY, ModelPlayground } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { stateOf, until } from "./support/state.mjs";

const provider = provided();

const story = (more = {}) => ({ calls: [{ name: "print_story", arguments: { story: "Once." } }], ...more });
const cast = (more = {}) => ({ calls: [{ name: "cast_int", arguments: { x: 1 } }], ...more });

/** A visit to the evaluations with a model among the policies. */
function evaluated({ init, ...options }, journey) {
  const { kind } = FORMATS.find((known) => known.format === "chat");
  const seat = connected({ kind, base: provider.base("chat") });
  const both = async (context) => {
    await seat.init(context);
    await init?.(context);
  };
  return visit({ hash: HASH, allowedErrors: FAILED_LOADS, ...seat, ...options, init: both }, (page, about) =>
    journey(new Evaluate(page), page, about),
  );
}

test("it continues after a reload: nothing is paid for twice, and each step records its requests", () =>
  evaluated({}, async (evaluate, page) => {
    // From the seventh request on there is no reply: the page is reloaded in the middle of the second episode.
    provider.tell({ script: Array(6).fill(cast()), otherwise: { text: "Well", hang: "before" } });
    await evaluate.leaveToModel(3, { "Maximum steps": 4 });
    await until(() => provider.requests.length === 7);
    await page.reload();
    await evaluate.says("Paused: 1 of 3");
    provider.tell({ otherwise: cast() });
    await evaluate.button("Resume").click();
    await evaluate.says("Finished: 3 of 3 episodes");
    // One reply for each of the twelve steps. The request that the reload cancelled is repeated. Only a POST
    // asks the model: after an interrupted request the page may check once, without the key, whether the server
    // responds.
    const asked = provider.requests.filter(({ method }) => method === "POST");
    const [answered, cut] = [false, true].map((aborted) => asked.filter((sent) => sent.aborted === aborted));
    assert.equal(answered.length, 12, "no step is paid for twice");
    assert.ok(cut.length >= 1, "what was under way is given up");
    for (const { body } of cut) assert.deepEqual(body, answered[6].body);
    await evaluate.says("360 tokens");
    // The episode that the reload interrupted.
    const dialog = await evaluate.cell("Seed 2");
    await dialog.getByRole("button", { name: "Open trial 1" }).click();
    const playground = new ModelPlayground(page);
    await playground.says("4 steps", "truncated", "80 tokens in, 40 out");
    const requests = page.getByRole("button", { name: "Request", exact: true });
    assert.equal(await requests.count(), 4, "each step tells what went over the wire");
    await requests.first().click();
    await playground.inspector.getByText("Bearer YOUR_API_KEY").waitFor();
    await page.keyboard.press("Escape");
    // Requests are stored as differences; the last one is reconstructed exactly as sent.
    await requests.last().click();
    await playground.inspector.getByRole("button", { name: "Copy body" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(copied), answered[7].body);
  }));

test("a refused key pauses, and retried failures succeed once it is accepted", () =>
  evaluated({}, async (evaluate) => {
    provider.tell({ otherwise: { status: 401, message: "Wrong key." } });
    await evaluate.leaveToModel(2);
    await evaluate.says("1 failed");
    await evaluate.alert("a different key").waitFor();
    assert.equal(provider.requests.length, 1, "nothing is asked in vain");
    provider.tell({ otherwise: story() });
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 2 of 2 episodes");
    assert.match((await evaluate.row("Test model")).at(-1), /none/);
  }));

test("temporary errors are retried: 429 with and without Retry-After, 5xx", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({
      exposes: "retry-after",
      script: [
        { status: 429, retry_after: 2, message: "Slow down." },
        story(),
        { status: 429, message: "Slower." },
        { status: 503, message: "Overloaded." },
      ],
      otherwise: story(),
    });
    await evaluate.leaveToModel(3);
    await page.getByText(/^Waiting \d+ s, then retrying\. .*Slow down/).waitFor();
    await evaluate.says("Finished: 3 of 3 episodes");
    assert.equal(provider.requests.length, 6);
    assert.match((await evaluate.row("Test model")).at(-1), /none/);
  }));

test("permanent errors are shown at their step, and can be retried", () =>
  evaluated({}, async (evaluate) => {
    provider.tell({ script: [cast(), { status: 400, message: "Not like that." }], otherwise: story() });
    await evaluate.leaveToModel(2);
    await evaluate.says("Finished: 2 of 2 episodes, 1 failed");
    const dialog = await evaluate.cell("Seed 1");
    await dialog.getByText(/failed \(request refused\)\. Step 2: .*400: Not like that/).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    const before = provider.requests.length;
    await evaluate.button("Retry failures").click();
    await evaluate.button("Retry failures").waitFor({ state: "detached" });
    await evaluate.says("Finished: 2 of 2 episodes");
    assert.match((await evaluate.row("Test model")).at(-1), /none/);
    assert.equal(provider.requests.length, before + 1, "its first step is not paid for again");
  }));

test("consecutive failures pause the evaluation before the budget is spent", () =>
  evaluated({}, async (evaluate) => {
    provider.tell({ otherwise: { status: 400, message: "Never." } });
    await evaluate.leaveToModel(6);
    await evaluate.alert("3 episodes in a row failed").waitFor();
    assert.equal(provider.requests.length, 3);
    provider.tell({ otherwise: story() });
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 6 of 6 episodes");
  }));

test("a hanging request is cancelled and retried", () =>
  evaluated({}, async (evaluate) => {
    provider.tell({ script: [{ text: "Well", hang: "before" }, { text: "Well, well", hang: "within" }], otherwise: story() });
    await evaluate.leaveToModel(2);
    for (const asked of [1, 2]) {
      await until(() => provider.requests.length === asked);
      await evaluate.button("Cancel").click();
      await evaluate.says("Cancelled: 0 of 2");
      await until(() => provider.requests[asked - 1].aborted);
      await evaluate.button("Resume").click();
    }
    await evaluate.says("Finished: 2 of 2 episodes");
    assert.equal(provider.requests.length, 4);
  }));

test("offline, it pauses without failures; back online, it continues", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ script: [story(), story({ delay: 1_500 })], otherwise: story() });
    await evaluate.leaveToModel(6);
    await until(() => provider.requests.length === 2);
    await page.context().setOffline(true);
    await evaluate.alert("offline").waitFor();
    assert.doesNotMatch(await evaluate.status.innerText(), /failed/);
    await page.context().setOffline(false);
    await evaluate.button("Resume").click();
    await evaluate.says("Finished: 6 of 6 episodes");
    assert.match((await evaluate.row("Test model")).at(-1), /none/);
  }));

test("a token budget pauses it; with a higher one it continues, also after a reload", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ otherwise: story() });
    // Each reply uses thirty tokens.
    await evaluate.leaveToModel(4, { "Total tokens": 50 });
    await evaluate.alert("The limit of 50 tokens was reached (60 used)").waitFor();
    await evaluate.says("Paused: 2 of 4");
    assert.equal(provider.requests.length, 2);
    await page.reload();
    await evaluate.says("Paused: 2 of 4");
    await evaluate.button("Resume").click();
    await evaluate.alert("The limit of 50 tokens").waitFor();
    assert.equal(provider.requests.length, 2, "what was spent before the reload counts");
    await evaluate.button("Change limits").click();
    const dialog = page.getByRole("dialog", { name: "Limits" });
    const limit = dialog.getByLabel("Total tokens", { exact: true });
    assert.equal(await limit.inputValue(), "50");
    await limit.fill("none");
    await dialog.getByRole("button", { name: "Apply and resume" }).click();
    assert.equal(await limit.getAttribute("aria-invalid"), "true");
    await accessible(page);
    await limit.fill("80");
    await dialog.getByRole("button", { name: "Apply and resume" }).click();
    await evaluate.alert("The limit of 80 tokens").waitFor();
    await evaluate.says("Paused: 3 of 4");
    await page.reload();
    await evaluate.says("Paused: 3 of 4");
    await evaluate.button("Limits").click();
    assert.equal(await limit.inputValue(), "80");
    await limit.fill("");
    await dialog.getByRole("button", { name: "Apply and resume" }).click();
    await evaluate.says("Finished: 4 of 4 episodes");
  }));

const priced = (context) =>
  context.addInitScript((home) => {
    if (!location.href.startsWith(home)) return;
    // Half a dollar for each reply.
    const price = { input: 0, output: 50_000 };
    localStorage.setItem("volary.prices", JSON.stringify([{ model: "mock-model", price }]));
  }, HOME);

test("a cost budget pauses it", () =>
  evaluated({ init: priced }, async (evaluate, page) => {
    provider.tell({ otherwise: story() });
    await evaluate.leaveToModel(4, { "Maximum cost": 0.6 });
    await evaluate.alert("The limit of $0.6 was reached ($1.0000 spent)").waitFor();
    await evaluate.says("Paused: 2 of 4", "cost $1.00");
    assert.equal(provider.requests.length, 2);
    await evaluate.button("Change limits").click();
    const dialog = page.getByRole("dialog", { name: "Limits" });
    await dialog.getByLabel("Maximum cost", { exact: true }).fill("5");
    await dialog.getByRole("button", { name: "Apply and resume" }).click();
    await evaluate.says("Finished: 4 of 4 episodes", "cost $2.00");
  }));

test("unknown costs are not spent under a budget", () =>
  evaluated({}, async (evaluate) => {
    provider.tell({ otherwise: story() });
    await evaluate.leaveToModel(2, { "Maximum cost": 1 });
    await evaluate.alert("the price of the model is unknown").waitFor();
    assert.equal(provider.requests.length, 0);
    assert.doesNotMatch(await evaluate.status.innerText(), /failed/);
  }));

test("the limit of requests per minute holds until it is changed", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ otherwise: story() });
    await evaluate.leaveToModel(3, { "Requests per minute": 2, Concurrency: 3 });
    await page.getByText(/^Waiting \d+ s to stay within the rate limits/).waitFor();
    await evaluate.says("Running: 2 of 3");
    assert.equal(provider.requests.length, 2);
    await evaluate.button("Limits").click();
    const dialog = page.getByRole("dialog", { name: "Limits" });
    await dialog.getByLabel("Requests per minute", { exact: true }).fill("");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await evaluate.says("Finished: 3 of 3 episodes");
  }));

test("of two tabs one plays, and the other takes over the rest", () =>
  evaluated({ axe: false }, async (evaluate, page) => {
    // The third request gets no reply.
    provider.tell({ script: [story(), story(), { text: "Well", hang: "before" }], otherwise: story() });
    await evaluate.leaveToModel(8);
    await until(() => provider.requests.length === 3);
    await evaluate.says("Running: 2 of 8");
    const other = new Evaluate(await page.context().newPage());
    await other.page.goto(page.url());
    await other.says("Paused");
    await other.button("Resume").click();
    await other.alert("is running in another tab").waitFor();
    await other.page.getByRole("link", { name: "All evaluations" }).click();
    await other.page.getByRole("button", { name: /^Delete/ }).click();
    const dialog = other.page.getByRole("dialog", { name: "Delete evaluation" });
    await dialog.getByRole("button", { name: "Delete" }).click();
    await other.alert("The evaluation was not deleted").waitFor();
    // Close the first tab midway.
    await page.close();
    await until(() => provider.requests[2].aborted);
    await other.page.goBack();
    await other.button("Resume").click();
    await other.says("Finished: 8 of 8 episodes");
    assert.equal(provider.requests.length, 9, "eight, and the one that was cut off");
    await accessible(other.page);
  }));

test("leaving the page stops all requests, and the evaluation is found paused", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ otherwise: cast({ delay: 200 }) });
    await evaluate.leaveToModel(2, { "Maximum steps": 5 });
    await until(() => provider.requests.length >= 2);
    await page.getByRole("link", { name: "All evaluations" }).click();
    await page.getByRole("region", { name: "Previous evaluations" }).waitFor();
    await page.waitForTimeout(500);
    const before = provider.requests.length;
    await page.waitForTimeout(600);
    assert.equal(provider.requests.length, before, "nobody sees what it spends");
    await page.getByRole("region", { name: "Previous evaluations" }).getByRole("link").click();
    await evaluate.says(": 0 of 2 episodes");
    await evaluate.button("Resume").click();
    await evaluate.says("Finished: 2 of 2 episodes");
    assert.equal(provider.requests.length, 10, "each step was paid for once");
  }));

test("no key occurs in an evaluation, its files or the page's state", () =>
  visit({ hash: "#/settings", allowedErrors: FAILED_LOADS, origins: [provider.url] }, async (page, { problems, requests }) => {
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    const group = page.getByRole("group", { name: "Model connection" });
    await group.getByLabel("Provider", { exact: true }).selectOption({ label: "Other, speaks OpenAI Chat Completions" });
    await group.getByLabel("Base URL", { exact: true }).fill(provider.base("chat"));
    await group.getByLabel("Model", { exact: true }).fill("mock-model");
    await group.getByLabel("API key", { exact: true }).fill(KEY);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Evaluate" }).click();
    // The provider echoes the key wherever it can: in errors and in replies.
    const echo = { thinking: `It is ${KEY}.`, text: `Your key is ${KEY}.`, piece: 500 };
    provider.tell({
      script: [
        { status: 503, message: `Not with ${KEY}.` },
        cast(echo),
        { ...echo, calls: [{ name: "print_story", arguments: { story: `A story of ${KEY}.` } }] },
        { status: 400, message: `Bad key ${KEY}.` },
      ],
    });
    const evaluate = new Evaluate(page);
    await evaluate.leaveToModel(2);
    await evaluate.says("Finished: 2 of 2 episodes, 1 failed");
    assert.match(provider.requests[0].headers.authorization, new RegExp(KEY), "it was sent");
    const files = [];
    for (const button of ["Export CSV", "Export JSONL", "Export episodes"]) files.push(await evaluate.saved(button));
    const dialog = await evaluate.cell("Seed 2");
    await dialog.getByText("Bad key YOUR_API_KEY.").waitFor();
    const failed = await stateOf(page);
    await dialog.getByRole("button", { name: "Close" }).click();
    await (await evaluate.cell("Seed 1")).getByRole("button", { name: "Open trial 1" }).click();
    await new ModelPlayground(page).says("2 steps", "done");
    const opened = await stateOf(page);
    const texts = [failed, opened].flatMap(Object.values);
    for (const text of [...texts, ...files, ...said, ...problems, ...requests]) {
      const place = text.indexOf(KEY);
      assert.equal(place, -1, `the key is in ${text.slice(Math.max(0, place - 200), place)}`);
    }
  }));
