// A newcomer's first minute.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { SIZES, accessible, inWorkers, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

/** A small laptop. */
const LAPTOP = { width: 1280, height: 800 };

const guide = (page) => page.getByRole("complementary", { name: "First steps" });

/** Where an element ends, in pixels from the top. */
async function bottom(locator) {
  const { y, height } = await locator.boundingBox();
  return y + height;
}

for (const theme of ["light", "dark"]) {
  test(`the first screen says what this is, and an agent can be watched, ${theme}`, () =>
    visit({ theme }, async (page) => {
      await page.setViewportSize(LAPTOP);
      const playground = new Playground(page);
      await playground.tools.getByRole("button").first().waitFor();
      const watch = page.getByRole("button", { name: "Watch it solve this" });
      const lesson = page.getByRole("link", { name: "Start with lesson 1" });
      const title = guide(page).getByRole("heading", { name: "Watch an AI agent solve a task, or take its place." });
      for (const part of [title, guide(page).getByText("An agent is a program"), watch, lesson, playground.messages().first()]) {
        assert.ok((await bottom(part)) <= LAPTOP.height, `${part} is below the fold`);
      }
      await accessible(page);
      await watch.click();
      await guide(page).getByText("An agent is at work.").waitFor();
      await playground.says("2 steps", "done", "Reward 1.0");
      await playground.messages().filter({ hasText: "I can work this out" }).first().waitFor();
      await playground.messages().filter({ hasText: "204" }).first().waitFor();
      // True is the environment's word for it.
      await playground.messages().filter({ hasText: "True" }).getByText("The answer is right.").waitFor();
      await guide(page).getByText("That was an agent.").waitFor();
      await accessible(page);
      // The person acts next.
      assert.equal(await playground.policy.inputValue(), "Manual");
      // One action is offered first, and it has the focus that the demonstration began with.
      const again = page.getByRole("button", { name: "Now try it yourself" });
      assert.ok(await again.evaluate((button) => button === document.activeElement));
      assert.equal(await page.locator("main button:is(.primary, .bright):visible").count(), 1);
      await page.keyboard.press("Enter");
      await playground.says("0 steps", "in progress");
      await page.waitForFunction(() => document.activeElement?.matches("#tools form :is(input, textarea)"));
      await watch.waitFor();
      await lesson.click();
      await page.getByRole("heading", { name: "What an agent loop is" }).waitFor();
    }));
}

test("a demonstration does not take the focus from what the person does meanwhile", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await page.getByRole("button", { name: "Watch it solve this" }).click();
    await guide(page).getByText("An agent is at work.").waitFor();
    await playground.environment.focus();
    await guide(page).getByText("That was an agent.").waitFor();
    assert.ok(await playground.environment.evaluate((field) => field === document.activeElement));
    // Without the guide, the next task is what comes next.
    const next = page.getByRole("button", { name: "Next task" });
    assert.ok(await next.evaluate((button) => !button.classList.contains("primary")));
    await guide(page).getByRole("button", { name: /Dismiss/ }).click();
    await page.locator(".next-task .primary").waitFor();
  }));

test("a demonstration begins at the start, and leaves the pace of runs as it was", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await page.getByRole("combobox", { name: "Task", exact: true }).selectOption({ index: 2 });
    await playground.messages().filter({ hasText: "ferry" }).first().waitFor();
    await page.getByRole("button", { name: "Watch it solve this" }).click();
    await playground.says("2 steps", "done", "Reward 1.0");
    await playground.messages().filter({ hasText: "336" }).first().waitFor();
    await playground.policy.selectOption("Random");
    const settings = page.getByRole("form", { name: "Policy settings" });
    assert.match(await settings.getByLabel("Delay", { exact: true }).getAttribute("placeholder"), /0\.0$/);
  }));

test("signs and numbers as on paper are understood, and the answer is never told before it is found", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const answer = playground.frame.getByRole("tree").getByText("answer", { exact: false });
    await playground.act("calculator", { expr: "34 × 6" });
    await playground.says("1 step", "in progress", "Reward 0.0");
    await playground.messages().filter({ hasText: "34 * 6" }).first().waitFor();
    await playground.messages().filter({ hasText: "204" }).first().waitFor();
    await playground.act("calculator", { expr: "1,200 ÷ 4 − 2,5" });
    await playground.says("2 steps", "in progress");
    await playground.messages().filter({ hasText: "297.5" }).first().waitFor();
    assert.equal(await answer.count(), 0);
    await playground.act("submit_answer", { answer: "204,0" });
    await playground.says("3 steps", "done", "Reward 1.0");
    assert.equal(await answer.count(), 0, "it may still be taken back");
  }));

