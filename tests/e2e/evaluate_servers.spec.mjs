// Evaluations with environments on task dataset servers.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, accessible } from "./support/browser.mjs";
import { Evaluate } from "./support/evaluate.mjs";
import { connected } from "./support/models.mjs";
import { Playground } from "./support/playground.mjs";
import { provided } from "./support/providers.mjs";
import { ORIGIN, bothServers, ours, scripted, taskFile } from "./support/servers.mjs";
import { Servers, connecting } from "./support/settings_servers.mjs";

const CORS = ["--cors-origin", ORIGIN];
const FORTY_TWO = [{ name: "submit_answer", arguments: { answer: "42" } }];
const wait = (seconds) => [{ name: "wait", arguments: { seconds } }];

const { our, their } = bothServers();
const provider = provided();

/** A page that is connected to a server, with the form of a new evaluation of its tasks. */
function evaluating(server, options, journey) {
  const { key, ...visiting } = options;
  return connecting([server.url], { allowedErrors: [FAILED], ...visiting }, async (page, servers) => {
    await servers.connect(server.url, { key });
    await page.getByRole("link", { name: "Evaluate", exact: true }).click();
    const evaluate = new Evaluate(page);
    await evaluate.from(`server:${server.url}`);
    await journey(page, evaluate);
  });
}

async function script(evaluate, actions) {
  await evaluate.policy(0).selectOption("Scripted");
  await evaluate.field("Script").fill(JSON.stringify(actions));
}

/** Waits until at least this many episodes are finished. */
const finished = (page, count) =>
  page.waitForFunction(
    (count) => Number(document.querySelector(".evaluation-status")?.textContent.match(/: (\d+) of/)?.[1]) >= count,
    count,
  );

const task = (page, title) => page.getByRole("table", { name: "Tasks" }).getByRole("row").filter({ hasText: title });

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`a server's tasks × policies × trials, ${size}, ${theme}`, async () => {
      await evaluating(our, { size, theme, left: () => our.runs(0) }, async (page, evaluate) => {
        const shots = process.env.VOLARY_SHOTS;
        await evaluate.form.getByRole("option", { name: "Class (3 tasks)" }).waitFor({ state: "attached" });
        await script(evaluate, FORTY_TWO);
        await evaluate.button("Add policy").click();
        await evaluate.policy(1).selectOption("Oracle");
        await evaluate.field("Trials").fill("2");
        await evaluate.form.getByText("3 tasks × 2 policies × 2 trials = 12 episodes").waitFor();
        // The oracle is unknown for environments on servers.
        await evaluate.button("Start").click();
        await page.getByRole("alert").getByText("The oracle cannot play on a server").waitFor();
        await page.getByRole("button", { name: "Dismiss" }).click();
        await evaluate.policy(1).selectOption("Random");
        if (shots) await page.screenshot({ path: `${shots}/evaluate-server-${size}-${theme}.png`, fullPage: true });
        await accessible(page);
        await evaluate.button("Start").click();
        await evaluate.says("Finished: 12 of 12 episodes");
        await page.getByRole("heading", { name: "Class: Scripted, Random" }).waitFor();
        const row = await evaluate.row("Scripted");
        assert.match(row[2], /^33%/, "only the first task's answer is 42");
        const cell = task(page, "Task 0").getByRole("button").first();
        await cell.scrollIntoViewIfNeeded();
        if (shots) await page.screenshot({ path: `${shots}/evaluated-server-${size}-${theme}.png`, fullPage: true });
        await cell.click();
        await page.getByRole("button", { name: "Open trial 2" }).click();
        const playground = new Playground(page);
        await playground.says("1 step", "done");
        // It opens at its end; on a phone the beginning may be scrolled out of view.
        await playground.slider.press("Home");
        await playground.messages().first().getByText("What is 6 * 7?").waitFor();
      });
    });
  }
}

