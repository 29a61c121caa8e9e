import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job, PipelineEvent } from '../../../pipelines/contract/job.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { checkBundle } from '../../../src/app/cli/validate.ts';
import { pipeline } from '../../../src/app/pipelines/mock.ts';

let root: string;
let runs = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sonogate-mock-'));
});
afterAll(() => rm(root, { recursive: true }));

const DATED = { dating: { ga_days: 196, basis: 'crl' }, report: true };

/** Runs a job in a new folder. The files of the job do not exist. */
async function run(changes: Partial<Job> = {}) {
  runs += 1;
  const folder = join(root, String(runs));
  await mkdir(join(folder, 'artifacts'), { recursive: true });
  const job: Job = {
    endpoint: obstetricEndpoint.id,
    version: '1.0.0',
    files: ['a.dcm'],
    priorFiles: [],
    options: DATED,
    clinicalContext: {},
    models: { allow: 'all', provider: 'cpu', threads: 1 },
    mock: 'succeeded',
    ...changes,
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const events: PipelineEvent[] = [];
  const end = await pipeline(folder, (event) => events.push(event), new AbortController().signal);
  const text = await readFile(join(folder, 'result.json'), 'utf8').catch(() => 'null');
  const result = JSON.parse(text) as Result;
  const artifact = (name: string) => readFile(join(folder, 'artifacts', name));
  return { events, end, result, artifact };
}

const ECHO = {
  endpoint: echoEndpoint.id,
  options: { report: true },
  clinicalContext: { age_years: 45, sex: 'female', height_cm: 170, weight_kg: 65 },
};

/** Most tests share one run of each endpoint. */
const fetus = once(() => run());
const heart = once(() => run(ECHO));

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Artifacts of both endpoints combined. */
const ALL_KINDS = [
  'key-frame-1.jpg',
  'cine-1.mjpeg',
  'overlays.json',
  'report.pdf',
  'sr-tid1500.dcm',
  'fhir-bundle.json',
];

describe('a mock run of us/obstetric/interpret', () => {
  it('assesses every section, with the values of a normal fetus', async () => {
    const { end, result } = await fetus();
    expect(end).toEqual({ type: 'done' });
    expect(() => resultSchema.parse(result)).not.toThrow();
    expect(result.sections.map(({ id }) => id)).toEqual(
      obstetricEndpoint.sections.map(({ id }) => id),
    );
    for (const { id, status } of result.sections) {
      expect([id, status], 'is assessed').toEqual([id, expect.stringMatching(/complete|partial/)]);
    }
    const values = Object.fromEntries(result.measurements.map(({ id, value }) => [id, value]));
    expect(values.hc).toBeGreaterThan(240);
    expect(values.hc).toBeLessThan(290);
    expect(result.report?.title).toContain('MOCK');
  });

  it('writes every artifact of a live run, and announces the pictures', async () => {
    const { events, result } = await fetus();
    const names = result.artifacts.map(({ name }) => name);
    for (const name of ALL_KINDS) expect(names).toContain(name);
    expect(names).toEqual(
      expect.arrayContaining(['growth-chart.png', 'sr-tid5000.dcm', 'overlay-biometry-3.png']),
    );
    const partials = events.flatMap((event) => (event.type === 'partial' ? [event] : []));
    expect(partials.map(({ artifact }) => artifact)).toEqual(
      names.filter((name) => name.endsWith('.png')),
    );
    expect(partials[0]?.caption).toBe(
      'MOCK: Head circumference; Occipitofrontal diameter; Biparietal diameter',
    );
  });

  it('passes through the stages in order, without going back', async () => {
    const stages = (await fetus()).events.flatMap((event) =>
      event.type === 'stage' ? [event] : [],
    );
    expect(stages.map(({ name }) => name)).toEqual([
      'starting',
      'preprocessing',
      'inference.planes',
      'inference.head',
      'inference.abdomen',
      'inference.femur',
      'postprocessing',
      'reporting',
    ]);
    const progress = stages.map((stage) => stage.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it('is the same, byte for byte, for the same input, and different for another', async () => {
    const [first, again, other] = [await fetus(), await run(), await run({ files: ['b.dcm'] })];
    expect(again.result).toEqual(first.result);
    expect(other.result.measurements).not.toEqual(first.result.measurements);
  });

  it('is marked as made up in every output', async () => {
    const { result, artifact } = await fetus();
    expect(result.models).toEqual([expect.objectContaining({ id: 'mock' })]);
    const texts = [
      ...result.sections.map(({ summary }) => summary),
      ...result.findings.map(({ text }) => text),
      ...result.measurements.map(({ note }) => note),
      ...(result.report?.impression ?? []),
    ];
    for (const text of texts) expect(text).toMatch(/^MOCK: /);
    expect((await artifact('sr-tid1500.dcm')).toString('latin1')).toContain('MOCK^NOBODY');
    const bundle = JSON.parse((await artifact('fhir-bundle.json')).toString());
    for (const { resource } of bundle.entry) {
      expect(resource.meta.security).toMatchObject([{ code: 'HTEST' }]);
    }
    expect(checkBundle(bundle)).toEqual([]);
  });
});

describe('a mock run of us/echo/interpret', () => {
  it('assesses every section, with the values of a normal heart', async () => {
    const { result } = await heart();
    expect(result.sections.map(({ id }) => id)).toEqual(echoEndpoint.sections.map(({ id }) => id));
    for (const { id, status } of result.sections) {
      expect([id, status], 'is assessed').toEqual([id, expect.stringMatching(/complete|partial/)]);
    }
    const ef = result.measurements.find(({ concept }) => concept.key === 'lvef-networks');
    expect(ef?.value).toBeGreaterThan(50);
  });

  it('writes every artifact of a live run', async () => {
    const names = (await heart()).result.artifacts.map(({ name }) => name);
    for (const name of ALL_KINDS) expect(names).toContain(name);
    expect(names).toEqual(
      expect.arrayContaining(['view-overview.png', 'bullseye.png', 'sr-tid5200.dcm']),
    );
  });

  it('adds the report section if it is requested', async () => {
    const { result } = await heart();
    expect(result.sections.at(-1)).toMatchObject({ id: 'report', status: 'complete' });
    expect(result.report?.impression[0]).toMatch(/^MOCK: /);
  });
});

describe('metadata.mock', () => {
  it('reject ends as a rejection', async () => {
    expect((await run({ mock: 'rejected' })).end).toMatchObject({ type: 'rejected' });
  });

  it('fail ends as a failure', async () => {
    await expect(run({ mock: 'failed' })).rejects.toThrow('MOCK');
  });

  it.each([obstetricEndpoint.id, echoEndpoint.id])(
    'triage raises a critical flag before the result of %s',
    async (endpoint) => {
      const { events, result } = await run({ endpoint, options: {}, mock: 'triage' });
      const flags = events.flatMap((event) => (event.type === 'triage' ? [event.flag] : []));
      expect(flags).toMatchObject(
        [{ severity: 'critical', display: /^MOCK: / }].map((flag) => ({
          ...flag,
          display: expect.stringMatching(flag.display),
        })),
      );
      expect(result.findings[0]).toMatchObject({ severity: 'critical', text: flags[0]?.display });
    },
  );
});
