// Actions in the playground: elements are found by role and accessible name.

import assert from "node:assert/strict";

export class Playground {
  constructor(page) {
    this.page = page;
    this.environment = page.getByRole("combobox", { name: "Environment", exact: true });
    this.configuration = page.getByRole("group", { name: "Configuration" });
    this.policy = page.getByRole("combobox", { name: "Policy", exact: true });
    this.tools = page.getByRole("list", { name: "Tools" });
    this.transcript = page.getByRole("log", { name: "Transcript" });
    this.frame = page.getByRole("region", { name: "Frame" });
    this.slider = page.getByRole("slider", { name: "Step" });
    this.status = page.getByRole("status", { name: "Episode" });
    this.alert = page.getByRole("alert");
  }

  /** The plan of an episode that would run on a server. */
  plan() {
    return this.page.getByRole("dialog", { name: "Run this episode on a server?" });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  messages() {
    return this.transcript.getByRole("listitem");
  }

  /** Waits until the playground can be played. */
  async ready() {
    await this.tools.getByRole("button").first().waitFor();
    await this.messages().first().waitFor();
    await this.showConfiguration();
  }

  /** Shows the fields of the configuration, which are folded while a task of a list is played. */
  async showConfiguration() {
    await this.page.evaluate(() => {
      for (const fold of document.querySelectorAll("details.configuration")) fold.open = true;
    });
  }

  /** Folds the configuration, as a person finds it. */
  async hideConfiguration() {
    await this.page.locator("details.configuration").evaluate((fold) => {
      fold.open = false;
    });
  }

  async pick(environment) {
    await this.environment.selectOption(environment);
    await this.ready();
  }

  field(name) {
    return this.configuration.getByLabel(name, { exact: true });
  }

  /** Fills the form of a tool, without sending anything. */
  async choose(tool, values = {}) {
    await this.tools.getByRole("button", { name: tool, exact: true }).click();
    const form = this.page.getByRole("form", { name: tool });
    for (const [parameter, value] of Object.entries(values)) {
      await form.getByLabel(parameter, { exact: true }).fill(String(value));
    }
    return form;
  }

  async addCall(tool, values) {
    await this.choose(tool, values);
    await this.button("Add call").click();
  }

  /** One action of one call, sent. */
  async act(tool, values) {
    await this.addCall(tool, values);
    await this.button("Step").click();
  }

  /** Waits until the status says so. */
  async says(...texts) {
    for (const text of texts) {
      await this.status.filter({ hasText: text }).waitFor();
    }
  }

  /** Lets the policy Random write this many stories in the environment dummy, which continues after each. */
  async plays(steps) {
    await this.ready();
    await this.field("end_immediately").uncheck();
    await this.button("Reset").click();
    await this.says("0 steps");
    await this.policy.selectOption("Random");
    const settings = this.page.getByRole("form", { name: "Policy settings" });
    await settings.getByLabel("Maximum steps", { exact: true }).fill(String(steps));
    await this.button("Run").click();
    const words = `${steps.toLocaleString("en")} steps`;
    await this.status.filter({ hasText: words }).waitFor({ timeout: 120_000 });
  }

  async steps() {
    const text = await this.status.innerText();
    const found = text.match(/(\d[\d,]*) steps?/);
    assert.ok(found, `the status names no number of steps: ${text}`);
    return Number(found[1].replaceAll(",", ""));
  }

  /** What a click on a button downloads, as bytes, with the suggested name. */
  async downloads(click) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), click()]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
  }
}
