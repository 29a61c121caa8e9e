/**
 * `node test/src/doors/console/browser/screenshots.ts`: takes the screenshots for docs/console.md
 * and docs/console-access.md, from phantoms run through a gateway. They show no real patients.
 *
 * `--small` runs only small studies and updates the screenshots of all pages except the worklist
 * and study pages. If a folder is given, every page is captured there in full (for a phone and a
 * desktop, light and dark), so that a change to the console can be inspected; the documentation's
 * screenshots stay unchanged.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { phantomStudy } from '../../../../../src/app/demo/phantom-studies.ts';
import { phantomFiles } from '../../../../gateway/phantom.ts';
import { openWindow, startChromium } from './chromium.ts';
import { openWard, type Ward } from './ward.ts';

const ASKED = process.argv.slice(2);
const LOOK_INTO = ASKED.find((one) => one !== '--small');
/** The large echo and obstetric phantoms take minutes to run. */
const SMALL = ASKED.includes('--small') || LOOK_INTO !== undefined;
const INTO =
  LOOK_INTO ?? fileURLToPath(new URL('../../../../../docs/images/console/', import.meta.url));
const SIZES = LOOK_INTO
  ? ([
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ] as const)
  : ([
      { width: 1440, height: 900 },
      { width: 820, height: 1180 },
    ] as const);
const SCHEMES = ['light', 'dark'] as const;
/** Pages that are also captured at the smaller size. */
const ON_A_TABLET = ['worklist-light-820', 'worklist-dark-820', 'study-820', 'deliveries-820'];
const MOST_BYTES = 200_000;
/** Palette qualities, tried in descending order until a screenshot is small enough. */
const QUALITIES = [90, 75, 60, 40];
const PATIENCE_MS = 900_000;

/** Evaluated in the browser: returns true once every image is decoded. */
const ALL_DECODED =
  'images => images.every(({ complete, naturalWidth }) => complete && naturalWidth > 0)';

async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    // Otherwise, bars that stay in view would appear in the middle of the page.
    await page.evaluate('scrollTo(0, 0)');
    await page.screenshot({ path: join(INTO, `${name}-${colorScheme}.png`), fullPage: true });
  }
}

async function keep(page: Page, name: string): Promise<void> {
  if (name.endsWith('-820') && !ON_A_TABLET.includes(name)) return;
  // Waits for images that are still loading.
  await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined);
  for (
    let tries = 25;
    tries > 0 && !(await page.locator('img').evaluateAll(ALL_DECODED));
    tries -= 1
  ) {
    await page.waitForTimeout(200);
  }
  // The viewer draws frames on a canvas once they have been decoded.
  await page.waitForTimeout(1000);
  if (LOOK_INTO) return look(page, name);
  const png = await page.screenshot();
  for (const quality of QUALITIES) {
    const small = await sharp(png)
      .png({ palette: true, quality, dither: 0.5, effort: 8 })
      .toBuffer();
    if (small.length > MOST_BYTES && quality !== QUALITIES.at(-1)) continue;
    await writeFile(join(INTO, `${name}.png`), small);
    return;
  }
}

/**
 * Sends small studies, most of which match no rule, so that the worklist has more than two rows.
 */
async function sendSmallStudies(ward: Ward): Promise<void> {
  const studies = [
    { patientName: 'PHANTOM^THYROID', patientId: 'WARD-8', studyDescription: 'Thyroid' },
    { patientName: 'PHANTOM^ABDOMEN', patientId: 'WARD-9', studyDescription: 'Upper abdomen' },
    { patientName: 'PHANTOM^WARD', patientId: 'WARD-7', studyDescription: 'Obstetric ultrasound' },
    { patientName: 'PHANTOM^KNEE', patientId: 'WARD-10', studyDescription: 'Joint' },
    { patientName: 'PHANTOM^NEW', patientId: 'WARD-11', studyDescription: 'Obstetric ultrasound' },
  ];
  for (const study of studies) {
    const { paths, folder } = await phantomFiles(`picture ${study.patientId}`, study);
    await ward.send(paths);
    await rm(folder, { recursive: true, force: true });
  }
}

async function sendPhantoms(ward: Ward): Promise<void> {
  for (const name of ['obstetric', 'echo'] as const) {
    const study = await phantomStudy(name, 1);
    const folder = join(ward.folder, name);
    await mkdir(folder, { recursive: true });
    const paths: string[] = [];
    for (const file of study.files) {
      const path = join(folder, file.name);
      await writeFile(path, file.bytes);
      paths.push(path);
    }
    if (name === 'obstetric') {
      const { patientId, patientName, patientBirthDate } = study.patient;
      const [family = '', given = ''] = patientName.split('^');
      const birthDate = patientBirthDate.replace(/(....)(..)(..)/, '$1-$2-$3');
      await ward.knowPatient({ id: patientId, family, given, birthDate });
    }
    await ward.send(paths);
  }
}

