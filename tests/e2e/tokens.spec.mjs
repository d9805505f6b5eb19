// Tokens below the messages of a rollout: strips with their mask, a stored tokenizer, checks and charts, counts in the
// table.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { expect, test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { Library } from "./support/trajectories.mjs";
import { SPECIALS, byteTokenizer, encode, rollout } from "./support/tokens.mjs";

const [START, END] = SPECIALS.map((_, place) => 256 + place);
const TURNS = [
  { says: 'One moment.\n<tool_call>\n{"name": "find", "arguments": {"id": 7}}\n</tool_call>', tool: "found" },
  { says: "It is on its way.", user: "Thanks ###STOP###" },
];

const bar = (page) => page.getByRole("group", { name: "Tokens", exact: true });
const grid = (page, name) => page.getByRole("grid", { name });
const described = (page, name) => page.locator(".strip", { has: grid(page, name) }).locator(".strip-token");

/** Opens an episode from a file. */
async function open(page, name, content, link = /Sample/) {
  const library = await new Library(page).ready();
  await library.import([name, content]);
  await library.link(link).first().click();
  await library.transcript.getByRole("listitem").first().waitFor();
  return library;
}

async function giveTokenizer(page, content = byteTokenizer()) {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    bar(page).getByRole("button", { name: "Open a tokenizer file" }).click(),
  ]);
  await chooser.setFiles({ name: "tokenizer.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(content)) });
}

test("each message has its tokens, trained ones in another form, and a tokenizer shows their text", () =>
  visit({ hash: "#/review" }, async (page) => {
    const sample = rollout(TURNS);
    const trained = sample.loss_mask.filter(Boolean).length;
    await open(page, "samples.jsonl", `${JSON.stringify(sample)}\n`);
    await bar(page).getByText(`${sample.tokens.length} tokens, ${trained} trained`).waitFor();
    await bar(page).getByText("No tokenizer: ids only.").waitFor();

    const turn = grid(page, "Tokens of step 1, message 1");
    const said = encode(TURNS[0].says).length + 2;
    await page.getByText(`${said} tokens, ${said} trained`).waitFor();
    const first = turn.getByRole("gridcell").first();
    assert.equal(await first.innerText(), String("O".charCodeAt(0)));
    assert.match(await first.evaluate((cell) => getComputedStyle(cell).textDecorationLine), /underline/);
    const observed = grid(page, "Tokens of step 1, message 2").getByRole("gridcell").first();
    assert.equal(await observed.innerText(), String(START));
    assert.equal(await observed.evaluate((cell) => getComputedStyle(cell).textDecorationLine), "none");
    // The header of the second turn belongs to it, and is not trained.
    await page.getByText(`${encode(TURNS[1].says).length + 2 + 11} tokens, ${encode(TURNS[1].says).length + 2} trained`).waitFor();

    await giveTokenizer(page);
    await bar(page).getByText("Tokenizer: tokenizer.json.").waitFor();
    await turn.getByRole("gridcell", { name: "O", exact: true }).first().waitFor();
    await first.hover();
    await described(page, "Tokens of step 1, message 1").getByText(`(1 of ${said} here) · id 79 · text O · trained · rollout_log_probs −0.25`).waitFor();

    await turn.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const at = described(page, "Tokens of step 1, message 1");
    await at.getByText(`id ${END} · text <|im_end|> · special · trained`).waitFor();
    const active = await turn.getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
    assert.match(await page.locator(`#${active}`).getAttribute("class"), /special/);

    await bar(page).getByRole("combobox", { name: "Colour by" }).selectOption("rollout_log_probs");
    await bar(page).getByRole("img", { name: "Scale of rollout_log_probs: −0.25 to −0.25" }).waitFor();
    const ground = (token) => token.evaluate((cell) => getComputedStyle(cell).backgroundColor);
    const shaded = page.locator(".token.trained.shade-3").first();
    await shaded.waitFor();
    assert.notEqual(await ground(shaded), await ground(page.locator(".token.shade-gap").first()), "the shade is a colour");

    await page.reload();
    await bar(page).getByText("Tokenizer: tokenizer.json.").waitFor();
    await bar(page).getByRole("button", { name: "Remove the tokenizer" }).click();
    await bar(page).getByText("No tokenizer: ids only.").waitFor();

    await bar(page).getByRole("button", { name: "Tokens", exact: true }).click();
    await turn.waitFor({ state: "detached" });
  }));

/** A rollout in which the end of the first turn is not trained, a header is, and values are off. */
function faulty() {
  const sample = rollout(TURNS);
  const prompt = sample.tokens.length - sample.loss_mask.length;
  const end = sample.tokens.indexOf(END, prompt) - prompt;
  sample.loss_mask[end] = 0;
  sample.loss_mask[end + 1] = 0;
  const turn = sample.loss_mask.indexOf(1, end);
  sample.loss_mask[turn - 1] = 1;
  const stream = (value, others) => Object.assign(sample.loss_mask.map((trained) => (trained ? value : 0)), others);
  sample.rollout_log_probs = stream(-0.25);
  sample.log_probs = stream(-0.25, { 2: -2 });
  sample.entropy = stream(0.5, { 4: 3, 6: "NaN" });
  sample.weight_versions = ["3", "4"];
  return { sample, prompt, end: prompt + end };
}

test("checks, jumps, charts and the trained text lead to tokens", () =>
  visit({ hash: "#/review" }, async (page) => {
    const { sample, prompt, end } = faulty();
    const text = (one) => JSON.stringify(one).replaceAll('"NaN"', "NaN");
    const another = { ...sample, index: 8, entropy: sample.entropy.map((value) => (value === 3 ? 1 : value)) };
    await open(page, "samples.jsonl", `${text(sample)}\n${text(another)}\n`);
    await bar(page).getByRole("button", { name: "Checks and charts" }).click();
    const panel = page.getByRole("tabpanel", { name: "Tokens" });
    const check = (name) => panel.getByRole("listitem").filter({ hasText: name });
    await check("End of turn is trained").filter({ hasText: "unknown" }).getByText("Open the model's tokenizer file").waitFor();
    await check("No NaN in trained tokens").filter({ hasText: "failed" }).getByText("NaN or infinite: 1 in entropy.").waitFor();

    await giveTokenizer(page);
    await check("End of turn is trained").filter({ hasText: "failed" }).getByText("2 turns: 1 with an untrained end.").waitFor();
    await check("Tokens spell the messages").filter({ hasText: "passed" }).waitFor();
    await check("Only turns of the assistant are trained").getByText("1 in a header").waitFor();
    await check("One policy version").getByText("the policy changes before turn 2").waitFor();
    await check("Trainer and sampler agree").getByText("the largest difference is 1.750").waitFor();
    const fact = (name) => panel.getByRole("region", { name: "Selected token" }).locator(".fact", { hasText: name });
    const focused = (name) => page.waitForFunction((label) => document.activeElement?.getAttribute("aria-label") === label, name);
    await panel.getByRole("button", { name: "Go to the token: End of turn is trained" }).click();
    await focused("Tokens of step 1, message 2");
    await fact("Text").getByText("<|im_end|> (special)").waitFor();
    await fact("Token").getByText(`${end + 1} of ${sample.tokens.length}`).waitFor();
    await panel.getByRole("button", { name: "Go to the token: Trainer and sampler agree" }).click();
    await focused("Tokens of step 1, message 1");
    await fact("Ratio").getByText("0.173774").waitFor();

    await panel.getByRole("combobox", { name: "Go to" }).selectOption("highest entropy");
    await page.keyboard.press("Escape");
    await panel.getByRole("button", { name: "Next token" }).click();
    await fact("Token").getByText(`${prompt + 5} of`).waitFor();
    await focused("Tokens of step 1, message 1");
    await page.keyboard.press("t");
    await panel.getByText("2 of 4").waitFor();

    await panel.getByRole("combobox", { name: "Stream" }).selectOption("entropy");
    await page.getByRole("img", { name: /^Scale of entropy: 0.5 to 3/ }).waitFor();
    const bars = panel.getByRole("group", { name: "Trained tokens by entropy" });
    await bars.getByRole("button").first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await fact("entropy").getByText("3", { exact: true }).waitFor();
    await panel.getByRole("slider", { name: "Token" }).press("End");
    await fact("Token").getByText(`${sample.tokens.length} of ${sample.tokens.length}`).waitFor();

    await panel.getByRole("button", { name: "Show trained text" }).click();
    await panel.getByText(`[${prompt} tokens are not trained]`).waitFor();
    await panel.getByRole("button", { name: "Copy trained text" }).click();
    await panel.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.includes(TURNS[1].says) && !copied.includes("Be brief."), copied);

    const range = (page) => page.getByLabel("Clip range ε");
    await range(page).fill("-1");
    await range(page).press("Enter");
    await expect(range(page)).toHaveValue("0.2");
    await range(page).fill("0.3");
    await range(page).press("Enter");
    await page.getByRole("button", { name: "Pin scale" }).click();
    // The address names the token, the stream, the scale and the range; another tab opens them.
    await page.waitForURL((url) => url.hash.includes(`token=${sample.tokens.length}&stream=entropy&scale=0.5~3&clip=0.3`));
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: "Pin scale", pressed: true }).waitFor();
    await other.getByRole("button", { name: "Checks and charts" }).click();
    await expect(range(other)).toHaveValue("0.3");
    await described(other, "Tokens of step 2, message 2").getByText(/^Token [\d,]+ \(([\d,]+) of \1 here\)/).waitFor();
    await other.close();
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: "Sample 8" }).waitFor();
    await page.getByRole("img", { name: /^Scale of entropy: 0.5 to 3/ }).waitFor();
    await page.getByRole("button", { name: "Pin scale", pressed: true }).click();
    await page.getByRole("img", { name: /^Scale of entropy: 0.5 to 1/ }).waitFor();
  }));

