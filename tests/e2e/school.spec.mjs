// The school: a small agent learns in the page, its failures are found and repaired, and a link repeats a run exactly.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";

const ADDRESS = "#/learn/school";

class School {
  constructor(page) {
    this.page = page;
    this.training = page.getByRole("region", { name: "Training" });
    this.run = page.getByRole("status", { name: "Run" });
    this.curves = page.getByRole("region", { name: "Curves" });
    this.checks = page.getByRole("region", { name: "Checks" });
  }

  async ready() {
    await this.run.getByText("Not trained yet").waitFor();
    return this;
  }

  async train() {
    await this.training.getByRole("button", { name: "Train", exact: true }).click();
  }

  async stop() {
    await this.training.getByRole("button", { name: "Stop" }).click();
    await this.training.getByRole("button", { name: "Train", exact: true }).waitFor();
  }

  /** The number of updates so far. */
  async updates() {
    const text = await this.run.innerText();
    return Number(/^Update (\d+)/.exec(text)?.[1] ?? 0);
  }

  async reaches(updates) {
    await this.page.waitForFunction(
      (wanted) => Number(/^Update (\d+)/.exec(document.querySelector("[aria-label=Run]").textContent)?.[1] ?? 0) >= wanted,
      updates,
      { timeout: 120_000 },
    );
  }

  /** Makes exactly this many updates, one at a time. */
  async makes(updates) {
    const one = this.training.getByRole("button", { name: "One update" });
    for (let number = 1; number <= updates; number += 1) {
      await one.click();
      await this.reaches(number);
    }
  }

  async weights() {
    const figures = await this.curves.getByText(/weights [0-9a-f]{16}/).innerText();
    return /weights ([0-9a-f]{16})/.exec(figures)[1];
  }

  async success() {
    return Number(/: (\d+) %/.exec(await this.run.innerText())[1]);
  }
}

for (const size of ["wide", "narrow"]) {
  test(`an agent learns to use its tool, ${size}`, () =>
    visit({ hash: ADDRESS, size }, async (page) => {
      test.slow();
      const school = await new School(page).ready();
      const asked = Date.now();
      await school.train();
      await school.reaches(1);
      console.log(`first update after ${Date.now() - asked} ms`);
      // What is looked at does not move while the run goes on, until the latest is wanted again.
      await school.reaches(12);
      const slider = school.curves.getByRole("slider", { name: "Update" });
      await slider.fill("3");
      await school.curves.getByText("Update 3:").waitFor();
      await school.reaches(20);
      await school.curves.getByText("Update 3:").waitFor();
      await school.curves.getByRole("button", { name: "Follow the latest" }).click();
      await page.waitForFunction(() => Number(/: (\d+) %/.exec(document.querySelector("[aria-label=Run]").textContent)?.[1]) >= 60, null, {
        timeout: 120_000,
      });
      await school.stop();
      const stopped = await school.updates();
      await page.getByRole("region", { name: "Samples" }).getByText("right", { exact: true }).first().waitFor();

      const ask = page.getByRole("region", { name: "Ask it" });
      await ask.getByLabel("Task").fill("?3*4=");
      await ask.getByRole("button", { name: "Ask" }).click();
      await ask.getByText("untrained").waitFor();
      await ask.getByText("after 10", { exact: true }).waitFor();
      await ask.getByText(`after ${stopped}`, { exact: true }).waitFor();

      const exam = page.getByRole("region", { name: "Test it" });
      await exam.getByRole("button", { name: "New tasks" }).click();
      await exam.getByText(/of 64 new tasks/).waitFor();
      await exam.getByRole("button", { name: "Harder tasks" }).click();
      await exam.getByText(/of 64 tasks beyond its training/).waitFor();
      await accessible(page);

      // A task that it cannot read is refused, and the run stays.
      await ask.getByLabel("Task").fill("What is 3 times 4?");
      await ask.getByRole("button", { name: "Ask" }).click();
      await page.getByRole("alert").getByText("is no task of this environment").waitFor();
      assert.equal(await school.updates(), stopped);
    }));
}

