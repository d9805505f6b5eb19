// Rollouts of a model behind SGLang's /generate: prompts from a chat template, tokens and masks in the episode,
// faults.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { accessible, HOME, visit } from "./support/browser.mjs";
import { Evaluate } from "./support/evaluate.mjs";
import { GenerateServer, call, lastResponse } from "./support/generate.mjs";
import { connected, ModelPlayground } from "./support/models.mjs";
import { FAILED_LOADS } from "./support/providers.mjs";
import { byteTokenizer, encode } from "./support/tokens.mjs";
import { Library } from "./support/trajectories.mjs";

const server = new GenerateServer();
test.beforeAll(() => server.listen());
test.beforeEach(() => server.reset());
test.afterAll(() => server.close());

const DESK = "#/run/library_desk";
const STOP = "<|im_start|>user\n###STOP###<|im_end|>\n";

/** Renews the book that the first customer of the desk asks for. */
const serve = () => [
  (prompt) => {
    const [, name, postcode] = prompt.match(/Hello, I am ([\w ]+), postcode (\d+)/);
    return call("find_member", { name, postcode });
  },
  (prompt) => call("search_books", { query: prompt.match(/keep (.+?) a little longer/)[1] }),
  "Shall I renew it?",
  (prompt) => {
    const responses = prompt.split("<tool_response>\n").map((part) => part.split("\n</tool_response>")[0]);
    const [, member] = responses.at(-2).match(/(M\d+)/);
    const [, book] = responses.at(-1).match(/(B\d+)/);
    return `One moment.\n${call("renew_loan", { member_id: member, book_id: book })}`;
  },
  (prompt) => (lastResponse(prompt).startsWith("Error") ? "It cannot be renewed." : "It is renewed."),
];

const seat = (generate) => connected({ kind: "sglang", base: server.url, model: "qwen", generate });

/** A visit with the connection, and with a tokenizer's file if one is given. */
const played = ({ generate, tokenizer, ...options }, journey) =>
  visit({ hash: tokenizer ? "#/template" : DESK, allowedErrors: FAILED_LOADS, ...seat(generate), ...options }, async (page) => {
    if (tokenizer) {
      const open = page.getByRole("button", { name: "Open a tokenizer file" });
      const [chooser] = await Promise.all([page.waitForEvent("filechooser"), open.click()]);
      const buffer = Buffer.from(JSON.stringify(tokenizer));
      await chooser.setFiles({ name: "tokenizer.json", mimeType: "application/json", buffer });
      await page.getByText("From tokenizer.json.").waitFor();
      await page.goto(HOME + DESK);
    }
    const playground = new ModelPlayground(page);
    await playground.seated();
    await journey(playground, page);
  });

const bar = (page) => page.getByRole("group", { name: "Tokens", exact: true });

/** Opens the stored episode in Review. */
async function review(page) {
  await page.goto(`${HOME}#/review`);
  const library = await new Library(page).ready();
  await library.link(/library_desk/).first().click();
  await bar(page).waitFor();
  return library;
}

async function sample(page) {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const button = page.getByRole("dialog").getByRole("button", { name: "slime Sample (JSONL)", exact: true });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return JSON.parse(await readFile(await download.path(), "utf8"));
}

