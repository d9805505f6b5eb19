// The school: a small agent learns in the page, its failures are found and repaired, and a link repeats a run exactly.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, accessible, inWorkers, visit } from "./support/browser.mjs";
import { firefox, webkit } from "./support/other_browsers.mjs";

const { VOLARY_FIREFOX, VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT } = process.env;

const ADDRESS = "#/learn/school";

class School {
  constructor(page) {
    this.page = page;
    this.training = page.getByRole("region", { name: "Training" });
    this.run = page.getByRole("status", { name: "Run" });
    this.curves = page.getByRole("region", { name: "Curves" });
    this.checks = page.getByRole("region", { name: "Checks" });
  }

  async ready() {
    await this.run.getByText("Not trained yet").waitFor();
    return this;
  }

  async train() {
    await this.training.getByRole("button", { name: "Train", exact: true }).click();
  }

  async stop() {
    await this.training.getByRole("button", { name: "Stop" }).click();
    await this.training.getByRole("button", { name: "Train", exact: true }).waitFor();
  }

  /** The number of updates so far. */
  async updates() {
    const text = await this.run.innerText();
    return Number(/^Update (\d+)/.exec(text)?.[1] ?? 0);
  }

  async reaches(updates) {
    await this.page.waitForFunction(
      (wanted) => Number(/^Update (\d+)/.exec(document.querySelector("[aria-label=Run]").textContent)?.[1] ?? 0) >= wanted,
      updates,
      { timeout: 120_000 },
    );
  }

  /** Makes exactly this many updates, one at a time. */
  async makes(updates) {
    const one = this.training.getByRole("button", { name: "One update" });
    for (let number = 1; number <= updates; number += 1) {
      await one.click();
      await this.reaches(number);
    }
  }

  async weights() {
    const figures = await this.curves.getByText(/weights [0-9a-f]{16}/).innerText();
    return /weights ([0-9a-f]{16})/.exec(figures)[1];
  }

  /** The weights after an update, counted from 1. */
  async weightsAfter(update) {
    await this.curves.getByRole("slider", { name: "Update" }).fill(String(update));
    await this.curves.getByText(new RegExp(`Update ${update}[:,]`)).waitFor();
    return this.weights();
  }

  async success() {
    return Number(/: (\d+) %/.exec(await this.run.innerText())[1]);
  }
}

for (const size of ["wide", "narrow"]) {
  test(`an agent learns to use its tool, ${size}`, () =>
    visit({ hash: ADDRESS, size }, async (page) => {
      test.slow();
      const school = await new School(page).ready();
      const asked = Date.now();
      await school.train();
      await school.reaches(1);
      console.log(`first update after ${Date.now() - asked} ms`);
      // What is looked at does not move while the run goes on, until the latest is wanted again.
      await school.reaches(12);
      const slider = school.curves.getByRole("slider", { name: "Update" });
      await slider.fill("3");
      await school.curves.getByText("Update 3:").waitFor();
      await school.reaches(20);
      await school.curves.getByText("Update 3:").waitFor();
      await school.curves.getByRole("button", { name: "Follow the latest" }).click();
      await page.waitForFunction(() => Number(/: (\d+) %/.exec(document.querySelector("[aria-label=Run]").textContent)?.[1]) >= 60, null, {
        timeout: 120_000,
      });
      await school.stop();
      const stopped = await school.updates();
      await page.getByRole("region", { name: "Samples" }).getByText("right", { exact: true }).first().waitFor();

      const ask = page.getByRole("region", { name: "Ask it" });
      await ask.getByLabel("Task").fill("?3*4=");
      await ask.getByRole("button", { name: "Ask" }).click();
      await ask.getByText("untrained").waitFor();
      await ask.getByText("after 10", { exact: true }).waitFor();
      await ask.getByText(`after ${stopped}`, { exact: true }).waitFor();

      const exam = page.getByRole("region", { name: "Test it" });
      await exam.getByRole("button", { name: "New tasks" }).click();
      await exam.getByText(/of 64 new tasks/).waitFor();
      await exam.getByRole("button", { name: "Harder tasks" }).click();
      await exam.getByText(/of 64 tasks beyond its training/).waitFor();
      await accessible(page);

      // A task that it cannot read is refused, and the run stays.
      await ask.getByLabel("Task").fill("What is 3 times 4?");
      await ask.getByRole("button", { name: "Ask" }).click();
      await page.getByRole("alert").getByText("is no task of this environment").waitFor();
      assert.equal(await school.updates(), stopped);
    }));
}

