// Requests of environments to the outside: wiki pages, a model in the role of the customer, a person in that role.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { MediaWiki } from "./support/mediawiki.mjs";
import { connected, KEY } from "./support/models.mjs";
import { Playground } from "./support/playground.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { until } from "./support/state.mjs";

const provider = provided();

/** A model of which the price is known. */
const PRICED = "claude-sonnet-5";

const seat = (model) => connected({ kind: "openai-chat", base: provider.base("chat"), model });

/** The question that the page asks. */
function asked(page) {
  const dialog = page.getByRole("dialog", { name: "The environment asks" });
  const press = (name) => dialog.getByRole("button", { name, exact: true }).click();
  return { dialog, press };
}

/** A visit to the library's desk with a customer of this kind. */
function served(customer, { model, ...options }, journey) {
  const context = { hash: "#/run/library_desk", allowedErrors: FAILED_LOADS, ...seat(model), ...options };
  return visit(context, async (page, about) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.field("customer").selectOption(customer);
    await playground.button("Reset").click();
    await journey(playground, page, about);
  });
}

const requests = () => provider.requests.filter(({ method }) => method === "POST");

for (const size of ["wide", "narrow"]) {
  test(`a model plays the customer within its own budget, ${size}`, () =>
    served("llm", { model: PRICED, size }, async (playground, page) => {
      provider.tell({ script: [{ text: "Hello, I would like to renew a book." }, { text: "It is number 7." }] });
      const { dialog, press } = asked(page);
      await dialog.getByText("a model as the customer").waitFor();
      assert.equal(requests().length, 0, "nothing is sent before the user agrees");
      await accessible(page);
      await dialog.getByLabel("Cost limit (US dollars)").fill("nothing");
      await press("Allow");
      await dialog.getByText("Enter an amount above 0").waitFor();
      await dialog.getByLabel("Cost limit (US dollars)").fill("0.00001");
      await press("Allow");
      await playground.messages().filter({ hasText: "I would like to renew a book." }).waitFor();
      await page.getByRole("list", { name: "Other models" }).getByText("customer (Test model): 1 request, ").waitFor();
      // The first reply has used up the budget.
      await playground.act("respond", { content: "Which one?" });
      await dialog.getByText("The limit of $0.00001 was reached").waitFor();
      assert.equal(requests().length, 1);
      await dialog.getByLabel("Cost limit (US dollars)").fill("1");
      await press("Allow");
      await playground.messages().filter({ hasText: "It is number 7." }).waitFor();
      for (const { body } of requests()) {
        assert.equal(body.model, PRICED);
        assert.ok(!JSON.stringify(body).includes(KEY));
      }
    }));
}

test("without a price there is no limit of cost, and a customer who is declined is asked for again", () =>
  served("llm", {}, async (playground, page) => {
    provider.tell({ otherwise: { text: "Good morning." } });
    const { dialog, press } = asked(page);
    await dialog.getByLabel("Cost limit (US dollars)").fill("1");
    await press("Allow");
    await dialog.getByText("The price of mock-model is unknown").waitFor();
    await press("Don't allow");
    await playground.alert.filter({ hasText: "The user declined." }).waitFor();
    assert.equal(requests().length, 0);
    await playground.button("Reset").click();
    await press("Allow");
    await playground.messages().filter({ hasText: "Good morning." }).waitFor();
  }));

test("the customer's answers are part of the episode: going back asks nothing", () =>
  served("llm", {}, async (playground, page) => {
    provider.tell({ script: [{ text: "One." }, { text: "Two." }, { text: "Three." }], otherwise: { text: "Four." } });
    await asked(page).press("Allow");
    await playground.messages().filter({ hasText: "One." }).waitFor();
    for (const [content, reply] of [["a", "Two."], ["b", "Three."]]) {
      await playground.act("respond", { content });
      await playground.messages().filter({ hasText: reply }).waitFor();
    }
    assert.equal(requests().length, 3);
    await playground.button("Undo").click();
    await playground.says("1 step");
    await playground.messages().filter({ hasText: "Two." }).waitFor();
    assert.equal(requests().length, 3, "a replay needs no model");
    await playground.act("respond", { content: "c" });
    await playground.messages().filter({ hasText: "Four." }).waitFor();
    assert.equal(requests().length, 4);
  }));

test("a customer who stops in the middle of a sentence ends the episode", () =>
  served("llm", {}, async (playground, page) => {
    provider.tell({ script: [{ text: "Good day." }, { text: "Thanks, ###STOP### that is all." }] });
    await asked(page).press("Allow");
    await playground.messages().filter({ hasText: "Good day." }).waitFor();
    await playground.act("respond", { content: "Done." });
    await playground.says("1 step", "done");
    // Only now are the instruction and the right actions shown.
    await playground.frame.getByText("gold_actions").first().waitFor();
  }));

for (const [name, reply, words] of [
  ["fails", { status: 400, message: "No such model." }, "No such model."],
  ["says nothing", { text: "" }, "replied without text"],
]) {
  test(`a customer who ${name} is reported at its step, and the episode stays`, () =>
    served("llm", {}, async (playground, page) => {
      provider.tell({ script: [{ text: "Good day." }], otherwise: reply });
      await asked(page).press("Allow");
      await playground.messages().filter({ hasText: "Good day." }).waitFor();
      await playground.act("respond", { content: "What is it?" });
      await playground.transcript.getByText(words).first().waitFor();
      await playground.says("1 step");
      // The next one is asked again.
      provider.tell({ otherwise: { text: "There I am." } });
      await playground.act("respond", { content: "Hello?" });
      await playground.messages().filter({ hasText: "There I am." }).waitFor();
    }));
}

