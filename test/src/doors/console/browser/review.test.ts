import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PhantomFiles, phantomFiles } from '../../../../gateway/phantom.ts';
import { violationsOf } from './accessibility.ts';
import { openWindow, startChromium, type Window } from './chromium.ts';
import { openWard, type Ward } from './ward.ts';

/** A pipeline run may take this long on a busy machine; speed is not tested. */
const PATIENCE_MS = 240_000;
const LONG_MS = 100_000;

const browser: Browser | null = await startChromium();

const panel = (page: Page) => page.locator('#review');
/** Returns the count in "3 of 11 decided" on the page. */
const decided = async (page: Page) => {
  const [, count] = /(\d+) of \d+ decided/.exec((await panel(page).textContent()) ?? '') ?? [];
  return Number(count);
};
/** Waits until every change is saved. If a change was refused, fails with the displayed message. */
async function saved(page: Page): Promise<void> {
  await expect.poll(() => panel(page).getByText('Saving…').count()).toBe(0);
  expect(await panel(page).getByRole('alert').allTextContents()).toEqual([]);
}
const focusOut = (page: Page) => page.evaluate('document.activeElement.blur()');

async function openReview({ page }: Window): Promise<void> {
  await page.locator('.rows .open').first().click();
  await panel(page).waitFor({ timeout: LONG_MS });
  await focusOut(page);
}

