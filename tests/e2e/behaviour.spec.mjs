// Behaviour over many trajectories: diagnostics as columns, clusters, the map, and rules.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { expect, test } from "@playwright/test";

import { HOME, accessible, visit } from "./support/browser.mjs";
import { KEY, connected } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const provider = provided();

/** One act: a tool with the number of an order, and what it answers. */
const act = (tool, answer = "ok", reward = 0) => ({ says: `I use ${tool}.`, calls: [[tool, { order: "W17" }]], sees: [answer], reward });

/** Invented runs of a shop: some look before they cancel, some cancel blindly and repeat the error. */
function runs() {
  const files = [];
  const add = (id, step, acts) => {
    const made = trajectory(id, acts);
    made.extra = { step };
    files.push([`${id}.json`, made]);
  };
  for (let at = 0; at < 6; at += 1) {
    add(`careful-${at}`, at % 2, [act("get_order"), act("get_policy"), act("cancel_order"), act("send_receipt", "sent", 1)]);
  }
  for (let at = 0; at < 5; at += 1) {
    const refused = "Error: the refund exceeds the voucher";
    add(`blind-${at}`, at % 2, [act("cancel_order", refused), act("cancel_order", refused), act("transfer_to_human")]);
  }
  for (let at = 0; at < 3; at += 1) {
    add(`lost-${at}`, 1, [act("get_order"), act("search_shelf"), act("search_shelf"), act("give_up", "Error: nothing on the shelf")]);
  }
  return files;
}

const behaviour = (page) => page.getByRole("region", { name: "Behaviour" });

/** Imports the runs and opens the section. */
async function opened(page) {
  const review = await new Library(page).ready();
  await review.import(...runs());
  await review.rows(14);
  await page.getByRole("button", { name: "Behaviour", exact: true }).click();
  await behaviour(page).waitFor();
  return review;
}