test("a range and a sample of the original's tasks, without frames", async () => {
  await evaluating(their, { left: () => their.runs(0) }, async (page, evaluate) => {
    await script(evaluate, FORTY_TWO);
    await evaluate.field("Tasks").selectOption("Range");
    await evaluate.field("First task").fill("1");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 2 of 2 episodes");
    await task(page, "Task 2").getByRole("button").click();
    await page.getByRole("button", { name: "Open trial 1" }).click();
    const playground = new Playground(page);
    await playground.messages().first().getByText("Half of -7?").waitFor();
    await playground.frame.getByText("does not provide frames").waitFor();
    await page.getByRole("link", { name: "Evaluate", exact: true }).click();
    await evaluate.from(`server:${their.url}`);
    await script(evaluate, FORTY_TWO);
    await evaluate.field("Tasks").selectOption("Sample");
    await evaluate.field("Sample size").fill("1");
    await evaluate.field("Trials").fill("3");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 3 of 3 episodes");
  });
});

for (const whose of ["our server", "the original"]) {
  test(`a model plays the tasks of ${whose}, and its environment in the playground`, async () => {
    const server = whose === "our server" ? our : their;
    const calls = (expr) => ({ calls: [{ name: "calculator", arguments: { expr } }] });
    const submit = { calls: [{ name: "submit_answer", arguments: { answer: "42" } }] };
    // After a calculation the answer is known.
    provider.tell({ rules: [{ when: '"role":"tool"', reply: submit }], otherwise: calls("6 * 7") });
    const seat = connected({ kind: "openai-chat", base: provider.base("chat") });
    const options = { init: seat.init, alsoFrom: seat.origins, left: () => server.runs(0) };
    await evaluating(server, options, async (page, evaluate) => {
      await evaluate.policy(0).selectOption("model:Test model");
      await evaluate.button("Start").click();
      await evaluate.says("Finished: 3 of 3 episodes");
      const row = await evaluate.row("Test model");
      assert.match(row[2], /^33%/);
      assert.equal(provider.requests.length, 6, "two steps a task");
      await server.runs(0);

      await page.getByRole("link", { name: "Settings", exact: true }).click();
      await page.getByRole("link", { name: "Play on Class" }).click();
      const playground = new Playground(page);
      await playground.ready();
      await playground.policy.selectOption("Model");
      await playground.button("Run").click();
      await playground.says("2 steps", "done");
      await playground.says("1.0");
    });
  });
}

test("a server fails midway: finished episodes stay, the rest is retried", async () => {
  let server = await ours(["--dataset", "faults", ...CORS]);
  await evaluating(server, {}, async (page, evaluate) => {
    await evaluate.field("Environments").fill("24");
    await script(evaluate, wait(0.3));
    await evaluate.button("Start").click();
    await finished(page, 2);
    await server.kill();
    const alert = page.getByRole("alert").filter({ hasText: "Nothing responds at" });
    await alert.getByText("retry the failures").waitFor();
    await evaluate.says("Paused", "failed");
    await accessible(page);
    const shots = process.env.VOLARY_SHOTS;
    if (shots) await page.screenshot({ path: `${shots}/evaluate-server-lost.png`, fullPage: true });
    assert.match((await evaluate.row("Scripted")).at(-1), /× server/);
    // A failed episode keeps its steps and says why it failed.
    await page.getByRole("button", { name: /failed$/ }).first().click();
    await page.getByRole("dialog", { name: "Episodes" }).getByText(/failed \(server\)/).waitFor();
    await page.keyboard.press("Escape");
    // Finished episodes also survive a reload.
    const done = async () => Number((await evaluate.status.innerText()).match(/: (\d+) of 24/)[1]);
    const before = await done();
    await page.reload();
    await evaluate.says("Paused");
    assert.ok((await done()) >= before, "a result is lost");
    server = await ours(["--dataset", "faults", ...CORS], server.port);
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 24 of 24 episodes");
    assert.match((await evaluate.row("Scripted")).at(-1), /none/);
  });
  await server.runs(0);
  await server.stop();
});

