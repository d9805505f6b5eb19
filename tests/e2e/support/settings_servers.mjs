// Actions in the settings section for servers.

import { visit } from "./browser.mjs";
import { Playground } from "./playground.mjs";

/**
 * A visit to the settings, with leave to call these servers, and what `alsoFrom` names:
 * `journey(page, servers, playground, seen)`.
 */
export function connecting(urls, { alsoFrom = [], ...options }, journey) {
  const origins = [...urls, ...alsoFrom];
  return visit({ hash: "#/settings", origins, ...options }, async (page, seen) => {
    const servers = new Servers(page);
    await servers.button.waitFor();
    await journey(page, servers, new Playground(page), seen);
  });
}

export class Servers {
  constructor(page) {
    this.page = page;
    this.group = page.getByRole("group", { name: "Task dataset server", exact: true });
    this.section = page.getByRole("region", { name: "Task dataset servers" });
    this.url = this.group.getByLabel("Server URL", { exact: true });
    this.key = this.group.getByLabel("API key", { exact: true });
    this.name = this.group.getByLabel("Name", { exact: true });
    this.button = this.group.getByRole("button", { name: "Connect", exact: true });
    this.alert = this.section.getByRole("alert");
    this.known = page.getByRole("list", { name: "Known servers" });
  }

  /** The entry of a known server. */
  server(name) {
    return this.known.getByRole("listitem").filter({ has: this.page.getByRole("heading", { name, exact: true }) });
  }

  async enter(url, { key = "", name = "" } = {}) {
    await this.url.fill(url);
    await this.key.fill(key);
    await this.name.fill(name);
    await this.button.click();
  }

  /** Connects to a server that is there. */
  async connect(url, { key, name = "Class" } = {}) {
    await this.enter(url, { key, name });
    await this.server(name).getByText("Connected.").waitFor();
  }

  /** Connects, and goes to play there. */
  async play(url, options = {}) {
    await this.connect(url, options);
    await this.page.getByRole("link", { name: `Play on ${options.name ?? "Class"}` }).click();
  }
}
