// A class: a teacher's assignment, three pupils who hand in to a real server that is killed in between, and the board.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";

import { FAILED, HOME, accessible, visit } from "./support/browser.mjs";
import { ORIGIN, ours } from "./support/servers.mjs";

const KEY = "the teacher's key";

/** Answers a word problem. */
async function answer(page, number, value) {
  const task = page.getByRole("region", { name: new RegExp(`^${number}\\. `) });
  await task.getByRole("button", { name: "Start", exact: true }).click();
  await task.getByRole("button", { name: "submit_answer" }).click();
  await task.getByLabel("answer").fill(value);
  await task.getByLabel("answer").press("Tab");
  await task.getByRole("button", { name: "Send" }).click();
  await task.getByText("done", { exact: true }).first().waitFor();
}

async function handIn(page, name) {
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Your name").press("Tab");
  await page.getByRole("button", { name: "Hand in", exact: true }).click();
}

test("an assignment is played, handed in and shown on the board, and no hand-in is lost", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "volary-")), "10b.db");
  const args = ["--class", file, "--class-key", KEY, "--cors-origin", ORIGIN];
  let server = await ours(args);
  const { url, port } = server;
  const pupil = { origins: [url], allowedErrors: [FAILED] };
  try {
    await visit({ hash: "#/class", ...pupil }, async (teacher, { requests }) => {
      const asked = () => requests.filter((request) => request.startsWith(url)).length;
      const button = (name) => teacher.getByRole("button", { name, exact: true });
      await teacher.getByLabel("Title", { exact: true }).fill("Word problems");
      await teacher.getByLabel("Hand in until (optional)").fill("Friday, 10:00");
      const list = teacher.getByLabel("Add a built-in task");
      await list.locator("option").nth(2).waitFor({ state: "attached" });
      // Groups with short names, and the text of the chosen one.
      const levels = await list.locator("optgroup").evaluateAll((groups) => groups.map((group) => group.label));
      assert.deepEqual(levels, ["Level 1", "Level 2", "Level 3"]);
      for (const name of await list.locator("option").allInnerTexts()) assert.ok(name.length <= 30, name);
      await list.selectOption({ label: "Ferry" });
      await teacher.getByText("A ferry carries 48 cars on each crossing.").waitFor();
      await teacher.getByLabel("Kind of task").selectOption({ label: "Library desk" });
      await list.locator("option").filter({ hasText: "Pay all fees" }).first().waitFor({ state: "attached" });
      assert.equal(await list.inputValue(), "");
      await teacher.getByLabel("Kind of task").selectOption({ label: "Word problems" });
      await list.locator("option").filter({ hasText: "Ferry" }).waitFor({ state: "attached" });
      for (const index of [1, 2]) {
        await list.selectOption({ index });
        await button("Add").click();
      }
      await teacher.getByLabel("Title of task 2").waitFor();
      await teacher.getByRole("radio", { name: "To a class on a server" }).check();
      await teacher.getByLabel("Address of the class server").fill(url);
      await teacher.getByLabel("Class key").fill(KEY);
      await button("Make the link").click();
      const link = await teacher.getByLabel("Link for your pupils").inputValue();
      await teacher.getByRole("img", { name: "QR code of the link" }).waitFor();
      await accessible(teacher);
      const hash = link.slice(link.indexOf("#"));

      // The address of the board asks the server for nothing before the click.
      const before = asked();
      await teacher.getByRole("link", { name: "Open the board" }).click();
      await teacher.getByText("The hand-ins of your pupils appear here.").waitFor();
      assert.equal(asked(), before);
      await button("Connect").click();
      await teacher.getByText("Live", { exact: true }).waitFor();

      const board = teacher.getByRole("region", { name: "Who has reached what" });
      await Promise.all([
        visit({ hash, size: "narrow", ...pupil }, async (page, visited) => {
          await page.getByText("Hand in: Friday, 10:00").waitFor();
          await answer(page, 1, "204");
          await page.getByText("1 of 2 tasks solved").waitFor();
          assert.ok(!visited.requests.some((request) => request.startsWith(url)));
          await handIn(page, "Ada");
          await page.getByText("Handed in on").waitFor();
        }),
        visit({ hash, theme: "dark", ...pupil }, async (page) => {
          await answer(page, 2, "7");
          await handIn(page, "Bo");
          await page.getByText("Handed in on").waitFor();
        }),
      ]);
      await board.getByText("2 hand-ins").waitFor();
      await board.getByRole("button", { name: "Ada, task 1: Solved, reward 1.0. Open in Review" }).waitFor();
      await accessible(teacher);

      await visit({ hash, ...pupil }, async (page) => {
        await answer(page, 1, "1");
        await server.kill();
        await handIn(page, "Cy");
        await page.getByRole("alert").getByText("Your work was not handed in.").waitFor();
        await page.reload();
        await page.getByText("Your last hand-in was not confirmed.").waitFor();
        const task = page.getByRole("region", { name: /^1\. / });
        await task.getByText("done", { exact: true }).first().waitFor();
        server = await ours(args, port);
        await page.getByRole("button", { name: "Hand in again" }).click();
        await page.getByText("Handed in on").waitFor();
        // Better, and handed in again: the row is replaced.
        await task.getByRole("button", { name: "Undo" }).click();
        await task.getByText("Start, no step yet").waitFor();
        await task.getByRole("button", { name: "submit_answer" }).click();
        await task.getByLabel("answer").fill("204");
        await task.getByLabel("answer").press("Tab");
        await task.getByRole("button", { name: "Send" }).click();
        await page.getByText("You changed it since").waitFor();
        await page.getByRole("button", { name: "Hand in again" }).click();
        await page.getByText("You can continue and hand in again.").waitFor();
      });
      await board.getByText("3 hand-ins").waitFor();
      await board.getByRole("row", { name: /^Cy/ }).getByText("2 times").waitFor();

      await button("Hide names").click();
      assert.equal(await board.getByText("Ada").count(), 0);
      await board.getByText("Pupil 3").waitFor();
      const exported = async () => {
        const [saved] = await Promise.all([teacher.waitForEvent("download"), button("Export JSONL").click()]);
        return readFileSync(await saved.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
      };
      const nameless = await exported();
      assert.deepEqual(nameless.map((line) => line.metadata.pupil).sort(), ["Pupil 1", "Pupil 2", "Pupil 3"]);
      assert.doesNotMatch(JSON.stringify(nameless), /\b(Ada|Bo|Cy)\b/);
      await button("Hide names").click();
      await button("Compare task 1 blind").click();
      const side = teacher.getByRole("region", { name: "Trajectory A" });
      await side.getByText("204").first().waitFor();
      assert.equal(await teacher.getByText("Ada").count(), 0);
      await accessible(teacher);
      await button("Equal").click();
      await side.getByRole("heading", { name: /^A: (Ada|Cy)$/ }).waitFor();
      await button("Next").click();
      await teacher.getByRole("row", { name: "Ada 0 1 0" }).waitFor();
      await button("Back to the board").click();
      const lines = await exported();
      assert.deepEqual(lines.map((line) => line.metadata.pupil), ["Ada", "Bo", "Cy"]);
      assert.ok(!JSON.stringify(lines).includes(KEY));
      await board.getByRole("button", { name: /^Cy, task 1: Solved/ }).click();
      await teacher.getByRole("heading", { name: /^Cy · / }).waitFor();

      // A person against a model; without a connection the scripted student plays.
      await teacher.goBack();
      await board.getByRole("button", { name: "Ada, task 1: play against a model" }).click();
      await teacher.getByText("in the playground", { exact: true }).waitFor();
      await teacher.getByText(/^Ada · .* 1 step, reward 1\.0/).first().waitFor();
      await teacher.getByText("student, ").waitFor();
      await accessible(teacher);
      await teacher.getByRole("link", { name: "Judge blind" }).click();
      await side.waitFor();
      const told = await teacher.getByRole("region", { name: "Blind comparison" }).innerText();
      assert.doesNotMatch(told, /Ada|student|Fault/);
      await button("A is better").click();
      await side.getByRole("heading", { name: /^A: (Ada|student)$/ }).waitFor();
      await button("Back to the comparison").click();
      await teacher.getByText("in the playground", { exact: true }).waitFor();
    });
  } finally {
    await server.stop();
  }
});

