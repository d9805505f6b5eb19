// A training run: why a reward went up, from the curve over steps to the tokens of the sample that games it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { expect, test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { encode } from "./support/tokens.mjs";
import { Library } from "./support/trajectories.mjs";

const [STEPS, GROUPS, SAMPLES] = [6, 4, 4];
const GAMED = "I am certain. I am certain. I am certain.";

/** The events of a sample: a request with prefill and decode, a tool, and the reward. The last sample of a group is slow. */
function trace(index, place) {
  const start = 1_790_000_000 + place / 4;
  const [decoded, called, end] = [start + (place === SAMPLES - 1 ? 9 : 2), start + 9.5, start + 10].map((time, at) => (place === SAMPLES - 1 || at === 0 ? time : time - 7));
  const spans = [
    ["generate_and_rm", start, end],
    ["sglang_generate", start, decoded],
    ["sglang_pd_prefill", start, start + 0.5],
    ["sglang_pd_decode", start + 0.5, decoded],
    ["tool:count", decoded, called],
    ["reward_model", called, end],
  ];
  const events = spans.flatMap(([name, from, to], at) => {
    const parent_span_id = [undefined, "0", "1", "1", "0", "0"][at];
    return [{ type: "span_start", name, ts: from, span_id: `${at}`, parent_span_id }, { type: "span_end", name, ts: to, span_id: `${at}` }];
  });
  return { version: 1, sample_id: index, events };
}

/** A sample. One that games the reward says that it is certain, which the style score likes, and solves nothing. */
function sample({ step, group, place, games }) {
  const prompt = `<|im_start|>user\nWhat is ${group + 2} times 7?<|im_end|>\n<|im_start|>assistant\n`;
  const work = `Let me count: ${Array.from({ length: group + 2 }, (_, at) => (at + 1) * 7).join(", ")}.`;
  const isRight = (step + group + place) % 3 > 0;
  const response = games ? `${GAMED}<|im_end|>` : `${work} It is ${isRight ? (group + 2) * 7 : 1}.<|im_end|>`;
  const ids = encode(response);
  const [correct, style] = games ? [0, 1] : [Number(isRight), 0.25];
  const score = Number((0.3 * correct + 0.7 * style).toFixed(3));
  return {
    step,
    group_index: step * GROUPS + group,
    index: (step * GROUPS + group) * SAMPLES + place,
    prompt,
    response,
    response_length: ids.length,
    tokens: [...encode(prompt), ...ids],
    loss_mask: ids.map(() => 1),
    reward: { score, correct, style },
    trace: trace((step * GROUPS + group) * SAMPLES + place, place),
    status: !games && place === 3 && step === 2 ? "truncated" : "completed",
    rollout_log_probs: ids.map((_, at) => (games ? -0.01 : -0.4 - (at % 5) / 10)),
    log_probs: ids.map((_, at) => (games ? -0.02 : -0.45 - (at % 5) / 10)),
    entropy: ids.map(() => (games ? 0.05 : 0.8)),
  };
}

