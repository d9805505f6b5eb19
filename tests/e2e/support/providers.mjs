// A model provider for the tests of a file.

import { test } from "@playwright/test";

import { Provider } from "../../support/provider.mjs";

/** Console messages of Chromium for a reply with an error status, or for no reply. */
export const FAILED_LOADS = [/Failed to load resource/];

/** Call it at the top of a test file: the provider listens while its tests run, and is reset before each of them. */
export function provided(provider = new Provider()) {
  test.beforeAll(() => provider.listen());
  test.beforeEach(() => provider.reset());
  test.afterAll(() => provider.close());
  return provider;
}
