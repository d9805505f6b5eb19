// Environments on task dataset servers, Volary's and the original's: connect, play, disconnect, reconnect.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, HOME, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { ORIGIN, bothServers, ours, scripted, taskFile } from "./support/servers.mjs";
import { Servers, connecting } from "./support/settings_servers.mjs";
import { until } from "./support/state.mjs";

const call = (name, values) => ({ name, arguments: values });

/** Actions for both servers, with the number of steps after which the episode is done. */
const SCRIPTS = [
  [3, [
    call("calculator", { expr: "6 * 7" }),
    [call("calculator", { expr: "2 ** 0.5" }), call("calculator", { expr: "max(1, 2.0)" })],
    call("submit_answer", { answer: "42" }),
  ]],
  [1, [call("calculator", { expr: "import os" })]],
  [2, [call("calculator", { expr: "1 + 1" }), call("submit_answer", { answer: "41" })]],
];

const { our, their } = bothServers();

async function run(playground, script) {
  await playground.policy.selectOption("Scripted");
  await playground.page.getByLabel("Script", { exact: true }).fill(JSON.stringify(script));
  await playground.button("Run").click();
}

test("our server: connect, play by hand, see frames, leave", async () => {
  await connecting([our.url], { left: () => our.runs(0) }, async (page, servers, playground) => {
    await servers.connect(`${our.url}/`, { name: "Class" });
    await servers.server("Class").getByText("3 tasks, 0 running environments.").waitFor();
    await accessible(page);
    await servers.play(our.url);
    await playground.ready();
    assert.equal(await playground.environment.inputValue(), our.url);
    await playground.messages().first().getByText("What is 6 * 7?").waitFor();
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    await playground.transcript.getByText("42", { exact: true }).waitFor();
    await playground.frame.getByText("problem_id").waitFor();
    await our.runs(1);
    // Another task, by its index: the previous environment is closed.
    await playground.field("task_idx").fill("-1");
    await playground.button("Reset").click();
    await playground.messages().first().getByText("Half of -7?").waitFor();
    await our.runs(1);
    await playground.act("submit_answer", { answer: "-3.5" });
    await playground.says("1.0", "done");
  });
});

test("a server that chooses the task, and arguments for a task", async () => {
  const server = await ours(["--dataset", "hands", "--cors-origin", ORIGIN]);
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.play(server.url);
    await playground.ready();
    const running = async () => String((await server.info()).running_env_ids);
    const first = await running();
    await playground.field("task_kwargs").fill('{"right_hand_broken": true}');
    await playground.button("Reset").click();
    await until(async () => (await running()) !== first && !(await running()).includes(","), "another one");
    assert.equal(await playground.alert.count(), 0);
    const second = await running();
    // The server rejects what its dataset does not support.
    await playground.field("task_kwargs").fill('{"nonsense": 1}');
    await playground.button("Reset").click();
    await playground.alert.getByText("nonsense").waitFor();
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    // Both at once are rejected, and the shown episode stays.
    await playground.field("task_idx").fill("0");
    await playground.button("Reset").click();
    await page.getByText("mutually exclusive").first().waitFor();
    assert.equal(await running(), second);
  });
  await server.stop();
});

test("the same actions give the same observations on both servers", async () => {
  const told = [];
  for (const server of [our, their]) {
    const said = [];
    told.push(said);
    const options = { allowedErrors: [FAILED], left: () => server.runs(0) };
    await connecting([server.url], options, async (page, servers, playground) => {
      await servers.play(server.url);
      await playground.ready();
      for (const [steps, script] of SCRIPTS) {
        await run(playground, script);
        await playground.says(steps === 1 ? "1 step" : `${steps} steps`, "done");
        const texts = await playground.messages().allInnerTexts();
        said.push(texts.map((text) => text.replaceAll(/\d+(\.\d+)?\s*(ms|s)\b/g, "").trim()));
        said.push(await playground.status.innerText());
        await playground.button("Reset").click();
        await playground.says("0 steps");
      }
      if (server === their) {
        await playground.frame.getByText("does not provide frames").waitFor();
      }
      // The last Reset is complete: an environment that is being opened while the page closes has no id yet.
      await server.runs(1);
    });
  }
  assert.deepEqual(told[0], told[1]);
});

test("a policy plays on a server, goes back and continues differently", () =>
  connecting([our.url], { left: () => our.runs(0) }, async (page, servers, playground) => {
    await servers.play(our.url);
    await playground.ready();
    await playground.policy.selectOption("Random");
    await page.getByLabel("Maximum steps").fill("3");
    await playground.button("Run").click();
    await playground.status.filter({ hasText: /[1-3] steps?/ }).filter({ hasText: /done|truncated/ }).waitFor();
    await page.getByText("Going back to an earlier step starts a new environment").waitFor();
    await playground.button("Undo").click();
    await playground.says("in progress");
    const before = await playground.steps();
    await playground.act("calculator", { expr: "2 + 2" });
    await playground.says(`${before + 1} step`);
  }));