async function openFromBar(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

async function openStudy(page: Page, name: RegExp): Promise<void> {
  await openFromBar(page, 'Worklist');
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name: 'Measurements' }).waitFor({ timeout: PATIENCE_MS });
}

/** Captures the page of a small study: every tab, and the review with its list of keys. */
async function lookAtStudy(page: Page, size: string): Promise<void> {
  await openStudy(page, /PHANTOM WARD/);
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    await keep(page, `study-${((await tab.textContent()) ?? '').trim().toLowerCase()}-${size}`);
  }
  await page.keyboard.press('?');
  await page.keyboard.press('v');
  await keep(page, `study-review-${size}`);
  // Closes the list of keys, which would cover buttons of the next pages on a phone.
  await page.reload();
}

async function showStudies(page: Page, size: string): Promise<void> {
  await openStudy(page, /HEART/);
  await page.getByRole('button', { name: /A4C/ }).first().click();
  await keep(page, `study-echo-${size}`);
  await page.getByRole('tab', { name: 'Charts' }).click();
  await page.locator('#segments').scrollIntoViewIfNeeded();
  await keep(page, `study-echo-segments-${size}`);
  await openStudy(page, /OBSTETRIC/);
  await keep(page, `study-${size}`);
  await page.locator('#measurements').scrollIntoViewIfNeeded();
  await page.locator('#measurements').evaluate('node => node.scrollIntoView()');
  await keep(page, `study-measurements-${size}`);
  await page.getByRole('tab', { name: 'Charts' }).click();
  await page.locator('#growth').evaluate('node => node.scrollIntoView()');
  await page.locator('#growth').scrollIntoViewIfNeeded();
  await keep(page, `study-growth-${size}`);
}

async function showLists(page: Page, size: string): Promise<void> {
  await openFromBar(page, 'Deliveries');
  await page.locator('.delivery-table .chip.critical').first().waitFor();
  await keep(page, `deliveries-${size}`);
  await openFromBar(page, 'Held');
  await page.getByRole('button', { name: 'Decide' }).first().click();
  await page.getByText('Patient in the EHR', { exact: true }).waitFor();
  await keep(page, `held-${size}`);
  await openFromBar(page, 'Rules');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('would be treated differently').first().waitFor();
  await keep(page, `rules-${size}`);
  await openFromBar(page, 'Peers');
  for (const name of ['pacs', 'archive']) {
    const peer = page.locator('.peers > li').filter({ has: page.getByRole('heading', { name }) });
    await peer.getByRole('button', { name: 'Test' }).click();
    await peer.locator('.found li').first().waitFor({ timeout: PATIENCE_MS });
  }
  await keep(page, `peers-${size}`);
  await openFromBar(page, 'Account');
  await page.getByText('Deleted so far').waitFor();
  if (LOOK_INTO) await page.getByText('Create a key').click();
  await keep(page, `account-${size}`);
}

async function showWorklist(page: Page, size: string): Promise<void> {
  await openFromBar(page, 'Worklist');
  await page.locator('.rows .open').first().waitFor();
  for (const colorScheme of LOOK_INTO ? (['light'] as const) : SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await keep(page, `worklist-${colorScheme}-${size}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

const browser = await startChromium();
if (!browser) throw new Error('Chromium is not installed');
await mkdir(INTO, { recursive: true });
const ward = await openWard(await mkdtemp(join(tmpdir(), 'sonogate-pictures-')));
try {
  await sendSmallStudies(ward);
  if (!SMALL) await sendPhantoms(ward);
  const key = await ward.newKey('administrator', 'ward desk');
  await ward.newKey('viewer', 'display on the ward');
  for (const size of SIZES) {
    const { page, context } = await openWindow(browser, { url: ward.url, key, ...size });
    page.setDefaultTimeout(PATIENCE_MS);
    await page
      .locator('.rows .chip.good', { hasText: 'Draft ready' })
      .nth(SMALL ? 1 : 3)
      .waitFor({ timeout: PATIENCE_MS });
    if (!SMALL) await showStudies(page, `${size.width}`);
    if (LOOK_INTO) await lookAtStudy(page, `${size.width}`);
    await showLists(page, `${size.width}`);
    if (!SMALL || LOOK_INTO) await showWorklist(page, `${size.width}`);
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await keep(page, `sign-in-${size.width}`);
    await context.close();
  }
} finally {
  await browser.close();
  await ward.close();
}
