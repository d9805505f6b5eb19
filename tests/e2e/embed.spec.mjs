// The view for frames in other pages: messages from and to a page of another origin, and what it cannot reach.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";

import { FAILED, HOME, accessible, visit } from "./support/browser.mjs";
import { inEveryBrowser } from "./support/every_browser.mjs";
import { Playground } from "./support/playground.mjs";
import { VOLARY } from "./support/servers.mjs";
import { site } from "./support/site.mjs";
import { staticHost } from "./support/static_host.mjs";

test("a page of another origin loads an episode, hears its steps and its end, and lets a task be played", async () => {
  // The example that is meant to be copied, with the address under test.
  const example = await readFile(new URL("../../examples/embed/index.html", import.meta.url), "utf8");
  const other = await site((path, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(path === "/favicon.ico" ? "" : example.replace("http://127.0.0.1:8080/", HOME));
  });
  try {
    await visit({ origins: [other.origin], axe: false }, async (page, { requests }) => {
      // A key, a setting and a database of the page itself.
      await new Playground(page).ready();
      await page.evaluate(() => localStorage.setItem("volary.theme", "dark"));

      await page.addInitScript(() => {
        globalThis.heard = [];
        if (globalThis.parent === globalThis) addEventListener("message", ({ data }) => heard.push(data));
      });
      await page.goto(other.origin);
      const frame = page.frameLocator("iframe");
      await frame.getByText("Start, before step 1 of 2").waitFor();
      await page.getByText("ferry: 2 steps").or(page.getByText("Step 0 of 2")).waitFor();
      await page.getByRole("button", { name: "Go to step 1" }).click();
      await frame.getByText("Step 1 of 2").waitFor();
      await page.getByText("Step 1 of 2").waitFor();
      await frame.getByRole("button", { name: "Next step" }).click();
      await page.getByText("Done after 2 steps").waitFor();

      const inner = page.frames().find((frame) => frame.url().startsWith(HOME));
      const stores = await inner.evaluate(() => [typeof localStorage, typeof sessionStorage, typeof indexedDB, typeof caches]);
      assert.deepEqual(stores, Array(4).fill("undefined"));
      assert.equal(await inner.evaluate(() => document.documentElement.dataset.theme), undefined);

      // What is not understood is answered or ignored.
      const sent = requests.length;
      await page.evaluate(() => {
        const send = (message) => document.querySelector("iframe").contentWindow.postMessage(message, "*");
        send({ volary: "step", step: "two" });
        send({ volary: "load", link: "https://elsewhere.example/#/review?url=https://elsewhere.example/a.json" });
        send({ volary: "zoom" });
        send("hello");
      });
      await page.waitForFunction(() => heard.filter(({ volary }) => volary === "error").length === 2);
      assert.equal(requests.length, sent, "a link was fetched");

      await page.getByRole("button", { name: "Try it yourself" }).click();
      await frame.getByRole("button", { name: "Play", exact: true }).click();
      await frame.getByRole("button", { name: "submit_answer" }).click();
      await frame.getByLabel("answer").fill("1");
      await frame.getByLabel("answer").press("Tab");
      await frame.getByRole("button", { name: "Send" }).click();
      await page.getByText("Done after 1 steps, reward 0").waitFor();
      const kinds = await page.evaluate(() => [...new Set(heard.map(({ volary }) => volary))].sort());
      assert.deepEqual(kinds, ["done", "error", "loaded", "ready", "step"]);
      await accessible(page);
    });
  } finally {
    other.close();
  }
});

/** A page of another origin with one frame. It shows what it hears from the frame, and sends what `send` is called with. */
const framing = (url) => `<!doctype html><meta charset="utf-8"><title>Other</title><p id="heard"></p>
<iframe title="Volary" width="1200" height="700" src="${url}"></iframe>
<script>
  const kinds = [];
  onmessage = ({ data }) => {
    kinds.push(data.volary + (data.message ? ": " + data.message : ""));
    heard.textContent = "heard: " + kinds.join("; ") + ".";
  };
  const send = (message) => document.querySelector("iframe").contentWindow.postMessage(message, "*");
</script>`;

