// Generated trajectories in the formats of other tools.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One in ATIF, in which an agent says and does one thing after the other. */
export function trajectory(id, acts) {
  const steps = [{ step_id: 1, source: "user", message: `Task ${id}` }];
  for (const { says = "", thinks, calls = [], sees = [], reward = 0 } of acts) {
    steps.push({
      step_id: steps.length + 1,
      source: "agent",
      message: says,
      reasoning_content: thinks,
      tool_calls: calls.map(([name, args], place) => ({
        tool_call_id: `c${steps.length}-${place}`,
        function_name: name,
        arguments: args,
      })),
      observation: {
        results: sees.map((content, place) => ({
          source_call_id: `c${steps.length}-${place}`,
          content,
        })),
      },
      extra: { reward, done: false, truncated: false },
    });
  }
  return {
    schema_version: "ATIF-v1.6",
    session_id: id,
    agent: { name: "tester", version: "1", model_name: `model-${id}` },
    steps,
  };
}

/** `count` trajectories, one per line, each of about `bytes` bytes and with its own word: `word17`. */
export function lines(count, bytes) {
  const filler = "some words that fill the line ".repeat(Math.ceil(bytes / 30));
  const line = (number) =>
    JSON.stringify(
      trajectory(`episode-${number}`, [
        { says: `word${number} ${filler}`, calls: [["look", { at: number }]], sees: ["seen"], reward: number % 2 },
      ]),
    );
  return Array.from({ length: count }, (_, number) => line(number)).join("\n");
}

/** Files in a folder of their own. */
export function folder(files) {
  const path = mkdtempSync(join(tmpdir(), "volary-"));
  for (const [name, content] of files) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    const isData = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(join(path, name), isData ? content : JSON.stringify(content));
  }
  return path;
}

/** The library as a person meets it. */
export class Library {
  constructor(page) {
    this.page = page;
    this.table = page.getByRole("table", { name: "Trajectories" });
    this.transcript = page.getByRole("log", { name: "Transcript" });
    this.slider = page.getByRole("slider", { name: "Step" });
  }

  /** Waits until it is there. */
  async ready() {
    await this.page.getByRole("heading", { name: "Trajectories", exact: true }).waitFor();
    return this;
  }

  /** The same at the next visit. */
  async again() {
    await this.page.reload();
    return this.ready();
  }

  /** Gives files to a button: paths, or pairs of a name and what the file holds. */
  async give(button, files) {
    const [chooser] = await Promise.all([
      this.page.waitForEvent("filechooser"),
      this.page.getByRole("button", { name: button, exact: true }).click(),
    ]);
    await chooser.setFiles(files);
  }

  async import(...files) {
    const file = ([name, content]) => ({
      name,
      mimeType: "application/octet-stream",
      buffer: content instanceof Buffer ? content : Buffer.from(typeof content === "string" ? content : JSON.stringify(content)),
    });
    await this.give("Import", files.map(file));
  }

  /** The question whether a file of another origin is fetched. */
  question() {
    return this.page.getByRole("region", { name: "Fetch a file" });
  }

  /** Agrees to fetch the file that the address names. */
  async agree({ keep = false } = {}) {
    if (keep) await this.question().getByRole("checkbox", { name: "Store its trajectories in this browser" }).check();
    await this.question().getByRole("button", { name: "Fetch", exact: true }).click();
  }

  link(name) {
    return this.table.getByRole("link", { name });
  }

  /** Waits until the table has this many rows, or more, up to `most`. */
  async rows(count, most = count) {
    await this.page.waitForFunction(
      ([least, most]) => {
        const rows = Number(document.querySelector("[role=table]")?.ariaRowCount) - 1;
        return rows >= least && rows <= most;
      },
      [count, most],
    );
  }

  /** Searches all texts. */
  async search(words) {
    await this.page.getByRole("searchbox", { name: "Search" }).fill(words);
  }

  /** Exports what is chosen, and gives the text of the file. */
  async exported() {
    await this.page.getByRole("button", { name: "Export", exact: true }).click();
    const [download] = await Promise.all([
      this.page.waitForEvent("download"),
      this.page.getByRole("button", { name: "Volary (JSON Lines)" }).click(),
    ]);
    return readFile(await download.path(), "utf8");
  }

  /** Deletes what is chosen. */
  async delete() {
    await this.page.getByRole("button", { name: "Delete", exact: true }).click();
    await this.page.getByRole("dialog", { name: "Delete trajectories" }).getByRole("button", { name: "Delete" }).click();
  }
}
