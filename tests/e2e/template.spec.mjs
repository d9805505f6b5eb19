// The template and mask lab: worked examples, the user's own templates and messages, errors at their fields.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "@playwright/test";

import { FAILED, accessible, visit } from "./support/browser.mjs";
import { byteTokenizer } from "./support/tokens.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const mode = (page, name) => page.getByRole("region", { name: `Mode ${name}` });
const report = (page) => page.getByRole("region", { name: "Report" });
/** The rendered text, once it holds some words. */
const text = (page, hasText) => page.getByRole("group", { name: "Text", exact: true }).filter({ hasText });
const check = (page, question) => page.getByRole("listitem").filter({ hasText: question });
const counts = async (page, name) =>
  (await mode(page, name).locator(".lab-counts").innerText()).match(/\d+/g).map(Number);

const open = async (page, button, file) => {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button }).click();
  await (await chooser).setFiles({ mimeType: "text/plain", ...file });
};

test("the first example shows the header that seed loses", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await page.getByRole("link", { name: "Template lab" }).click();
    await mode(page, "seed").getByText("First difference in 5 assistant").waitFor();
    await mode(page, "fixed").getByText("The same as the rendered text.").waitFor();
    assert.equal(await mode(page, "seed").getByRole("img", { name: "First difference" }).count(), 1);
    const [seed, seedTrained] = await counts(page, "seed");
    const [fixed, fixedTrained] = await counts(page, "fixed");
    // <|im_start|> and the bytes of "assistant" with its line break.
    assert.equal(fixed - seed, 11);
    assert.equal(fixedTrained, seedTrained);
    assert.ok(fixedTrained > 0 && fixedTrained < fixed, "some tokens are trained, and some are not");
    await check(page, "recover every tool call").getByText("Calls found again: 1 of 1.").waitFor();
    const trained = mode(page, "fixed").locator("mark.trained").first();
    assert.match(await trained.evaluate((mark) => getComputedStyle(mark).textDecorationLine), /underline/);
  }));

test("the second example shows the think block that Qwen3 drops", () =>
  visit({ hash: "#/template" }, async (page) => {
    await page.getByLabel("Worked example").selectOption("The think block that Qwen3 drops");
    await check(page, "prefix-stable").getByText("No", { exact: true }).waitFor();
    await check(page, "prefix-stable").getByText("With message 3 (user)", { exact: false }).waitFor();
    const shown = await text(page, "42 plus 1 is 43").innerText();
    assert.ok(!shown.includes("6 times 7 is 42"), shown);
  }));

test("a broken template reports its line and cause until it is fixed", () =>
  visit({ hash: "#/template" }, async (page) => {
    await page.getByLabel("Template", { exact: true }).selectOption("Own text");
    const source = page.getByLabel("Template (Jinja)");
    assert.match(await source.inputValue(), /im_start/, "own text begins as a copy");
    await source.fill("{{ messages[0].content }}\n{% for %}");
    await page.getByRole("alert").filter({ hasText: "in line 2" }).waitFor();
    assert.equal(await source.getAttribute("aria-invalid"), "true");
    await report(page).getByText("There is no report").waitFor();
    await source.fill("line one\n{{ raise_exception('Tools are missing') }}");
    await report(page).getByRole("alert").filter({ hasText: "in line 2: Tools are missing" }).waitFor();
    await source.fill("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}");
    await text(page, "[user]Where is order 7?").waitFor();
  }));

test("the user's own messages are rendered, and errors are shown at their fields", () =>
  visit({ hash: "#/template" }, async (page) => {
    const messages = page.getByLabel("Messages (JSON)");
    await messages.fill('[{"role": "user", "content": "Hel');
    await page.getByRole("alert").filter({ hasText: "This is not valid JSON" }).waitFor();
    await messages.fill('[{"role": "user", "content": "<b>Grüße</b>"}]');
    await text(page, "<b>Grüße</b>").waitFor();
    await report(page).getByText("There is no assistant message").first().waitFor();
    await page.getByLabel("Add the generation prompt").check();
    await text(page, /<\|im_start\|>assistant\s*$/).waitFor();
    await page.getByLabel("Tools (JSON").fill("{}");
    await page.getByRole("alert").filter({ hasText: "The tools must be a list" }).waitFor();
    await messages.fill(" ".repeat(200_001));
    await page.getByRole("alert").filter({ hasText: "The lab works on up to 200000" }).waitFor();
  }));

test("dropped files are recognised by content", () =>
  visit({ hash: "#/template" }, async (page) => {
    await open(page, "Open a template file", { name: "own.jinja", buffer: Buffer.from("{{ messages | length }} messages") });
    await text(page, "5 messages").waitFor();
    await open(page, "Open a tokenizer file", { name: "tokenizer.json", buffer: Buffer.from('{"model": 1}') });
    await page.getByRole("alert").filter({ hasText: "tokenizer.json was not taken" }).waitFor();
  }));

