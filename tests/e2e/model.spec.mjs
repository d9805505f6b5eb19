// A model acts with the user's key: against a scripted server, and against a third-party server. Faults are in
// model_faults.spec.mjs.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { startAimock, STORY } from "../support/aimock.mjs";
import { accessible, visit } from "./support/browser.mjs";
import { cast, connected, endless, FORMATS, KEY, ModelPlayground, playedOn, story } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { stateOf, until } from "./support/state.mjs";

const provider = provided();
const played = playedOn(provider);

for (const { format, kind, mock } of FORMATS) {
  test(`${format}: another server's model completes an episode`, async () => {
    const aimock = await startAimock();
    try {
      const seat = connected({ kind, base: aimock.url + mock });
      await visit({ hash: "#/run/dummy", ...seat }, async (page) => {
        const playground = new ModelPlayground(page);
        await playground.seated();
        await playground.button("Run").click();
        await playground.says("1 step", "done", "Reward 1.0");
        await playground.messages().filter({ hasText: STORY }).first().waitFor();
      });
    } finally {
      await aimock.stop();
    }
  });

  test(`${format}: text, thinking and calls stream in, and are marked as streaming`, () =>
    played({ format }, async (playground) => {
      const call = story("Once there were five cats. ".repeat(20));
      provider.tell({
        script: [{ thinking: "A story, then. ", text: "Here it is.", calls: [call], pace: format === "gemini" ? 400 : 60, usage: { prompt: 1234, completion: 56 } }],
      });
      await playground.button("Run").click();
      await playground.turn.getByText("streaming").waitFor();
      await playground.turn.getByText("Here it is.").waitFor();
      // Gemini sends calls as a whole, so there is no partial call to see.
      if (format !== "gemini") {
        await playground.turn.getByText("five cats").waitFor();
        assert.equal(await playground.steps(), 0, "nothing was taken yet");
      }
      await playground.says("1 step", "done", "1,234 tokens in, 56 out", "cost unknown");
      await playground.turn.waitFor({ state: "detached" });
      const facts = await playground.transcript.getByText("first token after").innerText();
      assert.match(facts, /first token after/);
    }));
}

test("Stop aborts the request, before and during the reply", () =>
  played({}, async (playground) => {
    for (const hang of ["before", "within"]) {
      provider.reset();
      provider.tell({ script: [{ text: "I am about to say a lot of things.", hang }] });
      await playground.button("Run").click();
      await playground.turn.waitFor();
      if (hang === "within") await playground.turn.getByText("I am").waitFor();
      await until(() => provider.requests.length === 1);
      await playground.button("Stop").click();
      await playground.turn.getByText("Stopped").waitFor();
      await until(() => provider.requests[0].aborted);
      await playground.button("Run").waitFor();
      assert.equal(await playground.steps(), 0);
    }
    provider.tell({ script: [{ calls: [story()] }] });
    await playground.button("Ask again").click();
    await playground.says("1 step", "done");
  }));

test("a person takes over and hands back, and changes the last action", () =>
  played({}, async (playground, page) => {
    await endless(playground);
    provider.tell({ script: [{ calls: [cast(1)] }] });
    await playground.button("Step").click();
    await playground.says("1 step");
    assert.equal(provider.requests.length, 1, "one action is one request");
    // A manual action while a request is running.
    provider.tell({ script: [{ text: "Let me think.", hang: "within" }] });
    await playground.button("Run").click();
    await playground.turn.getByText("Let me").waitFor();
    await playground.act("cast_int", { x: 2 });
    await playground.says("2 steps");
    await until(() => provider.requests[1].aborted);
    // And back: the person's action is part of the model's input.
    provider.tell({ script: [{ calls: [cast(3)] }] });
    await playground.button("Step").click();
    await playground.says("3 steps");
    const told = JSON.stringify(provider.requests[2].body.messages);
    assert.match(told, /\\"x\\": ?2/);
    // Edit the model's last action.
    await playground.button("Edit last action").click();
    await playground.says("2 steps");
    const field = page.getByRole("form", { name: "cast_int" }).getByLabel("x", { exact: true });
    assert.equal(await field.inputValue(), "3");
    await field.fill("33");
    await playground.button("Step").click();
    await playground.says("3 steps");
    await playground.messages().filter({ hasText: "33" }).first().waitFor();
    provider.tell({ script: [{ calls: [story()] }] });
    await playground.button("Step").click();
    await playground.says("4 steps");
  }));

