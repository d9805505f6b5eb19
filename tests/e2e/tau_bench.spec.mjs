// tau-bench from the user's copy of its checkout, here an invented one.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { Playground } from "./support/playground.mjs";
import { checkout, CheckoutGroup, zipOf } from "./support/tau_bench.mjs";

const ENVIRONMENTS = "#/environments";

/** A visit to the catalogue with a checkout whose customer speaks by a script. */
const added = (options, journey) =>
  visit({ hash: ENVIRONMENTS, ...options }, async (page) => {
    const group = new CheckoutGroup(page);
    await group.add(checkout());
    await group.customer.selectOption("script");
    await journey(page, group);
  });

/** Cancels an order. */
const cancel = async (playground, order) => {
  const form = await playground.choose("cancel_pending_order", { order_id: order });
  await form.getByLabel("reason", { exact: true }).selectOption("no longer needed");
  await playground.button("Add call").click();
  await playground.button("Step").click();
};

for (const size of ["wide", "narrow"]) {
  test(`a dropped zip is played by hand, kept, and removed, ${size}`, () =>
    added({ size }, async (page, group) => {
      await group.group.getByText("test: 2 tasks, dev: 1 task").waitFor();
      await group.group.getByText("tau_bench/envs/retail/data, ").waitFor();
      await accessible(page);
      await group.button("Play tau-retail").click();
      const playground = new Playground(page);
      await playground.messages().filter({ hasText: "You want to cancel order #W1." }).waitFor();
      assert.equal(await playground.environment.inputValue(), "tau-retail");
      await cancel(playground, "#W1");
      await playground.says("1 step");
      await playground.act("respond", { content: "I refunded 4.5 to your card." });
      await playground.says("2 steps", "done", "1");
      await playground.frame.getByText("The customer got what the policy allows.").waitFor();
      await playground.frame.getByText("A right way").waitFor();
      await accessible(page);
      // A new visit finds the checkout and the task of the address.
      await page.reload();
      await playground.messages().filter({ hasText: "Cancel only pending orders." }).waitFor();
      assert.equal(await playground.environment.inputValue(), "tau-retail");
      await page.goto(ENVIRONMENTS);
      await group.button("Remove tau-bench").click();
      await group.button("Confirm: remove tau-bench").click();
      await group.button("Play tau-retail").waitFor({ state: "detached" });
      await page.reload();
      await group.opened();
      assert.equal(await group.button("Play tau-retail").count(), 0);
    }));
}

test("a wrong episode shows what differs", () =>
  added({}, async (page, group) => {
    await group.button("Play tau-retail").click();
    const playground = new Playground(page);
    await playground.messages().filter({ hasText: "You want to cancel order #W1." }).waitFor();
    await cancel(playground, "#W2");
    await playground.says("1 step");
    await playground.act("respond", { content: "Done." });
    await playground.says("2 steps", "done");
    for (const words of ["Records that differ", "orders #W1", "orders #W2", "not said"]) {
      await playground.frame.getByText(words, { exact: false }).first().waitFor();
    }
  }));

test("the oracle plays the gold actions in the playground", () =>
  added({}, async (page, group) => {
    await group.button("Play tau-airline").click();
    const playground = new Playground(page);
    await playground.messages().filter({ hasText: "Airline policy" }).waitFor();
    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("1 step", "done");
    await playground.messages().filter({ hasText: "Transfer successful" }).waitFor();
  }));

test("the oracle plays the gold actions in an evaluation", () =>
  added({}, async (page) => {
    await page.goto(HASH);
    const evaluate = new Evaluate(page);
    const source = evaluate.form.getByRole("combobox", { name: "Task source" });
    await source.selectOption({ label: "tau-retail/test (2 tasks)" });
    await evaluate.policy(0).selectOption("Oracle");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 2 of 2 episodes");
    const oracle = await evaluate.row("Oracle");
    assert.match(oracle[1], /^1\.0/, "the oracle gets all rewards");
  }));