test("a whole rollout at the library's desk: requests, tokens in Review, and a Sample", () =>
  played({ tokenizer: byteTokenizer() }, async (playground, page) => {
    server.reset(...serve());
    await playground.button("Run").click();
    await playground.says("5 steps", "done", "1");
    await playground.messages().filter({ hasText: "It is renewed." }).waitFor();

    assert.equal(server.requests.length, 5);
    const [first] = server.requests;
    assert.match(first.text, /^<\|im_start\|>system\n# The desk of the public library/);
    assert.match(first.text, /In each turn, either write to the user or call exactly one tool\./);
    assert.ok(!first.text.includes('"name": "respond"'), "an answer is a turn without a call");
    assert.equal(first.return_logprob, true);
    assert.deepEqual([first.sampling_params.temperature, first.sampling_params.no_stop_trim], [1, true]);

    await review(page);
    const whole = `${server.requests.at(-1).text}It is renewed.<|im_end|>\n${STOP}`;
    const tokens = encode(whole);
    const exported = await sample(page);
    assert.deepEqual(exported.tokens, tokens, "the tokens are those of the whole conversation");
    const prompt = encode(first.text).length;
    assert.equal(exported.response_length, tokens.length - prompt);
    assert.equal(exported.loss_mask.length, exported.response_length);
    assert.deepEqual([exported.status, exported.reward], ["completed", 1]);
    const response = exported.tokens.slice(prompt);
    const trained = response.filter((_, place) => exported.loss_mask[place] === 1);
    const text = Buffer.from(trained.filter((id) => id < 256)).toString();
    assert.equal(text.replaceAll("\n", ""), exported.response.replaceAll("\n", ""));
    assert.equal(exported.rollout_log_probs.filter((value) => value === -0.25).length, trained.length - 5, "each sampled token has its probability");
    await page.keyboard.press("Escape");
    await bar(page).getByText(`${tokens.length.toLocaleString("en")} tokens, ${trained.length} trained`).waitFor();
    await page.keyboard.press("G");
    await page.getByRole("grid", { name: "Tokens of step 5, message 1" }).getByRole("gridcell", { name: "I", exact: true }).first().waitFor();
  }));

test("without a stored tokenizer, tokens are made of bytes, and token_in continues its own", () =>
  played({ generate: { template: "qwen3-2507", mask: "token_in", stored_tokenizer: true, send_tokens: true } }, async (playground, page) => {
    server.reset("Good morning.", "Goodbye.");
    await playground.button("Run").click();
    await playground.says("2 steps", "done");
    assert.ok(server.requests.every((body) => body.text && !body.input_ids), "tokens of the toy are never sent");
    await review(page);
    await bar(page).getByText("These tokens were re-created from the text").waitFor();
    const exported = await sample(page);
    assert.deepEqual(exported.tokens, encode(`${server.requests.at(-1).text}Goodbye.<|im_end|>\n${STOP}`));
    assert.equal(exported.loss_mask.reduce((sum, on) => sum + on), encode("Good morning.Goodbye.").length + 2);
  }));

test("prompts can be sent as tokens", () =>
  played({ tokenizer: byteTokenizer(), generate: { mask: "token_in", send_tokens: true } }, async (playground) => {
    server.reset("Good morning.", "Goodbye.");
    await playground.button("Run").click();
    await playground.says("2 steps", "done");
    const [first, second] = server.requests.map((body) => body.input_ids);
    assert.deepEqual(second.slice(0, first.length), first);
    assert.deepEqual(second.slice(first.length, first.length + 13), encode("Good morning."));
  }));

/** Each fault comes after a step. The episode of the last one is read in Review. */
const FAULTS = [
  ["a web page", { html: true }, "it is a web page"],
  ["nothing", { body: "" }, "it is empty"],
  ["a text without words", { text: "<|im_end|>" }, "The model returned an empty reply"],
  ["a cut text", { text: "Good eve", finish: "length" }, "reached the token limit"],
  ["a broken call", { text: "<tool_call>\n5\n</tool_call><|im_end|>" }, "can't be parsed"],
  ["an abort", { abort: "the worker shuts down" }, "it aborted the generation: the worker shuts down"],
];
/** Those that only a tokenizer shows. */
const TOKEN_FAULTS = [
  ["tokens of another text", { text: "Hello<|im_end|>", ids: encode("Hallo<|im_end|>") }, "do not decode to its text"],
  ["tokens of another model", { text: "Hello<|im_end|>", ids: [99_999, 257] }, "another model's"],
];
for (const [what, faults, tokenizer] of [
  ["a reply", FAULTS],
  ["its tokens", TOKEN_FAULTS, byteTokenizer()],
]) {
  test(`each fault of ${what} ends the run at its step, and keeps the step`, () =>
    played({ tokenizer }, async (playground, page) => {
      for (const [name, fault, words] of faults) {
        await test.step(name, async () => {
          server.reset("Good morning.", fault);
          await playground.button("Reset").click();
          await playground.says("0 steps");
          await playground.button("Run").click();
          await playground.alert.filter({ hasText: words }).first().waitFor();
          await playground.says("1 step");
          await playground.dismissAlert();
        });
      }
      await review(page);
      const trained = encode("Good morning.").length + 2;
      await bar(page).getByText(`${trained} trained`).waitFor();
      const exported = await sample(page);
      assert.equal(exported.status, "aborted");
      assert.equal(exported.response, "Good morning.");
      await page.keyboard.press("Escape");
    }));
}

/** A reply of a hostile server: `fields` replace or add to those of a good one. */
const hostile = ({ meta = {}, ...fields } = {}) => {
  const good = { text: "Hello<|im_end|>", output_ids: encode("Hello<|im_end|>") };
  const meta_info = { finish_reason: { type: "stop" }, prompt_tokens: 1, completion_tokens: 6, ...meta };
  // `JSON.stringify` has no numbers that are not finite.
  const text = JSON.stringify({ ...good, meta_info, ...fields });
  return { body: text.replaceAll('"NaN"', "NaN").replaceAll('"-Infinity"', "-Infinity") };
};
const HOSTILE = [
  ["an id below zero", hostile({ output_ids: [72, -1] }), "lacks token ids"],
  ["an id of 2^32", hostile({ output_ids: [2 ** 32] }), "lacks token ids"],
  ["a fraction as an id", hostile({ output_ids: [72.5] }), "lacks token ids"],
  ["a text as ids", hostile({ output_ids: "Hello" }), "lacks token ids"],
  ["an id of 2^32 - 1", hostile({ output_ids: [2 ** 32 - 1] }), "another model's"],
  ["a million ids", hostile({ output_ids: Array(1_000_000).fill(72) }), "do not decode to its text"],
  ["log probabilities without ids", hostile({ meta: { output_token_logprobs: [[-0.5]] } }), "lacks log probabilities"],
  ["an object of log probabilities", hostile({ meta: { output_token_logprobs: {} } }), "lacks a list of log probabilities"],
  ["two replies", { body: "[{}, {}]" }, "lacks `meta_info`"],
  ["markup in an abort", hostile({ meta: { finish_reason: { type: "abort", message: "<img src=x onerror=alert(1)>" } } }), "<img src=x"],
  ["a deep reply", { body: "[".repeat(100_000) + "]".repeat(100_000) }, /cannot be read|nested|JSON/],
];

test("a hostile reply ends the run with a reason, and never breaks the page", () =>
  played({ tokenizer: byteTokenizer() }, async (playground, page) => {
    for (const [name, reply, words] of HOSTILE) {
      await test.step(name, async () => {
        server.reset("Good morning.", reply);
        await playground.button("Reset").click();
        await playground.says("0 steps");
        await playground.button("Run").click();
        await playground.alert.filter({ hasText: words }).first().waitFor();
        await playground.says("1 step");
        await playground.dismissAlert();
      });
    }
    assert.equal(await page.locator("img[src=x]").count(), 0, "markup stays text");
  }));

test("log probabilities that are no numbers, of other tokens or too few are unknown, and the tokens are kept", () =>
  played({ tokenizer: byteTokenizer() }, async (playground, page) => {
    const ids = encode("Hello<|im_end|>");
    const odd = [
      ids.map((id, place) => [place === 0 ? "NaN" : place === 1 ? "-Infinity" : 1e308, id, "<b>"]),
      ids.map(() => [-0.5, 1]),
      [[-0.5, ids[0]]],
      Array.from({ length: 10_000 }, () => [-0.5, 72]),
    ];
    for (const output_token_logprobs of odd) {
      const meta = { output_token_logprobs, completion_tokens: 2 ** 53 };
      server.reset(hostile({ meta }), "Goodbye.");
      await playground.button("Reset").click();
      await playground.says("0 steps");
      await playground.button("Run").click();
      await playground.says("2 steps", "done");
    }
    await review(page);
    const exported = await sample(page);
    assert.ok(exported.tokens.length > ids.length);
    await page.keyboard.press("Escape");
  }));

test("fault: a template without the sentence about tools is reported before anything is sent", () =>
  played({ generate: { template: "{% for m in messages %}{{ m.content }}\n{% endfor %}" } }, async (playground) => {
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: "the sentence about tools" }).first().waitFor();
    await playground.says("0 steps");
    assert.equal(server.requests.length, 0);
  }));

