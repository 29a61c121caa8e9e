import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDraft } from '../draft.ts';
import { type ConsoleSite, openConsole } from '../site.ts';
import { fillWorklist } from '../worklist-fixture.ts';
import { openWindow, startChromium, type Window } from './chromium.ts';

const PATIENCE_MS = 120_000;
const PAGES = ['Worklist', 'Deliveries', 'Held', 'Rules', 'Peers', 'Account'] as const;

const browser = await startChromium();

describe.skipIf(!browser)('the console on a phone', { timeout: PATIENCE_MS }, () => {
  let site: ConsoleSite;
  let window: Window;
  let draft: string;

  beforeAll(async () => {
    if (!browser) return;
    site = await openConsole();
    await fillWorklist(site.database, 60);
    draft = await addDraft(site);
    const { key } = await site.key('administrator');
    window = await openWindow(browser, { url: site.url, key, width: 390, height: 844 });
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  it.each(PAGES)('is not wider than the screen: %s', async (name) => {
    const { page } = window;
    const bar = page.getByRole('navigation', { name: 'Console' });
    await bar.getByRole('link', { name }).click();
    // Waits until table rows have arrived, or the page states that there are none.
    await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor();
    await page.locator('main :is(td, .panel, .empty)').first().waitFor({ timeout: PATIENCE_MS });
    const over = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate(over)).toBe(0);
  });

  it("shows a key's actions on the screen", async () => {
    const { page } = window;
    await page.getByRole('navigation', { name: 'Console' }).getByText('Account').click();
    const box = await page.getByRole('button', { name: 'Revoke' }).first().boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 390)).toBeLessThanOrEqual(390);
  });

  it("shows a study's status and result on the screen without cutting them off", async () => {
    const { page } = window;
    await page.getByRole('navigation', { name: 'Console' }).getByText('Worklist').click();
    const chip = page.locator('.rows .chip', { hasText: 'Draft ready' }).first();
    await chip.waitFor({ timeout: PATIENCE_MS });
    const box = await chip.boundingBox();
    expect(box?.width).toBeGreaterThan(60);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390);
  });

  it('gives each part of a delivery the width of its card', async () => {
    const { page } = window;
    await page.getByRole('navigation', { name: 'Console' }).getByText('Deliveries').click();
    const parts = page.locator('.delivery-table tbody tr').first().locator('td');
    await parts.first().waitFor({ timeout: PATIENCE_MS });
    const widths = await Promise.all(
      (await parts.all()).map(async (part) => (await part.boundingBox())?.width ?? 0),
    );
    expect(Math.min(...widths)).toBeGreaterThan(300);
  });

  it('shows measurements without scrolling sideways', async () => {
    const { page } = window;
    await page.goto(`${site.url}/console/worklist/${draft}`);
    const femur = page.locator('.measurements tr', { hasText: 'Femur length' }).first();
    await femur.waitFor({ timeout: PATIENCE_MS });
    for (const cell of await femur.locator('th, td:not(.blank)').all()) {
      const box = await cell.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 390)).toBeLessThanOrEqual(390);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it('breaks a name that is wider than the screen', async () => {
    const { page } = window;
    const name = 'Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh-Cholmondel';
    const { rows } = await site.database.query<{ id: string }>(
      `UPDATE studies SET identity = identity || jsonb_build_object('PatientName', $1::text)
       WHERE id = (SELECT id FROM studies LIMIT 1) RETURNING id`,
      [name],
    );
    await page.goto(`${site.url}/console/worklist/${rows[0]?.id}`);
    await page.getByRole('heading', { level: 1, name }).waitFor({ timeout: PATIENCE_MS });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });
});