test("requests and replies are stored with the episode, without the key", () =>
  played({}, async (playground, page, { problems }) => {
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    // A server that echoes the key, in an error and in a reply.
    provider.tell({
      script: [
        { status: 500, message: `No luck with ${KEY}.` },
        // Four characters of it in each delta.
        { text: `Your key is ${KEY}.`, thinking: `So ${KEY} it is.`, calls: [story(`A story of ${KEY}`)], piece: 4 },
      ],
    });
    await playground.button("Run").click();
    await playground.says("1 step", "done");
    await playground.messages().filter({ hasText: "A story of YOUR_API_KEY" }).first().waitFor();
    await playground.button("Request").click();
    await playground.inspector.getByText("Bearer YOUR_API_KEY").waitFor();
    await playground.inspector.getByRole("button", { name: "Request 1 (500)" }).click();
    await playground.inspector.getByText("No luck with YOUR_API_KEY.").first().waitFor();
    await playground.inspector.getByRole("button", { name: "Request 2 (200)" }).click();
    await playground.inspector.getByText("it contains parts of the API key").first().waitFor();
    await playground.inspector.getByRole("button", { name: "Copy as curl" }).click();
    const curl = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(curl, /^curl --url 'http:\/\/127\.0\.0\.1/);
    assert.match(curl, /Bearer YOUR_API_KEY/);
    await accessible(page);
    await page.keyboard.press("Escape");

    // Session storage holds the key, because this visit chose so; nothing else does.
    const { page: shown, local } = await stateOf(page);
    assert.ok(!`${shown}${local}`.includes(KEY), "the key is in the page");
    const files = [];
    for (const name of ["JSON", "Renderer", "messages"]) {
      await playground.button("Export").click();
      const dialog = page.getByRole("dialog", { name: "Export" });
      const choice = dialog.getByRole("button", { name: new RegExp(name, "i") }).first();
      const file = await playground.downloads(() => choice.click());
      files.push(file);
      if (await dialog.isVisible()) await page.keyboard.press("Escape");
    }
    for (const { name, bytes } of files) {
      assert.ok(!bytes.includes(KEY), `the key is in ${name}`);
      assert.ok(!bytes.includes('\\"content\\":\\"Your\\"'), `pieces of the reply are in ${name}`);
    }
    assert.ok(!said.join("\n").includes(KEY) && !problems.join("\n").includes(KEY), "the key is in the console");

    // The exported file contains the requests.
    const [native] = files;
    await playground.button("Reset").click();
    await playground.says("0 steps");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), playground.button("Import").click()]);
    await chooser.setFiles({ name: native.name, mimeType: "application/json", buffer: native.bytes });
    await playground.says("1 step");
    await playground.button("Request").click();
    await playground.inspector.getByText("Bearer YOUR_API_KEY").waitFor();
    await page.keyboard.press("Escape");
  }));

test("a key typed into the settings occurs nowhere else after a run", () =>
  visit({ hash: "#/settings", allowedErrors: FAILED_LOADS, origins: [provider.url] }, async (page, { problems }) => {
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    const group = page.getByRole("group", { name: "Model connection" });
    await group.getByLabel("Provider", { exact: true }).selectOption({ label: "Other, speaks OpenAI Chat Completions" });
    await group.getByLabel("Base URL", { exact: true }).fill(provider.base("chat"));
    await group.getByLabel("Model", { exact: true }).fill("mock-model");
    await group.getByLabel("API key", { exact: true }).fill(KEY);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Playground" }).click();
    const playground = new ModelPlayground(page);
    await playground.pick("dummy");
    await playground.seated();
    // It echoes the key wherever it can.
    provider.tell({
      script: [
        { status: 503, message: `Not with ${KEY}.` },
        { thinking: `The key is ${KEY}.`, text: KEY, calls: [story(`A story of ${KEY}`)], piece: 500 },
      ],
    });
    await playground.button("Run").click();
    await playground.says("1 step", "done");
    assert.match(provider.requests[0].headers.authorization, new RegExp(KEY), "it was sent");
    await playground.button("Request").click();
    await playground.inspector.getByText("Bearer YOUR_API_KEY").waitFor();
    const { page: shown, local, session } = await stateOf(page);
    const state = [shown, local, session].join("\n");
    await page.keyboard.press("Escape");
    await playground.button("Export").click();
    const dialog = page.getByRole("dialog", { name: "Export" });
    const file = await playground.downloads(() => dialog.getByRole("button", { name: /JSON/ }).first().click());
    for (const [place, text] of Object.entries({ state, console: said.join("\n"), problems: problems.join("\n"), file: file.bytes.toString() })) {
      assert.ok(!text.includes(KEY), `the key is in the ${place}`);
    }
  }));

