// Five hundred hostile texts in every text of every format are shown as plain text. No script runs, nothing is
// fetched, nothing is logged to the console (every visit checks both), and axe reports nothing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "@playwright/test";
import { pathToFileURL } from "node:url";

import { launched, visit } from "./support/browser.mjs";
import { FORMATS, HOSTILE, hostileFile, hostileFrames, inert, read } from "./support/hostile.mjs";

/** The number of them in a text. */
const EACH = 250;
const TEXTS = Array.from({ length: HOSTILE.length / EACH }, (_, part) =>
  HOSTILE.slice(part * EACH, (part + 1) * EACH).join("\n\n"),
);

async function imported(page, files) {
  await page.getByRole("heading", { name: "Trajectories", exact: true }).waitFor();
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Import", exact: true }).click(),
  ]);
  await chooser.setFiles(
    files.map(([name, text]) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) })),
  );
}

/** The rows of the table, its head included. */
function count() {
  return Number(document.querySelector("[role=table]")?.ariaRowCount ?? 1);
}

for (const [format, fixture] of Object.entries({ ...FORMATS, "Aviary Renderer": undefined })) {
  test(`texts of ${format} stay texts`, () =>
    visit({ hash: "#/review", theme: fixture ? "light" : "dark" }, async (page) => {
      for (const [part, text] of TEXTS.entries()) {
        const files = fixture ? [hostileFile(fixture, text)] : hostileFrames(text);
        const table = page.getByRole("table", { name: "Trajectories" });
        const before = part === 0 ? 1 : await page.evaluate(count);
        await imported(page, files);
        await page.waitForFunction(
          (before) => Number(document.querySelector("[role=table]")?.ariaRowCount) > before,
          before,
        );
        await inert(page);
        await table.getByRole("link").first().click();
        await read(page);
        if (part < TEXTS.length - 1) await page.getByRole("link", { name: "Trajectories" }).first().click();
      }
    }));
}

test("their exports run no script either", () =>
  visit({ hash: "#/review" }, async (page) => {
    await imported(page, [hostileFile(FORMATS.ATIF, TEXTS[0])]);
    await page.getByRole("table", { name: "Trajectories" }).getByRole("link").first().click();
    await page.getByRole("log", { name: "Transcript" }).waitFor();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Page (HTML)" }).click(),
    ]);
    const path = await download.path();
    assert.match(readFileSync(path, "utf8"), /globalThis\.__ran/);
    const context = await (await launched()).newContext();
    const asked = [];
    context.on("request", (request) => asked.push(request.url()));
    const opened = await context.newPage();
    await opened.goto("about:blank");
    await opened.setContent(readFileSync(path, "utf8"));
    await opened.waitForTimeout(300);
    assert.equal(await opened.evaluate(() => globalThis.__ran), undefined);
    assert.deepEqual(asked.filter((url) => !url.startsWith("about:") && url !== pathToFileURL(path).href), []);
    await context.close();
  }));
