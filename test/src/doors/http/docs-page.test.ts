import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from '../console/browser/chromium.ts';
import { type Gateway, startGateway } from './gateway.ts';

const browser: Browser | null = await startChromium();

/** The API reference as a person reads it, under the server's content security policy. */
describe.skipIf(browser === null)('the page /docs', () => {
  let gateway: Gateway;
  let page: Page;
  /** Collects errors, policy violations, and requests to other origins. */
  const trouble: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    page = await (browser as Browser).newPage({ viewport: { width: 1400, height: 900 } });
    page.on('console', (message) => {
      if (message.type() === 'error') trouble.push(message.text());
    });
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (call) => {
      const url = call.url();
      if (!url.startsWith(gateway.url) && !/^(data|blob):/.test(url)) trouble.push(url);
    });
    await page.goto(`${gateway.url}/docs`);
    // The page renders the whole API description, which takes long on a busy machine.
    const heading = page.getByRole('heading', { name: 'Sonogate', exact: true });
    await heading.waitFor({ timeout: 90_000 });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.stop();
  });

  it('shows the guides and every group of calls', async () => {
    const text = await page.textContent('body');
    for (const part of ['Requests', 'Uploads', 'Webhooks', 'Compatible queue', 'Submit']) {
      expect(text).toContain(part);
    }
  });

  it('finds a call by a word in it', async () => {
    await page.keyboard.press('Control+k');
    await page
      .getByPlaceholder(/search/i)
      .last()
      .fill('cancel');
    await page.getByText('Cancel a request').last().waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows each call in curl, TypeScript and Python', async () => {
    await page.getByText('Cancel a request').first().click();
    await page.getByText('--request POST').first().waitFor();
    expect(await page.textContent('body')).toContain('cancel');
  });

  it('has a dark mode', async () => {
    const dark = () => page.evaluate<boolean>(`document.body.classList.contains('dark-mode')`);
    const before = await dark();
    await page
      .getByRole('button', { name: /(dark|light) mode/i })
      .first()
      .click();
    await expect.poll(dark).toBe(!before);
  });

  it('needs nothing from another server, and does not violate the content policy', () => {
    expect(trouble).toEqual([]);
  });
});
