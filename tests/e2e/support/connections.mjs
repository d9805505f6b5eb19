// Connections to models in the settings: elements are found by role and accessible name.

import { Provider } from "../../support/provider.mjs";
import { visit } from "./browser.mjs";

export const KEY = "sk-test-0123456789abcdef";
/** Nothing listens there. */
export const NOWHERE = "http://127.0.0.1:9";

/** Each wire format, as the test's provider and the page call it. */
export const FORMATS = {
  chat: "OpenAI Chat Completions",
  responses: "OpenAI Responses",
  anthropic: "Anthropic Messages",
  gemini: "Google Gemini",
  mistral: "Mistral",
};

/** A test file that uses it calls `provided(provider)`. */
export const provider = new Provider();

export class Settings {
  constructor(page) {
    this.page = page;
    this.group = page.getByRole("group", { name: "Model connection" });
    this.provider = this.field("Provider");
    this.baseUrl = this.field("Base URL");
    this.model = this.field("Model");
    this.key = this.field("API key");
    this.result = this.group.getByRole("status", { name: "Test result" });
    this.alert = this.group.getByRole("alert");
    this.connections = page.getByRole("list", { name: "Connections" });
  }

  field(name) {
    return this.group.getByLabel(name, { exact: true });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Enters a connection to a server that speaks a format. */
  async connect(format, { base = provider.base(format), model = "mock-model", key = KEY } = {}) {
    await this.provider.selectOption({ label: `Other, speaks ${FORMATS[format]}` });
    await this.baseUrl.fill(base);
    await this.model.fill(model);
    await this.key.fill(key);
  }

  async test() {
    await this.button("Test connection").click();
  }

  async works() {
    await this.result.filter({ hasText: "It works" }).waitFor();
  }

  /** Waits for an alert that says all of these. */
  async fails(...texts) {
    for (const text of texts) {
      await this.alert.filter({ hasText: text }).first().waitFor();
    }
  }

  keep(name) {
    return this.page.getByRole("radio", { name });
  }
}

/** A visit to the settings: `journey(settings, page, visited)`. */
export function settings(options, journey) {
  const origins = [provider.url, NOWHERE, "http://localhost:11434"];
  return visit({ hash: "#/settings", origins, ...options }, async (page, visited) => {
    const settings = new Settings(page);
    await settings.group.waitFor();
    await journey(settings, page, visited);
  });
}