test("cancelling or leaving closes all environments", async () => {
  const server = await ours(["--dataset", "faults", ...CORS]);
  await evaluating(server, { axe: false }, async (page, evaluate) => {
    const begin = async () => {
      await evaluate.field("Environments").fill("8");
      await script(evaluate, wait(5));
      await evaluate.button("Start").click();
      await evaluate.says("Running");
    };
    await begin();
    await server.holds();
    await evaluate.button("Cancel").click();
    await evaluate.says("Cancelled");
    await server.runs(0);
    // Environments that are being opened have no id yet; all of them take longer than this.
    const open = async () => {
      await server.holds();
      await page.waitForTimeout(2500);
    };
    await evaluate.button("Resume").click();
    await open();
    await page.reload();
    await evaluate.says("Ready");
    await server.runs(0);
    await evaluate.button("Resume").click();
    await open();
    await page.goto("about:blank");
    await server.runs(0);
  });
  await server.stop();
});

test("a refused key pauses it, and the failures succeed with another key", async () => {
  const tasks = taskFile();
  let server = await ours(["--gsm8k", tasks, ...CORS, "--api-key", "first"]);
  await evaluating(server, { key: "first" }, async (page, evaluate) => {
    await script(evaluate, FORTY_TWO);
    await evaluate.field("Trials").fill("8");
    await server.stop();
    server = await ours(["--gsm8k", tasks, ...CORS, "--api-key", "second"], server.port);
    await evaluate.button("Start").click();
    await page.getByRole("alert").getByText("rejected the API key").waitFor();
    await evaluate.says("failed");
    const address = page.url();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await new Servers(page).connect(server.url, { key: "second" });
    await page.goto(address);
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 24 of 24 episodes");
    assert.match((await evaluate.row("Scripted")).at(-1), /none/);
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.ok(!/"(first|second)"/.test(kept), "a key is kept for always");
  });
  await server.stop();
});

test("a failing task does not affect others: a missing task, an invalid response, a slow response", async () => {
  const server = await scripted();
  await evaluating(server, {}, async (page, evaluate) => {
    await script(evaluate, [{ name: "go", arguments: {} }, { name: "go", arguments: {} }]);
    const rest = { "/info": {}, "/step": { once: true, text: "<!doctype html>" }, "/reset": { late: 300 } };
    server.tell(rest);
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 2 of 2 episodes, 1 failed");
    await page.getByRole("alert").getByText("1 of 2 episodes failed:").waitFor();
    await page.getByRole("alert").getByText(/is not valid JSON/).waitFor();
    await accessible(page);
    await page.getByRole("button", { name: /failed$/ }).click();
    await page.getByRole("dialog", { name: "Episodes" }).getByText(/is not valid JSON/).waitFor();
    await page.keyboard.press("Escape");
    server.tell({ "/start": { once: true, status: 500, body: { detail: "There is no task 7." } } });
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 2 of 2 episodes, 1 failed");
    await page.getByRole("button", { name: /failed$/ }).click();
    await page.getByRole("dialog", { name: "Episodes" }).getByText(/There is no task 7/).waitFor();
    await page.keyboard.press("Escape");
    await evaluate.button("Retry failures").click();
    await evaluate.says("Finished: 2 of 2 episodes");
    await page.getByRole("alert").waitFor({ state: "detached" });
    // A single cause is reported once, not in each cell.
    server.tell({ "/start": { status: 500, body: { detail: "The disk is full." } } });
    await page.getByRole("link", { name: "All evaluations" }).click();
    await evaluate.from(`server:${server.url}`);
    await script(evaluate, [{ name: "go", arguments: {} }]);
    await evaluate.field("Trials").fill("3");
    await evaluate.button("Start").click();
    await page.getByRole("alert").getByText("All 6 episodes failed, all for the same reason:").waitFor();
    await page.getByRole("alert").getByText("The disk is full.").waitFor();
    const shots = process.env.VOLARY_SHOTS;
    if (shots) await page.screenshot({ path: `${shots}/evaluate-all-failed.png`, fullPage: true });
  });
  await server.close();
});