test("options are sent in the request, and limits end the run", () =>
  played({}, async (playground) => {
    await endless(playground);
    await playground.setting("System prompt").fill("Be brief.");
    await playground.setting("Tool choice").selectOption({ label: "tool: cast_int" });
    await playground.unfold("Sampling");
    await playground.setting("Temperature").fill("0.5");
    await playground.setting("Maximum tokens").fill("200");
    await playground.setting("Seed").fill("7");
    await playground.setting("Effort").selectOption({ label: "low" });
    await playground.unfold("Limits");
    await playground.setting("Maximum steps").fill("2");
    provider.tell({ otherwise: { calls: [cast(1)] } });
    await playground.button("Run").click();
    await playground.says("2 steps", "truncated");
    await playground.page.getByText("The limit of 2 steps was reached.").first().waitFor();
    const { body } = provider.requests[0];
    assert.equal(body.messages[0].content, "Be brief.");
    assert.equal(body.temperature, 0.5);
    assert.equal(body.seed, 7);
    assert.equal(body.reasoning_effort, "low");
    assert.equal(body.tool_choice.function.name, "cast_int");
    assert.equal(body.max_tokens ?? body.max_completion_tokens, 200);
    // A higher limit, and the run continues.
    await playground.setting("Maximum steps").fill("50");
    await playground.setting("Total tokens").fill("100");
    await playground.button("Run").click();
    await playground.says("4 steps", "truncated");
    await playground.setting("Total tokens").fill("");
    await playground.setting("Maximum cost").fill("1");
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: /price of the model is unknown/ }).waitFor();
    await playground.dismissAlert();
    await playground.setting("Maximum cost").fill("");
    await playground.setting("Maximum seconds").fill("1");
    provider.tell({ script: [{ text: "Hm.", hang: "within" }] });
    await playground.button("Run").click();
    await playground.says("truncated");
    await until(() => provider.requests.at(-1).aborted);
  }));

test("Stop is next to a streaming step", () =>
  played({}, async (playground) => {
    provider.tell({ script: [{ text: "One moment.", hang: "within" }] });
    await playground.button("Step").click();
    await playground.turn.getByText("One").waitFor();
    await playground.button("Stop").waitFor();
    await playground.turn.getByRole("button", { name: "Stop request" }).click();
    await playground.turn.getByText("Stopped").waitFor();
    await until(() => provider.requests[0].aborted);
    assert.equal(await playground.steps(), 0);
  }));

test("on a phone, Stop is next to Step while a request is running", () =>
  played({ size: "narrow" }, async (playground, page) => {
    provider.tell({ script: [{ text: "One moment.", hang: "within" }] });
    await playground.button("Step").click();
    const stop = playground.button("Stop");
    await stop.waitFor();
    assert.ok(await inSight(stop), "without scrolling");
    await stop.click();
    await playground.turn.getByText("Stopped").waitFor();
    await until(() => provider.requests[0].aborted);
    await stop.waitFor({ state: "detached" });
  }));

/** Whether all of it can be seen as the page is scrolled, with nothing above it. */
const inSight = (locator) =>
  locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const corners = [[left + 2, top + 2], [right - 2, bottom - 2]];
    return corners.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
  });

test("the options of a connection survive a reload, and the key does not", () =>
  played({ hash: "#/run/dummy" }, async (playground, page) => {
    await playground.setting("System prompt").fill("Be brief.");
    await playground.setting("Tool choice").selectOption({ label: "tool: cast_int" });
    await playground.unfold("Sampling");
    await playground.setting("Temperature").fill("0.5");
    await playground.unfold("Limits");
    await playground.setting("Maximum steps").fill("7");
    await playground.setting("Total tokens").fill("900");
    await page.reload();
    await playground.seated();
    assert.equal(await playground.setting("System prompt").inputValue(), "Be brief.");
    assert.match(await playground.settings.innerText(), /temperature 0\.5/);
    assert.match(await playground.settings.innerText(), /maximum steps 7, total tokens 900/);
    assert.equal(await playground.setting("Tool choice").locator("option:checked").innerText(), "tool: cast_int");
    assert.equal(await playground.setting("Connection").locator("option:checked").innerText(), "Test model");
    provider.tell({ script: [{ calls: [cast(1)] }] });
    await playground.button("Step").click();
    await playground.says("1 step");
    assert.equal(provider.requests[0].body.messages[0].content, "Be brief.");
    const { local } = await stateOf(page);
    assert.ok(!local.includes(KEY), "the key is kept with the settings");
  }));

test("without a connection a link to the settings is shown", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new ModelPlayground(page);
    await playground.ready();
    await playground.policy.selectOption("Model");
    const link = playground.settings.getByRole("link", { name: "Connect model" });
    await link.waitFor();
    assert.match(await link.getAttribute("href"), /#\/settings$/);
  }));

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`a turn, its failure and its request are accessible (${size}, ${theme})`, () =>
      played({ size, theme }, async (playground, page) => {
        await endless(playground);
        provider.tell({ script: [{ thinking: "Let me see.", text: "One moment.", calls: [cast(1)], hang: "within" }] });
        await playground.button("Run").click();
        await playground.turn.getByText("Let me").waitFor();
        await accessible(page);
        await playground.button("Stop").click();
        await playground.turn.getByText("Stopped").waitFor();
        await accessible(page);
        provider.tell({ script: [{ thinking: "Let me see.", calls: [cast(1)] }, { status: 400, message: "Broken." }] });
        await playground.button("Run").click();
        await playground.turn.getByText("Broken.").first().waitFor();
        await playground.dismissAlert();
        await accessible(page);
        await playground.transcript.getByRole("button", { name: "Thinking" }).click();
        await playground.transcript.getByText("Let me see.").waitFor();
        await accessible(page);
      }));
  }
}
