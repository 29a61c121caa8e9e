import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { priorSearches } from '../../src/core/studies/priors.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { dicomFile, type SmallObject } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { freePort } from './free-port.ts';
import { ORTHANC_INSTALLED, type Orthanc, startOrthanc } from './orthanc.ts';

const COMPREHENSIVE_SR = '1.2.840.10008.5.1.4.1.1.88.33';

let orthanc: Orthanc;
let site: Site;
let count = 0;

describe.skipIf(!ORTHANC_INSTALLED)('earlier examinations', () => {
  beforeAll(async () => {
    const started = await startOrthanc();
    if (!started) throw new Error('Orthanc did not start');
    orthanc = started;
    const run = { endpoint: 'us/obstetric/interpret' };
    const description = (matches: string) => ({ studyDescription: { matches } });
    site = await openSite({
      completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 5 },
      archives: [
        {
          type: 'dicom',
          name: 'pacs',
          host: '127.0.0.1',
          port: orthanc.dicomPort,
          aeTitle: orthanc.aeTitle,
        },
        { type: 'dicom', name: 'gone', host: '127.0.0.1', port: await freePort(), aeTitle: 'GONE' },
      ],
      rules: [
        {
          name: 'images',
          when: description('^OB growth'),
          run,
          priors: {
            from: ['pacs'],
            studies: 2,
            withinDays: 200,
            description: '^OB',
            objects: 'all',
          },
        },
        {
          name: 'reports',
          when: description('^OB reports'),
          run,
          priors: { from: ['gone', 'pacs'] },
        },
        { name: 'nobody', when: description('^OB alone'), run, priors: { from: ['gone'] } },
      ],
    });
  });
  afterAll(async () => {
    await site?.close();
    await orthanc?.stop();
  });
  beforeEach(() => {
    count += 1;
  });

  const uid = (study: string) => `1.2.840.88.${count}.${study}`;
  const object = (study: string, over: Partial<SmallObject> = {}) =>
    dicomFile({
      sopInstanceUid: `${uid(study)}.1.1`,
      studyInstanceUid: uid(study),
      studyDate: '20260521',
      studyDescription: 'OB growth',
      patientId: `PAT-${count}`,
      birthDate: '19900405',
      sex: 'F',
      ...over,
    });
  const archived = async (file: Buffer) => {
    const node = { ...site.node, port: orthanc.dicomPort, aeTitle: orthanc.aeTitle };
    expect(await sendBuffer(node, file)).toMatchObject({ outcome: 'stored' });
  };
  const row = (study: string) => findStudy(site.database, uid(study));
  const requestsOf = (study: string) =>
    site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === uid(study));
  /** Lets the study arrive and complete, and returns the request made for it. */
  const submitted = async (over: Partial<SmallObject> = {}) => {
    await sendBuffer(site.node, object('9', over));
    site.pass(6);
    await expect.poll(() => requestsOf('9').length).toBe(1);
    return requestsOf('9')[0];
  };
  const priorNames = (command: Awaited<ReturnType<typeof submitted>>) =>
    command?.priorFiles.map(({ name }) => name) ?? [];

  test('of the patient are included, newest first and no more than were requested', async () => {
    await archived(object('1', { studyDate: '20260101' }));
    await archived(object('2', { studyDate: '20260301' }));
    await archived(object('3', { studyDate: '20260401' }));
    const command = await submitted();
    expect(priorNames(command)).toHaveLength(2);
    expect(command?.input.prior_files).toEqual(priorNames(command));
    expect(command?.metadata).toEqual({ priors: '2 earlier examinations from pacs, 2 objects.' });
    expect(await row('1')).toBeNull();
  });

  test('are not treated as new studies: no request is submitted for them', async () => {
    await archived(object('1', { studyDate: '20260101' }));
    await submitted();
    site.pass(100);
    expect(await row('1')).toMatchObject({ state: 'ignored', tags: ['prior'], source: 'pacs' });
    expect(requestsOf('1')).toEqual([]);
  });

  test('that a cart sends us later are studies like any other', async () => {
    await archived(object('1', { studyDate: '20260101' }));
    await submitted();
    const late = object('1', { studyDate: '20260101', sopInstanceUid: `${uid('1')}.1.2` });
    site.pass(30);
    await sendBuffer(site.node, late);
    expect(await row('1')).toMatchObject({ state: 'receiving', tags: [] });
    site.pass(6);
    await expect.poll(() => requestsOf('1').length).toBe(1);
    expect(requestsOf('1')[0]?.files).toHaveLength(2);
  });

  test('that we have already interpreted are not interpreted again when the archive has more objects', async () => {
    await sendBuffer(site.node, object('1', { studyDate: '20260101' }));
    site.pass(6);
    await expect.poll(async () => (await row('1'))?.state).toBe('submitted');
    const more = object('1', { studyDate: '20260101', sopInstanceUid: `${uid('1')}.1.2` });
    await archived(object('1', { studyDate: '20260101' }));
    await archived(more);
    expect(priorNames(await submitted())).toHaveLength(2);
    site.pass(100);
    expect(await row('1')).toMatchObject({ state: 'submitted', revision: 1 });
    expect(requestsOf('1')).toHaveLength(1);
  });

  test('with the same patient ID but another birth date are not used, which is reported', async () => {
    await archived(object('1', { studyDate: '20260101', birthDate: '19910405' }));
    const command = await submitted();
    expect(command?.priorFiles).toEqual([]);
    expect(command?.input).not.toHaveProperty('prior_files');
    expect(command?.metadata).toHaveProperty(
      'priors',
      'No earlier examination in pacs; 1 not used: another birth date.',
    );
  });

  test('may consist of reports alone, from the archive that responds', async () => {
    await archived(object('1', { studyDate: '20260101' }));
    const report = { sopClassUid: COMPREHENSIVE_SR, modality: 'SR' };
    const sopInstanceUid = `${uid('1')}.1.7`;
    await archived(object('1', { studyDate: '20260101', sopInstanceUid, ...report }));
    const command = await submitted({ studyDescription: 'OB reports' });
    expect(priorNames(command)).toHaveLength(1);
    expect(await row('1')).toMatchObject({ instance_count: 1 });
  });

  test('are unavailable if no archive can be queried, and the study is processed without them', async () => {
    const command = await submitted({ studyDescription: 'OB alone' });
    expect(command?.priorFiles).toEqual([]);
    expect(command?.metadata).toHaveProperty(
      'priors',
      'Not available: gone could not be queried (The peer cannot be reached).',
    );
    const study = await row('9');
    expect(study && (await priorSearches(site.database, study))).toMatchObject([
      { rule: 'nobody', state: 'unavailable' },
    ]);
  });

  test('are not queried without a patient ID', async () => {
    const command = await submitted({ patientId: '' });
    expect(command?.metadata).toHaveProperty(
      'priors',
      'Not searched for: the study has no patient ID.',
    );
  });
});
