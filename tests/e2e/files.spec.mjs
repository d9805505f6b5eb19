// Exporting and importing episodes as files and links.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

async function played(page) {
  const playground = new Playground(page);
  await playground.ready();
  await playground.act("calculator", { expr: "2 + 3" });
  await playground.act("submit_answer", { answer: "5" });
  await playground.says("2 steps", "done");
  return playground;
}

async function exported(playground, name) {
  await playground.button("Export").click();
  return playground.downloads(() => playground.page.getByRole("button", { name }).click());
}

async function imported(playground, name, bytes) {
  const [chooser] = await Promise.all([
    playground.page.waitForEvent("filechooser"),
    playground.button("Import").click(),
  ]);
  await chooser.setFiles({ name, mimeType: "application/octet-stream", buffer: bytes });
}

for (const [format, ending] of [["Volary JSON", ".json"], ["Renderer files (zip)", ".zip"]]) {
  test(`${format}: an exported episode is imported identically`, () =>
    visit({}, async (page) => {
      const playground = await played(page);
      const texts = await playground.messages().allInnerTexts();
      const file = await exported(playground, format);
      assert.ok(file.name.endsWith(ending), file.name);
      await page.reload();
      await playground.ready();
      await imported(playground, file.name, file.bytes);
      await playground.says("2 steps", "done");
      assert.deepEqual(await playground.messages().allInnerTexts(), texts);
    }));
}

test("messages: one line in the chat format", () =>
  visit({}, async (page) => {
    const playground = await played(page);
    const file = await exported(playground, "Messages (JSONL)");
    const lines = file.bytes.toString().trim().split("\n");
    assert.equal(lines.length, 1);
    const { messages, tools } = JSON.parse(lines[0]);
    assert.deepEqual(
      messages.map((message) => message.role),
      ["user", "assistant", "tool", "assistant", "tool"],
    );
    assert.equal(messages[1].tool_calls[0].function.arguments, '{"expr": "2 + 3"}');
    assert.deepEqual(tools.map((tool) => tool.function.name), ["calculator", "submit_answer"]);
  }));

test("a link replays the same episode", () =>
  visit({}, async (page) => {
    const playground = await played(page);
    const texts = await playground.messages().allInnerTexts();
    await playground.button("Share").click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    assert.ok(link.startsWith(HOME), link);
    await page.keyboard.press("Escape");
    await page.goto("about:blank");
    await page.goto(link);
    await playground.says("2 steps", "done");
    const words = (list) => list.map((text) => text.replaceAll(/[\d.]+ m?s/g, ""));
    assert.deepEqual(words(await playground.messages().allInnerTexts()), words(texts));
  }));

test("the task is shared without what was done, and both are checked for what should not be in them", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const dialog = page.getByRole("dialog", { name: "Share this episode" });
    const link = () => dialog.getByRole("textbox", { name: "Link" }).inputValue();
    // A task that every page has is named.
    await playground.button("Share").click();
    assert.ok(await dialog.getByRole("radio", { name: "The task" }).isChecked());
    assert.ok(await dialog.getByRole("radio", { name: "What I did" }).isDisabled());
    assert.match(await link(), /#\/run\/calculator$/);
    await page.keyboard.press("Escape");
    // A problem of one's own has an id of its own.
    await playground.field("problem").fill("Ask ada@example.org: 2 + 3?");
    await playground.field("answer").fill("5");
    await playground.button("Reset").click();
    await playground.messages().filter({ hasText: "Ask ada" }).waitFor();
    assert.match(await playground.field("problem_id").inputValue(), /^easy-01-custom-[0-9a-f]{6}$/);
    await playground.act("submit_answer", { answer: "5" });
    await playground.says("1 step", "done");
    await playground.button("Share").click();
    assert.ok(await dialog.getByRole("radio", { name: "What I did" }).isChecked());
    const actions = await link();
    await dialog.getByRole("radio", { name: "The task" }).check();
    await dialog.getByText(/^\d+ characters\. Environment, configuration and seed/).waitFor();
    await dialog.getByText("Answer: packed in the link", { exact: false }).first().waitFor();
    const plain = await link();
    assert.ok(plain.length < actions.length && !/answer|ada/.test(plain), plain);
    const check = dialog.getByRole("region", { name: "Check before sharing" });
    await check.getByText("The link has 1 e-mail address.").waitFor();
    await accessible(page);
    await check.getByRole("checkbox", { name: "Mask them" }).check();
    const masked = await link();
    assert.notEqual(masked, plain);
    await page.keyboard.press("Escape");
    await playground.button("Export").click();
    const exporting = page.getByRole("dialog", { name: "Export this episode" });
    await exporting.getByText("This episode has 1 e-mail address.").waitFor();
    await exporting.getByRole("checkbox", { name: "Mask them" }).check();
    const file = await playground.downloads(() => exporting.getByRole("button", { name: "Volary JSON" }).click());
    assert.ok(file.bytes.includes("Ask [e-mail address]") && !file.bytes.includes("ada@"));
    await page.goto("about:blank");
    await page.goto(masked);
    await playground.messages().filter({ hasText: "Ask [e-mail address]: 2 + 3?" }).waitFor();
    await playground.says("0 steps", "in progress");
    await playground.frame.getByText("Hidden while you can still try: answer.").waitFor();
  }));

test("a truncated link is reported, and the playground opens", () =>
  visit({}, async (page) => {
    const playground = await played(page);
    await playground.button("Share").click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    await page.goto("about:blank");
    await page.goto(link.slice(0, link.length - 20));
    await playground.alert.waitFor();
    await playground.ready();
  }));

test("a dropped file is imported", () =>
  visit({}, async (page) => {
    const playground = await played(page);
    const file = await exported(playground, "Volary JSON");
    await playground.button("Reset").click();
    await playground.says("0 steps");
    const transfer = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "episode.json"));
      return transfer;
    }, file.bytes.toString());
    await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
    await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await playground.says("2 steps", "done");
  }));

for (const [what, bytes] of [
  ["no JSON", Buffer.from('{"format": "volary-epi')],
  ["a zip that is none", Buffer.from("PK\u0003\u0004 and then nothing of a zip")],
  ["an empty file", Buffer.alloc(0)],
  ["bytes of no kind", Buffer.from(Uint8Array.from({ length: 4096 }, (_, i) => (i * 37) % 256))],
  ["JSON of another kind", Buffer.from('{"hello": "world"}')],
]) {
  test(`a file of ${what} is rejected, and the episode stays`, () =>
    visit({}, async (page) => {
      const playground = await played(page);
      const texts = await playground.messages().allInnerTexts();
      await imported(playground, "file.zip", bytes);
      await playground.alert.waitFor();
      await playground.says("2 steps", "done");
      assert.deepEqual(await playground.messages().allInnerTexts(), texts);
      await playground.alert.getByRole("button", { name: "Dismiss" }).click();
      await playground.alert.waitFor({ state: "hidden" });
    }));
}

test("GSM8K lines become tasks", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const rows = [
      { question: "Two and two make?", answer: "2 + 2 = 4\n#### 4" },
      { question: "Ten less three?", answer: "10 - 3 = 7\n#### 7" },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join("\n");
    await imported(playground, "gsm8k.jsonl", Buffer.from(text));
    await playground.messages().filter({ hasText: /Two and two make|Ten less three/ }).waitFor();
  }));