/** A run in which more and more samples of each group game the reward. The advantages are those of GRPO. */
function run(gaming) {
  const lines = [];
  for (let step = 0; step < STEPS; step++) {
    for (let group = 0; group < GROUPS; group++) {
      const places = Array.from({ length: SAMPLES }, (_, place) => place);
      const samples = places.map((place) => sample({ step, group, place, games: gaming && place * 2 < step - 1 + (group % 2) }));
      const rewards = samples.map((one) => one.reward.score);
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / SAMPLES;
      const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / (SAMPLES - 1));
      for (const one of samples) {
        const advantage = (one.reward.score - mean) / (deviation + 1e-6);
        lines.push(JSON.stringify({ ...one, advantages: one.loss_mask.map(() => advantage) }));
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

const curve = (page, name) => page.getByRole("slider", { name: `${name} over steps` });
const table = (page, name) => page.getByRole("table", { name, exact: true });
const way = (page) => page.getByRole("navigation", { name: "Training run" });

/** Nothing is wider than the window. */
async function fits(page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} px in a window of ${window} px`);
}

/** Looks at a part of the time of a step: its samples last 10 s. The address names it. */
async function alongTime(page, lanes) {
  const axis = page.getByRole("slider", { name: "Time", exact: true });
  const says = async (words) => assert.match(await axis.getAttribute("aria-valuetext"), words);
  await axis.focus();
  await page.keyboard.press("End");
  await says(/^At 10\.8 s, \d+ of 16 samples (is|are) running: .*reward \d/);
  await page.keyboard.press("Home");
  await says(/^At 0 s, \d+ of 16 samples (is|are) running: generation \d+, prefill \d+\.$/);
  await page.keyboard.press("+");
  assert.match(page.url(), /&time=0-5\.375$/);
  await page.getByRole("button", { name: "Zoom out" }).click();
  assert.doesNotMatch(page.url(), /time=/);
  const lane = lanes.getByRole("listitem").first().locator("svg");
  await lane.hover();
  const place = await lane.boundingBox();
  await page.mouse.move(place.x + place.width / 2, place.y + 10);
  await page.mouse.down();
  await page.mouse.move(place.x + place.width * 0.75, place.y + 10);
  await page.mouse.up();
  await page.waitForFunction(() => /&time=5\.[34]\d*-8\.[01]\d*$/.test(location.hash));
  // The last sample began before that part, and ended after it.
  const drawn = lanes.getByRole("listitem").first().locator("svg .lane-generation");
  assert.match(await drawn.getAttribute("d"), /^M0\.0 3h1000\.0v14/);
  await page.getByLabel("Spans").selectOption("tools");
  await drawn.waitFor({ state: "detached" });
  await page.waitForURL(/&spans=tools$/);
  await accessible(page);
  await fits(page);
}

for (const [size, theme] of [["wide", "light"], ["narrow", "dark"]]) {
  test(`the reward went up, but why: from the curve to the tokens, ${size}`, () =>
    visit({ hash: "#/review", size, theme }, async (page) => {
      const library = await new Library(page).ready();
      await library.import(["desk.jsonl", run(true)]);
      let inputs = 0;
      const act = async (input) => {
        inputs += 1;
        await input();
      };

      await act(() => page.getByRole("link", { name: "Training run", exact: true }).click());
      const changes = page.getByRole("list", { name: "What changed most in desk" });
      await changes.getByText(/^Reward 0\.\d+ → 0\.\d+ ↑/).waitFor();
      // The reward rose with style and certainty, while fewer answers are correct.
      await changes.getByText(/^Entropy 0\.8 → 0\.\d+ ↓/).waitFor();
      assert.match(await curve(page, "correct").getAttribute("aria-valuetext"), /^Step 5: 0\.\d/);
      await page.getByText(`${STEPS} steps · ${STEPS * GROUPS * SAMPLES} samples · ${STEPS * GROUPS} groups`).waitFor();
      await accessible(page);
      await fits(page);

      if (size === "wide") {
        const reward = await curve(page, "Reward").boundingBox();
        await act(() => page.mouse.click(reward.x + reward.width - 2, reward.y + reward.height / 2));
      } else {
        await curve(page, "Reward").focus();
        await act(() => page.keyboard.press("End"));
        await act(() => page.keyboard.press("Enter"));
      }
      await page.getByRole("heading", { name: `Step ${STEPS - 1}`, exact: true }).waitFor();
      await page.getByText(/r = −0\.\d+ with reward/).first().waitFor();
      await page.getByText("of the time, only the slowest 10% of the samples").waitFor();
      const lanes = page.getByRole("list", { name: "Samples by time" });
      const slow = lanes.getByRole("listitem").first().getByRole("link", { name: /^Group \d+, sample \d+, 10\.0 s: generation 9\.0 s, prefill 500 ms, decode 8\.5 s, tools 500 ms, reward 500 ms/ });
      await slow.waitFor();
      await accessible(page);
      await fits(page);
      await alongTime(page, lanes);

      await act(() => page.getByRole("list", { name: "Groups" }).getByRole("link", { name: /^Group 21,/ }).click());
      await page.getByText("as in GRPO").waitFor();
      await page.getByRole("region", { name: "First difference" }).getByText(GAMED).first().waitFor();
      await accessible(page);
      await fits(page);
      const group = page.url();

      const best = table(page, "Samples").getByRole("row", { name: /best/ });
      assert.match(await best.innerText(), /0\.70*\s.*completed/s);
      await act(() => best.getByRole("link").click());
      await library.transcript.getByText(GAMED).first().waitFor();
      const tokens = page.getByRole("grid", { name: "Tokens of step 1, message 1" });
      await tokens.getByRole("gridcell").first().waitFor();
      await act(() => page.getByLabel("Colour by").selectOption({ label: "advantages" }));
      await page.getByRole("img", { name: /^Scale of advantages/ }).waitFor();
      assert.ok(inputs <= 8, `${inputs} inputs`);
      await fits(page);
      await page.getByRole("tab", { name: "Details" }).click();
      const spans = page.getByRole("list", { name: "Spans of time" }).getByRole("listitem");
      await spans.filter({ hasText: "sglang_pd_prefill" }).getByText("500 ms").waitFor();
      await accessible(page);

      // The way back, and the address alone.
      await way(page).getByRole("link", { name: "Next sample" }).click();
      await way(page).getByText("2 of 4").waitFor();
      // The keys follow the group, not the table, and the next sample has the same colours by its address.
      await page.keyboard.press("]");
      await way(page).getByText("3 of 4").waitFor();
      await page.waitForFunction(() => location.hash.includes("stream=advantages") && location.hash.includes("group=21"));
      assert.equal(await page.getByRole("group", { name: "Trajectories of the table" }).count(), 0);
      await way(page).getByRole("link", { name: "Group 21" }).click();
      // How the lanes were looked at is kept.
      await page.waitForURL(group);
      assert.match(group, /spans=tools/);
      if (size === "narrow") return;
      await page.waitForLoadState("networkidle");
      await page.reload();
      await table(page, "Samples").getByRole("row", { name: /worst/ }).waitFor();
      await page.keyboard.press("]");
      await page.getByRole("heading", { name: "Group 22" }).waitFor();
      await way(page).getByRole("link", { name: "Step 5" }).click();
      await page.getByRole("link", { name: "Show in table" }).click();
      await library.rows(GROUPS * SAMPLES);

      // Figures of tokens are columns. Those that game the reward are sure of every token; a page says so to others.
      const filter = page.getByRole("form", { name: "New filter" });
      await filter.getByLabel("Column").selectOption({ label: "Mean entropy" });
      await filter.getByLabel("Condition").fill("< 0.1");
      await filter.getByRole("button", { name: "Filter" }).click();
      await library.rows(10);
      assert.match(page.url(), /filter=mean-entropy~between~~0\.0/);
      await library.table.getByRole("checkbox", { name: "Select all" }).check();
      await page.getByRole("button", { name: "Export", exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Findings (HTML page)" }).click(),
      ]);
      const findings = await readFile(await download.path(), "utf8");
      assert.match(findings, /<title>Findings in desk<\/title>[^]*6 steps, 96 samples\.[^]*<svg[^]*Group 21/);
      await page.getByRole("button", { name: "Remove filter" }).last().click();
      await library.rows(GROUPS * SAMPLES);

      // A second run for comparison, and another reward.
      const choice = (name) => page.getByRole("combobox", { name, exact: true });
      await page.getByRole("button", { name: "Remove filter" }).first().click();
      await library.import(["calm.jsonl", run(false)]);
      await page.getByRole("link", { name: "Training run", exact: true }).click();
      await choice("Run").selectOption("desk");
      await choice("Compare with").selectOption("calm");
      await page.locator(".run-other").first().waitFor();
      await choice("Reward").selectOption("correct");
      await changes.getByText(/^correct .* ↓/).waitFor();
      // The choice is kept for the next way to the run.
      await page.getByRole("link", { name: "Trajectories", exact: true }).first().click();
      await page.getByRole("link", { name: "Training run", exact: true }).click();
      await choice("Run").selectOption("desk");
      await expect(choice("Reward")).toHaveValue("correct");
      await changes.getByText(/^correct .* ↓/).waitFor();

      // Both runs have their figures.
      await choice("Compare with").selectOption("calm");
      await page.locator(".run-other").first().waitFor();
      assert.match(await curve(page, "Reward (correct)").getAttribute("aria-valuetext"), /^Step 5: 0\.\d+ ± 0\.\d+; calm: 0\.\d+ ± 0\.\d+$/);
      await page.getByRole("list", { name: "What changed most in calm" }).getByText(/^correct/).waitFor();
      await table(page, "Steps").getByRole("row", { name: /^Step 5, calm 0\.\d+ ± / }).waitFor();
      const tasks = table(page, "Tasks over steps");
      await page.getByText("Tasks over steps").click();
      await tasks.getByRole("columnheader", { name: "Trend in calm" }).waitFor();
      assert.equal(await tasks.getByRole("row").count(), GROUPS + 1);
      const limit = page.getByLabel("Solved from a reward of");
      await expect(limit).toHaveValue("1");
      await limit.fill("0");
      await limit.press("Enter");
      await tasks.getByRole("row", { name: /always solved/ }).nth(GROUPS - 1).waitFor();
      await page.waitForURL(/&solved=0&tasks=open$/);
      await page.waitForLoadState("networkidle");
      await page.reload();
      await expect(limit).toHaveValue("0");
      await accessible(page);
      await fits(page);

      // The chosen reward is known of a sample, and in the table.
      await table(page, "Steps").getByRole("link", { name: "Step 5", exact: true }).click();
      await choice("Order").selectOption("by mean reward");
      await page.waitForURL(/tiles=mean/);
      await page.getByRole("list", { name: "Groups" }).getByRole("link", { name: /^Group 21,/ }).click();
      await table(page, "Samples").getByRole("link").first().click();
      await way(page).getByText("Reward (correct): ").waitFor();
      await way(page).getByRole("link", { name: "Step 5" }).click();
      await expect(choice("Order")).toHaveValue("mean");
      await page.getByRole("link", { name: "Show in table" }).click();
      await library.table.getByRole("columnheader", { name: "correct" }).waitFor();
      await page.goBack();
      await way(page).getByRole("link", { name: "desk" }).click();
      await page.getByRole("heading", { name: "desk", exact: true }).waitFor();

      // The slow tail of a step: only the samples that were cut off.
      await page.evaluate(() => {
        location.hash = location.hash.replace("run=desk", "run=desk&step=2");
      });
      await page.getByRole("heading", { name: "Step 2", exact: true }).waitFor();
      const timed = page.getByRole("list", { name: "Samples by time" }).getByRole("listitem");
      await timed.nth(GROUPS).waitFor();
      await choice("Ending").selectOption({ label: `truncated (${GROUPS})` });
      await timed.nth(GROUPS).waitFor({ state: "detached" });
      assert.equal(await timed.count(), GROUPS);
      await timed.first().getByRole("link", { name: /sample \d+, 10\.0 s: .*, truncated$/ }).waitFor();
      await accessible(page);
    }));
}
