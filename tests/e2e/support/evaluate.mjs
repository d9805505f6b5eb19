// Actions on the evaluation pages: elements are found by role and accessible name.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

/** Where they are. */
export const HASH = "#/evaluate";

/** The page of evaluations, in the words that a person reads. */
export class Evaluate {
  constructor(page) {
    this.page = page;
    this.form = page.getByRole("form", { name: "New evaluation" });
    this.status = page.getByRole("status", { name: "Evaluation" });
    this.results = page.getByRole("table", { name: /Results by policy/ });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  field(name) {
    return this.form.getByLabel(name, { exact: true });
  }

  async from(source) {
    await this.form.getByRole("combobox", { name: "Task source" }).selectOption(source);
  }

  policy(place) {
    return this.form.getByRole("combobox", { name: "Policy", exact: true }).nth(place);
  }

  /** Waits until the status line holds all of the words. */
  async says(...words) {
    for (const word of words) {
      await this.page
        .waitForFunction(
          (word) => document.querySelector(".evaluation-status")?.textContent.includes(word),
          word,
          { timeout: 30_000 },
        )
        .catch(async () => {
          const said = await this.status.textContent({ timeout: 1_000 }).catch(() => "nothing");
          const alerts = await this.page.getByRole("alert").allInnerTexts();
          assert.fail(`the status says "${said}", not "${word}"; alerts: ${alerts.join(" | ") || "none"}`);
        });
    }
  }

  async row(policy) {
    const row = this.results.getByRole("row", { name: new RegExp(`^${policy}`) });
    return row.getByRole("cell").allInnerTexts();
  }

  /** What a button saves, as text. */
  async saved(button) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), this.button(button).click()]);
    return readFile(await download.path(), "utf8");
  }

  /** The first policy plays this many episodes of the dummy environment to their end. */
  async plays(episodes) {
    await this.from("environment:dummy");
    await this.field("Seeds").fill(String(episodes));
    await this.button("Start").click();
    await this.says(`Finished: ${episodes} of ${episodes} episodes`);
  }

  /** A model plays this many episodes of the dummy environment, one after the other. */
  async leaveToModel(episodes, settings = {}) {
    await this.from("environment:dummy");
    await this.field("Seeds").fill(String(episodes));
    const model = this.policy(0).locator("option", { hasText: "Model:" }).first();
    await this.policy(0).selectOption(await model.getAttribute("value"));
    for (const [name, value] of Object.entries({ Concurrency: 1, ...settings })) {
      await this.field(name).fill(String(value));
    }
    await this.button("Start").click();
  }

  /** Answers the dialog that asks before an evaluation with this many episodes is deleted. */
  async confirmDelete(episodes) {
    const dialog = this.page.getByRole("dialog", { name: "Delete evaluation" });
    await dialog.getByText(`its ${episodes}`).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
  }

  /** Opens the episodes of the first cell of a task. */
  async cell(task) {
    const row = this.page.getByRole("table", { name: "Tasks" }).getByRole("row", { name: new RegExp(`^${task}`) });
    await row.getByRole("button").first().click();
    return this.page.getByRole("dialog", { name: "Episodes" });
  }

  alert(text) {
    return this.page.getByRole("alert").filter({ hasText: text });
  }
}