test("an episode is exported without the key, imported again, and continued", async () => {
  const server = await ours(["--gsm8k", taskFile(), "--cors-origin", ORIGIN, "--api-key", "s3cret-key"]);
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.enter(server.url);
    await servers.alert.getByText("requires an API key").waitFor();
    await servers.enter(server.url, { key: "wrong" });
    await servers.alert.getByText("rejected the API key").waitFor();
    await servers.play(server.url, { key: "s3cret-key" });
    await playground.ready();
    await playground.act("calculator", { expr: "40 + 2" });
    await playground.says("1 step");
    const { bytes } = await playground.downloads(async () => {
      await playground.button("Export").click();
      await page.getByRole("button", { name: /Volary JSON/ }).click();
    });
    const text = bytes.toString();
    assert.ok(!text.includes("s3cret-key"), "the key is in the export");
    const { episodes, episode = episodes?.[0] } = JSON.parse(text);
    const recipe = episode?.recipe ?? JSON.parse(text).recipe;
    assert.equal(recipe.environment, server.url);
    assert.deepEqual(recipe.configuration, { task_idx: 0 });
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.ok(!kept.includes("s3cret-key"), "the key is kept for always");

    await playground.button("Reset").click();
    await playground.says("0 steps");
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      playground.button("Import").click(),
    ]);
    await chooser.setFiles({ name: "episode.json", mimeType: "application/json", buffer: bytes });
    await playground.says("1 step");
    await server.runs(0, { "x-api-key": "s3cret-key" });
    // Its actions came from a file: the user decides whether the server takes them.
    await playground.act("submit_answer", { answer: "42" });
    await playground.plan().getByText('calculator {"expr":"40 + 2"}').waitFor();
    await server.runs(0, { "x-api-key": "s3cret-key" });
    await playground.plan().getByRole("button", { name: "Run on this server" }).click();
    await playground.says("2 steps", "done");
  });
  await server.stop();
});

test("a server fails midway and recovers", async () => {
  let server = await ours(["--gsm8k", taskFile(), "--cors-origin", ORIGIN]);
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.play(server.url);
    await playground.ready();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    await server.kill();
    await playground.act("calculator", { expr: "2 + 2" });
    await playground.alert.getByText("The environment on the server was lost").waitFor();
    await playground.alert.getByText("Nothing responds at").waitFor();
    await playground.transcript.getByText("It is unknown whether the step was taken").waitFor();
    await playground.says("2 steps", "crashed");
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    // The server is down: the shown episode stays.
    await playground.button("Reset").click();
    await playground.alert.getByText("Nothing responds at").waitFor();
    await playground.says("2 steps");
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();

    server = await ours(["--gsm8k", taskFile(), "--cors-origin", ORIGIN], server.port);
    await playground.button("Undo").click();
    await playground.says("1 step", "in progress");
    await playground.transcript.getByText("1 + 1").waitFor();
    await playground.act("submit_answer", { answer: "42" });
    await playground.says("2 steps", "done");

    // After a restart the server no longer has the environment.
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await server.kill();
    server = await ours(["--gsm8k", taskFile(), "--cors-origin", ORIGIN], server.port);
    await playground.act("calculator", { expr: "3 + 3" });
    await playground.alert.getByText("no longer has this environment").waitFor();
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    await playground.button("Reset").click();
    await playground.says("0 steps", "in progress");
  });
  await server.stop();
});