test("a link carries the input, and a damaged one is reported", () =>
  visit({ hash: "#/template" }, async (page) => {
    await page.getByLabel("Template", { exact: true }).selectOption("Own text");
    await page.getByLabel("Template (Jinja)").fill("{% for m in messages %}({{ m.content }}){% endfor %}");
    await page.getByLabel("Messages (JSON)").fill('[{"role": "user", "content": "Grüße"}]');
    await text(page, "(Grüße)").waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#\/template\?i=1/);
    await page.goto("about:blank");
    await page.goto(link);
    await text(page, "(Grüße)").waitFor();
    assert.equal(await page.getByLabel("Template", { exact: true }).inputValue(), "own");
    await page.goto("about:blank");
    await page.goto(link.slice(0, -6));
    await page.getByRole("alert").filter({ hasText: "The link is" }).waitFor();

    const long = Array.from({ length: 4_000 }, (_, place) => ((place * 2654435761) % 4294967296).toString(36)).join(" ");
    await page.getByLabel("Messages (JSON)").fill(JSON.stringify([{ role: "user", content: long }]));
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("alert").filter({ hasText: "too long for a link" }).waitFor();
  }));

test("messages come from an episode of the library, and from a file", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["a.json", trajectory("seven", [{ says: "Looking.", calls: [["look", { at: 7 }]], sees: ["a box"] }])]);
    await library.link("seven").first().click();
    await page.getByRole("button", { name: "Template lab" }).click();
    await text(page, "a box").waitFor();
    assert.match(await page.getByLabel("Messages (JSON)").inputValue(), /Task seven/);

    const line = JSON.stringify({ messages: [{ role: "user", content: "From a line" }] });
    await open(page, "Open a template file", { name: "messages.jsonl", buffer: Buffer.from(`${line}\n${line}\n`) });
    await text(page, "From a line").waitFor();
    await page.evaluate(() => (location.hash = "#/template?episode=nowhere"));
    await page.getByRole("alert").filter({ hasText: "not stored separately in this browser" }).waitFor();
  }));

test("the tokenizer stays for the next visit", () =>
  visit({ hash: "#/template" }, async (page) => {
    const buffer = Buffer.from(JSON.stringify(byteTokenizer()));
    await open(page, "Open a tokenizer file", { name: "own.json", buffer });
    await page.getByText("From own.json.").waitFor();
    // It is stored shortly after it is shown.
    await page.waitForFunction(() => Object.values(localStorage).includes("own.json"));
    await page.reload();
    await page.getByText("From own.json.").waitFor();
    await page.getByRole("button", { name: "Use the toy" }).click();
    await page.getByText("Toy: each byte is a token").waitFor();
    await page.reload();
    await mode(page, "seed").waitFor();
    await page.getByText("Toy: each byte is a token").waitFor();
  }));

test("files are fetched from addresses, and failures are explained", async () => {
  const server = createServer((request, response) => {
    if (request.url !== "/closed.json") response.setHeader("Access-Control-Allow-Origin", "*");
    if (request.url === "/own.json" || request.url === "/closed.json") response.end(JSON.stringify(byteTokenizer()));
    else if (request.url === "/slow.json") response.write("{");
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  try {
    await visit({ hash: "#/template", origins: [origin], allowedErrors: [FAILED] }, async (page) => {
      const form = page.getByRole("form", { name: "Fetch a file" });
      const fetchFile = async (address) => {
        await form.getByLabel("Address of a tokenizer, template or messages").fill(address);
        await page.keyboard.press("Enter");
      };
      const failure = (words) => page.getByRole("alert").filter({ hasText: words }).waitFor();
      await fetchFile("");
      await failure("Enter the address of a file.");
      await fetchFile(`${origin}/missing.json`);
      await failure("the server responded with 404");
      await fetchFile(`${origin}/closed.json`);
      await failure("Download the file, and drop it on this page.");
      await fetchFile(`${origin}/slow.json`);
      await form.getByText("Fetching…").waitFor();
      await form.getByRole("button", { name: "Cancel" }).click();
      await form.getByText("Fetching…").waitFor({ state: "detached" });
      await fetchFile(`${origin}/own.json`);
      await page.getByText("From own.json.").waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

for (const theme of ["light", "dark"]) {
  test(`it fits a phone and is accessible, ${theme}`, () =>
    visit({ hash: "#/template", size: "narrow", theme }, async (page) => {
      await mode(page, "token_in").waitFor();
      await page.getByText("Show the tokens").click();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 390, `the page is ${width} pixels wide`);
      await page.getByLabel("Messages (JSON)").fill("[");
      await page.getByRole("alert").filter({ hasText: "This is not valid JSON" }).waitFor();
      await accessible(page);
    }));
}
