import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../../config/load.ts';
import { type Gateway, startGateway } from '../../../../../src/app/main.ts';
import { silentLogger } from '../../../../../src/platform/logging/logger.ts';
import { siteSettings } from '../../../../gateway/site.ts';
import { type FreshDatabase, freshDatabase } from '../../../../peers/database.ts';
import { openWindow, startChromium } from './chromium.ts';

const browser: Browser | null = await startChromium();
if (!browser) console.warn('Chromium is not installed: reconnecting is not tested');

/** A reverse proxy. While `isDown` is true, it answers 502, as if the gateway were restarting. */
async function startProxy(port: number) {
  const state = { isDown: false };
  const server = createServer((incoming, answer) => {
    if (state.isDown) return void answer.writeHead(502).end('Bad Gateway');
    const { method, url, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail() {
      state.isDown = true;
      server.closeAllConnections();
    },
    recover() {
      state.isDown = false;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.skipIf(!browser)('the console behind a proxy', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let fresh: FreshDatabase | undefined;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let page: Page;
  const status = (text: string) => page.getByRole('status').filter({ hasText: text });

  beforeAll(async () => {
    if (!browser) return;
    fresh = await freshDatabase();
    gateway = await startGateway(
      loadConfig({}, siteSettings(fresh.settings, { roles: ['api'] })),
      silentLogger,
    );
    proxy = await startProxy(Number(new URL(gateway.http?.url ?? '').port));
    const { key } = await gateway.run('keys.create', { name: 'desk', consoleRole: 'clinician' });
    page = (await openWindow(browser, { url: proxy.url, key })).page;
  }, 100_000);

  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await gateway?.close();
    await fresh?.remove();
  });

  it('is live again after the proxy answered 502, and loads what it may have missed', async () => {
    await status('Live').waitFor();
    const refused = page.waitForResponse(
      (answer) => answer.url().endsWith('/events') && answer.status() === 502,
    );
    proxy.fail();
    await refused;
    await status('Not connected').waitFor();
    const loaded = page.waitForResponse((answer) => answer.url().includes('/api/worklist?'));
    proxy.recover();
    expect((await loaded).status()).toBe(200);
    await status('Live').waitFor();
  });

  it('says that the gateway cannot be reached until it can, when opened in between', async () => {
    await page.route('**/console/api/session', (route) => route.abort());
    await page.reload();
    const problem = page.getByText('The gateway cannot be reached.');
    await problem.waitFor();
    // The page is redrawn every five seconds.
    await page.waitForTimeout(6000);
    expect(await problem.isVisible()).toBe(true);
    await page.unroute('**/console/api/session');
    await page.getByRole('heading', { name: 'Worklist', level: 1 }).waitFor();
  });
});
