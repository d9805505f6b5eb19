// Firefox and WebKit, driven over WebDriver: the minimum for a smoke journey and for probes. Elements are found by
// XPath, which both clients support. `run` runs the body of an async function, in the page or in the frame of a selector.

import { spawn } from "node:child_process";
import { once } from "node:events";

import puppeteer from "puppeteer-core";
import { Builder, By, until } from "selenium-webdriver";

/** How long an element may take to appear, in milliseconds. */
const PATIENCE = 60_000;

/** Firefox through WebDriver BiDi. */
export async function firefox(executablePath) {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
  const page = await browser.newPage();
  const found = (xpath) => page.waitForSelector(`::-p-xpath(${xpath})`, { timeout: PATIENCE });
  return {
    open: (url) => page.goto(url),
    find: async (xpath) => void (await found(xpath)),
    click: async (xpath) => (await found(xpath)).click(),
    type: async (xpath, text) => (await found(xpath)).type(text),
    text: () => page.evaluate(() => `${location.href}\n${document.body.innerText}`),
    run: async (body, frame) => {
      const target = frame ? await (await page.waitForSelector(frame, { timeout: PATIENCE })).contentFrame() : page;
      return target.evaluate(`(async () => { ${body} })()`);
    },
    close: () => browser.close(),
  };
}

/** WebKit through its own driver, on a virtual screen: `driver` is WebKitWebDriver, `browser` is MiniBrowser. */
export async function webkit(driver, browser) {
  // Above the ports that fetch() refuses to connect to, such as 5060 and 6000.
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const server = spawn("xvfb-run", ["-a", driver, `--port=${port}`], {
    stdio: "ignore",
    // Its own process group, so that the virtual screen ends with the driver.
    detached: true,
    // Containers have no user namespaces for WebKit's sandbox, and no GPU.
    env: { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1", WEBKIT_DISABLE_COMPOSITING_MODE: "1" },
  });
  const ended = once(server, "exit");
  const stop = async () => {
    process.kill(-server.pid, "SIGTERM");
    await ended;
  };
  try {
    await listening(port);
    const session = await new Builder()
      .usingServer(`http://127.0.0.1:${port}`)
      .withCapabilities({ browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary: browser, args: ["--automation"] } })
      .build();
    const found = (xpath) => session.wait(until.elementLocated(By.xpath(xpath)), PATIENCE);
    const run = async (body) => {
      const awaited = `const end = arguments[0]; (async () => { ${body} })().then((value) => end({ value }), (error) => end({ error: String(error) }))`;
      const { value, error } = await session.executeAsyncScript(awaited);
      if (error) throw new Error(error);
      return value;
    };
    return {
      open: (url) => session.get(url),
      find: async (xpath) => void (await found(xpath)),
      click: async (xpath) => (await found(xpath)).click(),
      type: async (xpath, text) => (await found(xpath)).sendKeys(text),
      text: () => session.executeScript("return `${location.href}\\n${document.body.innerText}`"),
      run: async (body, frame) => {
        if (frame) await session.switchTo().frame(await session.findElement(By.css(frame)));
        try {
          return await run(body);
        } finally {
          await session.switchTo().defaultContent();
        }
      },
      close: async () => {
        await session.quit();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listening(port) {
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    const answers = await fetch(`http://127.0.0.1:${port}/status`).then((reply) => reply.ok, () => false);
    if (answers) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the WebDriver server does not listen on port ${port}`);
}