test("a person plays the customer", () =>
  served("person", {}, async (playground, page) => {
    const { dialog, press } = asked(page);
    await dialog.getByText("You play the customer").waitFor();
    await dialog.getByLabel("Your answer").fill("My card is lost.");
    await press("Send");
    await playground.messages().filter({ hasText: "My card is lost." }).waitFor();
    await playground.act("respond", { content: "What is your name?" });
    await dialog.getByText("What is your name?").waitFor();
    await accessible(page);
    await dialog.getByLabel("Your answer").fill("Never mind. ###STOP###");
    await press("Send");
    await playground.says("1 step", "done");
    assert.equal(requests().length, 0);
  }));

test("HotPotQA reads a wiki after the user agrees, and replays without it", async () => {
  const wiki = new MediaWiki({
    "Clockwork Bay": "<p><b>Clockwork Bay</b> is a harbour. It was founded by Ada Quill in 1821.</p>",
  });
  await wiki.listen();
  try {
    await visit({ hash: "#/run/hotpotqa", origins: [wiki.origin], allowedErrors: FAILED_LOADS }, async (page) => {
      const playground = new Playground(page);
      await playground.ready();
      await playground.field("wiki").fill(wiki.api);
      await playground.button("Reset").click();
      await playground.says("0 steps");
      await playground.act("search", { entity: "Clockwork Bay" });
      const { dialog, press } = asked(page);
      await dialog.getByText(`to read pages of ${new URL(wiki.origin).host}`).waitFor();
      assert.deepEqual(wiki.requests, [], "nothing is requested before the user agrees");
      await accessible(page);
      await press("Don't allow");
      await playground.transcript.getByText("The user declined.").first().waitFor();
      await playground.act("search", { entity: "Clockwork Bay" });
      await press("Allow");
      await playground.messages().filter({ hasText: "founded by Ada Quill" }).first().waitFor();
      const read = wiki.requests.length;
      assert.ok(read > 0);
      await playground.act("lookup", { keyword: "1821" });
      await playground.says("3 steps");
      await playground.button("Undo").click();
      await playground.says("2 steps");
      await playground.messages().filter({ hasText: "founded by Ada Quill" }).first().waitFor();
      assert.equal(wiki.requests.length, read, "pages that were read are part of the episode");
    });
  } finally {
    await wiki.close();
  }
});

/** A visit to the evaluations, set up for the library's desk with a model as the customer. */
function evaluated(options, journey) {
  return visit({ hash: HASH, allowedErrors: FAILED_LOADS, ...seat(), ...options }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:library_desk");
    await evaluate.field("customer").selectOption("llm");
    await journey(evaluate, page);
  });
}

test("an evaluation asks once for the customer, and counts its cost apart", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ otherwise: { text: "That is all. ###STOP###" } });
    await evaluate.field("Seeds").fill("6");
    await evaluate.policy(0).selectOption("Scripted");
    await evaluate.field("Script").fill('[{"name": "respond", "arguments": {"content": "Hello."}}]');
    await evaluate.button("Start").click();
    const { dialog, press } = asked(page);
    await dialog.getByText("a model as the customer").waitFor();
    await press("Allow");
    await evaluate.says("Finished: 6 of 6 episodes");
    await page.getByRole("list", { name: "Other models" }).getByText("customer (Test model): 12 requests").waitFor();
    assert.equal(await dialog.isVisible(), false, "it was asked once");
    assert.equal(requests().length, 12);
  }));

test("a customer who is declined fails the episodes with that reason, and is asked for again", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({ otherwise: { text: "Bye. ###STOP###" } });
    await evaluate.field("Seeds").fill("3");
    await evaluate.policy(0).selectOption("Random");
    await evaluate.button("Start").click();
    await asked(page).press("Don't allow");
    await evaluate.says("3 failed");
    await evaluate.alert("The user declined.").waitFor();
    assert.equal(requests().length, 0);
    await evaluate.button("Retry failures").click();
    await asked(page).press("Allow");
    await until(() => requests().length >= 3);
  }));

test("a model plays the agent and another the customer, and the episode replays without either", () =>
  evaluated({}, async (evaluate, page) => {
    provider.tell({
      script: [
        { text: "Hello." },
        { calls: [{ name: "respond", arguments: { content: "How can I help you?" } }] },
        { text: "Not at all. ###STOP###" },
      ],
    });
    await evaluate.field("Seeds").fill("1");
    const model = evaluate.policy(0).locator("option", { hasText: "Model:" }).first();
    await evaluate.policy(0).selectOption(await model.getAttribute("value"));
    await evaluate.button("Start").click();
    await asked(page).press("Allow");
    await evaluate.says("Finished: 1 of 1 episode");
    assert.equal(requests().length, 3);
    const dialog = await evaluate.cell("Seed 1");
    await dialog.getByRole("button", { name: "Open trial 1" }).click();
    const playground = new Playground(page);
    await playground.says("1 step", "done");
    await playground.messages().filter({ hasText: "Not at all. ###STOP###" }).waitFor();
    await playground.button("Undo").click();
    await playground.says("0 steps");
    assert.equal(requests().length, 3, "a replay needs no model");
  }));

test("a person cannot answer in an evaluation", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:library_desk");
    await evaluate.field("customer").selectOption("person");
    await evaluate.field("Seeds").fill("2");
    await evaluate.policy(0).selectOption("Random");
    await evaluate.button("Start").click();
    await evaluate.says("2 failed");
    await evaluate.alert("No person can answer in an evaluation").waitFor();
  }));
