import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dicomFile } from '../../../../dimse/dicom-file.ts';
import { PATIENT, type PhantomFiles, phantomFiles } from '../../../../gateway/phantom.ts';
import { violationsOf } from './accessibility.ts';
import { openSignIn, openWindow, startChromium, type Window } from './chromium.ts';
import { openWard, type Ward } from './ward.ts';

/** A pipeline run may take this long on a busy machine; speed is not tested. */
const PATIENCE_MS = 150_000;
/** Shorter than the test's own time limit, so that an unsuccessful wait can report what it saw. */
const LONG_MS = 100_000;

/**
 * An equals sign would end the component group of a PN (PS3.5 6.2.1), so the name contains none.
 */
const NAME_MARKUP = '<img src onerror>';
const MARKUP = '<img src=x onerror="window.harmed=1">';
/** Contains a right-to-left override (Unicode), which reverses the text after it. */
const TURNED = '\u202Egnp.exe';
const LONG = 'Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh-Cholmondel';
const SVG = '<svg onload="window.harmed=1">';

/** URLs of a request's result, without and with its review. */
const RESULTS = '**/api/requests/*/{result,review}';

/**
 * Adds an earlier study to a result. It is the same study, so that no second one has to be
 * interpreted.
 */
async function withPrior(route: Route): Promise<void> {
  const answer = await route.fetch();
  const body = await answer.json();
  const result = body.result ?? body;
  result.prior = { requestId: result.requestId, daysBefore: 90 };
  await route.fulfill({ json: body });
}

const deliveryOf = (page: Page, destination: string) =>
  page.locator('.deliveries > li').filter({ has: page.getByText(destination, { exact: true }) });

/** For each page, reveals what is hidden at first, so that everything is checked. */
const UNFOLDED: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async Rules(page) {
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('would be treated differently').first().waitFor();
  },
  async Peers(page) {
    const peer = page
      .locator('.peers > li')
      .filter({ has: page.getByText('pacs', { exact: true }) });
    await peer.getByRole('button', { name: 'Test' }).click();
    await peer.locator('.found li').first().waitFor();
  },
  async Account(page) {
    await page.getByText('Create a key').click();
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    await page.getByRole('group', { name: /Revoke the key/ }).waitFor();
  },
};

const browser: Browser | null = await startChromium();
if (!browser) console.warn('Chromium is not installed: the tests of the console in it are skipped');

