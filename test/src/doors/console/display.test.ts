import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InvokedDisplay } from '../../../../src/doors/console/contract.ts';
import { startChromium } from './browser/chromium.ts';
import { type Client, type ConsoleSite, openConsole } from './site.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

const STUDY = fixtureStudy(4);
const studyUid = `requestType=STUDY&studyUID=${STUDY.studyInstanceUid}`;

let site: ConsoleSite;
let clinician: Client;

beforeAll(async () => {
  site = await openConsole({ console: { invokeImageDisplay: true } });
  await fillWorklist(site.database, 10);
  clinician = await site.signIn('clinician');
});
afterAll(() => site.close());

const display = async (query: string) =>
  (await clinician.get<InvokedDisplay>(`/display?${query}`)).studies;
const statusOf = async (client: Client, query: string) =>
  (await client.call('GET', `/display?${query}`)).status;

describe('Invoke Image Display', () => {
  it('finds a study by its UID, and by its accession number', async () => {
    const [byUid] = await display(`${studyUid}&viewerType=IHE_BIR&diagnosticQuality=true`);
    const byAccession = await display(`requestType=STUDY&accessionNumber=${STUDY.accessionNumber}`);
    expect(byUid).toMatchObject({ studyDate: '20240315', description: STUDY.studyDescription });
    expect(byAccession).toEqual([byUid]);
  });

  it('finds the studies of a patient by an ID with or without its issuer', async () => {
    const patient = `requestType=PATIENT&patientID=${STUDY.patientId}`;
    expect(await display(patient)).toHaveLength(2);
    expect(await display(`${patient}%5E%5E%5EHOSPITAL`)).toHaveLength(2);
  });

  it('omits the studies that state another issuer', async () => {
    const patient = `requestType=PATIENT&patientID=${STUDY.patientId}%5E%5E%5E`;
    const state = (issuer: object) =>
      site.database.query(
        `UPDATE studies SET identity = identity - 'IssuerOfPatientID' || $1
         WHERE study_instance_uid = $2`,
        [JSON.stringify(issuer), STUDY.studyInstanceUid],
      );
    const shown = async (authority: string) =>
      (await statusOf(clinician, `${patient}${authority}`)) === 200 &&
      (await display(`${patient}${authority}`)).some(
        ({ description }) => description === STUDY.studyDescription,
      );
    await state({ IssuerOfPatientID: 'NORTH' });
    expect([await shown('NORTH'), await shown('SOUTH')]).toEqual([true, false]);
    await state({ IssuerOfPatientIDQualifiers: { UniversalEntityID: '1.2.3' } });
    expect([await shown('%261.2.3%26ISO'), await shown('%261.2.4%26ISO')]).toEqual([true, false]);
  });

  it('audits whose identity was shown', async () => {
    const [found] = await display(studyUid);
    const { rows } = await site.database.query<{ study_id: string }>(
      'SELECT study_id FROM audit ORDER BY id DESC LIMIT 1',
    );
    expect(rows[0]?.study_id).toBe(found?.key);
  });

  it.each([
    ['an unknown study', 'requestType=STUDY&studyUID=1.2.3', 404],
    ['no request type', `studyUID=${STUDY.studyInstanceUid}`, 422],
    ['a request type of another profile', 'requestType=SERIES&studyUID=1.2.3', 422],
    ['several UIDs', 'requestType=STUDY&studyUID=1.2.3,1.2.4', 422],
    ['nothing to find', 'requestType=STUDY', 422],
    ['a patient for a study', 'requestType=STUDY&patientID=MRN-1', 422],
  ])('refuses %s', async (_, query, status) => {
    expect(await statusOf(clinician, query)).toBe(status);
  });

  it('is only for roles that see identity, because it would link a pseudonym to a patient', async () => {
    for (const role of ['viewer', 'operator'] as const) {
      expect(await statusOf(await site.signIn(role), studyUid)).toBe(403);
    }
  });

  it('is unavailable unless configured', async () => {
    const other = await openConsole();
    const status = await statusOf(await other.signIn('clinician'), studyUid);
    await other.close();
    expect(status).toBe(404);
  });
});

const browser = await startChromium();
if (!browser) console.warn('Chromium is not installed: the address of a study is not opened');

describe.skipIf(!browser)('the address of a study in Chromium', { timeout: 60_000 }, () => {
  afterAll(() => browser?.close());

  it('opens the study after the sign-in', async () => {
    const page = await browser?.newPage();
    if (!page) throw new Error('no browser');
    const { key } = await site.key('clinician');
    await page.goto(`${site.url}/console/IHEInvokeImageDisplay?${studyUid}`);
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const [found] = await display(studyUid);
    await page.waitForURL(`${site.url}/console/worklist/${found?.key}`);
    await page.getByText('FAMILY4 GIVEN4').first().waitFor();
  });

  it('lists the studies if there are several', async () => {
    const page = await browser?.newPage();
    if (!page) throw new Error('no browser');
    const { key } = await site.key('clinician');
    await page.goto(
      `${site.url}/console/IHEInvokeImageDisplay?requestType=PATIENT&patientID=${STUDY.patientId}`,
    );
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: STUDY.studyDescription }).click();
    await page.waitForURL(`${site.url}/console/worklist/*`);
  });
});