test("steps by hand are named, since their tokens are not known; an undone step is played again", () =>
  played({}, async (playground) => {
    server.reset("Good morning.", "Goodbye.");
    await playground.act("respond", { content: "Hello." });
    await playground.says("1 step");
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: "step 1 was not taken by this kind of model" }).first().waitFor();
    assert.equal(server.requests.length, 0);
    await playground.dismissAlert();
    await playground.button("Undo").click();
    await playground.says("0 steps");
    await playground.button("Run").click();
    await playground.says("2 steps", "done");
  }));

test("in an evaluation each episode has its tokens, and a fault is reported at its step", () =>
  visit({ hash: "#/evaluate", allowedErrors: FAILED_LOADS, ...seat() }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:library_desk");
    await evaluate.field("Seeds").fill("2");
    const model = evaluate.policy(0).locator("option", { hasText: "Model:" }).first();
    await evaluate.policy(0).selectOption(await model.getAttribute("value"));
    await evaluate.field("Concurrency").fill("1");
    server.reset("Good morning.", "Goodbye.", "Good morning.", { html: true });
    await evaluate.button("Start").click();
    await evaluate.says("1 failed");
    await page.getByText("Step 2:").first().waitFor();
    await page.goto(`${HOME}#/review`);
    const library = await new Library(page).ready();
    await library.link(/library_desk/).first().waitFor();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Trained tokens" }).check();
    await page.getByText("Columns", { exact: true }).click();
    const both = encode("Good morning.Goodbye.").length + 4;
    const one = encode("Good morning.").length + 2;
    for (const trained of [both, one]) {
      await library.table.getByRole("cell", { name: String(trained), exact: true }).first().waitFor();
    }
  }));

