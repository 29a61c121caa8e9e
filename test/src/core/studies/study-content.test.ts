import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONTENT_ENDPOINT, type Content } from '../../../../pipelines/contract/content.ts';
import { findStudy } from '../../../../src/core/studies/study-store.ts';
import { findContentFacts } from '../../../../src/core/studies/submission.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

const FETUS: Content = {
  anatomy: 'fetus',
  planes: [{ name: 'femur', clips: 2 }],
  views: [],
  clips: { looked_at: 3, of: 3 },
  artifacts: [],
};

let site: Site;
let study = '';
let count = 0;

beforeAll(async () => {
  site = await openSite({
    rules: [
      { name: 'named', when: { studyDescription: 'OB' }, ignore: true },
      { name: 'no-femur', when: { not: { plane: 'femur' } }, hold: true },
      {
        name: 'fetus',
        when: { anatomy: 'fetus', plane: { in: ['femur'] } },
        run: { endpoint: 'us/obstetric/interpret' },
      },
    ],
  });
});
afterAll(() => site.close());
beforeEach(() => {
  count += 1;
  study = `1.2.840.97.${count}`;
  site.looked = { status: 'queued', result: null };
});

const row = () => findStudy(site.database, study);
const asked = () =>
  site.submitted
    .filter(({ studyInstanceUid }) => studyInstanceUid === study)
    .map(({ endpoint }) => endpoint);

async function arrive(studyDescription: string): Promise<void> {
  const sop = `${study}.1`;
  await sendBuffer(
    site.node,
    dicomFile({ sopInstanceUid: sop, studyInstanceUid: study, studyDescription }),
  );
  site.pass(31);
}
const reaches = (state: string) => expect.poll(async () => (await row())?.state).toBe(state);

/** Sets the outcome of the classification. The study's rules are evaluated again every second. */
async function lookEnds(status: Site['looked']['status'], result: unknown): Promise<void> {
  site.looked = { status, result };
  site.pass(2);
}

describe('a study whose rule depends on what the images show', () => {
  test('waits for the classifiers, and states that', async () => {
    await arrive('');
    await expect.poll(async () => (await row())?.reason).toContain('being classified');
    expect((await row())?.state).toBe('complete');
    expect(new Set(asked())).toEqual(new Set([CONTENT_ENDPOINT]));
    await lookEnds('succeeded', FETUS);
    await reaches('submitted');
    expect(asked().at(-1)).toBe('us/obstetric/interpret');
  });

  test('is classified once for each revision', async () => {
    await arrive('');
    await lookEnds('succeeded', FETUS);
    await reaches('submitted');
    const found = await row();
    expect(found && (await findContentFacts(site.database, found))).toEqual({
      known: { anatomy: ['fetus'], plane: ['femur'], view: [] },
    });
  });

  test('without a readable image shows nothing, which counts as an answer', async () => {
    await arrive('');
    await lookEnds('rejected', null);
    await reaches('held');
    expect((await row())?.reason).toBe('Held by the rule “no-femur”.');
  });

  test('is not treated as one without the plane if the classification failed', async () => {
    await arrive('');
    await lookEnds('failed', null);
    await reaches('unrouted');
    expect((await row())?.reason).toContain('the classification of the images ended as failed');
  });

  test('is not classified if an earlier rule acts', async () => {
    await arrive('OB');
    await reaches('ignored');
    expect(asked()).toEqual([]);
  });
});
