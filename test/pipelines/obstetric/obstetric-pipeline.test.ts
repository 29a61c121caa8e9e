import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job, PipelineEvent } from '../../../pipelines/contract/job.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import { createObstetricPipeline } from '../../../pipelines/obstetric/pipeline.ts';
import { READERS } from '../../../pipelines/obstetric/readers.ts';
import { resultSchema } from '../../../pipelines/result/envelope.ts';
import { writeArtifacts, writeEarlyPreviews } from '../../../pipelines/run/write-artifacts.ts';
import { type Element, region, ultrasound } from '../input/dicom-sample.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const WIDTH = 400;
const HEIGHT = 300;

/** Returns a grey image with a femur of 100 pixels at 0.5 mm per pixel. */
function femurImage(frames = 1, instance = 1): Buffer {
  return ultrasound({
    instance,
    columns: WIDTH,
    rows: HEIGHT,
    frames,
    regions: [region({ maxX: WIDTH - 1, maxY: HEIGHT - 1 })] satisfies Element[][],
    pixels: ['7FE00010', 'OB', Buffer.alloc(WIDTH * HEIGHT * frames, 60)],
  });
}

/** Replaces the models. Every frame shows a femur with known ends. */
const knownFemur: Locator = {
  planes: async (images) => images.map(() => ({ label: 'femur', confidence: 0.95 })),
  head: null,
  abdomen: null,
  femur: async (images) =>
    images.map(() => ({
      ends: [
        { x: 100, y: 150 },
        { x: 200, y: 150 },
      ],
      confidence: 0.9,
      accepted: true,
    })),
  symphysisHead: null,
  midsagittal: null,
  uterus: null,
  uncertainty: { hcPercent: null, acPercent: null, flMm: 2 },
  models: [],
};

async function workFolder(
  files: Readonly<Record<string, Buffer | string>>,
  options = {},
  priorFiles: string[] = [],
) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'files'));
  await mkdir(join(folder, 'artifacts'));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, 'files', name), content);
  }
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: Object.keys(files).filter((name) => !priorFiles.includes(name)),
    priorFiles,
    options,
    clinicalContext: {},
    // This is a phantom, so its measurements count only with this setting.
    evidence: 'simulated',
    models: { allow: 'all', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}

async function run(folder: string, locator = knownFemur, signal = new AbortController().signal) {
  const events: PipelineEvent[] = [];
  const pipeline = createObstetricPipeline({
    openLocator: async () => locator,
    writeArtifacts,
    writeEarlyPreviews,
  });
  const end = await pipeline(folder, (event) => events.push(event), signal);
  return { end, events };
}

const resultIn = async (folder: string) =>
  resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));

