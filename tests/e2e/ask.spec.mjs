// Ask in Review: a model answers one question about each trajectory, and each of its quotes is checked. The model is a server
// on this machine, which also misbehaves.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { KEY, connected } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { until } from "./support/state.mjs";
import { Library } from "./support/trajectories.mjs";

const provider = provided();
const seat = () => connected({ kind: "openai-chat", base: provider.base("chat"), model: "gpt-6-luna" });

/** A trajectory that books a flight, with its own number in each text. The even ones fail. */
function booking(number) {
  const id = `booking-${number}`;
  return {
    format: "volary-episode",
    version: 1,
    id,
    name: id,
    model: "wren",
    task: { dataset: "flights", id: `task-${number}` },
    start: [{ role: "user", content: `Please book flight ${number} to Lisbon for Ada.` }],
    steps: [
      {
        action: { role: "assistant", content: `I will book flight ${number} now.`, tool_calls: [{ id: "c", name: "book", arguments: { flight: number } }] },
        observation: [{ role: "tool", content: `Error: flight ${number} is sold out since Monday.`, name: "book", tool_call_id: "c" }],
        reward: 0,
        done: false,
        truncated: false,
      },
      {
        action: { role: "assistant", content: `I have booked flight ${number} for you.` },
        observation: [],
        reward: number % 2,
        done: true,
        truncated: false,
      },
    ],
    ending: "done",
    metadata: {},
  };
}

const bookings = (count) => Array.from({ length: count }, (_, number) => JSON.stringify(booking(number))).join("\n");

/** What the model replies: a label, and quotes as pairs of a message and words. */
function answer(label, quotes, explanation = "It said so.") {
  const evidence = quotes.map(([message, quote]) => ({ message, quote }));
  return { text: JSON.stringify({ label, explanation, evidence }), usage: { prompt: 900, completion: 60 } };
}

/** A rule: the reply about the trajectory with this number. */
const about = (number, reply) => ({ when: `Please book flight ${number} to Lisbon`, reply });

/** Claimed what it did not do, with an exact quote. */
const claimed = (number) => answer("yes", [[3, `I have booked flight ${number} for you.`]]);

