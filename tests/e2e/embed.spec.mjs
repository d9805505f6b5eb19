// The view for frames in other pages: messages from and to a page of another origin, and what it cannot reach.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { HOME, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { site } from "./support/site.mjs";

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