test("the connection is set up in the settings: template, tokenizer, mask; it is tested and kept", () =>
  visit({ hash: "#/settings", origins: [server.url, "http://localhost:30000"], allowedErrors: FAILED_LOADS, size: "narrow", theme: "dark" }, async (page) => {
    const group = page.getByRole("group", { name: "Model connection" });
    const field = (name) => group.getByLabel(name, { exact: true });
    await field("Provider").selectOption({ label: "SGLang /generate" });
    assert.equal(await field("Base URL").inputValue(), "http://localhost:30000");
    await field("Base URL").fill(server.url);
    await field("Model").fill("qwen");
    await field("Model").blur();
    await field("Loss mask").selectOption("token_in");
    await field("Tokenizer").selectOption({ label: "Toy: each byte is a token" });
    await field("Chat template").selectOption({ label: "Own text" });
    const own = field("Template (Jinja)");
    assert.match(await own.inputValue(), /im_start/);
    await own.fill("{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}");
    await own.blur();
    server.reset("OK.");
    await page.getByRole("button", { name: "Test connection" }).click();
    await group.getByRole("status", { name: "Test result" }).filter({ hasText: "It works" }).waitFor();
    assert.equal(server.requests[0].text, "[user] Say OK.\n");
    await group.getByText("the sentence about tools").waitFor();
    await accessible(page);
    await page.reload();
    assert.equal(await field("Chat template").inputValue(), "own");
    assert.equal(await field("Loss mask").inputValue(), "token_in");
    assert.equal(await field("Tokenizer").inputValue(), "toy");
    await field("Chat template").selectOption({ label: "Qwen3-2507" });
    await own.waitFor({ state: "detached" });
    server.reset("OK.", call("add", { x: 2, y: 3 }));
    await page.getByRole("button", { name: "Test connection" }).click();
    await group.getByText("Tool calls work: it called add.").waitFor();
    await field("Provider").selectOption({ label: "Ollama" });
    await field("Chat template").waitFor({ state: "detached" });
  }));