describe.skipIf(!browser)('the console in Chromium', { timeout: PATIENCE_MS }, () => {
  let ward: Ward;
  let desk: Window;
  let guest: Window;
  /** A separate window for the accessibility checker, which adds styles to the page. */
  let checked: Window;
  let study: PhantomFiles;
  let strange: PhantomFiles[];

  beforeAll(async () => {
    if (!browser) return;
    ward = await openWard(await mkdtemp(join(tmpdir(), 'sonogate-ward-')));
    const [administrator, viewer] = [
      await ward.newKey('administrator'),
      await ward.newKey('viewer'),
    ];
    await ward.newKey('viewer', `${MARKUP} & co`);
    [desk, checked, guest] = await Promise.all([
      openWindow(browser, { url: ward.url, key: administrator }),
      openWindow(browser, { url: ward.url, key: administrator, free: true }),
      openWindow(browser, { url: ward.url, key: viewer }),
    ]);
    // A reload would remove this mark, so it shows that everything below happens without a reload.
    await desk.page.evaluate('window.sameDocument = true');
    study = await phantomFiles('console');
    strange = await Promise.all([
      phantomFiles('console markup', { patientName: `${NAME_MARKUP}^Ann`, studyDescription: SVG }),
      phantomFiles('console turned', {
        patientName: `Turned${TURNED}`,
        studyDescription: 'turned',
      }),
      phantomFiles('console long', { patientName: LONG, studyDescription: 'long' }),
    ]);
    await ward.send(study.paths);
  }, PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await ward?.close();
    for (const files of [study, ...(strange ?? [])]) {
      if (files) await rm(files.folder, { recursive: true, force: true });
    }
  });

  it('shows a study that is sent by C-STORE while the page is open', async () => {
    const row = desk.page.getByRole('row', { name: /PHANTOM WARD/ });
    await row.waitFor();
    await expect.poll(() => row.textContent(), { timeout: LONG_MS }).toMatch(/this-machine/);
  });

  it('has no axe violations on any page, light and dark', async () => {
    const { page } = checked;
    for (const name of ['Worklist', 'Deliveries', 'Held', 'Rules', 'Peers', 'Account']) {
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expect.poll(() => page.locator('.waiting').count()).toBe(0);
      await UNFOLDED[name]?.(page);
      expect(await violationsOf(page), name).toEqual([]);
    }
    for (const path of ['nothing-here', 'IHEInvokeImageDisplay?requestType=PATIENT&patientID=1']) {
      await page.goto(`${ward.url}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.locator('.waiting').count()).toBe(0);
      await page.keyboard.press('?');
      expect(await violationsOf(page), path).toEqual([]);
      await page.keyboard.press('?');
    }
  });

  it('shows strings from headers and clients as text, whatever they contain', async () => {
    for (const { paths } of strange) await ward.send(paths);
    const { page } = desk;
    await page.getByRole('link', { name: 'Worklist' }).click();
    const names = page.locator('.rows .open');
    await expect
      .poll(() => names.allInnerTexts())
      .toEqual(
        expect.arrayContaining([expect.stringContaining(NAME_MARKUP), LONG, `Turned${TURNED}`]),
      );
    expect(await page.locator('.rows').textContent()).toContain(SVG);
    // An identity must never be truncated, however narrow the window is.
    for (const width of [390, 600, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const cut = await page.evaluate(
        `[...document.querySelectorAll('.rows .who')].filter((cell) => cell.scrollHeight > cell.clientHeight + 1 || cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent.trim())`,
      );
      expect(cut, `${width} px`).toEqual([]);
    }
    // The direction mark ends with the name, so the text after it is not reversed.
    const bidi = await page.evaluate(
      `getComputedStyle([...document.querySelectorAll('bdi')].find((node) => node.textContent.includes('gnp.exe'))).unicodeBidi`,
    );
    expect(bidi).toBe('isolate');
    await page.getByRole('link', { name: NAME_MARKUP }).click();
    await page.getByRole('heading', { level: 1, name: NAME_MARKUP }).waitFor();
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('row', { name: `${MARKUP} & co` }).waitFor();
    expect(await page.locator('main img, main svg').count()).toBe(0);
    expect(await page.evaluate('window.harmed')).toBeUndefined();
  });

  it('receives the files of a study that a person uploads', async () => {
    const { page } = desk;
    const uploaded = await phantomFiles('console upload', {
      patientName: 'UPLOADED^STUDY',
      studyDescription: 'Thyroid',
    });
    await page.getByRole('link', { name: 'Worklist' }).click();
    await page.getByLabel('Upload a study').setInputFiles([...uploaded.paths]);
    await page.getByText(`${uploaded.paths.length} image object`).first().waitFor();
    await page.getByRole('link', { name: 'UPLOADED STUDY' }).waitFor();
    await rm(uploaded.folder, { recursive: true, force: true });
    expect(await guest.page.getByLabel('Upload a study').count()).toBe(0);
  });

  it('shows which rule matches a file dropped on the rules page', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Rules' }).click();
    await page.getByText('Choose a DICOM file').waitFor();
    const studyDescription = 'Obstetric ultrasound';
    const bytes = dicomFile({ sopInstanceUid: '1.2.3.9', studyDescription });
    const dataTransfer = await page.evaluateHandle(`(() => {
      const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (one) => one.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], 'scan.dcm'));
      return transfer;
    })()`);
    await page.dispatchEvent('.rules', 'drop', { dataTransfer });
    await page.getByRole('heading', { name: 'Handled by obstetric.' }).waitFor();
    await page.getByText('scan.dcm · ').waitFor();
  });

  it('checks and tries edited rules, and saves them or offers them as a download', async () => {
    const { page } = desk;
    const editor = page.getByLabel('Rules as YAML');
    const asInUse = await editor.inputValue();
    const dryRun = () => page.getByRole('button', { name: 'Dry run' }).click();
    await editor.fill('rules: [{ name: x, forwardTo: [nowhere] }]');
    await dryRun();
    await page.getByRole('alert').filter({ hasText: '/rules/0' }).waitFor();
    expect(await page.getByRole('link', { name: 'Download these rules' }).count()).toBe(0);
    const edited = asInUse.replace('name: obstetric', 'name: pregnancy');
    await editor.fill(edited);
    await dryRun();
    // This test's gateway has no settings file.
    const download = page.getByRole('link', { name: 'Download these rules' });
    expect(decodeURIComponent((await download.getAttribute('href')) ?? '')).toContain(edited);
    expect(await page.getByRole('button', { name: 'Save these rules' }).count()).toBe(0);
    await page.route('**/api/rules', async (route) => {
      if (route.request().method() === 'PUT') {
        expect(route.request().postDataJSON()).toEqual({ yaml: edited, basis: asInUse });
        return route.fulfill({ json: { kept: 'sonogate.yaml.before' } });
      }
      const answer = await route.fetch();
      return route.fulfill({ json: { ...(await answer.json()), canSave: true } });
    });
    await page.getByRole('link', { name: 'Peers' }).click();
    await page.getByRole('link', { name: 'Rules' }).click();
    await editor.fill(edited);
    await dryRun();
    await page.getByRole('button', { name: 'Save these rules' }).click();
    await page.getByRole('group').getByRole('button', { name: 'Save' }).click();
    await page.locator('.notice', { hasText: 'kept as sonogate.yaml.before' }).waitFor();
    await page.unroute('**/api/rules');
  });

  it('stores a named filter in this browser, without the search text', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Worklist' }).click();
    await page.locator('#search').fill('WARD');
    const signature = page.locator('select[name=signature]');
    await signature.selectOption('unsigned');
    await page.getByRole('button', { name: 'Save this filter' }).click();
    await page.getByLabel('Name of this filter').fill('To sign');
    await page.keyboard.press('Enter');
    await page.locator('#search').fill('');
    await signature.selectOption('');
    await page.getByRole('link', { name: 'Peers' }).click();
    await page.getByRole('link', { name: 'Worklist' }).click();
    await page.getByRole('button', { name: 'To sign', exact: true }).click();
    await expect.poll(() => page.url()).toMatch(/worklist\?signature=unsigned$/);
    await page.getByRole('button', { name: 'Remove “To sign”' }).click();
    expect(await page.evaluate("localStorage.getItem('sonogate-filters')")).toBe('[]');
    await signature.selectOption('');
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Worklist' }).click();
    // The test steps through both rows, but a study and a request may reach the list one after the
    // other.
    await page.locator('.rows .open').nth(1).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent.trim()');
    const [first, second] = await page.locator('.rows .open').allInnerTexts();
    await page.keyboard.press('j');
    await expect.poll(focused).toBe(first?.trim());
    await page.keyboard.press('j');
    await expect.poll(focused).toBe(second?.trim());
    await page.keyboard.press('k');
    await expect.poll(focused).toBe(first?.trim());
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Timeline' }).waitFor();
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Worklist', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('WARD-7 j');
    expect(await page.locator('#search').inputValue()).toBe('WARD-7 j');
    await page.locator('#search').fill('');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    // In a window that is lower than the list, such as at 200 % zoom, the list scrolls.
    const size = page.viewportSize();
    await page.setViewportSize({ width: 720, height: 200 });
    const box = await page.getByRole('region', { name: 'Keys' }).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    if (size) await page.setViewportSize(size);
    await page.keyboard.press('?');
  });

  it('reaches the content with one key past the bar', async () => {
    const { page } = guest;
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  });

  it('opens the study and shows its calipers, which can be switched off', async () => {
    const { page } = desk;
    await page.route(RESULTS, withPrior);
    await page.getByRole('link', { name: 'PHANTOM WARD' }).click();
    const calipers = page.locator('.overlay .caliper');
    await expect.poll(() => calipers.count(), { timeout: LONG_MS }).toBeGreaterThan(0);
    // The values are below the image, and only their numbers are next to the calipers.
    expect(await page.locator('.overlay text').allTextContents()).toContain('1');
    expect(await page.locator('.values').textContent()).toMatch(/ mm/);
    expect(await page.locator('.overlay .mask').count()).toBe(0);
    await page.locator('.display summary').click();
    await page.getByRole('checkbox', { name: 'Calipers' }).uncheck();
    await expect.poll(() => calipers.count()).toBe(0);
    await page.keyboard.press('d');
    await expect.poll(() => calipers.count()).toBeGreaterThan(0);
    expect(await page.getByText('Draft, not verified').first().isVisible()).toBe(true);
    const viewer = page.getByRole('link', { name: 'Open in viewer' });
    expect(await viewer.getAttribute('href')).toBe(
      `https://viewer.example/?study=${study.studyUid}`,
    );
  });

  it('never shows the calipers of an image over the image before it', async () => {
    const { page } = desk;
    const image = page.locator('.picture img');
    const shown = await image.getAttribute('src');
    // An element that is used again shows its old image until the new one has loaded.
    await image.evaluate('node => { node.dataset.before = "yes" }');
    await page.keyboard.press('n');
    await expect.poll(() => image.getAttribute('src')).not.toBe(shown);
    expect(await image.getAttribute('data-before')).toBeNull();
    await page.keyboard.press('p');
    await expect.poll(() => image.getAttribute('src')).toBe(shown);
  });

  it('shows the earlier study beside this one, both at the same view', async () => {
    const { page } = desk;
    const shown = (name: string) =>
      page.locator(`#${name} .strip [aria-pressed="true"]`).getAttribute('aria-label');
    const compare = page.getByRole('button', { name: 'Compare with the study 90 days earlier' });
    await compare.click();
    await page.locator('#earlier-images').waitFor();
    const before = await shown('images');
    await page.keyboard.press('n');
    await expect.poll(() => shown('images')).not.toBe(before);
    await expect.poll(() => shown('earlier-images')).toBe(await shown('images'));
    await compare.click();
    await expect.poll(() => page.locator('#earlier-images').count()).toBe(0);
    await page.unroute(RESULTS);
  });

  it('has tabs that the keyboard switches and the address keeps', async () => {
    const { page } = desk;
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await tab('Measurements').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).not.toBe(
      'Measurements',
    );
    await tab('Deliveries').click();
    expect(page.url()).toMatch(/#deliveries$/);
    expect(await tab('Deliveries').getAttribute('aria-selected')).toBe('true');
    expect(await page.locator('.overlay .caliper').count()).toBeGreaterThan(0);
  });

  it('enlarges the image, changes its contrast and restores it as acquired', async () => {
    const { page } = desk;
    const styleOf = (selector: string, property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
    const place = () => styleOf('.picture', 'transform');
    await page.keyboard.press('+');
    await expect.poll(place).toMatch(/^matrix\(1\.25/);
    const drag = async (button: 'left' | 'right') => {
      const figure = page.locator('.stage figure');
      await figure.scrollIntoViewIfNeeded();
      const box = await figure.boundingBox();
      const x = (box?.x ?? 0) + (box?.width ?? 0) / 2;
      const y = (box?.y ?? 0) + (box?.height ?? 0) / 2;
      await page.mouse.move(x, y);
      await page.mouse.down({ button });
      await page.mouse.move(x + 30, y + 12, { steps: 3 });
      await page.mouse.up({ button });
    };
    await drag('left');
    await expect.poll(place).toMatch(/, 30, 12\)$/);
    await drag('right');
    await expect.poll(() => styleOf('.picture img', 'filter')).not.toContain('brightness(1)');
    await page.keyboard.press('f');
    await expect.poll(() => page.evaluate('document.fullscreenElement?.className')).toBe('stage');
    await page.keyboard.press('f');
    await expect.poll(() => page.evaluate('document.fullscreenElement')).toBeNull();
    await page.getByLabel('Contrast').fill('2');
    await expect.poll(() => styleOf('.picture img', 'filter')).toContain('contrast(2)');
    await page.getByRole('button', { name: 'As acquired' }).click();
    await expect.poll(place).toMatch(/^matrix\(1, 0, 0, 1, 0, 0\)/);
    await page.locator('.display summary').click();
  });

  it('shows that the PACS accepted it and that the EHR acknowledged it', async () => {
    const { page } = desk;
    const delivery = (name: string) => deliveryOf(page, name);
    await expect
      .poll(() => delivery('pacs').textContent(), { timeout: LONG_MS })
      .toContain('Delivered');
    await expect
      .poll(() => delivery('ehr').textContent(), { timeout: LONG_MS })
      .toContain('Delivered');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await expect.poll(() => page.locator('.timeline').textContent()).toMatch(/ehr/);
    await page.getByRole('tab', { name: 'Deliveries' }).click();
  });

  it('shows that an archive does not respond, closes the delivery, and delivers it when it is sent again', async () => {
    const { page } = desk;
    const archive = deliveryOf(page, 'archive');
    await expect.poll(() => archive.textContent(), { timeout: LONG_MS }).toContain('Failed');
    await archive.getByRole('button', { name: 'Close' }).click();
    await archive.getByLabel('Reason').fill('The archive was replaced');
    await archive.getByRole('button', { name: 'Close the delivery' }).click();
    await expect
      .poll(() => archive.textContent(), { timeout: LONG_MS })
      .toMatch(/Closed by .+: The archive was replaced/);
    expect(await archive.getByRole('button').allInnerTexts()).toEqual(['Send again']);
    await ward.startArchive();
    await archive.getByRole('button', { name: 'Send again' }).click();
    await archive.getByRole('group').getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => archive.textContent(), { timeout: LONG_MS }).toContain('Delivered');
    expect(await page.evaluate('window.sameDocument')).toBe(true);
  });

  it('has no axe violations on a study with its result, light and dark', async () => {
    const { page } = checked;
    await page.goto(desk.page.url());
    await page.getByRole('heading', { name: 'Measurements' }).waitFor();
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      expect(await violationsOf(page), `${await tab.textContent()}`).toEqual([]);
    }
  });

  it('shows a new key once, and revokes it', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByText('Create a key').click();
    await page.getByLabel('Name', { exact: true }).fill('second ward');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const secret = (await page.locator('code.secret').textContent()) ?? '';
    expect(secret).toMatch(/^sg_live_[0-9A-Za-z]{43}$/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await expect.poll(() => page.content()).not.toContain(secret);
    const row = page.getByRole('row', { name: /second ward/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByRole('group').getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => row.textContent()).toContain('Revoked');
  });

  it('has no axe violations on the sign-in page, light and dark', async () => {
    const context = await checked.context.browser()?.newContext({ bypassCSP: true });
    const page = await context?.newPage();
    if (!page) throw new Error('no window');
    await openSignIn(page, ward.url);
    expect(await violationsOf(page)).toEqual([]);
    await context?.close();
  });

  it('never sends identity to a viewer', async () => {
    const { page, heard } = guest;
    await page.locator('.rows .open').last().click();
    await page.getByRole('heading', { name: 'Measurements' }).waitFor();
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor();
    const all = heard.join('\n');
    expect(all).toContain('"shown":"hidden"');
    expect(all).toContain('"sections"');
    for (const secret of [
      'PHANTOM',
      PATIENT.patientId,
      PATIENT.patientBirthDate,
      'ACC7',
      study.studyUid,
      'Wolfeschlegel',
    ]) {
      expect(all, secret).not.toContain(secret);
    }
  });

  it('raised no exception, no dialog and no violation of the content policy', () => {
    expect([...desk.trouble, ...guest.trouble]).toEqual([]);
  });
});
