// Performance of long episodes: the document contains only a few of the steps.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

test("ten thousand steps: few are in the document, and any can be reached", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(10_000);
    await playground.says("truncated");
    // However fast steps arrive, a reader at the end stays at the end.
    await playground.transcript.getByRole("button", { name: "10,000", exact: true }).waitFor();
    assert.equal(await playground.button("Go to end").count(), 0);
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < 8000, `${elements} elements`);
    // The document does not grow either while another page is shown.
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await page.waitForTimeout(1000);
    const blocks = await page.evaluate(() => document.querySelectorAll("[data-step]").length);
    assert.ok(blocks < 30, `${blocks} blocks`);
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await playground.transcript.getByRole("button", { name: "10,000", exact: true }).waitFor();
    assert.equal(await playground.button("Go to end").count(), 0);
    await playground.slider.focus();
    await page.keyboard.press("Home");
    await playground.frame.getByText("After the reset").waitFor();
    await playground.messages().filter({ hasText: "Write a 5 word story" }).first().waitFor();
    await page.keyboard.press("End");
    await playground.frame.getByText(/After step 10,?000/).waitFor();
  }));

test("scrubbing: the frame is the same from either direction", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(90);
    await playground.says("truncated");
    const tree = playground.frame.getByRole("tree", { name: "State" });
    const results = playground.frame.getByRole("table", { name: /^Other calls \(the last 20 of \d+\)$/ });
    const look = async (step) => {
      await playground.frame.getByText(`After step ${step}`, { exact: true }).waitFor();
      // If a view is slow, as on a busy machine, it follows when the selection rests.
      await page.waitForTimeout(150);
      const rows = await tree.getByRole("treeitem").evaluateAll((rows) =>
        rows.map((row) => [row.dataset.path, row.getAttribute("aria-posinset"), row.innerText].join(" ")),
      );
      return { rows, results: await results.getByRole("row").allInnerTexts() };
    };
    const press = async (key, times) => {
      for (let time = 0; time < times; time += 1) await page.keyboard.press(key);
    };
    await playground.slider.focus();
    const seen = new Map();
    for (let step = 89; step >= 70; step -= 1) {
      await press("ArrowLeft", 1);
      seen.set(step, await look(step));
    }
    for (let step = 71; step <= 89; step += 1) {
      await press("ArrowRight", 1);
      assert.deepEqual(await look(step), seen.get(step), `step ${step}, going on`);
    }
    // Far away and back.
    for (const step of [72, 85, 78, 88]) {
      await page.keyboard.press("Home");
      await playground.frame.getByText("After the reset").waitFor();
      await playground.slider.fill(String(step));
      assert.deepEqual(await look(step), seen.get(step), `step ${step}, after a jump`);
    }
    // After a jump the transcript is filled, and holds little beyond the viewport.
    await playground.slider.fill("30");
    await playground.frame.getByText("After step 30", { exact: true }).waitFor();
    await playground.transcript.getByRole("button", { name: "30", exact: true }).waitFor();
    const edges = await playground.transcript.evaluate((log) => {
      const blocks = [...log.querySelectorAll("[data-step]")];
      const { top, bottom, height } = log.getBoundingClientRect();
      const ends = blocks.map((block) => block.getBoundingClientRect());
      return {
        far: ends.filter((block) => block.bottom < top - 2 * height || block.top > bottom + 2 * height).length,
        gap: bottom - ends.at(-1).bottom,
      };
    });
    assert.equal(edges.far, 0);
    assert.ok(edges.gap <= 1, `${edges.gap} pixels without a block`);
    const places = seen.get(80).rows.filter((row) => /^\/state\/messages\/\d/.test(row));
    assert.equal(places.length, 20);
    const positions = places.map((row) => Number(row.split(" ")[1]));
    assert.ok(positions.every((position, at) => at === 0 || position > positions[at - 1]), positions.join(" "));
    for (const row of places) {
      const [path, , name] = row.split(/[ \n]/);
      assert.equal(path.split("/").at(-1), name);
    }
  }));

test("the focus in the state stays on its row while the step changes", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(60);
    await playground.says("truncated");
    await playground.slider.fill("55");
    await playground.frame.getByText("After step 55", { exact: true }).waitFor();
    const rows = playground.frame.locator("[data-path^='/state/messages/']");
    const path = await rows.nth(15).getAttribute("data-path");
    await playground.frame.locator(`[data-path='${path}']`).click();
    const focused = () => page.evaluate(() => document.activeElement.dataset.path);
    assert.equal(await focused(), path);
    for (const [name, step] of [["Previous", 54], ["Previous", 53], ["Next", 54], ["Next", 55]]) {
      // Click without moving the focus.
      await playground.button(name).evaluate((button) => button.click());
      await playground.frame.getByText(`After step ${step}`, { exact: true }).waitFor();
      await page.waitForFunction((path) => document.activeElement.dataset.path === path, path);
    }
  }));