test("servers that respond late, twice, invalidly, or not at all", async () => {
  const server = await scripted();
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.play(server.url);
    await playground.ready();
    await playground.act("go");
    await playground.says("1 step");
    const cases = [
      [{ "/step": { text: "<!doctype html>" } }, /not valid JSON/],
      [{ "/step": { body: { env_id: "e1" } } }, /should be a list of messages/],
      [{ "/step": { cut: true } }, /cannot be reached|broke off|cannot be used/],
      [{ "/step": { status: 404, body: { detail: "Environment e1 not found" } } }, /not found/],
      [{ "/step": { status: 502, text: "Bad Gateway" } }, /502/],
    ];
    for (const [told, words] of cases) {
      server.tell(told);
      await playground.act("go");
      await playground.alert.getByText("The environment on the server was lost").waitFor();
      await playground.alert.getByText(words).waitFor();
      assert.ok((await playground.messages().count()) >= 3, "the steps before are kept");
      await playground.alert.getByRole("button", { name: "Dismiss" }).click();
      server.tell({});
      const steps = server.asked.filter((path) => path === "/step").length;
      await playground.button("Undo").click();
      await playground.says("1 step", "in progress");
      const again = server.asked.filter((path) => path === "/step").length;
      assert.equal(again - steps, 1, "a lost step is not sent again by itself");
    }
    // An error of the environment itself is a failed step, and the episode continues.
    server.tell({ "/step": { status: 500, body: { detail: "the tool fell over" } } });
    await playground.act("go");
    await playground.transcript.getByText("the tool fell over").waitFor();
    await playground.says("2 steps", "in progress");
    server.tell({});
    await playground.act("go");
    await playground.says("3 steps");
    // Late, but before the timeout.
    server.tell({ "/step": { late: 800 } });
    await playground.act("go");
    await playground.says("4 steps");
    // Never: Stop gives up, and nothing is repeated.
    server.tell({ "/step": { hang: true } });
    await playground.act("go");
    await playground.button("Stop").click();
    await playground.alert.getByText("did not answer in time").waitFor();
    await playground.says("5 steps", "crashed");
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    server.tell({});
    await playground.button("Reset").click();
    await playground.says("0 steps", "in progress");
  });
  await server.close();
});

test("a key that a server echoes is shown nowhere", async () => {
  const server = await scripted();
  const key = "for-this-server-alone";
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.play(server.url, { key });
    await playground.ready();
    const hidden = async () => assert.ok(!(await page.content()).includes(key), "the key is on the page");
    server.tell({ "/step": { status: 500, body: { detail: `the key ${key} is out of date` } } });
    await playground.act("go");
    await playground.transcript.getByText("is out of date").waitFor();
    await hidden();
    server.tell({ "/step": { status: 502, text: `no way for ${key} through here` } });
    await playground.act("go");
    await playground.alert.getByText("The environment on the server was lost").waitFor();
    await hidden();
  });
  await server.close();
});

test("a link to an unknown server sends no request", () =>
  visit({ hash: `#/run/${encodeURIComponent(their.url)}` }, async (page) => {
    const playground = new Playground(page);
    await playground.alert.getByText("not connected to this server").waitFor();
    await playground.ready();
  }));

/** A connected server with a link to an episode of one step on it; nothing was sent to it since. */
async function withLink(journey) {
  const server = await scripted();
  await connecting([server.url], { allowedErrors: [FAILED] }, async (page, servers, playground) => {
    await servers.play(server.url);
    await playground.ready();
    await playground.act("go");
    await playground.says("1 step");
    await playground.button("Share").click();
    const dialog = page.getByRole("dialog", { name: "Share this episode" });
    const link = await dialog.getByLabel("Link").inputValue();
    await dialog.getByRole("button", { name: "Close" }).click();
    const { bytes } = await playground.downloads(async () => {
      await playground.button("Export").click();
      await page.getByRole("button", { name: /Volary JSON/ }).click();
    });
    await page.goto("about:blank");
    await until(() => server.asked.at(-1) === "/close", "the environment closed");
    server.requests.length = 0;
    await journey({ page, playground, server, link, bytes, hash: new URL(link).hash });
  });
  await server.close();
}

/** Nothing is sent to a server, also not a little later. */
async function isSilent(page, server) {
  await page.waitForTimeout(600);
  assert.deepEqual(server.requests, []);
}

test("a link to an episode on a connected server shows a plan, and sends nothing before the user agrees", () =>
  withLink(async ({ page, playground, server, link, hash }) => {
    const plan = playground.plan();
    const dismissed = async () => {
      await plan.getByRole("button", { name: "Don't run" }).click();
      await plan.waitFor({ state: "hidden" });
      assert.doesNotMatch(page.url(), /[?&]e=/);
    };
    await page.goto(link);
    await plan.getByText(server.url, { exact: true }).waitFor();
    await plan.getByRole("list", { name: "Actions" }).getByText("go {}").waitFor();
    await plan.getByText("task_idx").waitFor();
    await isSilent(page, server);
    await accessible(page);
    await page.reload();
    await plan.getByText("go {}").waitFor();
    await isSilent(page, server);
    await dismissed();
    await playground.ready();
    // Entered while the page is open, with Escape as the answer.
    await page.evaluate((hash) => (location.hash = hash), hash);
    await plan.getByText("go {}").waitFor();
    await page.keyboard.press("Escape");
    await plan.waitFor({ state: "hidden" });
    await isSilent(page, server);
    // Another page covers the question and does not answer it.
    await page.evaluate((hash) => (location.hash = hash), hash);
    await plan.getByText("go {}").waitFor();
    await page.evaluate(() => (location.hash = "#/settings"));
    await page.getByRole("heading", { name: "Settings" }).first().waitFor();
    await plan.waitFor({ state: "hidden" });
    await page.evaluate((hash) => (location.hash = hash), hash);
    await plan.getByText("go {}").waitFor();
    await isSilent(page, server);
    await plan.getByRole("button", { name: "Run on this server" }).click();
    await playground.says("1 step", "in progress");
    await until(() => server.asked.includes("/step"), "a step");
    // From here on it is the user's own episode.
    await playground.act("go");
    await playground.says("2 steps");
  }));