for (const size of ["wide", "narrow"]) {
  test(`failures are clustered, and a cluster narrows the table (${size})`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const review = await opened(page);
      const region = behaviour(page);
      const clusters = region.getByRole("list", { name: "Clusters" });
      await expect(clusters.getByRole("heading")).toHaveCount(2);
      const first = clusters.getByRole("listitem").filter({ has: page.getByRole("heading") }).first();
      await expect(first).toContainText("5 trajectories");
      await expect(first).toContainText("0 of 5 succeeded");
      await expect(first).toContainText("Differs from cluster 2 from the start");
      await expect(first.getByRole("list", { name: /^Words/ })).toContainText("voucher");
      await accessible(page);
      await region.getByRole("button", { name: "Show only cluster 1" }).click();
      await review.rows(5);
      await page.getByRole("list", { name: "Behaviour" }).getByText("Cluster 1").waitFor();
      // The cluster is a column.
      await page.getByRole("button", { name: "Show all rows" }).click();
      await review.rows(14);
      await page.getByRole("combobox", { name: "Group by" }).selectOption("cluster");
      await page.getByRole("table", { name: /^Groups/ }).getByText(/^1 · /).first().waitFor();
    }));

  test(`a model names the clusters once the plan is agreed to (${size})`, () =>
    visit(
      {
        hash: "#/review",
        size,
        allowedErrors: FAILED_LOADS,
        ...connected({ kind: "openai-chat", base: provider.base("chat"), model: "gpt-6-luna" }),
      },
      async (page) => {
        const name = { text: "“Cancels without reading.”", usage: { prompt: 90, completion: 6 } };
        provider.tell({ script: [name], otherwise: { status: 400, message: "No more names." } });
        await opened(page);
        const region = behaviour(page);
        const clusters = region.getByRole("list", { name: "Clusters" });
        await expect(clusters.getByRole("heading")).toHaveCount(2);
        await region.getByText("Names by a model").click();
        await region.getByText(/^2 requests, about \d+ tokens in all, .*nothing in them looks like a secret/).waitFor();
        await accessible(page);
        assert.equal(provider.requests.length, 0, "nothing is sent before the plan is agreed to");
        await region.getByRole("button", { name: "Name 2 clusters" }).click();
        // The second request is refused: the first name stays.
        const alert = region.getByRole("alert");
        await expect(alert).toContainText("No more names.");
        await clusters.getByRole("heading", { name: /^Cluster 1 ?Cancels without reading named by a model/ }).waitFor();
        await expect(clusters.getByRole("listitem").filter({ has: page.getByRole("heading") }).first()).toContainText("In common:");
        await region.getByText(/^1 request, /).waitFor();
        provider.tell({ otherwise: { text: "Finds nothing", usage: { prompt: 90, completion: 3 } } });
        await region.getByRole("button", { name: "Name 1 cluster" }).click();
        await clusters.getByRole("heading", { name: /^Cluster 2 ?Finds nothing/ }).waitFor();
        await expect(alert).toHaveCount(0);
        await region.getByText("Every cluster of several trajectories has a name.").waitFor();
        await region.getByText(/^The names have cost /).waitFor();
        const sent = provider.requests.map((request) => JSON.stringify(request.body));
        assert.equal(sent.length, 3);
        assert.ok(sent.every((body) => !body.includes(KEY) && !body.includes("W17")), "no arguments are sent, and no key in a body");
        // The names are those of the column.
        await page.getByRole("combobox", { name: "Group by" }).selectOption("cluster");
        await page.getByRole("table", { name: /^Groups/ }).getByText("1 · Cancels without reading").waitFor();
      },
    ));

  test(`the map leads to rows by pointer and by keyboard (${size})`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const review = await opened(page);
      const region = behaviour(page);
      await region.getByRole("tab", { name: "Clusters" }).press("ArrowRight");
      const map = region.getByRole("group", { name: /^Map of behaviour/ });
      await map.getByRole("button", { name: "send_receipt: 6 of 14 trajectories, 6 of 6 succeeded" }).waitFor();
      await map.getByRole("button", { name: /^start: 14 of 14 trajectories/ }).focus();
      await page.keyboard.press("ArrowDown");
      await expect(map.getByRole("button", { name: /^(get_order|cancel_order)/ }).and(page.locator(":focus"))).toHaveCount(1);
      await page.keyboard.press("End");
      await page.keyboard.press("Home");
      await page.keyboard.press("Enter");
      await page.getByRole("list", { name: "Behaviour" }).getByText("start").waitFor();
      await map.getByRole("button", { name: /^give_up ✗/ }).click();
      await review.rows(3);
      await map.getByRole("button", { name: /^give_up ✗/ }).click();
      await review.rows(14);
      await region.getByText("As a table").click();
      await region.getByRole("button", { name: "Show only get_order → search_shelf" }).click();
      await review.rows(3);
      await accessible(page);
      // Training steps are time.
      const slider = region.getByRole("slider", { name: "Training step" });
      await slider.focus();
      await page.keyboard.press("ArrowRight");
      await expect(slider).toHaveAttribute("aria-valuetext", "step 0, 6 trajectories");
      await map.getByRole("button", { name: /^give_up ✗.*none of 6 trajectories/ }).waitFor();
    }));

  test(`a labelled step proposes rules, which are checked, saved and loaded (${size})`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const review = await new Library(page).ready();
      await review.import(...runs());
      await review.rows(14);
      const label = async (name, label) => {
        await review.link(name).first().click();
        await review.transcript.getByText("I use").first().waitFor();
        await page.keyboard.press("j");
        if (label) {
          await page.keyboard.press("1");
          const field = page.getByRole("textbox", { name: "Label on key 1" });
          if (label === "first") {
            await field.fill("cancels blindly");
            await page.keyboard.press("Tab");
            await page.getByRole("heading", { name, exact: true }).click();
            await page.keyboard.press("1");
          }
          await page.getByRole("list", { name: "Notes" }).getByText("cancels blindly").first().waitFor();
        }
        await page.goto(`${HOME}#/review`);
      };
      await label("blind-0", "first");
      await label("blind-1", "again");
      await page.getByRole("button", { name: "Behaviour", exact: true }).click();
      const region = behaviour(page);
      await region.getByRole("tab", { name: "Rules" }).click();
      await region.getByRole("combobox", { name: "Labelled step" }).selectOption({ label: "cancels blindly: blind-0, step 1" });
      await region.getByRole("button", { name: "Propose rules" }).click();
      const proposed = region.getByRole("list", { name: "Proposed rules" });
      const fails = proposed.getByRole("listitem").filter({ hasText: "cancel_order fails" });
      await expect(fails).toContainText("5 of 14 trajectories (36 %), precision 100 %, recall 100 %");
      await accessible(page);
      await fails.getByRole("button", { name: /^Add the rule/ }).click();
      const own = region.getByRole("list", { name: "Your rules" });
      await own.getByText(/^cancel_order fails/).click();
      await own.getByRole("textbox", { name: "Title", exact: true }).fill("Cancels without looking");
      await own.getByRole("textbox", { name: "Earlier tool" }).fill("get_*");
      await own.getByRole("textbox", { name: "Id", exact: true }).fill("blind-cancel");
      await region.getByRole("button", { name: "Check against 14 trajectories" }).click();
      await expect(own).toContainText("5 of 14 trajectories");
      await own.getByRole("button", { name: "Show only the matches of: Cancels without looking" }).click();
      await review.rows(5);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        region.getByRole("button", { name: "Save rules.toml" }).click(),
      ]);
      const saved = await readFile(await download.path(), "utf8");
      assert.equal(download.suggestedFilename(), "rules.toml");
      assert.match(saved, /id = "blind-cancel"/);
      assert.match(saved, /without_before = \{ tool = "get_\*" \}/);
      await own.getByRole("button", { name: "Remove the rule: Cancels without looking" }).click();
      await expect(own.getByRole("listitem")).toHaveCount(0);
      const give = async (text) => {
        const [chooser] = await Promise.all([
          page.waitForEvent("filechooser"),
          region.getByRole("button", { name: "Load rules" }).click(),
        ]);
        await chooser.setFiles({ name: "rules.toml", mimeType: "application/toml", buffer: Buffer.from(text) });
      };
      await give("[[rule]]\nid = 7\n");
      await expect(region.getByRole("alert")).toContainText("rules.toml could not be loaded.");
      await give(saved);
      await own.getByText("Cancels without looking").waitFor();
    }));
}