test("the fields of a custom task are directly below it", () =>
  visit({}, async (page) => {
    await page.setViewportSize(LAPTOP);
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    const task = page.getByRole("combobox", { name: "Task", exact: true });
    await task.selectOption({ label: "Custom" });
    const problem = playground.field("problem");
    await problem.waitFor();
    const gap = (await problem.boundingBox()).y - (await bottom(task));
    assert.ok(gap > 0 && gap < 240, `${gap} pixels below the task`);
    assert.ok((await bottom(problem)) < LAPTOP.height);
    assert.ok((await bottom(problem)) < (await playground.button("Reset").boundingBox()).y);
    await problem.fill("How much is 2 + 3?");
    await playground.field("answer").fill("5");
    await playground.button("Reset").click();
    await playground.messages().filter({ hasText: "How much is 2 + 3?" }).first().waitFor();
  }));

test("the first field is two keys away, and every control before it can be passed", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    const first = page.getByRole("form", { name: "calculator" }).getByLabel("expr", { exact: true });
    const hasFocus = () => first.evaluate((field) => field === document.activeElement);
    let presses = 0;
    while (!(await hasFocus())) {
      assert.ok(presses < 24, "more than 24 controls come first");
      await page.keyboard.press("Tab");
      presses += 1;
    }

    await page.reload();
    await playground.tools.getByRole("button").first().waitFor();
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to the next action" });
    assert.ok(await skip.evaluate((link) => link === document.activeElement));
    await page.keyboard.press("Enter");
    assert.ok(await hasFocus(), "the skip link leads to the field");
    await page.keyboard.type("34 × 6");
    await page.keyboard.press("Enter");
    await playground.says("1 step");
  }));

test("words of the field stand next to plain ones", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const texts = async (locator, ...words) => {
      const text = await locator.innerText();
      for (const word of words) assert.ok(text.includes(word), `${word} is not in ${text}`);
    };
    await texts(playground.messages().first(), "Task", "user");
    await texts(playground.frame, "State", "frame");
    await texts(page.getByRole("form", { name: "calculator" }), "Calculation", "expr", "For example 6 × 7.");
    await texts(page.getByRole("form", { name: "Setup" }), "Random numbers", "Seed");
    await playground.choose("submit_answer");
    await texts(page.getByRole("region", { name: "Act", exact: true }), "Hands in your answer. This ends the episode.");
    await texts(playground.status, "in progress");
    const policies = await playground.policy.getByRole("option").allInnerTexts();
    for (const name of ["Manual (you act)", "Oracle (knows the answer)"]) assert.ok(policies.includes(name), `${policies}`);
    await page.getByRole("button", { name: "What do “environment”, “tool” and “message” mean?" }).click();
    await page.getByText("A state, the tools that act on it,").waitFor();
    await page.keyboard.press("Escape");
    const described = (control) => control.getAttribute("title");
    assert.match(await described(page.getByRole("link", { name: "Environments", exact: true })), /^The worlds in which agents act/);
    assert.match(await described(page.getByRole("button", { name: "Raw JSON" }).first()), /instead of filling in fields$/);
  }));

test("on a phone the task comes first, and files are in a menu", () =>
  visit({ size: "narrow" }, async (page) => {
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    const task = playground.messages().first();
    const { y } = await task.boundingBox();
    assert.ok(y < 200, `the task begins at ${y}`);
    assert.ok((await bottom(playground.button("Step"))) < y);
    assert.ok(!(await playground.button("Export").isVisible()));
    const files = page.getByRole("button", { name: "Files" });
    await files.click();
    await accessible(page);
    for (const name of ["Import", "Export", "Share"]) assert.ok(await playground.button(name).isVisible(), name);
    await page.keyboard.press("Escape");
    assert.ok(!(await playground.button("Export").isVisible()));
    await files.click();
    await playground.button("Share").click();
    await page.getByRole("dialog", { name: "Share this episode" }).waitFor();
    await page.keyboard.press("Escape");
    // There is something to move along once there are steps.
    assert.ok(!(await playground.slider.isVisible()));
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    await playground.slider.waitFor();
  }));

test("on a phone the header of an opened episode stays small", () =>
  visit({ hash: "#/review", size: "narrow" }, async (page) => {
    const steps = Array.from({ length: 12 }, (_, step) => ({ says: `I look at ${step}. ${"Long words. ".repeat(30)}` }));
    const review = await new Library(page).ready();
    await review.import(["long.json", trajectory("long", steps)]);
    await review.link(/long/).click();
    await review.transcript.getByText("I look at 0.").waitFor();
    await page.evaluate(() => scrollTo(0, 600));
    await page.waitForFunction(() => scrollY > 300);
    // What stays on top is not the transcript.
    const covered = await review.transcript.evaluate((log) => {
      const stays = (y) => !log.contains(document.elementFromPoint(195, y));
      let height = 0;
      while (height < 400 && stays(height)) height += 1;
      return height;
    });
    assert.ok(covered > 20 && covered <= 96, `${covered} pixels stay covered`);
    await review.slider.waitFor();
  }));

