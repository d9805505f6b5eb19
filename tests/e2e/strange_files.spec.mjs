// Files of other tools, and hostile files: a usable view or a clear alert, and an unchanged episode.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "@playwright/test";
import { deflateRawSync } from "node:zlib";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

async function stepped(page) {
  const playground = new Playground(page);
  await playground.ready();
  await playground.act("calculator", { expr: "2 + 3" });
  await playground.says("1 step");
  return playground;
}

async function imported(playground, name, bytes) {
  const [chooser] = await Promise.all([
    playground.page.waitForEvent("filechooser"),
    playground.button("Import").click(),
  ]);
  await chooser.setFiles({ name, mimeType: "application/octet-stream", buffer: bytes });
}

/** The running episode as a file, to be changed. */
async function exported(playground) {
  await playground.button("Export").click();
  const { bytes } = await playground.downloads(() =>
    playground.page.getByRole("button", { name: "Volary JSON" }).click(),
  );
  return bytes.toString();
}

/** A zip of files that are packed already; what it says of their sizes is up to the caller. */
function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, packed, size, sum = 0 } of files) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(sum, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const header = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name)]);
    const made = Buffer.from("PK\x01\x02\x14\x00", "latin1");
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([made, common, rest, Buffer.from(name)]));
    parts.push(header, packed);
    offset += header.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}

/** The checksum that zips hold. */
function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return ~sum >>> 0;
}

test("a zip bomb is rejected at once, whatever size it claims", () =>
  visit({}, async (page) => {
    const playground = await stepped(page);
    const packed = deflateRawSync(Buffer.alloc(300 << 20), { level: 1 });
    const bomb = (size) =>
      zip(Array.from({ length: 8 }, (_, number) => ({ name: `part-${number}.json`, packed, size })));
    for (const [size, words] of [
      [300 << 20, "unpacks to more than 256 MB"],
      [10, "unpacks to more than its directory says"],
    ]) {
      await imported(playground, "bomb.zip", bomb(size));
      await playground.alert.filter({ hasText: words }).waitFor();
      await playground.says("1 step", "in progress");
    }
    await playground.act("calculator", { expr: "3 + 4" });
    await playground.says("2 steps");
  }));

test("imported texts stay texts, including lone surrogates and huge numbers", () =>
  visit({}, async (page) => {
    const playground = await stepped(page);
    const title = await page.title();
    const text = await exported(playground);
    const hostile = "<script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\">";
    const changed = text.replaceAll(
      "2 + 3",
      `${JSON.stringify(hostile).slice(1, -1)} \\ud83d lone \\udc00`,
    );
    assert.notEqual(changed, text);
    await imported(playground, "hostile.json", Buffer.from(changed));
    await playground.messages().filter({ hasText: "<script>document.title" }).first().waitFor();
    await playground.says("1 step");
    assert.equal(await page.title(), title);
    assert.equal(await page.locator("main script, main img[src='x']").count(), 0);

    const huge = text.replace(/"reward":\s*[-\d.eE+]+/, '"reward": 1e308');
    assert.notEqual(huge, text);
    await imported(playground, "huge.json", Buffer.from(huge));
    await playground.says("1 step", "1e+308");
  }));

test("frames of another tool are shown unchanged", () =>
  visit({}, async (page) => {
    const playground = await stepped(page);
    const pack = (value) => {
      const bytes = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
      return { packed: deflateRawSync(bytes), size: bytes.length, sum: checksum(bytes) };
    };
    const frame = (state) => ({ deepcopy: true, state, info: null });
    const files = [
      { name: "robot_info_7.json", ...pack({ name: "robot", prefix: "robot", last_modified: "now" }) },
      { name: "robot_7_0.json", ...pack(frame({ arms: [{ joint: "left", angle: 1.5 }], "<b>": "</b>" })) },
      { name: "robot_7_1.json", ...pack(frame({ arms: [{ joint: "left", angle: 2.5 }], battery: null })) },
    ];
    await imported(playground, "robot.zip", zip(files));
    const tree = playground.frame.getByRole("tree");
    await tree.getByText("</b>").waitFor();
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("G");
    await tree.getByText("battery").waitFor();
    await tree.getByText("removed").waitFor();
    await page.keyboard.press("g");
    await tree.getByText("</b>").waitFor();
    assert.equal(await page.locator("main b").count(), 0);
  }));

test("an episode too long for a link is offered as a file", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    // Random text does not compress.
    const story = randomBytes(9_000).toString("base64");
    await playground.act("print_story", { story });
    await playground.says("1 step");
    await playground.button("Share").click();
    const dialog = page.getByRole("dialog", { name: "Share this episode" });
    await dialog.getByRole("alert").filter({ hasText: "too long for a link" }).waitFor();
    const file = await playground.downloads(() =>
      dialog.getByRole("button", { name: "Save as a file" }).click(),
    );
    assert.ok(file.bytes.toString().includes(story));
  }));
