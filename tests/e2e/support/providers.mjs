// A provider of models for all tests of a file.

import { after, beforeEach } from "node:test";

import { startProvider } from "../../support/provider.mjs";
import { ended } from "./browser.mjs";

/** What browsers write to the console of a reply with an error status, or of none. */
export const FAILED_LOADS = [/Failed to load resource/];

/** A provider that each test finds as new, and that ends with the tests' browser. */
export async function provided() {
  const provider = await startProvider();
  beforeEach(() => provider.reset());
  after(async () => {
    await provider.close();
    await ended();
  });
  return provider;
}