test("a rollout is exported for slime and for tau-bench", () =>
  visit({ hash: "#/review" }, async (page) => {
    const sample = rollout(TURNS);
    await open(page, "sample.json", sample);
    const exported = async (name) => {
      await page.getByRole("button", { name: "Export", exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("dialog").getByRole("button", { name, exact: true }).click(),
      ]);
      return JSON.parse(await readFile(await download.path(), "utf8"));
    };
    const again = await exported("slime Sample (JSONL)");
    for (const key of ["prompt", "tokens", "loss_mask", "response", "reward", "status", "rollout_log_probs"]) {
      assert.deepEqual(again[key], sample[key], key);
    }
    const interaction = await exported("slime InteractionResult (JSONL)");
    assert.deepEqual(interaction.messages, sample.messages);
    const [result] = await exported("tau-bench results (JSON)");
    assert.deepEqual([result.task_id, result.reward, result.trial], [7, 1, 0]);
    assert.equal(result.traj.length, sample.messages.length);
  }));

test("the table counts tokens and trained tokens", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    const sample = rollout(TURNS);
    await library.import(["sample.json", sample]);
    await library.link(/Sample/).first().waitFor();
    await page.getByText("Columns", { exact: true }).click();
    for (const name of ["Sequence tokens", "Trained tokens"]) await page.getByRole("checkbox", { name }).check();
    await page.getByText("Columns", { exact: true }).click();
    const row = library.table.getByRole("row").filter({ hasText: "Sample" });
    await row.getByRole("cell", { name: String(sample.tokens.length), exact: true }).waitFor();
    await row.getByRole("cell", { name: String(sample.loss_mask.filter(Boolean).length), exact: true }).waitFor();
  }));