test("a problem is ready, and the guide leads to its reward", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = guide(page);
    assert.equal(await hint.getByRole("listitem").count(), 3);
    assert.equal(await playground.environment.inputValue(), "calculator");
    await playground.says("0 steps");

    // The frame does not repeat the problem; set-up, tool and its buttons fit a small laptop.
    assert.equal(await playground.frame.getByText("Problem", { exact: true }).count(), 0);
    await page.setViewportSize({ width: 1280, height: 720 });
    await playground.hideConfiguration();
    const end = await bottom(playground.button("Add call"));
    assert.ok(end <= 720, `Add call ends at ${end}`);
    await page.setViewportSize(SIZES.wide);

    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    assert.match(await playground.messages().last().innerText(), /calculator[\s\S]*42/);
    const results = playground.frame.getByRole("table", { name: "Calculations" });
    await results.getByRole("row").first().waitFor();
    assert.deepEqual(await results.getByRole("row").allInnerTexts(), ["6 * 7 → 42"]);

    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("done", "Reward 1.0");
    await hint.waitFor({ state: "hidden" });
    const next = page.getByRole("complementary", { name: "Next task" });
    const [, title] = (await next.innerText()).match(/^(.*)/);
    await next.getByRole("button", { name: "Next task" }).click();
    await playground.says("0 steps", "in progress");
    await next.waitFor({ state: "hidden" });
    const task = page.getByRole("combobox", { name: "Task", exact: true });
    assert.equal(await task.locator("option:checked").innerText(), title);
    await page.reload();
    await playground.ready();
    assert.equal(await hint.count(), 0, "the hint came back");
  }));

test("on a phone the problem and the next action are on the first screen", () =>
  visit({ size: "narrow" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const expression = page.getByRole("form", { name: "calculator" }).getByLabel("expr", { exact: true });
    // The bar with Step is always on top.
    const seen = [playground.button("Step"), playground.messages().first(), playground.tools, expression];
    const tops = [];
    for (const part of seen) {
      const { y } = await part.boundingBox();
      assert.ok(y < SIZES.narrow.height, `${part} is at ${y}`);
      tops.push(y);
    }
    assert.deepEqual(tops, [...tops].sort((a, b) => a - b), "the problem comes first");
    for (const name of ["Transcript", "Tools", "Setup", "State", "Policy"]) {
      await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name, exact: true }).click();
    }
    // The target of a jump is not hidden below the bar.
    await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name: "Setup" }).click();
    await playground.environment.click({ trial: true });
  }));

test("controls do not move when the tools load", () =>
  visit({ hash: "#/run/dummy", init: inWorkers("for (const end = Date.now() + 1000; Date.now() < end; );") }, async (page) => {
    const playground = new Playground(page);
    const box = playground.field("end_immediately");
    await box.waitFor();
    const seen = await box.boundingBox();
    await playground.tools.getByRole("button", { name: "print_story", exact: true }).waitFor();
    assert.deepEqual(await box.boundingBox(), seen);
  }));

test("after a mistake that ends the episode, one sentence says how to continue", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = guide(page);
    await playground.act("calculator", { expr: "6 *" });
    await playground.says("done");
    await page.getByText("Press Undo and try again.").waitFor();
    assert.equal(await page.getByText(/press undo|undo to/i).count(), 1);
    assert.equal(await playground.frame.getByRole("tree").getByText("answer", { exact: false }).count(), 0);
    await playground.button("Undo").click();
    await playground.says("0 steps", "in progress");
    await hint.getByText("Submit your answer").waitFor();
  }));

test("the guide can be dismissed", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    await hint.getByRole("button", { name: /Dismiss/ }).click();
    await hint.waitFor({ state: "hidden" });
  }));

test("every linked page exists", () =>
  visit({}, async (page) => {
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    await links.first().waitFor();
    const names = await links.allInnerTexts();
    const known = ["Playground", "Review", "Evaluate", "Environments", "Learn", "Settings"];
    assert.deepEqual(names, known.filter((name) => names.includes(name)));
    assert.equal(names[0], "Playground");
    for (const name of names.reverse()) {
      await links.filter({ hasText: name }).click();
      await page.locator(`nav a[aria-current=page]`).filter({ hasText: name }).waitFor();
      await page.getByRole("main").getByRole("heading").first().waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
    }
  }));
