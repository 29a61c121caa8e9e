import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { derivedUid, writeUltrasound } from '../../models/phantom/dicom.ts';
import { simulateFrame } from '../../models/phantom/frame.ts';
import { sizesAt } from '../../models/phantom/sizes.ts';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import { type Shot, shotsAt } from '../../models/phantom/study-shots.ts';
import { type Result, resultSchema } from '../../pipelines/result/envelope.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { overlaysSchema } from '../pipelines/artifacts/display/overlay-schema.ts';
import { PATIENT } from './phantom.ts';
import { allDelivered, endOfStudy, explain, openSite, type Site } from './site.ts';

const GA_DAYS = 140;
const RULE = {
  name: 'obstetric',
  when: { modality: 'US' },
  run: { endpoint: 'us/obstetric/interpret', options: { report: true } },
  deliverTo: ['drafts'],
};

let site: Site;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-obstetric-'));
  site = await openSite({
    routing: { rules: [RULE] },
    destinations: [{ type: 'local', name: 'drafts' }],
    queryRetrieve: { dicomweb: true },
    worker: { openModelsAtStart: true },
  });
});
afterAll(async () => {
  await site.close();
  await rm(folder, { recursive: true });
});

const statusOf = ({ sections }: Result, id: string) =>
  sections.find((section) => section.id === id)?.status;

/**
 * Returns a complete study without repeated stills, and with only a short cine of the heart,
 * because each frame takes time.
 */
function oneOfEachView(): Shot[] {
  const views = new Map(
    shotsAt(GA_DAYS, 'complete').map((shot) => [
      shot.frames > 1 ? shot : (shot.viewName ?? shot.of),
      { ...shot, frames: Math.min(shot.frames, 48) },
    ]),
  );
  return [...views.values()];
}

/**
 * This test takes about 110 s of processor time, and the test of the demo reads a complete study
 * too.
 */
const SKIPPED = !DCMTK_INSTALLED || process.env.SONOGATE_LONG !== '1';

describe.skipIf(SKIPPED)('a complete study of 20 weeks, sent by storescu', () => {
  let result: Result;
  let requestId: string;
  let study = '';

  beforeAll(async () => {
    const { files, truth } = await simulateObstetricStudy({
      seed: 5,
      gaDays: GA_DAYS,
      shots: oneOfEachView(),
    });
    const paths = files.map(({ name }) => join(folder, name));
    for (const [index, { bytes }] of files.entries()) await writeFile(paths[index] ?? '', bytes);
    const node = ['-aec', 'SONOGATE', '127.0.0.1', String(site.dicomPort)];
    const sent = await dcmtk('storescu', ['-R', '-xy', ...node, ...paths]);
    expect(sent, sent.output).toMatchObject({ exitCode: 0 });
    const row = await endOfStudy(site, truth.studyInstanceUid);
    expect(row, JSON.stringify(row.fault)).toMatchObject({ status: 'succeeded' });
    requestId = row.id;
    study = truth.studyInstanceUid;
    result = resultSchema.parse(await site.gateway.core.result(row.id));
  }, 600_000);

  it('keeps its reports with the study, where QIDO-RS finds them, and does not read them again', async () => {
    await allDelivered(site);
    const { key } = await site.gateway.run('keys.create', { name: 'viewer', scopes: ['retrieve'] });
    const url = `${site.gateway.http?.url}/dicomweb/studies/${study}/instances?Modality=SR`;
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(2);
    expect(await explain(site.gateway, study)).toMatchObject({ revision: 1, state: 'submitted' });
  });

  it.each([
    ['planes', 'complete'],
    ['biometry', 'complete'],
    // The weight of an average fetus is known only to within about 15 %, an interval that contains
    // both centiles of the size category.
    ['growth', 'partial'],
    ['presentation', 'complete'],
    // A value whose interval contains a cut-off has no category, which counts as a gap.
    ['doppler', 'partial'],
    ['report', 'complete'],
  ])('gives the section %s: %s', (id, status) => {
    expect(statusOf(result, id)).toBe(status);
  });

  it.each(['amniotic-fluid', 'placenta', 'cervix', 'fetal-heart', 'anomaly-screen'])(
    'reports for %s what its views show above the gate, and states what they do not show',
    (id) => {
      const section = result.sections.find((one) => one.id === id);
      expect(['complete', 'partial', 'inadequate']).toContain(section?.status);
      if (section?.status !== 'complete') expect(section?.reason?.detail).toMatch(/\.$/);
    },
  );

  it.each(['early-pregnancy', 'nt', 'labor-progress'])(
    'does not assess %s, because it has none of its views',
    (id) => {
      expect(result.sections.find((section) => section.id === id)).toMatchObject({
        status: 'not_assessed',
        reason: { code: 'view_missing' },
      });
      expect(result.measurements.filter(({ section }) => section === id)).toEqual([]);
    },
  );

  it('is dated by its header, and has no size category if the interval of the weight leaves it open', () => {
    expect(result.sections.find(({ id }) => id === 'growth')?.data.dating).toMatchObject({
      ga_days: GA_DAYS,
    });
    expect(result.classifications.find(({ id }) => id === 'size-category')).toBeUndefined();
    const growth = result.sections.find(({ id }) => id === 'growth');
    expect(growth?.statements).toContainEqual(
      expect.objectContaining({ kind: 'gap', code: 'growth.at-cut-off' }),
    );
  });

  it('comes with a PDF, previews and a growth chart', async () => {
    const names = result.artifacts.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['report.pdf', 'growth-chart.png', 'overlay-biometry-1.png']),
    );
    const path = await site.gateway.core.artifactPath(requestId, 'report.pdf');
    const pdf = await readFile(path ?? 'no report.pdf');
    expect(pdf.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  });

  it('provides a viewer with its frames, and with the calipers of the result on top', async () => {
    const read = async (name: string) =>
      readFile((await site.gateway.core.artifactPath(requestId, name)) ?? `no ${name}`);
    const overlays = overlaysSchema.parse(JSON.parse((await read('overlays.json')).toString()));
    const drawn = overlays.clips.flatMap((clip) =>
      clip.calipers.map(({ measurement, frame, shapes }) => [
        measurement,
        { file: clip.file, frame, calipers: shapes },
      ]),
    );
    const measured = result.measurements.flatMap(({ id, source: { file, frame, calipers } }) =>
      calipers.length > 0 ? [[id, { file, frame, calipers }] as const] : [],
    );
    expect(measured.length).toBeGreaterThan(10);
    expect(Object.fromEntries(drawn)).toEqual(Object.fromEntries(measured));
    for (const { key_frames: frames } of overlays.clips) {
      for (const { artifact } of frames) {
        expect((await read(artifact)).subarray(0, 2).toString('hex')).toBe('ffd8');
      }
    }
    expect(overlays.clips.some(({ cine }) => cine !== null)).toBe(true);
    expect(overlays.clips.some(({ traces }) => traces.length > 0)).toBe(true);
  });

  it('reports on which hardware its models run, in the result and in the metrics', async () => {
    const providers = new Set(result.models.map(({ provider }) => provider));
    expect([...providers].every((one) => ['cuda', 'webgpu', 'cpu'].includes(one))).toBe(true);
    const metrics = await (await fetch(new URL('/metrics', site.gateway.http?.url))).text();
    for (const { id, version, pack, provider } of result.models) {
      expect(metrics).toContain(
        `sonogate_models{model="${id}",version="${version}",pack="${pack}",provider="${provider}"} 1`,
      );
    }
    expect(metrics).toMatch(/^sonogate_model_images_total{model="fetal-plane"} [1-9]/m);
  });
});