describe.skipIf(!browser)('a review in Chromium', { timeout: PATIENCE_MS }, () => {
  let ward: Ward;
  let study: PhantomFiles;
  let reader: Window;
  let second: Window;
  let viewer: Window;

  beforeAll(async () => {
    if (!browser) return;
    ward = await openWard(await mkdtemp(join(tmpdir(), 'sonogate-review-')));
    // The EHR does not know this patient, so the draft is held.
    study = await phantomFiles('console review', { patientId: 'WARD-12' });
    const keys = [
      await ward.newKey('clinician', 'Dr Reader'),
      await ward.newKey('administrator', 'Dr Second'),
      await ward.newKey('viewer', 'Display'),
    ];
    const url = ward.url;
    reader = await openWindow(browser, { url, key: keys[0] ?? '' });
    second = await openWindow(browser, { url, key: keys[1] ?? '', free: true });
    viewer = await openWindow(browser, { url, key: keys[2] ?? '' });
  }, PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await ward?.close();
    if (study) await rm(study.folder, { recursive: true, force: true });
  });

  it('begins with a study that a person uploads and the rules route', async () => {
    await second.page.getByLabel('Upload a study').setInputFiles([...study.paths]);
    await second.page.getByText(`${study.paths.length} image objects received`).first().waitFor();
    const ready = reader.page.locator('.rows .chip', { hasText: 'Draft ready' });
    await ready.waitFor({ timeout: LONG_MS });
  });

  it("shows its reader on other people's worklists, without a reload", async () => {
    await openReview(reader);
    const row = second.page.locator('.rows');
    await expect.poll(() => row.textContent()).toContain('Dr Reader is reading');
    // Displays on the ward must not show who is viewing a study.
    expect(viewer.heard.join('')).not.toContain('Dr Reader');
  });

  it('applies changes made while another is being saved, one after the other', async () => {
    const { page } = reader;
    const { promise: pressed, resolve: letGo } = Promise.withResolvers<void>();
    await page.route('**/review', async (route) => {
      if (route.request().method() === 'PATCH') await pressed;
      await route.continue();
    });
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await panel(page).getByText('Saving…').waitFor();
    await page.keyboard.press('a');
    letGo();
    await expect.poll(() => decided(page)).toBe(2);
    expect(await panel(page).getByRole('alert').count()).toBe(0);
    await page.unroute('**/review');
  });

  it('accepts a typed value, an added line and an undo from the keyboard alone', async () => {
    const { page } = reader;
    const history = () => panel(page).locator('.history').textContent();
    await saved(page);
    const before = await panel(page).locator('.value strong').textContent();
    await page.keyboard.press('v');
    // The AI's value is selected in the field, so typing replaces it.
    await page.keyboard.type('85');
    await page.keyboard.press('Enter');
    await expect.poll(() => panel(page).locator('.value strong').textContent()).toMatch(/^85/);
    expect(await panel(page).textContent()).toContain('Entered by the reader');
    // The AI's measurement can still be read next to it.
    expect(await panel(page).textContent()).toContain(`AI: ${before}`);
    await focusOut(page);
    await page.keyboard.press('l');
    await page.keyboard.type('Seen with Dr Second.');
    await page.keyboard.press('Enter');
    await saved(page);
    await expect
      .poll(() => page.locator('#summary').textContent())
      .toContain('Seen with Dr Second.');
    // The field has gone; its focus stays in the review.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('review-head');
    await page.keyboard.press('z');
    await expect
      .poll(() => page.locator('#summary').textContent())
      .not.toContain('Seen with Dr Second.');
    await panel(page)
      .getByText(/\d+ changes/)
      .click();
    expect(await history()).toMatch(/Undone: Line written.*Seen with Dr Second/);
    expect(await history()).toContain('Dr Reader');
  });

  it('moves the end of a caliper with the arrow keys, and the value follows', async () => {
    const { page } = reader;
    await focusOut(page);
    const correct = panel(page).getByRole('button', { name: /^Correct/ });
    for (let step = 0; step < 30 && (await correct.count()) === 0; step += 1) {
      await page.keyboard.press('j');
    }
    const value = () => panel(page).locator('.value strong').textContent();
    const before = await value();
    await page.keyboard.press('e');
    await page.locator('.handles circle:focus').waitFor();
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(value).not.toBe(before);
    expect(await panel(page).textContent()).toContain('Measured by the reader');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.handles').count()).toBe(0);
  });

  it('moves the end of a caliper with the mouse, even on an enlarged image', async () => {
    const { page } = reader;
    const value = () => panel(page).locator('.value strong').textContent();
    await page.keyboard.press('+');
    await page.keyboard.press('e');
    const handle = page.locator('.handles circle').first();
    const before = await value();
    const place = () => page.locator('.picture').evaluate('node => node.style.cssText');
    const placed = await place();
    const box = await handle.boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 25, { steps: 4 });
    await page.mouse.up();
    await expect.poll(value).not.toBe(before);
    // The image stays in place, so the handle is under the pointer.
    expect(await place()).toBe(placed);
    const after = await handle.boundingBox();
    expect((after?.x ?? 0) + (after?.width ?? 0) / 2).toBeCloseTo(x + 40, -1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
  });

  it('shows two readers to each other, and loses no change by either', async () => {
    await openReview(second);
    await expect
      .poll(() => panel(reader.page).textContent())
      .toContain('Dr Second is also reading');
    await expect
      .poll(() => panel(second.page).textContent())
      .toContain('Dr Reader is also reading');
    // Simulates a slow network for the second reader: the notice of the first reader's change
    // arrives too late, so the second reader's change is based on an old revision.
    await second.page.route('**/review', async (route) => {
      if (route.request().method() === 'PATCH') {
        const headers = { ...route.request().headers(), 'if-match': '"r0"' };
        await route.continue({ headers });
      } else await route.continue();
    });
    const before = await decided(reader.page);
    // Selects the last value, which has not been decided on.
    await second.page.keyboard.press('j');
    await second.page.keyboard.press('k');
    await second.page.keyboard.press('x');
    await panel(second.page)
      .getByRole('alert')
      .filter({ hasText: 'your last change was not saved' })
      .waitFor();
    await second.page.unroute('**/review');
    await second.page.keyboard.press('x');
    await expect.poll(() => panel(second.page).locator('.problem').count()).toBe(0);
    await expect.poll(() => decided(reader.page)).toBe(before + 1);
  });

  it('is loaded again after a failure, and then no longer shows the problem', async () => {
    const { page } = reader;
    const problem = panel(page).getByRole('alert');
    await page.route('**/review', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ status: 503, json: { status: 503, detail: 'The call can be repeated.' } })
        : route.continue(),
    );
    await second.page.keyboard.press('z');
    await problem.filter({ hasText: 'The call can be repeated.' }).waitFor();
    await page.unroute('**/review');
    await expect.poll(() => problem.count()).toBe(0);
    await expect.poll(() => decided(page)).toBe(await decided(second.page));
  });

  it('is not signed by a reader while another one changes it', async () => {
    const { page } = reader;
    const question = panel(page).getByRole('group', { name: /Sign as/ });
    await focusOut(page);
    await page.keyboard.press('s');
    await question.waitFor();
    await second.page.keyboard.press('x');
    await panel(page)
      .getByRole('alert')
      .filter({ hasText: 'Read it again before you sign' })
      .waitFor();
    expect(await question.count()).toBe(0);
  });

  it('has no axe violations, light and dark', async () => {
    expect(await violationsOf(second.page)).toEqual([]);
  });

  it('can neither be changed nor signed by a viewer', async () => {
    await openReview(viewer);
    const { page } = viewer;
    expect(await panel(page).textContent()).toContain('Your role is not permitted to sign');
    expect(
      await panel(page)
        .getByRole('button', { name: /Accept|Reject|Undo/ })
        .count(),
    ).toBe(0);
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    expect(
      await panel(page)
        .getByRole('group', { name: /Sign as/ })
        .count(),
    ).toBe(0);
    expect(await decided(page)).toBe(await decided(reader.page));
    expect(viewer.heard.join('')).not.toContain('PHANTOM');
  });

  it('is signed with the keyboard, after a summary of what is signed', async () => {
    const { page } = reader;
    await focusOut(page);
    await page.keyboard.press('s');
    await panel(page)
      .getByRole('group', { name: /Sign as Dr Reader: .*typed/ })
      .waitFor();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => panel(page).textContent(), { timeout: LONG_MS })
      .toContain('Signed Dr Reader');
    await page.locator('.study-head .chip', { hasText: 'Signed' }).waitFor();
    expect(
      await panel(page)
        .getByRole('button', { name: /^Accept/ })
        .count(),
    ).toBe(0);
    await focusOut(second.page);
    await second.page.keyboard.press('u');
    await second.page.locator('.rows .chip', { hasText: 'Signed' }).waitFor();
  });

  it('is amended: a signed value is changed and signed again', async () => {
    const { page } = reader;
    await page.getByRole('button', { name: 'Amend' }).click();
    await panel(page).getByText('Change a value or add a line, then sign again.').waitFor();
    await focusOut(page);
    const value = () => panel(page).locator('.value strong').textContent();
    const longer = Math.round(Number.parseFloat((await value()) ?? '') * 1.02);
    await page.keyboard.press('v');
    await page.keyboard.type(`${longer}`);
    await page.keyboard.press('Enter');
    await expect.poll(value).toMatch(new RegExp(`^${longer}`));
    await page.locator('.study-head .chip', { hasText: 'Draft, in review' }).waitFor();
    await second.page.locator('.rows .chip', { hasText: 'In review' }).waitFor();
    await focusOut(page);
    await page.keyboard.press('s');
    await panel(page)
      .getByRole('group', { name: /Sign as Dr Reader/ })
      .waitFor();
    await page.keyboard.press('Enter');
    await page
      .locator('.study-head .chip', { hasText: 'Signed, amended' })
      .waitFor({ timeout: LONG_MS });
    await second.page.locator('.rows .chip', { hasText: 'Signed, amended' }).waitFor();
    expect(await panel(page).textContent()).toContain('Signed Dr Reader');
  });

  it('has no axe violations where a person decides on a held report', async () => {
    const { page } = second;
    await page.getByRole('link', { name: 'Held' }).click();
    // The held report of the amended result replaces that of the first signature, which closes it.
    const decision = page.getByText('Patient in the EHR', { exact: true });
    const opened = async () => {
      if (await decision.isVisible()) return true;
      const decide = page.getByRole('button', { name: 'Decide' }).first();
      await decide.click({ timeout: 5000 }).catch(() => {});
      return false;
    };
    await expect.poll(opened, { timeout: LONG_MS, interval: 500 }).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('is withdrawn after the reason is chosen, and every page says so', async () => {
    const { page } = second;
    await page.getByRole('link', { name: 'Worklist' }).click();
    await page.locator('.rows .open').first().click();
    await panel(page).waitFor({ timeout: LONG_MS });
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('button', { name: 'Withdraw the result' }).click();
    await page.getByText('Choose the reason.').first().waitFor();
    await page.getByLabel('Reason').selectOption('wrong-patient');
    await page.getByLabel('Explanation').fill('Images of the next patient');
    await page.getByRole('button', { name: 'Withdraw the result' }).click();
    const notice = (of: Page) => of.locator('#withdrawn');
    for (const each of [page, reader.page]) {
      await notice(each).waitFor();
      const text = await notice(each).textContent();
      expect(text).toContain('Do not use this result.');
      expect(text).toContain('Wrong patient: Images of the next patient');
      expect(text).toContain('Dr Second');
      await each.locator('.study-head .chip', { hasText: 'Withdrawn' }).waitFor();
      expect(await panel(each).count()).toBe(0);
    }
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Withdraw' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('These files are of a withdrawn result.').waitFor();
    await focusOut(page);
    await page.keyboard.press('u');
    await page.locator('.rows .chip', { hasText: 'Withdrawn' }).waitFor();
  });

  it('raised no exception and no violation of the content policy', () => {
    expect([...reader.trouble, ...second.trouble, ...viewer.trouble]).toEqual([]);
  });
});
