import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../../../src/core/accounts/keys.ts';
import { type ConsoleSite, openConsole } from '../site.ts';
import { openWindow, startChromium, type Window } from './chromium.ts';

const PATIENCE_MS = 120_000;

const browser = await startChromium();

describe.skipIf(!browser)('rules that are being edited', { timeout: PATIENCE_MS }, () => {
  let site: ConsoleSite;
  let window: Window;
  let asInUse: string;
  const editor = () => window.page.getByLabel('Rules as YAML');

  beforeAll(async () => {
    if (!browser) return;
    site = await openConsole();
    const { key } = await site.key('administrator');
    window = await openWindow(browser, { url: site.url, key });
    await window.page.goto(`${site.url}/console/rules`);
    asInUse = await editor().inputValue();
    await editor().fill(`${asInUse}# not saved`);
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  it('are shown again after the session has ended', async () => {
    const { page, context } = window;
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.reload();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await context.addCookies(cookies);
    await page.reload();
    await page.getByText('These are your earlier changes.').waitFor();
    expect(await editor().inputValue()).toBe(`${asInUse}# not saved`);
  });

  it('are not shown to another person', async () => {
    const { page } = window;
    const second = { name: 'Dr Second', consoleRole: 'administrator' } as const;
    const { key } = await createKey(site.database, second);
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Dr Second').waitFor();
    expect(await editor().inputValue()).toBe(asInUse);
  });
});