test("one group is explained step by step, from its samples to what one update changed", () =>
  visit({ hash: ADDRESS }, async (page) => {
    const school = await new School(page).ready();
    const group = page.getByRole("region", { name: "One group, slowly" });
    await group.getByRole("button", { name: "Update slowly" }).click();
    await group.getByText("answered the task").waitFor();
    assert.equal(await school.updates(), 1);
    const rows = group.getByRole("row");
    assert.equal(await rows.count(), 9, "a head and eight samples");
    await group.getByRole("button", { name: "3. Advantages" }).click();
    await group.getByText("advantage = (reward −").waitFor();
    await group.getByRole("button", { name: "5. What changed" }).click();
    await group.getByText("After one step of the optimiser").waitFor();
    const tips = await group.locator("[title*=' → ']").count();
    assert.ok(tips > 8, "each character of the agent tells its change");
  }));

for (const { plant, finding, repair } of [
  { plant: "Leaky grader", finding: "Reward without success", repair: "Repair: an honest grader" },
  { plant: "Loss mask off", finding: "Trained on replies", repair: "Repair: loss mask on" },
  { plant: "Groups of 2", finding: "Dead groups", repair: "Repair: larger groups, warmer sampling" },
  { plant: "No baseline", finding: "Nothing is discouraged", repair: "Repair: a baseline" },
  { plant: "Cold sampling", finding: "Dead groups", repair: "Repair: larger groups, warmer sampling" },
]) {
  test(`a planted failure is found and repaired: ${plant}`, () =>
    visit({ hash: ADDRESS, axe: false }, async (page) => {
      test.slow();
      const school = await new School(page).ready();
      await page.getByRole("region", { name: "Break it" }).getByRole("button", { name: plant }).click();
      await school.ready();
      await school.train();
      await school.checks.getByRole("heading", { name: finding }).waitFor({ timeout: 90_000 });
      // Both curves are drawn: their difference is what a leak shows.
      for (const curve of ["success", "of-reward"]) await school.curves.locator(`path.${curve}`).waitFor();
      assert.match(page.url(), /#\/learn\/school\?/);
      await school.checks.getByRole("button", { name: repair }).click();
      // The knobs are the usual ones again, and so is the address.
      await page.waitForURL(/#\/learn\/school$/);
      await school.stop();
      const before = await school.updates();
      await school.train();
      await school.reaches(before + 6);
      await school.checks.getByRole("heading", { name: finding }).waitFor({ state: "detached", timeout: 90_000 });
    }));
}

test("a link repeats a run exactly, and its samples are a training run in Review", () =>
  visit({ hash: `${ADDRESS}?seed=7&prompts=4` }, async (page) => {
    test.slow();
    const school = await new School(page).ready();
    await page.getByLabel("Store").selectOption({ label: "2 tasks of each update" });
    await school.makes(3);
    const weights = await school.weights();
    await page.getByText("48 trajectories are stored.").waitFor();
    await school.training.getByRole("button", { name: "Begin again" }).click();
    await school.ready();
    await school.makes(3);
    assert.equal(await school.weights(), weights);
    await page.getByRole("link", { name: "Open Review" }).click();
    await page.getByRole("table", { name: "Trajectories" }).waitFor();
    await page.getByText("School prompts=4 seed=7").first().waitFor();
  }));

test("knobs out of their range are refused, and a broken link says so", () =>
  visit({ hash: `${ADDRESS}?groups=4` }, async (page) => {
    const school = await new School(page).ready();
    await page.getByRole("alert").getByText("groups").waitFor();
    await page.getByText("Knobs", { exact: true }).click();
    const temperature = page.getByLabel("Temperature");
    await temperature.fill("0");
    await temperature.press("Tab");
    await page.getByRole("alert").getByText("The temperature is 0").waitFor();
    assert.equal(await temperature.inputValue(), "1");
    await temperature.fill("0,5");
    await temperature.press("Tab");
    await page.waitForURL(/temperature=0\.5/);
    await school.makes(1);
  }));

test("a person plays against the agent, and both are scored", () =>
  visit({ hash: ADDRESS }, async (page) => {
    const school = await new School(page).ready();
    await school.makes(2);
    const contest = page.getByRole("region", { name: "Play against it" });
    await contest.getByRole("button", { name: "Draw a task" }).click();
    const prompt = await contest.getByText(/^\?\d+[-+*]\d+=$/).innerText();
    const [, left, sign, right] = /^\?(\d+)([-+*])(\d+)=$/.exec(prompt);
    const answer = { "+": +left + +right, "-": left - right, "*": left * right }[sign];
    await contest.getByLabel("Calculate", { exact: true }).fill("one");
    await contest.getByLabel("Calculate", { exact: true }).press("Enter");
    await contest.getByText("is no move of this environment").waitFor();
    await contest.getByLabel("Calculate", { exact: true }).fill(`${left} ${sign === "*" ? "×" : sign} ${right}`);
    await contest.getByLabel("Calculate", { exact: true }).press("Enter");
    // Its reply is there, and the agent waits.
    await contest.getByText(`>${answer};`).first().waitFor();
    assert.equal(await contest.getByText(/The agent after/).count(), 0);
    await contest.getByLabel("Answer", { exact: true }).fill(String(answer));
    await contest.getByRole("button", { name: "Answer: go" }).click();
    await contest.getByText("The agent after 2 updates").waitFor();
    await contest.getByText(/^Solved: you 1, the agent [01], of 1\.$/).waitFor();
    await accessible(page);
    await contest.getByRole("button", { name: "Next task" }).click();
    await contest.getByLabel("Answer", { exact: true }).fill("99999");
    await contest.getByLabel("Answer", { exact: true }).press("Enter");
    await contest.getByText(/^Solved: you 1, the agent [012], of 2\.$/).waitFor();
  }));

/** A hand-in with a solved task of the school, one in words, a wrong answer, and one of another environment. */
function handIn(pupil, left, right) {
  const call = (name, args) => ({
    action: { role: "assistant", content: null, tool_calls: [{ id: "aaaaaaaaa", name, arguments: args }] },
    observation: [],
    reward: 1,
    done: name === "submit_answer",
    truncated: false,
  });
  const episode = (configuration, steps, environment = "calculator") => ({
    format: FORMATS.episode,
    version: 1,
    id: `${pupil}-${left}-${steps.length}`,
    name: pupil,
    recipe: { environment, configuration, seed: 0 },
    steps,
  });
  const product = left * right;
  const sum = { problem: `What is ${left}*${right}?`, answer: product };
  const solved = [call("calculator", { expr: `${left} * ${right}` }), call("submit_answer", { answer: String(product) })];
  const episodes = [
    episode(sum, solved),
    episode({ problem: "A train runs 22 km in an hour. And in 3 hours?", answer: 66 }, [
      call("calculator", { expr: "22 * 3" }),
      call("submit_answer", { answer: "66" }),
    ]),
    episode(sum, [call("submit_answer", { answer: "1" })]),
    episode({}, [call("incr", {})], "counter"),
  ];
  return JSON.stringify({
    format: FORMATS.handIn,
    version: 1,
    assignment: "a1",
    title: "Sums",
    pupil,
    handed_in: 0,
    tasks: ["Product", "Train", "Guess", "Count"].map((title, index) => ({ title, episode: index })),
    episodes,
  });
}

const FORMATS = { episode: "volary-episode", handIn: "volary-hand-in" };

for (const size of ["wide", "narrow"]) {
  test(`the class teaches it, with and without a pupil, ${size}`, () =>
    visit({ hash: ADDRESS, size }, async (page) => {
      test.slow();
      const school = await new School(page).ready();
      const view = page.getByRole("region", { name: "The class teaches it" });
      const chooser = page.waitForEvent("filechooser");
      await view.getByRole("button", { name: "Open hand-ins" }).click();
      const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
      await (await chooser).setFiles([
        file("ada.json", handIn("Ada", 37, 48)),
        file("ben.json", handIn("Ben", 21, 13)),
        file("photo.json", "no hand-in"),
      ]);
      await view.getByText("2 pupils, 4 episodes that fit.").waitFor({ timeout: 90_000 });
      const table = view.getByRole("table", { name: "Warm starts" });
      const share = async (name) => Number(/(\d+) %/.exec(await table.getByRole("row", { name }).innerText())[1]);
      const [alone, all] = [await share("The student alone"), await share("All pupils")];
      assert.ok(all > alone, `${alone} % and ${all} %`);
      // What does not fit is named.
      await view.getByText("Left out: 5").click();
      await view.getByText(/Ada, Guess: It did not solve its task/).waitFor();
      await view.getByText(/Ben, Count: It was played in `counter`/).waitFor();
      await view.getByText(/photo, photo\.json: It is neither a hand-in/).waitFor();
      await view.getByRole("button", { name: "Ben (2)" }).click();
      await table.getByRole("row", { name: "Without Ben" }).waitFor({ timeout: 90_000 });
      await accessible(page);
      await table.getByRole("row", { name: "All pupils" }).getByRole("button", { name: "Begin with it" }).click();
      await school.ready();
      await table.getByRole("row", { name: "All pupils" }).getByRole("button", { name: "In use" }).waitFor();
      await school.makes(1);
      const taught = await school.weights();
      await table.getByRole("row", { name: "The student alone" }).getByRole("button", { name: "Begin with it" }).click();
      await school.ready();
      await school.makes(1);
      assert.notEqual(await school.weights(), taught);
    }));
}

/** The weights after 12 updates of a run that nothing disturbs. */
async function undisturbed() {
  let weights;
  await visit({ hash: `${ADDRESS}?prompts=4&seed=5`, axe: false }, async (page) => {
    const school = await new School(page).ready();
    await school.train();
    await school.reaches(14);
    await school.stop();
    weights = await school.weightsAfter(12);
  });
  return weights;
}

test("a frozen tab goes on where it was, to the same weights", () =>
  visit({ hash: `${ADDRESS}?prompts=4&seed=5`, axe: false }, async (page) => {
    test.slow();
    const school = await new School(page).ready();
    const session = await page.context().newCDPSession(page);
    await school.train();
    await school.reaches(3);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await session.send("Page.setWebLifecycleState", { state: "active" });
    await school.reaches(14);
    await school.stop();
    assert.equal(await school.weightsAfter(12), await undisturbed());
  }));

// The school's worker crashes soon after each checkpoint, which it sends after 10 updates. Only checkpoints are so long.
const CRASHING = inWorkers(`
  const CHECKPOINT_BYTES = 1 << 17;
  let sinceCheckpoint = -Infinity;
  const post = self.postMessage.bind(self);
  self.postMessage = (...parts) => {
    sinceCheckpoint = parts[0]?.byteLength > CHECKPOINT_BYTES ? 0 : sinceCheckpoint + 1;
    if (sinceCheckpoint === 3) setTimeout(() => { throw new Error("crash of the journey"); });
    post(...parts);
  };
`);

test("a worker that is lost is replaced, and the run ends at the same weights", () =>
  visit({ hash: `${ADDRESS}?prompts=4&seed=5`, axe: false, init: CRASHING, allowedErrors: [/crash of the journey/] }, async (page) => {
    test.slow();
    const school = await new School(page).ready();
    await school.train();
    await page.getByRole("alert").getByText(/The run continues from update [1-9]0\./).waitFor({ timeout: 90_000 });
    await school.reaches(14);
    await school.stop();
    assert.equal(await school.weightsAfter(12), await undisturbed());
  }));

// One link, ten updates: the same bits in every browser.
const LINK = `${ADDRESS}?prompts=4&seed=11`;
const SAME = 10;

let expected;

async function inChromium() {
  if (!expected) {
    await visit({ hash: LINK, axe: false }, async (page) => {
      const school = await new School(page).ready();
      await school.train();
      await school.reaches(SAME + 1);
      await school.stop();
      expected = await school.weightsAfter(SAME);
    });
  }
  return expected;
}

async function inOther(browser) {
  try {
    await browser.open(`${HOME}${LINK}`);
    await browser.find("//*[@role='status' and @aria-label='Run' and contains(., 'Not trained yet')]");
    for (let update = 1; update <= SAME; update += 1) {
      await browser.click("//button[normalize-space()='One update' and not(@disabled)]");
      await browser.find(`//*[@role='status' and @aria-label='Run' and starts-with(normalize-space(), 'Update ${update}:')]`);
    }
    return /weights ([0-9a-f]{16})/.exec(await browser.text())[1];
  } catch (error) {
    const text = await browser.text().catch(String);
    throw new Error(`${error.message}\nThe page says:\n${text}`, { cause: error });
  } finally {
    await browser.close();
  }
}

test("a link gives the same weights in Firefox as in Chromium", async () => {
  test.skip(!VOLARY_FIREFOX, "Firefox is not installed");
  test.slow();
  assert.equal(await inOther(await firefox(VOLARY_FIREFOX)), await inChromium());
});

test("a link gives the same weights in WebKit as in Chromium", async () => {
  test.skip(!VOLARY_WEBKIT, "WebKit's driver is not installed");
  test.slow();
  assert.equal(await inOther(await webkit(VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT)), await inChromium());
});