test("a reload restores the cluster, the act and the arrow of the address", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await opened(page);
    const region = behaviour(page);
    const chip = page.getByRole("list", { name: "Behaviour" });
    await region.getByRole("button", { name: "Show only cluster 1" }).click();
    await review.rows(5);
    await page.waitForURL(/behaviour=cluster~failures~blind-/);
    await page.reload();
    await chip.getByText("Cluster 1").waitFor();
    await review.rows(5);
    // The panel is still closed. What it found is there when it is opened.
    await expect(region).toBeHidden();
    await page.getByRole("button", { name: "Behaviour", exact: true }).click();
    await expect(region.getByRole("button", { name: "Show only cluster 1" })).toHaveAttribute("aria-pressed", "true");
    await page.getByRole("button", { name: "Show all rows" }).click();
    await review.rows(14);
    await page.waitForURL((url) => !url.hash.includes("behaviour="));

    await region.getByRole("tab", { name: "Map" }).click();
    const map = region.getByRole("group", { name: /^Map of behaviour/ });
    await map.getByRole("button", { name: /^give_up ✗/ }).click();
    await review.rows(3);
    await page.waitForURL(/behaviour=act~give/);
    await page.reload();
    await chip.getByText(/^give_up ✗/).waitFor();
    await review.rows(3);
    await page.getByRole("button", { name: "Show all rows" }).click();
    await page.getByRole("button", { name: "Behaviour", exact: true }).click();
    await region.getByRole("tab", { name: "Map" }).click();
    await region.getByText("As a table").click();
    await region.getByRole("button", { name: "Show only get_order → search_shelf" }).click();
    await review.rows(3);
    const shared = page.url();
    await page.goto("about:blank");
    await page.goto(shared);
    await chip.getByText("get_order → search_shelf").waitFor();
    await review.rows(3);

    // What is not there narrows nothing.
    await page.goto("about:blank");
    await page.goto(`${HOME}#/review?behaviour=cluster~failures~nobody`);
    await page.getByRole("alert").getByText("The table is not narrowed as the address says.").waitFor();
    await review.rows(14);
    await page.waitForURL((url) => !url.hash.includes("behaviour="));
  }));

test("diagnostics are columns and lead to their steps", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await new Library(page).ready();
    await review.import(...runs());
    await review.rows(14);
    const form = page.getByRole("form", { name: "New filter" });
    await form.getByRole("combobox", { name: "Column" }).selectOption({ label: "Ignored errors" });
    await form.getByRole("combobox", { name: "Condition" }).fill(">= 1");
    await form.getByRole("button", { name: "Filter", exact: true }).click();
    await review.rows(5);
    await page.waitForURL(/filter=diagnostic\/ignored-errors~between~1~/);
    await page.reload();
    await review.rows(5);
    await page.getByRole("button", { name: "Chart", exact: true }).click();
    await page.getByRole("combobox", { name: "Across" }).selectOption("diagnostic/redundant-calls");
    await page.getByRole("slider", { name: /^Reward by redundant calls/ }).waitFor();
    await review.link("blind-0").click();
    const section = page.getByRole("region", { name: "Diagnostics" });
    await section.getByText("Ignored errors").waitFor();
    await accessible(page);
    await section.getByRole("button", { name: /^Go to step 2: the same call again/ }).click();
    await expect(page.getByRole("slider", { name: "Step" })).toHaveValue("2");
  }));