test("one group is explained step by step, from its samples to what one update changed", () =>
  visit({ hash: ADDRESS }, async (page) => {
    const school = await new School(page).ready();
    const group = page.getByRole("region", { name: "One group, slowly" });
    await group.getByRole("button", { name: "Update slowly" }).click();
    await group.getByText("answered the task").waitFor();
    assert.equal(await school.updates(), 1);
    const rows = group.getByRole("row");
    assert.equal(await rows.count(), 9, "a head and eight samples");
    await group.getByRole("button", { name: "3. Advantages" }).click();
    await group.getByText("advantage = (reward −").waitFor();
    await group.getByRole("button", { name: "5. What changed" }).click();
    await group.getByText("After one step of the optimiser").waitFor();
    const tips = await group.locator("[title*=' → ']").count();
    assert.ok(tips > 8, "each character of the agent tells its change");
  }));

for (const { plant, finding, repair } of [
  { plant: "Leaky grader", finding: "Reward without success", repair: "Repair: an honest grader" },
  { plant: "Loss mask off", finding: "Trained on replies", repair: "Repair: loss mask on" },
  { plant: "Groups of 2", finding: "Dead groups", repair: "Repair: larger groups, warmer sampling" },
  { plant: "No baseline", finding: "Nothing is discouraged", repair: "Repair: a baseline" },
  { plant: "Cold sampling", finding: "Dead groups", repair: "Repair: larger groups, warmer sampling" },
]) {
  test(`a planted failure is found and repaired: ${plant}`, () =>
    visit({ hash: ADDRESS, axe: false }, async (page) => {
      test.slow();
      const school = await new School(page).ready();
      await page.getByRole("region", { name: "Break it" }).getByRole("button", { name: plant }).click();
      await school.ready();
      await school.train();
      await school.checks.getByRole("heading", { name: finding }).waitFor({ timeout: 90_000 });
      assert.match(page.url(), /#\/learn\/school\?/);
      await school.checks.getByRole("button", { name: repair }).click();
      // The knobs are the usual ones again, and so is the address.
      await page.waitForURL(/#\/learn\/school$/);
      await school.stop();
      const before = await school.updates();
      await school.train();
      await school.reaches(before + 6);
      await school.checks.getByRole("heading", { name: finding }).waitFor({ state: "detached", timeout: 90_000 });
    }));
}

test("a link repeats a run exactly, and its samples are a training run in Review", () =>
  visit({ hash: `${ADDRESS}?seed=7&prompts=4` }, async (page) => {
    test.slow();
    const school = await new School(page).ready();
    await page.getByLabel("Store").selectOption({ label: "2 tasks of each update" });
    await school.makes(3);
    const weights = await school.weights();
    await page.getByText("48 trajectories are stored.").waitFor();
    await school.training.getByRole("button", { name: "Begin again" }).click();
    await school.ready();
    await school.makes(3);
    assert.equal(await school.weights(), weights);
    await page.getByRole("link", { name: "Open Review" }).click();
    await page.getByRole("table", { name: "Trajectories" }).waitFor();
    await page.getByText("School prompts=4 seed=7").first().waitFor();
  }));

test("knobs out of their range are refused, and a broken link says so", () =>
  visit({ hash: `${ADDRESS}?groups=4` }, async (page) => {
    const school = await new School(page).ready();
    await page.getByRole("alert").getByText("groups").waitFor();
    await page.getByText("Knobs", { exact: true }).click();
    const temperature = page.getByLabel("Temperature");
    await temperature.fill("0");
    await temperature.press("Tab");
    await page.getByRole("alert").getByText("The temperature is 0").waitFor();
    assert.equal(await temperature.inputValue(), "1");
    await temperature.fill("0,5");
    await temperature.press("Tab");
    await page.waitForURL(/temperature=0\.5/);
    await school.makes(1);
  }));
