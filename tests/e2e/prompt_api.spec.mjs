// The model built into the browser (Chrome's Prompt API), against a stand-in that behaves as specified: download,
// play, stop, errors, evaluation, and a browser without the API. No request leaves the page's origin (`visit` checks it).

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, HOME, visit } from "./support/browser.mjs";
import { Settings } from "./support/connections.mjs";
import { Evaluate } from "./support/evaluate.mjs";
import { ModelPlayground } from "./support/models.mjs";
import { builtIn, withoutBuiltIn } from "./support/prompt_api.mjs";
import { until } from "./support/state.mjs";

const NAME = "Built into the browser (Chrome)";

/** The settings with the built-in model chosen. */
async function chosen(page) {
  const settings = new Settings(page);
  await settings.provider.selectOption(NAME);
  const status = page.getByRole("status", { name: "Built-in model" });
  return { settings, says: (text) => status.filter({ hasText: text }).waitFor() };
}

test("a downloaded model plays, stops, and evaluates one session at a time", () =>
  visit({ hash: "#/settings", init: builtIn({ availability: "unavailable" }) }, async (page) => {
    const control = (change = {}) => page.evaluate((change) => Object.assign(promptApi, change), change);
    // The settings: what is missing, and the download.
    const { settings, says } = await chosen(page);
    await says("Chrome needs 22 GB free");
    await control({ availability: "downloadable" });
    await settings.button("Check again").click();
    await says("The model is not on this device yet.");
    assert.equal(await settings.key.count() + await settings.baseUrl.count(), 0, "there is no address and no key");
    await settings.test();
    await settings.fails("The model is not on this device yet.", "Press Download");
    assert.equal((await control()).created, 0, "only Download downloads");
    await control({ failDownload: true });
    await settings.button("Download").click();
    await says("The download of the model failed. The download broke off.");
    await control({ failDownload: false, holdAfter: 0.25 });
    await settings.button("Download").click();
    await says("Downloading the model: 25%");
    await settings.button("Cancel download").click();
    await control({ holdAfter: 1 });
    await settings.button("Download").click();
    await says("The model is ready.");
    await settings.test();
    await settings.works();
    for (const fact of ["Response: OK.", "at no cost", "Tool calls work: it called add."]) {
      await settings.result.filter({ hasText: fact }).waitFor();
    }
    await accessible(page);

    // The playground: a whole episode, in which the conversation grows.
    await page.goto(`${HOME}#/run/counter`);
    const playground = new ModelPlayground(page);
    await playground.seated();
    await playground.button("Run").click();
    await playground.says("10 steps", "done", "Reward 1.0", "$0");
    const { open, most, prompts } = await control();
    assert.deepEqual([open, most], [0, 1], "each session is destroyed before the next");
    assert.match(prompts.at(-1)[0].content, /Result of incr: counter=9/);
    await page.getByRole("button", { name: "Request", exact: true }).first().click();
    await playground.inspector.getByText("browser:LanguageModel").waitFor();
    assert.equal(await playground.inspector.getByRole("button", { name: "Copy as curl" }).count(), 0);
    await page.keyboard.press("Escape");

    // A person against the model: one click, and both are next to each other.
    await playground.policy.selectOption("Manual");
    await playground.button("Reset").click();
    await playground.act("decr");
    await playground.button("Play against a model").click();
    await page.getByText("in the playground", { exact: true }).waitFor();
    await page.getByText("10 steps, reward 1.0").waitFor();
    await page.goBack();
    await playground.says("1 step");
    await playground.policy.selectOption("Model");

    // Stop aborts the prompt and destroys its session.
    await playground.button("Reset").click();
    await control({ hang: true, aborted: 0 });
    await playground.button("Run").click();
    await until(async () => (await control()).open === 1);
    await playground.button("Stop").click();
    await until(async () => (await control()).aborted === 1);
    assert.equal((await control()).open, 0);

    // A conversation that is too long is an error, and the step can be taken again.
    await control({ hang: false, contextWindow: 50 });
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: /too long for it: it needs \d+ tokens of 50/ }).first().waitFor();
    await control({ contextWindow: 6000, most: 0 });

    // Evaluate asks for three episodes at once; the model plays them in turns.
    await page.goto(`${HOME}#/evaluate`);
    const evaluate = new Evaluate(page);
    await evaluate.leaveToModel(3, { Concurrency: 3 });
    await evaluate.says("Finished: 3 of 3 episodes");
    assert.equal((await control()).most, 1);
  }));

test("a browser without the API says what is missing", () =>
  visit({ hash: "#/settings", size: "narrow", init: withoutBuiltIn }, async (page) => {
    const { settings, says } = await chosen(page);
    await says("This browser has no built-in model that pages can use.");
    await says("choose Ollama or LM Studio");
    assert.equal(await settings.button("Download").count(), 0);
    await page.goto(`${HOME}#/run/counter`);
    const playground = new ModelPlayground(page);
    await playground.seated();
    await playground.button("Run").click();
    await playground.alert.filter({ hasText: "Open this page in Chrome 148 or later" }).first().waitFor();
  }));
