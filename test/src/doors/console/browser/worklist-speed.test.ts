import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../../config/load.ts';
import { type Gateway, startGateway } from '../../../../../src/app/main.ts';
import { migrate } from '../../../../../src/platform/database/migrate.ts';
import { openDatabase } from '../../../../../src/platform/database/open.ts';
import { silentLogger } from '../../../../../src/platform/logging/logger.ts';
import { siteSettings } from '../../../../gateway/site.ts';
import { freshDataDir } from '../../../../peers/embedded.ts';
import { startPostgres } from '../../../../peers/postgres.ts';
import { fillWorklist } from '../worklist-fixture.ts';
import { openWindow, startChromium } from './chromium.ts';

const SMALL = 100;
const LARGE = 10_000;
/**
 * A large list may take at most this many times as long, and have this many times as many elements,
 * as a small one.
 */
const MOST = { time: 4, elements: 2 };

const browser: Browser | null = await startChromium();
if (!browser) console.warn('Chromium is not installed: the speed of the worklist is not measured');

/** Stores ten thousand studies in less than half of the embedded database's processor time. */
const server = browser && (await startPostgres());

/** A busy machine may take this long; only the two lists are compared. */
const LONG_MS = 120_000;

/** The machine's load varies, so the lists take turns and the fastest time counts. */
const ROUNDS = 4;

async function firstRows(page: Page): Promise<number> {
  await page.reload();
  await page.locator('.rows .open').first().waitFor();
  return page.evaluate<number>('performance.now()');
}

const elementsOf = (page: Page) => page.evaluate<number>('document.querySelectorAll("*").length');

/** Scrolls screen by screen. Returns the median of the milliseconds until each screen is drawn. */
async function scrolled(page: Page, screens: number): Promise<number> {
  // Chromium draws no frames of a window that another one covers.
  await page.bringToFront();
  return page.evaluate(`(async () => {
    const rows = document.querySelector('.rows');
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const times = [];
    for (let screen = 0; screen < ${screens}; screen += 1) {
      rows.scrollTop += rows.clientHeight;
      const begun = performance.now();
      await frame();
      await frame();
      times.push(performance.now() - begun);
    }
    return times.sort((one, other) => one - other)[times.length >> 1];
  })()`);
}

/** Scrolls to the end of the loaded rows. Returns the number of the last row that is drawn. */
const scrolledToEnd = (page: Page) =>
  page.evaluate<number>(`(() => {
    const box = document.querySelector('.rows');
    box.scrollTop = box.scrollHeight;
    const last = [...box.querySelectorAll('tr[aria-rowindex]')].at(-1);
    return Number(last.getAttribute('aria-rowindex'));
  })()`);

describe.skipIf(!browser)('the worklist with ten thousand studies', { timeout: LONG_MS }, () => {
  const gateways: { gateway: Gateway; dataDir: string }[] = [];

  async function pageOf(count: number): Promise<Page> {
    if (!browser) throw new Error('no browser');
    const dataDir = await freshDataDir();
    const databaseUrl = await server?.createDatabase();
    const settings = { roles: ['api'], ...(databaseUrl && { databaseUrl }) };
    const config = loadConfig({}, siteSettings({ dataDir }, settings));
    const database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
    await migrate(database);
    await fillWorklist(database, count);
    await database.close();
    const gateway = await startGateway(config, silentLogger);
    gateways.push({ gateway, dataDir });
    const made = await gateway.run('keys.create', {
      name: 'speed',
      consoleRole: 'clinician',
    });
    const { key } = made;
    return (await openWindow(browser, { url: gateway.http?.url ?? '', key })).page;
  }

  function expectAlike(what: string, times: readonly { few: number; many: number }[]): void {
    const few = Math.min(...times.map((round) => round.few));
    const many = Math.min(...times.map((round) => round.many));
    console.info(`${what} of ${SMALL}: ${few.toFixed(0)} ms; of ${LARGE}: ${many.toFixed(0)} ms`);
    expect(many / few).toBeLessThan(MOST.time);
  }

  let small: Page;
  let large: Page;
  beforeAll(async () => {
    small = await pageOf(SMALL);
    large = await pageOf(LARGE);
  }, LONG_MS);

  afterAll(async () => {
    await browser?.close();
    for (const { gateway, dataDir } of gateways) {
      await gateway.close();
      await rm(dataDir, { recursive: true, force: true });
    }
    await server?.stop();
  });

  it('draws its first rows about as fast as a list of a hundred, with as few elements', async () => {
    const times: { few: number; many: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      times.push({ few: await firstRows(small), many: await firstRows(large) });
    }
    expectAlike('first rows', times);
    expect((await elementsOf(large)) / (await elementsOf(small))).toBeLessThan(MOST.elements);
  });

  it('scrolls through thousands of rows about as fast', async () => {
    // Screen by screen, hundreds of screens would be drawn: a minute on a busy machine.
    await expect.poll(() => scrolledToEnd(large), { timeout: LONG_MS }).toBeGreaterThan(2000);
    const times: { few: number; many: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      times.push({ few: await scrolled(small, 2), many: await scrolled(large, 5) });
    }
    expectAlike('a screen further', times);
    const drawn = await large.locator('.rows tr[aria-rowindex]').count();
    expect(drawn).toBeLessThan(60);
  });
});
