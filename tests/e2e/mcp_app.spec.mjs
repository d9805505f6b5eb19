// `volary mcp` in a browser: its MCP App in a sandboxed frame, as a host shows it, and the addresses that it gives out.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { VOLARY } from "./support/servers.mjs";
import { folder } from "./support/trajectories.mjs";

const DIST = process.env.VOLARY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
/** The policy of hosts, where a document asks for nothing. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

/** Starts `volary mcp`; returns a function that sends a request, and one that stops it. */
async function mcp(path) {
  const child = spawn(VOLARY, ["mcp", path, "--page", DIST], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let last = 0;
  const request = async (method, params) => {
    last += 1;
    const answer = new Promise((resolve) => waiting.set(last, resolve));
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    const { result, error } = await answer;
    assert.equal(error, undefined);
    return result;
  };
  const clientInfo = { name: "test", version: "1" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const call = (name, args) => request("tools/call", { name, arguments: args });
  return { request, call, stop: () => child.stdin.end() };
}

/** A folder with one long trajectory. */
function runs() {
  const messages = [{ role: "user", content: `Begin. ${HOSTILE}` }];
  for (let step = 1; step <= 40; step += 1) {
    messages.push({ role: "assistant", content: `This is turn ${step}. ${"word ".repeat(800)}` });
    messages.push({ role: "user", content: `Go on after ${step}.` });
  }
  const path = folder([]);
  writeFileSync(join(path, "run.jsonl"), `${JSON.stringify({ messages })}\n`);
  return path;
}

/** A page that shows the document in a frame as a host does, and calls the tool once the document is ready. */
async function host(page, server, args, context) {
  const { contents } = await server.request("resources/read", { uri: "ui://volary/trajectory" });
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  const source = contents[0].text.replace("<head>", `<head>${policy}`);
  await page.exposeFunction("callTool", ({ name, arguments: given }) => server.call(name, given));
  await page.setContent("<!doctype html><html lang=en><title>Host</title><main></main>");
  await page.evaluate(
    ({ source, args, context }) => {
      const frame = Object.assign(document.createElement("iframe"), { srcdoc: source, title: "Trajectory", width: "100%", height: 400 });
      frame.sandbox = "allow-scripts";
      const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
      globalThis.sizes = [];
      globalThis.notify = (method, params) => send({ method, params });
      addEventListener("message", async ({ source: from, data }) => {
        if (from !== frame.contentWindow) return;
        if (data.method === "ui/initialize") {
          const result = { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" }, hostCapabilities: { serverTools: {} }, hostContext: context };
          send({ id: data.id, result });
        } else if (data.method === "ui/notifications/initialized") {
          send({ method: "ui/notifications/tool-input", params: { arguments: args } });
          const result = await callTool({ name: "show_trajectory", arguments: args });
          send({ method: "ui/notifications/tool-result", params: result });
        } else if (data.method === "tools/call") {
          send({ id: data.id, result: await callTool(data.params) });
        } else if (data.method === "ui/notifications/size-changed") {
          globalThis.sizes.push(data.params);
          frame.height = data.params.height;
        }
      });
      document.querySelector("main").append(frame);
    },
    { source, args, context },
  );
  return page.frameLocator("iframe");
}

for (const [size, theme] of [["wide", "light"], ["narrow", "dark"]]) {
  test(`a host shows a trajectory in a sandboxed frame, ${size} and ${theme}`, async () => {
    const path = runs();
    const server = await mcp(path);
    try {
      const { structuredContent } = await server.call("list_trajectories", {});
      const [{ id, steps }] = structuredContent.trajectories;
      await visit({ at: "about:blank", axe: false, size, theme }, async (page) => {
        const shown = await host(page, server, { id, step: 2 }, { theme, containerDimensions: { maxHeight: 500 } });
        await expect(shown.getByText(`Step 2 of ${steps}`)).toBeVisible();
        await shown.getByRole("button", { name: "Next step" }).click();
        await expect(shown.getByText(`Step 3 of ${steps}`)).toBeVisible();
        await expect(shown.getByRole("heading", { name: /assistant, step 3/ })).toBeInViewport();
        await shown.getByRole("main").press("ArrowLeft");
        await expect(shown.getByText(`Step 2 of ${steps}`)).toBeVisible();
        // What was left out comes from the server.
        const more = shown.getByRole("button", { name: /^Show \d+ more messages$/ });
        const articles = shown.getByRole("article");
        for (let count = await articles.count(); count < 81; count = await articles.count()) {
          await more.click();
          await expect.poll(() => articles.count()).toBeGreaterThan(count);
        }
        await expect(more).toHaveCount(0);
        // Nothing in a trajectory becomes markup.
        await expect(shown.getByText("<img src=x")).toBeAttached();
        assert.equal(await shown.locator("img").count(), 0);
        await expect.poll(() => page.evaluate(() => globalThis.sizes.at(-1)?.height)).toBe(500);
        const width = await shown.locator("html").evaluate((html) => [html.scrollWidth, innerWidth]);
        assert.ok(width[0] <= width[1], `${width}`);
        assert.equal(await shown.locator("html").evaluate((html) => getComputedStyle(html).colorScheme), theme);
        await accessible(page);
        await page.evaluate(() => globalThis.notify("ui/notifications/tool-cancelled", { reason: "Stopped." }));
        await expect(shown.getByRole("alert")).toHaveText(/Stopped\./);
      });
    } finally {
      server.stop();
      rmSync(path, { recursive: true });
    }
  });
}

test("an address of the server opens a step in the page", async () => {
  const path = runs();
  const server = await mcp(path);
  try {
    const { structuredContent } = await server.call("list_trajectories", {});
    const [{ id }] = structuredContent.trajectories;
    const opened = await server.call("open_trajectory", { id, step: 3 });
    const { url } = opened.structuredContent;
    const { origin } = new URL(url);
    await visit({ at: "about:blank", axe: false, allowedErrors: [/icon-[0-9a-f]+\.png' violates/], origins: [origin] }, async (page) => {
      await page.goto(url);
      await page.waitForURL((address) => address.hash.startsWith("#/review/") && address.hash.includes("step=3"));
      await expect(page.getByText("This is turn 3.").first()).toBeVisible();
      assert.ok(!page.url().includes("token"));
      // In a browser that was let in, the address opens the place too.
      await page.goto("about:blank");
      await page.goto(url);
      await expect(page.getByText("This is turn 3.").first()).toBeVisible();
    });
  } finally {
    server.stop();
    rmSync(path, { recursive: true });
  }
});
