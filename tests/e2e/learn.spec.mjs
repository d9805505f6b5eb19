// Lessons: from a link to the first check, a task, progress after a reload, and a lesson from another origin.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";

const FAULTY = "---\ntitle: A\nminutes: 5\n---\n```taks\n```\n";

test("a lesson from its link to its checks, and one from another origin", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/markdown", "access-control-allow-origin": "*" });
    response.end(FAULTY);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  const opened = Date.now();
  try {
    await visit({ hash: "#/learn/agent-loop", size: "narrow", origins: [origin] }, async (page, { requests }) => {
      // The recorded episode is shown without a click.
      const bakery = page.getByRole("region", { name: "A short episode" });
      await bakery.getByText("Start, before step 1 of 2").waitFor();
      await bakery.getByRole("button", { name: "Next step" }).click();
      await bakery.getByText("Step 1 of 2").waitFor();

      // Sentences are not broken where the file of the lesson is.
      const loop = page.getByRole("listitem").filter({ hasText: "It observes" });
      assert.ok(!(await loop.innerText()).includes("\n"), await loop.innerText());

      const question = page.getByRole("region", { name: "Question 1" });
      await question.getByRole("button", { name: "The right answer", exact: true }).click();
      await question.getByText("Not quite.").waitFor();
      await question.getByRole("button", { name: /its own first action/ }).click();
      await question.getByText("Done", { exact: true }).waitFor();
      assert.ok(Date.now() - opened < 60_000, "from the link to the first check");

      const ferry = page.getByRole("region", { name: "The ferry" });
      await ferry.getByRole("button", { name: "Start" }).click();
      await ferry.getByRole("button", { name: "submit_answer" }).click();
      await ferry.getByLabel("answer").fill("336");
      await ferry.getByLabel("answer").press("Tab");
      await ferry.getByRole("button", { name: "Send" }).click();
      await page.getByText("That was a whole agent loop").waitFor();
      await accessible(page);

      await page.reload();
      await page.getByText("2 of 3 done").waitFor();
      await page.getByRole("link", { name: "All lessons" }).first().click();
      await page.getByText("6 min · 2 of 3 done").waitFor();

      await page.goto(`${page.url().split("#")[0]}#/learn?url=${encodeURIComponent(`${origin}/lesson.md`)}`);
      const ask = page.getByRole("region", { name: "Fetch this lesson?" });
      await ask.getByText("Nothing has been requested yet").waitFor();
      assert.ok(!requests.some((url) => url.startsWith(origin)));
      await ask.getByRole("button", { name: "Fetch", exact: true }).click();
      await page.getByText('line 5: unknown block "taks"; did you mean "task"?').waitFor();
    });
  } finally {
    server.close();
  }
});

test("tabs share the progress in a lesson", () =>
  visit({ hash: "#/learn/agent-loop", axe: false }, async (page) => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    const question = other.getByRole("region", { name: "Question 1" });
    await question.waitFor();
    await page.getByRole("region", { name: "Question 1" }).getByRole("button", { name: /its own first action/ }).click();
    await page.getByText("1 of 3 done").waitFor();
    // The other tab shows it, and adds to it.
    await other.getByText("1 of 3 done").waitFor();
    const ferry = other.getByRole("region", { name: "The ferry" });
    await ferry.getByRole("button", { name: "Start" }).click();
    await ferry.getByRole("button", { name: "submit_answer" }).click();
    await ferry.getByLabel("answer").fill("336");
    await ferry.getByLabel("answer").press("Tab");
    await ferry.getByRole("button", { name: "Send" }).click();
    await page.getByText("2 of 3 done").waitFor();
    await page.reload();
    await page.getByText("2 of 3 done").waitFor();
  }));

test("a lesson that was dropped on the list leads back to it", () =>
  visit({ hash: "#/learn" }, async (page) => {
    const list = page.getByRole("heading", { name: "Learn", exact: true });
    await list.waitFor();
    const text = readFileSync(new URL("../../public/lessons/agent-loop.md", import.meta.url), "utf8");
    await page.evaluate((text) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], "mine.md"));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
    }, text);
    const bakery = page.getByRole("region", { name: "A short episode" });
    await bakery.waitFor();
    await page.getByRole("link", { name: "All lessons" }).first().click();
    await list.waitFor();
    await bakery.waitFor({ state: "detached" });
  }));

test("a lesson on paper has all its texts, and nothing to press", () =>
  visit({ hash: "#/learn/agent-loop", axe: false }, async (page) => {
    const bakery = page.getByRole("region", { name: "A short episode" });
    await bakery.getByText("Start, before step 1 of 2").waitFor();
    const hint = page.locator(".lesson-hint-text").first();
    assert.equal(await hint.isVisible(), false);
    await page.emulateMedia({ media: "print" });
    await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "hidden" });
    await hint.waitFor();
    await page.getByText("A task to play: open the lesson in a browser").first().waitFor();
    await page.getByText(page.url(), { exact: true }).waitFor();
    for (const name of ["Next step", "Continue from here", "Hint", "Present"]) {
      assert.equal(await page.getByRole("button", { name, exact: true }).filter({ visible: true }).count(), 0, name);
    }
    // The whole episode, and a lesson of several pages.
    const pdf = await page.pdf();
    assert.ok(pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length >= 3);
  }));

test("the scripted student loops after two clicks on a new page", () =>
  visit({}, async (page) => {
    // Two inputs, no key and no connection.
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Student", exact: true }).click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Fault: loop.").waitFor();
    await page.getByRole("log", { name: "Transcript" }).getByText("Fault: loop.").last().waitFor();
  }));