inEveryBrowser("a page of another origin reads nothing through its frame, and Python does not run there", async (browser) => {
  // Without headers, so that the page itself has to refuse what it must.
  const host = await staticHost();
  const other = await site((path, response) => {
    response.setHeader("Content-Type", "text/html");
    const view = path === "/whole.html" ? "#/run/counter" : "?embed=1#/run/counter";
    response.end(path === "/favicon.ico" ? "" : framing(host.home + view));
  });
  try {
    // The page has stores that such a frame could find.
    await browser.open(`${host.home}#/run/counter`);
    await browser.find("//button[normalize-space()='Step']");
    await browser.run("localStorage.setItem('volary.theme', 'dark');");

    await browser.open(`${other.origin}/embedded.html`);
    await browser.find("//*[@id='heard' and contains(., 'ready')]");
    const stores = "return [typeof localStorage, typeof sessionStorage, typeof indexedDB, typeof caches].join();";
    assert.equal(await browser.run(stores, "iframe"), Array(4).fill("undefined").join());
    assert.equal(await browser.run("return document.documentElement.dataset.theme ?? 'none';", "iframe"), "none");
    const task = "send({ volary: 'load', task: { environment: 'python://' + '0'.repeat(64), configuration: { code: 'x = 1' } } });";
    await browser.run(task);
    await browser.find("//*[@id='heard' and contains(., 'error: ')]");
    assert.equal(await browser.run("return document.querySelectorAll('iframe').length;", "iframe"), 0);

    await browser.open(`${other.origin}/whole.html`);
    const refused = "return document.getElementById('framed').hidden ? 'shown' : 'refused';";
    const begun = Date.now();
    while ((await browser.run(refused, "iframe").catch(String)) !== "refused" && Date.now() < begun + 30_000);
    assert.equal(await browser.run(refused, "iframe"), "refused");
    assert.equal(await browser.run("return document.querySelectorAll('main').length;", "iframe"), 0);
  } finally {
    other.close();
    host.close();
  }
});

/** A page with the widget of notebooks, and a model in the place of the kernel's. */
const NOTEBOOK = `<!DOCTYPE html><html lang="en"><title>A notebook</title><main><h1>A notebook</h1><div id="cell"></div></main>
<script type="module">
  import widget from "./widget.js";
  const { traits } = await (await fetch("./traits.json")).json();
  const heard = new Map();
  globalThis.kernel = {
    traits,
    saved: 0,
    /** Sets traits as the kernel does. */
    set(values) {
      Object.assign(traits, values);
      for (const name in values) for (const listener of heard.get("change:" + name) ?? []) listener();
    },
  };
  const model = {
    get: (name) => traits[name],
    set: (name, value) => kernel.set({ [name]: value }),
    save_changes: () => void kernel.saved++,
    on: (name, listener) => heard.set(name, [...(heard.get(name) ?? []), listener]),
    off: () => {},
  };
  widget.render({ model, el: document.getElementById("cell") });
</script></html>`;