test("a link to a task of a connected server starts no environment by itself", () =>
  withLink(async ({ page, playground, server }) => {
    await page.goto(`${HOME}#/run/${encodeURIComponent(server.url)}`);
    const plan = playground.plan();
    await plan.getByText("asks for a new environment").waitFor();
    await page.reload();
    await plan.getByText("asks for a new environment").waitFor();
    await isSilent(page, server);
    await plan.getByRole("button", { name: "Run on this server" }).click();
    await playground.says("0 steps", "in progress");
    await until(() => server.asked.includes("/reset"), "a reset");
  }));

test("a link that can't be read starts no environment on the server that it names", () =>
  withLink(async ({ page, playground, server }) => {
    await page.goto(`${HOME}#/run/${encodeURIComponent(server.url)}?e=1nonsense`);
    await playground.alert.getByText("could not be opened").waitFor();
    await playground.ready();
    await isSilent(page, server);
  }));

test("an imported episode of a connected server is replayed only after consent", () =>
  withLink(async ({ page, playground, server, bytes }) => {
    await page.goto(HOME);
    await playground.ready();
    const given = async () => {
      const [chooser] = await Promise.all([page.waitForEvent("filechooser"), playground.button("Import").click()]);
      await chooser.setFiles({ name: "episode.json", mimeType: "application/json", buffer: bytes });
      await playground.says("1 step");
    };
    await given();
    await page.getByText("This is a recording from a server.").waitFor();
    const plan = playground.plan();
    const asks = async (act) => {
      await act();
      await plan.waitFor();
      await isSilent(page, server);
      await plan.getByRole("button", { name: "Don't run" }).click();
      await plan.waitFor({ state: "hidden" });
    };
    await asks(() => playground.act("go"));
    await asks(() => playground.button("Undo").click());
    await asks(() => playground.button("Reset").click());
    await playground.policy.selectOption("Random");
    await asks(() => playground.button("Run").click());
    await playground.policy.selectOption("Manual");
    // Brought back after another episode, it still needs consent.
    await playground.pick("counter");
    await playground.act("incr");
    await playground.says("1 step");
    await playground.button("Previous episode").click();
    await playground.transcript.getByText("Gone on.").waitFor();
    await playground.button("Undo").click();
    await plan.getByRole("button", { name: "Run on this server" }).click();
    await playground.says("0 steps", "in progress");
    // Only what the user agreed to was sent: the environment without the action.
    assert.deepEqual(server.asked.filter((path) => path === "/step").length, 1);
    assert.ok(server.requests.includes("POST /start") && !server.requests.includes("POST /step"));
    await playground.act("go");
    await playground.says("1 step");
  }));

test("leaving the page closes the environment", async () => {
  await connecting([our.url], { axe: false }, async (page, servers, playground) => {
    await servers.play(our.url);
    await playground.ready();
    await our.runs(1);
    await page.goto("about:blank");
    await our.runs(0);
  });
});

test("leaving while an environment is being opened closes it too", async () => {
  const server = await scripted();
  await connecting([server.url], { axe: false, allowedErrors: [FAILED] }, async (page, servers) => {
    server.tell({ "/reset": { hang: true } });
    await servers.play(server.url);
    await until(() => server.asked.includes("/reset"), "a reset");
    assert.ok(!server.asked.includes("/close"));
    await page.goto("about:blank");
    await until(() => server.asked.includes("/close"), "the environment closed");
  });
  await server.close();
});

test("our server serves the page itself, and no CORS is needed", async () => {
  const dist = process.env.VOLARY_DIST;
  const server = await ours(["--gsm8k", taskFile(), ...(dist ? ["--serve-page", dist] : [])]);
  if (dist) {
    await visit({ origins: [server.url] }, async (elsewhere) => {
      const page = await elsewhere.context().newPage();
      await page.goto(`${server.url}/#/settings`);
      const servers = new Servers(page);
      await servers.play(server.url);
      const playground = new Playground(page);
      await playground.ready();
      await playground.act("submit_answer", { answer: "42" });
      await playground.says("1.0", "done");
    });
  }
  await server.stop();
});