/** Writes one still of each biometry plane of a fetus with median sizes. */
async function biometryFiles(gaDays: number, studyDate: string): Promise<string[]> {
  const sizes = sizesAt(gaDays);
  const study = {
    ...PATIENT,
    patientAge: '032Y',
    patientSizeMetres: 1.68,
    patientWeightKg: 70,
    lastMenstrualDate: '20250703',
    studyInstanceUid: derivedUid(`growth ${gaDays}`),
    seriesInstanceUid: derivedUid(`growth series ${gaDays}`),
    studyId: '7',
    studyDate,
    studyTime: '101500',
    accessionNumber: 'ACC7',
    studyDescription: 'Obstetric ultrasound',
  };
  const planes = ['transthalamic', 'abdominal', 'femur'] as const;
  return Promise.all(
    planes.map(async (plane, index) => {
      const bytes = await writeUltrasound(
        [simulateFrame({ plane, sizes, seed: 11 + index })],
        study,
        {
          sopInstanceUid: derivedUid(`growth ${gaDays} ${plane}`),
          instanceNumber: index + 1,
          encoding: { compression: 'native', colour: 'grey' },
        },
      );
      const path = join(folder, `${gaDays}-${plane}.dcm`);
      await writeFile(path, bytes);
      return path;
    }),
  );
}

describe('a request with prior_files', () => {
  it('compares growth with the earlier study', { timeout: 300_000 }, async () => {
    const made = await site.gateway.run('keys.create', { name: 'client' });
    const { key } = made;
    const client = new Sonogate({ url: site.gateway.http?.url ?? '', key });
    const { id } = await client.submit('us/obstetric', {
      files: await biometryFiles(196, '20260115'),
      prior_files: await biometryFiles(168, '20251218'),
      options: { dating: { ga_days: 196 } },
    });
    for await (const { name } of client.follow(id)) if (name === 'done') break;
    const { status, output } = await client.calls.getRequest({ id });
    expect(status).toBe('succeeded');
    const result = resultSchema.parse(output);
    const growth = result.sections.find((section) => section.id === 'growth');
    expect(growth?.data.change).toMatchObject({ days_before: 28 });
    expect(growth?.summary).toContain('since the scan 28 days earlier, at 24+0 weeks');
    expect(result.input_summary).toMatchObject({ files: 3, priors: 3 });
  });
});