test("the widget of notebooks shows an episode, and brings steps, selected text and notes back", async () => {
  const dist = process.env.VOLARY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
  const child = spawn(VOLARY, ["embed", "--page", dist], { stdio: ["pipe", "pipe", "inherit"] });
  const served = JSON.parse(await new Promise((resolve) => child.stdout.once("data", resolve)));
  const widget = await readFile(new URL("../../crates/cli/python/volary/widget.js", import.meta.url), "utf8");
  const messages = (...texts) =>
    JSON.stringify({ messages: texts.map((content, place) => ({ role: place % 2 ? "assistant" : "user", content })) });
  const texts = [messages("Say it.", "The marble is red.", "Again.", "It is blue."), messages("Say more.", "No.")];
  const start = (page) => ({
    ...{ _page: page, _height: 520, _names: ["first", "second"], _load: { index: 0, episode: texts[0] } },
    ...{ index: 0, step: 1, steps: 0, title: "", selection: {}, error: "" },
    notes: [{ episode: 0, id: "a", step: 2, text: "Why blue?", label: "" }],
  });
  let traits = start(served.url);
  const other = await site((path, response) => {
    const [kind, body] =
      path === "/widget.js" ? ["text/javascript", widget] : path === "/traits.json" ? ["application/json", JSON.stringify({ traits })] : ["text/html", NOTEBOOK];
    response.setHeader("Content-Type", kind);
    response.end(path === "/favicon.ico" ? "" : body);
  });
  const origins = [other.origin, new URL(served.url).origin, "http://127.0.0.1:9"];
  try {
    await visit({ origins, axe: false, allowedErrors: [FAILED] }, async (page) => {
      await page.waitForLoadState("networkidle");
      await page.goto(other.origin);
      const frame = page.frameLocator("iframe");
      const get = (name) => page.evaluate((name) => kernel.traits[name], name);
      const becomes = (name, wanted) =>
        page.waitForFunction(([name, wanted]) => JSON.stringify(kernel.traits[name]) === wanted, [name, JSON.stringify(wanted)]);
      await frame.getByText("Step 1 of 2").waitFor();
      await becomes("steps", 2);
      await frame.getByRole("button", { name: "Next step" }).click();
      await becomes("step", 2);
      await page.evaluate(() => kernel.set({ step: 1 }));
      await frame.getByText("Step 1 of 2").waitFor();

      // In a notebook of usual width, too, the transcript ends where the buttons begin.
      const size = page.viewportSize();
      await page.setViewportSize({ width: 900, height: size.height });
      const edge = (part, side) => frame.locator(part).evaluate((element, side) => element.getBoundingClientRect()[side], side);
      assert.equal(await edge(".transcript-scroll", "bottom"), await edge(".embed-foot", "top"));
      await page.setViewportSize(size);

      // A double click selects a word.
      await frame.getByText("The marble is red.").first().dblclick({ position: { x: 50, y: 8 } });
      await page.waitForFunction(() => kernel.traits.selection.text?.length > 0);
      const { step, text } = await get("selection");
      assert.equal(step, 1);
      assert.match(text, /^(The|marble|is|red)$/);

      await frame.getByRole("button", { name: "Notes (1)" }).click();
      await frame.getByLabel("Note on step 1").fill("Which marble?");
      await frame.getByLabel("Label").fill("vague");
      await frame.getByRole("button", { name: "Add note" }).click();
      await frame.getByText("Notes (2)").waitFor();
      await page.waitForFunction(() => kernel.traits.notes.length === 2);
      const [before, note] = await get("notes");
      assert.equal(before.text, "Why blue?");
      assert.deepEqual({ ...note, id: "" }, { episode: 0, id: "", step: 1, text: "Which marble?", label: "vague" });
      await accessible(page);
      await frame.getByRole("button", { name: "Delete note" }).last().click();
      await becomes("notes", [note]);

      // Another episode has other notes, and begins at its start.
      await page.getByLabel("Episode").selectOption("1");
      await becomes("index", 1);
      const second = { index: 1, episode: texts[1] };
      await page.evaluate((load) => kernel.set({ step: 0, _load: load }), second);
      await frame.getByText("Start, before step 1 of 1").waitFor();
      await frame.getByRole("button", { name: "Notes", exact: true }).waitFor();
      assert.equal(await get("error"), "");
      await page.evaluate(() => kernel.set({ _load: { index: 1, episode: "no episode" } }));
      await page.waitForFunction(() => kernel.traits.error !== "");

      // A page that no browser reaches.
      await page.waitForLoadState("networkidle");
      traits = start("http://127.0.0.1:9/?embed=1");
      await page.reload();
      await page.getByText("ssh -L 9:127.0.0.1:9").waitFor();
    });
  } finally {
    child.kill();
    other.close();
  }
});