test("a link with a renewed code continues the work that an old link began", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "volary-")), "10c.db");
  const args = ["--class", file, "--class-key", KEY, "--cors-origin", ORIGIN];
  let server = await ours(args);
  const options = { origins: [server.url], allowedErrors: [FAILED] };
  try {
    await visit({ hash: "#/class", ...options }, async (teacher) => {
      const button = (name) => teacher.getByRole("button", { name, exact: true });
      const link = async () => {
        const address = await teacher.getByLabel("Link for your pupils").inputValue();
        return address.slice(address.indexOf("#"));
      };
      await teacher.getByLabel("Title", { exact: true }).fill("Word problems");
      const list = teacher.getByLabel("Add a built-in task");
      await list.locator("option").nth(1).waitFor({ state: "attached" });
      await list.selectOption({ index: 1 });
      await button("Add").click();
      await teacher.getByRole("radio", { name: "To a class on a server" }).check();
      await teacher.getByLabel("Address of the class server").fill(server.url);
      await teacher.getByLabel("Class key").fill(KEY);
      await button("Make the link").click();
      const old = await link();
      await visit({ hash: old, ...options }, async (pupil) => {
        await answer(pupil, 1, "204");
        await server.stop();
        server = await ours([...args, "--new-class-code"], server.port);
        await handIn(pupil, "Ada");
        await pupil.getByRole("alert").getByText("Ask your teacher for a new link.").waitFor();

        await teacher.getByRole("link", { name: "Open the board" }).click();
        await button("Connect").click();
        await teacher.getByText("Live", { exact: true }).waitFor();
        await teacher.getByRole("link", { name: "Assignments" }).click();
        await button("Show link").click();
        const renewed = await link();
        assert.notEqual(renewed, old);

        await pupil.goto(HOME + renewed);
        await pupil.getByText("1 of 1 task solved").waitFor();
        await pupil.getByRole("button", { name: "Hand in again" }).click();
        await pupil.getByText("Handed in on").waitFor();
      });
    });
  } finally {
    await server.stop();
  }
});
