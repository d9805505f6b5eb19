// Natively recorded episodes replay bit for bit in the browser. A native test checks the recordings
// (crates/agent/tests/play/recordings.rs).

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";

test("natively recorded episodes replay identically in the browser", () =>
  visit({ hash: "#/review" }, async (page) => {
    const file = new URL("./fixtures/recorded_natively.jsonl", import.meta.url);
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Import", exact: true }).click(),
    ]);
    await chooser.setFiles({
      name: "recorded_natively.jsonl",
      mimeType: "application/jsonl",
      buffer: await readFile(file),
    });
    const links = page.getByRole("table", { name: "Trajectories" }).getByRole("link");
    for (const name of ["calculator", "dummy", "counter", "hands", "calculations"]) {
      await links.filter({ hasText: `${name}, recorded natively` }).click();
      await page.getByRole("heading", { name: `${name}, recorded natively` }).waitFor();
      await page.getByRole("button", { name: "Check", exact: true }).click();
      // The button is enabled again once the reply arrives.
      await page.getByRole("button", { name: "Check", exact: true, disabled: false }).waitFor();
      await page.getByText(/^Replayed: all \d+ steps match the recording/).waitFor();
      assert.equal(await page.getByText(/step \d+ differs/).count(), 0);
      await page.goBack();
    }
  }));