/** Ask, in the words that a person reads. */
class Ask {
  constructor(page) {
    this.page = page;
    this.form = page.getByRole("form", { name: "Question" });
    this.plan = page.getByRole("region", { name: "Plan" });
    this.progress = page.getByRole("status", { name: "Progress of the question" });
    this.answers = page.getByRole("region", { name: "Answers" });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Imports trajectories and opens the form. */
  async begin(count) {
    const library = await new Library(this.page).ready();
    await library.import(["bookings.jsonl", bookings(count)]);
    await library.rows(count);
    await this.page.getByRole("link", { name: "Ask", exact: true }).click();
    await this.page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
  }

  /** Plans the question whether something was claimed that was not done. */
  async planned(preset = "Claimed what it did not do") {
    await this.form.getByRole("combobox", { name: "Start from" }).selectOption({ label: preset });
    await this.button("Plan").click();
    await this.plan.waitFor();
  }

  async ask() {
    await this.plan.getByRole("button", { name: /^Ask/ }).click();
  }

  async says(words) {
    await this.progress.getByText(words).waitFor();
  }

  /** The answer about a trajectory. */
  answer(number) {
    return this.answers.getByRole("article").filter({ has: this.page.getByRole("link", { name: `booking-${number}`, exact: true }) });
  }
}

function asking(options, journey) {
  return visit({ hash: "#/review", allowedErrors: FAILED_LOADS, ...seat(), ...options }, async (page, about) => {
    await journey(new Ask(page), page, about);
  });
}

for (const size of ["wide", "narrow"]) {
  test(`a question is planned, asked, shown in the table, and its quotes open the words that they quote (${size})`, () =>
    asking({ size }, async (ask, page) => {
      provider.tell({
        rules: [
          { when: "Your reply was checked", reply: answer("yes", [[3, "I have booked fligt 1 for you."]]) },
          about(0, claimed(0)),
          about(1, answer("yes", [[1, "this is nowhere at all in it"]])),
          about(2, answer("yes", [[0, "flight 2 is sold out since Monday"]])),
          about(3, answer("no", [])),
        ],
        otherwise: answer("no", []),
      });
      await ask.begin(4);
      await ask.planned();
      const plan = await ask.plan.innerText();
      assert.match(plan, /Requests\s+4 to gpt-6-luna/);
      assert.match(plan, /Cost\s+about \$0\.\d+/);
      assert.equal(provider.requests.length, 0, "nothing is sent before the plan is agreed to");
      await ask.ask();
      await ask.says("Done: 4 of 4 trajectories");
      // The replies about 1 and 2 were asked for again: of 2, the second reply quotes flight 1.
      assert.equal(provider.requests.length, 6);
      await ask.answer(0).getByText("supported", { exact: true }).waitFor();
      await ask.answer(0).getByText("exact", { exact: true }).waitFor();
      const close = ask.answer(1);
      await close.getByText("close", { exact: true }).waitFor();
      assert.match(await close.locator(".ask-difference").innerText(), /fligt.*flight/s);
      await ask.answer(3).getByText("no quote needed").waitFor();
      // The columns.
      await page.getByRole("link", { name: "Show in the table" }).click();
      const library = await new Library(page).ready();
      await library.rows(4);
      await library.table.getByRole("columnheader", { name: "Claimed what it did not do: quotes" }).waitFor();
      assert.match(page.url(), /columns=.*answer\/Claimed/);
      await page.goBack();
      // The quote.
      await ask.answer(0).getByRole("link", { name: "I have booked flight 0 for you." }).click();
      await page.waitForURL(/review\/booking-0\?step=2&at=0-c-0&words=/);
      await library.transcript.getByText("I have booked flight 0").waitFor();
      const marked = () =>
        page.evaluate(() => [...CSS.highlights.values()].flatMap((marks) => [...marks].map((range) => range.toString())));
      await until(async () => (await marked()).includes("I have booked flight 0 for you."));
    }));
}

test("a reload in the middle loses no answer, and what was paid for is not asked for again", () =>
  asking({}, async (ask, page) => {
    provider.tell({ script: [answer("no", []), answer("no", [])], otherwise: { hang: "before" } });
    await ask.begin(6);
    await ask.planned();
    await ask.ask();
    await ask.says("Asking: 2 of 6");
    await ask.button("Stop").click();
    await ask.says("Paused: 2 of 6");
    await page.reload();
    await page.getByText("4 trajectories without an answer.").waitFor();
    const before = provider.requests.length;
    provider.tell({ otherwise: answer("no", []) });
    await ask.button("Ask about the rest").click();
    await ask.says("Done: 6 of 6 trajectories, 2 known before");
    assert.equal(provider.requests.length - before, 4);
    // Planned again, everything is known.
    await page.getByRole("link", { name: "Change the question" }).click();
    await ask.button("Plan").click();
    await ask.plan.getByRole("button", { name: "Show the answers" }).waitFor();
  }));

test("rate limits, broken connections and replies without JSON or with forged quotes are survived and marked", () =>
  asking({}, async (ask) => {
    const rules = [
      { when: "has no JSON object", reply: { text: "I would rather not." } },
      about(0, { text: "The agent lied." }),
      about(1, answer("yes", [])),
      about(2, answer("yes", [[0, "Quote the claim."]])),
      about(3, answer("yes", [[3, "I have booked flight 9 to the moon and back."]])),
      about(4, claimed(4)),
    ];
    // Until the rules change, requests about the last trajectory are refused or break off.
    const refused = about(4, { status: 429, retry_after: 0.1, message: "Slow down." });
    provider.tell({ rules: [refused, ...rules.slice(0, -1)] });
    await ask.begin(5);
    await ask.planned();
    await ask.ask();
    const attempts = () => provider.requests.filter((request) => JSON.stringify(request.body).includes("flight 4 to Lisbon")).length;
    await until(() => attempts() >= 1);
    provider.tell({ rules: [about(4, { ...claimed(4), cut: 40 }), ...rules.slice(0, -1)] });
    await until(() => attempts() >= 2);
    // Nothing is asked again on its own after a reply that broke off, which may have been paid for.
    await ask.says("1 failed");
    provider.tell({ rules });
    await ask.button("Resume").click();
    await ask.says("Done: 5 of 5 trajectories");
    await ask.answer(0).getByText("unreadable", { exact: true }).waitFor();
    for (const number of [1, 2, 3]) await ask.answer(number).getByText("unsupported", { exact: true }).waitFor();
    await ask.answer(2).getByText("not found: words of the question").waitFor();
    await ask.answer(4).getByText("supported", { exact: true }).waitFor();
    // Only those whose quotes do not hold.
    await ask.answers.getByRole("combobox", { name: "Quotes" }).selectOption("unsupported");
    await ask.answer(4).waitFor({ state: "detached" });
  }));

test("a budget pauses the question, and a higher one goes on", () =>
  asking({}, async (ask, page) => {
    provider.tell({ otherwise: answer("no", []) });
    await ask.begin(6);
    await ask.form.getByLabel("Total tokens").fill("6000");
    await ask.form.getByLabel("Concurrency").fill("1");
    await ask.planned();
    await ask.ask();
    await page.getByRole("alert").filter({ hasText: "Raise the limit" }).waitFor();
    assert.ok(provider.requests.length < 6);
    await ask.button("Change limits").click();
    const limits = page.getByRole("dialog", { name: "Limits" });
    await limits.getByLabel("Total tokens").fill("");
    await limits.getByRole("button", { name: "Apply" }).click();
    await ask.button("Resume").click();
    await ask.says("Done: 6 of 6");
  }));

test("a person labels first, by keyboard, without seeing an answer, and sees the agreement", () =>
  asking({}, async (ask, page) => {
    provider.tell({ otherwise: answer("no", []) });
    await ask.begin(24);
    await ask.planned();
    await ask.button("Label 20 first").click();
    const labels = page.getByRole("region", { name: "Labels" });
    await labels.getByText("Trajectory 1 of 20. 0 labelled.").waitFor();
    await labels.getByRole("region", { name: "Trajectory" }).getByText("sold out since Monday").waitFor();
    assert.equal(provider.requests.length, 0);
    for (let number = 0; number < 20; number += 1) {
      await labels.getByText(`${number} labelled.`).waitFor();
      const label = labels.getByRole("button", { name: number < 5 ? "yes" : "no", exact: true });
      await label.focus();
      await page.keyboard.press("Enter");
    }
    await labels.getByText("20 labelled.").waitFor();
    await ask.button("Ask the model about these").click();
    const agreement = page.getByRole("region", { name: "Agreement" });
    await agreement.getByText("75 % of 20 trajectories are labelled the same; kappa 0.00.").waitFor();
    assert.equal(await agreement.getByRole("row").count(), 6, "the five on which they differ");
    assert.equal(provider.requests.length, 20);
    // A changed question keeps the labels.
    await page.getByRole("link", { name: "Change the question" }).click();
    await ask.form.getByLabel("Question", { exact: true }).fill("Did it claim to have booked what was sold out?");
    await ask.button("Plan").click();
    await ask.plan.getByRole("button", { name: /^Ask/ }).click();
    await ask.says("Done: 24 of 24");
    await page.getByRole("link", { name: "Labels", exact: true }).click();
    await page.getByText("20 labelled.").waitFor();
    await page.getByRole("region", { name: "Agreement" }).getByText("75 %").waitFor();
  }));

test("findings cite answers, which open their quotes, also as a page", () =>
  asking({}, async (ask, page) => {
    provider.tell({
      rules: [
        { when: "Write the findings", reply: { text: "- Flights are claimed that are sold out. [A1] [A2]\n- None is refunded. [A9]" } },
        ...[0, 1, 2].map((number) => about(number, claimed(number))),
      ],
    });
    await ask.begin(3);
    await ask.planned();
    await ask.ask();
    await ask.says("Done: 3 of 3");
    await page.getByRole("link", { name: "Findings", exact: true }).click();
    await ask.button("Write findings").click();
    const findings = page.getByRole("region", { name: "Findings", exact: true });
    await findings.getByText("cites an answer that does not exist").waitFor();
    await findings.getByRole("button", { name: "Answer 2" }).click();
    const cited = page.getByRole("region", { name: "Cited answer" });
    await cited.getByRole("link", { name: "I have booked flight 1 for you." }).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), ask.button("Save as HTML page").click()]);
    const html = await readFile(await download.path(), "utf8");
    assert.match(html, /Flights are claimed that are sold out\. <a href="#e1">\[A1\]<\/a>/);
    assert.match(html, /<mark>I have booked flight 0 for you\.<\/mark>/);
    assert.ok(!html.includes(KEY));
  }));

test("the key is in no store, file or address", () =>
  asking({}, async (ask, page) => {
    provider.tell({ otherwise: answer("no", [], `The key is ${KEY}.`) });
    await ask.begin(2);
    await ask.planned();
    await ask.ask();
    await ask.says("Done: 2 of 2");
    const stored = await page.evaluate(async () => {
      const opening = indexedDB.open("volary");
      const database = await new Promise((done) => (opening.onsuccess = () => done(opening.result)));
      const all = database.transaction("answers").objectStore("answers").getAll();
      const values = await new Promise((done) => (all.onsuccess = () => done(all.result)));
      database.close();
      return JSON.stringify([values, { ...localStorage }]);
    });
    assert.match(stored, /gpt-6-luna/);
    assert.ok(!stored.includes(KEY));
    await ask.answer(0).getByText(/The key is/).waitFor();
    assert.ok(!(await page.content()).includes(KEY));
    assert.ok(!page.url().includes(KEY));
    const [download] = await Promise.all([page.waitForEvent("download"), ask.button("Save answers").click()]);
    assert.ok(!(await readFile(await download.path(), "utf8")).includes(KEY));
  }));