describe('the obstetric pipeline', () => {
  it('leaves a result and its artifacts in the folder', async () => {
    const folder = await workFolder({ 'femur.dcm': femurImage() }, { dating: { ga_days: 196 } });
    expect((await run(folder)).end).toEqual({ type: 'done' });
    const result = await resultIn(folder);
    expect(result.measurements.map(({ id, value }) => [id, value])).toEqual([['fl', 50]]);
    expect(result.measurements[0]?.reference?.centile).toBeGreaterThan(0);
    expect(result.input_summary).toMatchObject({ files: 1, clips: 1, calibrated_frames: 1 });
    const names = result.artifacts.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'overlay-biometry-1.png',
        'growth-chart.png',
        'report.pdf',
        'sr-tid1500.dcm',
        'sr-tid5000.dcm',
      ]),
    );
    for (const { name, bytes } of result.artifacts) {
      expect((await readFile(join(folder, 'artifacts', name))).length).toBe(bytes);
    }
  });

  it('gives its documents the same UIDs in every run of a request, whatever the folder', async () => {
    const uidOfReport = async () => {
      const folder = await workFolder({ 'femur.dcm': femurImage() });
      const job = join(folder, 'job.json');
      const given = JSON.parse(await readFile(job, 'utf8'));
      await writeFile(job, JSON.stringify({ ...given, request: 'req_1' }));
      await run(folder);
      const report = await readFile(join(folder, 'artifacts', 'sr-tid1500.dcm'), 'latin1');
      return /2\.25\.\d+/.exec(report)?.[0];
    };
    const uid = await uidOfReport();
    expect(uid).toBeDefined();
    expect(await uidOfReport()).toBe(uid);
  });

  it('goes through its stages in order, with progress that never falls', async () => {
    const folder = await workFolder({ 'femur.dcm': femurImage(40) });
    const { events } = await run(folder);
    const stages = events.filter((event) => event.type === 'stage');
    const names = [...new Set(stages.map(({ name }) => name))];
    expect(names).toEqual([
      'starting',
      'preprocessing',
      'inference.planes',
      'inference.head',
      'inference.abdomen',
      'inference.femur',
      ...Object.values(READERS).map(({ stage }) => `inference.${stage}`),
      'postprocessing',
      'reporting',
    ]);
    const progress = stages.map((stage) => stage.progress);
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress);
    expect(Math.max(...progress)).toBeLessThanOrEqual(1);
  });

  it('announces a key frame once, with what it shows, before the other views are read', async () => {
    const folder = await workFolder({ 'femur.dcm': femurImage() }, { dating: { ga_days: 196 } });
    const { events } = await run(folder);
    const partials = events.flatMap((event) => (event.type === 'partial' ? [event] : []));
    expect(partials.map(({ artifact, caption }) => [artifact, caption])).toEqual([
      ['overlay-biometry-1.png', 'Femur length'],
      ['growth-chart.png', 'Growth chart'],
    ]);
    const at = (wanted: (event: PipelineEvent) => boolean) => events.findIndex(wanted);
    const [reader] = Object.values(READERS);
    expect(at((event) => event.type === 'partial')).toBeLessThan(
      at((event) => event.type === 'stage' && event.name === `inference.${reader?.stage}`),
    );
  });

  it('measures up to three distinct frames of a cine and uses their median', async () => {
    const folder = await workFolder({ 'cine.dcm': femurImage(5) });
    await run(folder);
    const { measurements } = await resultIn(folder);
    const frames = measurements.flatMap(({ source }) => source.frame ?? []);
    expect(new Set(frames).size).toBe(3);
    expect(measurements.at(-1)).toMatchObject({ id: 'fl', derivation: 'median', value: 50 });
  });

  it('rejects a study without a readable image, with a reason for each file', async () => {
    const folder = await workFolder({ 'a.txt': 'hello', 'b.dcm': '' });
    const { end } = await run(folder);
    expect(end).toMatchObject({ type: 'rejected', code: 'no_readable_image' });
    expect(end).toHaveProperty('detail', expect.stringMatching(/a\.txt: .*; b\.dcm: .*empty/));
  });

  it('reads what it can: a broken file is listed in the result and affects nothing else', async () => {
    const folder = await workFolder({ 'broken.dcm': 'DICM?', 'femur.dcm': femurImage() });
    await run(folder);
    const result = await resultIn(folder);
    expect(result.input_summary.refused.map(({ file }) => file)).toEqual(['broken.dcm']);
    expect(result.measurements).toHaveLength(1);
  });

  it('reads earlier images but measures nothing on them if they are not dated; unreadable ones are listed', async () => {
    const files = { 'now.dcm': femurImage(), 'then.dcm': femurImage(2, 2), 'then.txt': 'hello' };
    const folder = await workFolder(files, {}, ['then.dcm', 'then.txt']);
    await run(folder);
    const { input_summary: read, measurements } = await resultIn(folder);
    expect(read).toMatchObject({ files: 1, clips: 1, frames: 1, priors: 2 });
    expect(read.refused.map(({ file }) => file)).toEqual(['then.txt']);
    expect(measurements.map(({ source }) => source.sop_instance_uid)).toEqual(['1.2.3.4.1']);
  });

  it('draws no previews if none are requested', async () => {
    const folder = await workFolder({ 'femur.dcm': femurImage() }, { previews: false });
    const { events } = await run(folder);
    expect(events.some((event) => event.type === 'partial')).toBe(false);
    expect((await resultIn(folder)).artifacts.some(({ name }) => name.startsWith('overlay'))).toBe(
      false,
    );
  });

  it('stops when it is canceled, and leaves no result', async () => {
    const folder = await workFolder({ 'femur.dcm': femurImage() });
    const controller = new AbortController();
    controller.abort();
    await expect(run(folder, knownFemur, controller.signal)).rejects.toThrow('abort');
    await expect(resultIn(folder)).rejects.toThrow('ENOENT');
  });
});