test("a truncated zip and a damaged file are refused, and what was there stays", () =>
  added({}, async (page, group) => {
    const whole = zipOf(checkout());
    await group.drop("tau-bench.zip", whole.subarray(0, whole.length - 100));
    await group.alert.filter({ hasText: "tau-bench.zip is cut off" }).waitFor();
    const damaged = checkout();
    for (const domain of ["retail", "airline"]) {
      const path = `tau-bench-main/tau_bench/envs/${domain}/data/users.json`;
      damaged[path] = damaged[path].slice(0, 20);
    }
    await group.drop("tau-bench.zip", zipOf(damaged));
    await group.alert.filter({ hasText: "tau_bench/envs/retail/data/users.json" }).waitFor();
    await group.drop("other.zip", zipOf({ "README.md": "# Nothing" }));
    await group.alert.filter({ hasText: "It does not contain tau-bench" }).waitFor();
    await group.button("Play tau-retail").waitFor();
  }));

test("a checkout without one domain still has the other", () =>
  visit({ hash: ENVIRONMENTS }, async (page) => {
    const group = new CheckoutGroup(page);
    await group.opened();
    const files = checkout();
    delete files["tau-bench-main/tau_bench/envs/airline/tasks_test.py"];
    await group.drop("tau-bench.zip", zipOf(files));
    await group.button("Play tau-retail").waitFor();
    await group.group.getByText("tau_bench/envs/airline/tasks_test.py is missing").waitFor();
    assert.equal(await group.button("Play tau-airline").count(), 0);
  }));

test("an episode is not replayed with an edited data file", () =>
  added({}, async (page, group) => {
    await group.button("Play tau-retail").click();
    const playground = new Playground(page);
    await playground.messages().filter({ hasText: "You want to cancel order #W1." }).waitFor();
    await playground.act("get_user_details", { user_id: "ana_1" });
    await playground.says("1 step");
    await page.getByRole("link", { name: "Environments" }).click();
    await group.drop("tau-bench.zip", zipOf(checkout({ balance: 1000 })));
    await group.group.getByRole("progressbar").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Playground" }).click();
    await playground.button("Undo").click();
    await playground.alert.filter({ hasText: "other data or tasks of tau-bench" }).waitFor();
  }));

test("a folder is added", ({}, testInfo) =>
  visit({ hash: ENVIRONMENTS }, async (page) => {
    const root = testInfo.outputPath("checkout");
    for (const [path, text] of Object.entries(checkout())) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const group = new CheckoutGroup(page);
    await group.opened();
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      group.button("Add folder").click(),
    ]);
    await chooser.setFiles(join(root, "tau-bench-main"));
    await group.button("Play tau-airline").waitFor();
  }));

test("a zip is fetched from an address", async () => {
  const zip = zipOf(checkout());
  const server = createServer((request, response) => {
    const isThere = request.url === "/tau-bench.zip";
    response.writeHead(isThere ? 200 : 404, { "access-control-allow-origin": "*" });
    response.end(isThere ? zip : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  try {
    const options = { hash: ENVIRONMENTS, origins: [origin], allowedErrors: [/404/] };
    await visit(options, async (page) => {
      const group = new CheckoutGroup(page);
      await group.opened();
      const address = group.group.getByLabel("Address of a zip file");
      await address.fill("ftp://files.example/tau-bench.zip");
      await group.button("Fetch").click();
      await group.alert.filter({ hasText: "http and https" }).waitFor();
      await address.fill(`${origin}/none.zip`);
      await group.button("Fetch").click();
      await group.alert.filter({ hasText: "404" }).waitFor();
      await group.group.getByLabel("Address of a zip file").fill(`${origin}/tau-bench.zip`);
      await group.button("Fetch").click();
      await group.button("Play tau-retail").waitFor();
    });
  } finally {
    server.close();
  }
});

test("without a checkout an address says what is missing", () =>
  visit({ hash: "#/run/tau-retail" }, async (page) => {
    const playground = new Playground(page);
    await playground.alert.filter({ hasText: "Add your checkout of tau-bench on the page Environments." }).waitFor();
  }));