test("an episode of 32,000 tokens scrolls, and few of them are on the page", () =>
  visit({ hash: "#/review", axe: false }, async (page) => {
    const turns = [{ says: "look", user: "word ".repeat(4_000) }, ...Array.from({ length: 12 }, () => ({ says: "more ".repeat(200), user: "go on ".repeat(20) }))];
    const sample = rollout(turns);
    assert.ok(sample.tokens.length > 32_000, `${sample.tokens.length} tokens`);
    await open(page, "long.json", sample);
    await giveTokenizer(page);
    await page.keyboard.press("g");
    const long = grid(page, "Tokens of step 1, message 2");
    await long.getByRole("gridcell").first().waitFor();
    await long.focus();
    await page.keyboard.press("End");
    const count = encode(turns[0].user).length + 1 + "user\n".length + 2;
    const at = described(page, "Tokens of step 1, message 2");
    const shown = count.toLocaleString("en");
    await at.getByText(`(${shown} of ${shown} here)`).waitFor();
    const drawn = await page.getByRole("gridcell").count();
    assert.ok(drawn > 0 && drawn < 6_000, `${drawn} tokens are on the page`);

    // The wheel moves other tokens under the pointer. It does not point at them.
    const cell = long.locator(`[data-token="${count - 1}"]`);
    await cell.hover();
    // The texts of tokens come a moment later.
    await at.getByText(/· text /).waitFor();
    const pointed = await at.innerText();
    assert.match(pointed, /^Token [\d,]+ \(/);
    // A wheel event that arrives while the page lays out its rows may be ignored, so a person turns the wheel again.
    await expect(async () => {
      await page.mouse.wheel(0, -2_000);
      await cell.waitFor({ state: "detached", timeout: 1_000 });
    }).toPass();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.equal(await at.innerText(), pointed);
  }));

test("tokens that fit no tokenizer, no mask and no length are reported, and the messages stay", () =>
  visit({ hash: "#/review" }, async (page) => {
    const sample = rollout(TURNS);
    sample.tokens[sample.tokens.length - 1] = 99_999;
    await open(page, "other.json", sample);
    await giveTokenizer(page, { model: 1 });
    await page.getByRole("alert").filter({ hasText: "tokenizer.json was not taken" }).waitFor();
    await giveTokenizer(page);
    const last = grid(page, "Tokens of step 2, message 2");
    await last.focus();
    await page.keyboard.press("End");
    await last.getByRole("gridcell").filter({ hasText: "?99999" }).waitFor();

    await page.goto(new URL("#/review", page.url()).href);
    await open(page, "short.json", { ...rollout(TURNS), index: 8, tokens: [1, 2] }, /Sample 8/);
    await page.getByRole("note").filter({ hasText: "The recorded tokens can't be shown" }).waitFor();
    await page.getByText("It is on its way.").filter({ visible: true }).first().waitFor();
  }));

test("a dropped tokenizer is used, and one of another model is named as such", () =>
  visit({ hash: "#/review" }, async (page) => {
    await open(page, "samples.json", rollout(TURNS));
    const drop = async (name, content) => {
      const given = [name, JSON.stringify(content)];
      const dataTransfer = await page.evaluateHandle(([name, text]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text], name));
        return transfer;
      }, given);
      await page.dispatchEvent("body", "drop", { dataTransfer });
    };
    await drop("other-tokenizer.json", byteTokenizer(1));
    await bar(page).getByText("Tokenizer: other-tokenizer.json. It seems to be another model's").waitFor();
    await accessible(page);
    await drop("tokenizer.json", byteTokenizer());
    await expect(bar(page).getByRole("status")).toHaveText("Tokenizer: tokenizer.json.");
    // What is none after all is reported like any other file.
    await page.getByRole("link", { name: "Trajectories" }).first().click();
    await drop("no-tokenizer.json", { model: 1 });
    await page.getByText("no-tokenizer.json").first().waitFor();
  }));

test("strips fit a phone and are accessible in the dark", () =>
  visit({ hash: "#/review", size: "narrow", theme: "dark" }, async (page) => {
    await open(page, "sample.json", rollout(TURNS));
    await giveTokenizer(page);
    await page.getByRole("gridcell").first().waitFor();
    await bar(page).getByRole("combobox", { name: "Colour by" }).selectOption("rollout_log_probs");
    await bar(page).getByRole("button", { name: "Checks and charts" }).click();
    await page.getByRole("listitem").filter({ hasText: "End of turn is trained" }).getByText("passed").waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `the page is ${width} pixels wide`);
    await accessible(page);
    // A token that is jumped to is not covered by the header.
    await page.getByRole("combobox", { name: "Go to" }).selectOption("lowest log-probability");
    await page.getByRole("button", { name: "Next token" }).click();
    const selected = page.locator("[role=gridcell][aria-selected=true]");
    await expect(async () => {
      const isOnTop = await selected.evaluate((cell) => {
        const box = cell.getBoundingClientRect();
        return cell.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
      });
      assert.ok(isOnTop, "the token is covered");
    }).toPass({ timeout: 3_000 });
  }));
