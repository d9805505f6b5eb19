// Agents that call the tools of the page (WebMCP): a stand-in that behaves as the proposal says (webmachinelearning/webmcp), and
// one with the names of the first versions. Chromium's own is enabled by an argument.

import { until } from "./state.mjs";

/** The argument that enables Chromium's own. */
export const WEB_MCP = "--enable-features=WebMCP";

/** For `init`: installs the stand-in as `document.modelContext`. */
export function standIn(context) {
  return context.addInitScript(install, true);
}

/** For `init`: installs the one of the first versions as `navigator.modelContext`, where tools are unregistered by name. */
export function earlyStandIn(context) {
  return context.addInitScript(install, false);
}

/** In the page. */
function install(isCurrent) {
  const tools = new Map();
  const registered = (tool) => {
    if (tools.has(tool.name)) throw new DOMException(`${tool.name} exists.`, "InvalidStateError");
    if (!tool.name || !tool.description) throw new DOMException("It has no name.", "InvalidStateError");
    tools.set(tool.name, { ...tool, inputSchema: JSON.parse(JSON.stringify(tool.inputSchema)) });
  };
  const current = {
    async registerTool(tool, { signal } = {}) {
      signal?.throwIfAborted();
      registered(tool);
      signal?.addEventListener("abort", () => tools.delete(tool.name));
    },
  };
  const early = {
    registerTool: registered,
    unregisterTool(name) {
      if (!tools.delete(name)) throw new DOMException(`${name} does not exist.`, "InvalidStateError");
    },
  };
  const consumer = {
    async getTools() {
      return [...tools.values()].map(({ execute: _, ...tool }) => tool);
    },
    async executeTool({ name }, input) {
      const result = await tools.get(name).execute(JSON.parse(JSON.stringify(input)), {});
      return JSON.stringify(result);
    },
  };
  // Frames and workers of the page have none.
  if (globalThis.document) {
    const owner = isCurrent ? document : navigator;
    Object.defineProperty(owner, "modelContext", { value: { ...(isCurrent ? current : early), ...consumer } });
  }
}

/** An agent in the browser. */
export class BrowserAgent {
  constructor(page) {
    this.page = page;
  }

  /** The tools of the page, sorted by name. */
  async tools() {
    const tools = await this.page.evaluate(async () => {
      const context = document.modelContext ?? navigator.modelContext;
      // Newer versions return objects of which nothing is copied.
      return (await context.getTools()).map(({ name, title, description, inputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema,
        annotations: { untrustedContentHint: annotations?.untrustedContentHint },
      }));
    });
    return tools.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** Waits until the page has the tools with these names, and no others. */
  async finds(names) {
    let found = [];
    await until(
      async () => {
        found = (await this.tools()).map(({ name }) => name);
        return found.join() === names.join();
      },
      `The tools are not ${names}.`,
    );
  }

  /** Calls a tool, and returns its result. */
  call(name, input) {
    return this.page.evaluate(
      async ([name, input]) => {
        const context = document.modelContext ?? navigator.modelContext;
        const tool = (await context.getTools()).find((tool) => tool.name === name);
        return JSON.parse(await context.executeTool(tool, input));
      },
      [name, input],
    );
  }
}
