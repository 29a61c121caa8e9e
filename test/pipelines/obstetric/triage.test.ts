import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type StudyHeader, writeUltrasound } from '../../../models/phantom/dicom.ts';
import { MEDIAN_GROWTH, sizesAt } from '../../../models/phantom/sizes.ts';
import { umbilicalArtery } from '../../../models/phantom/views/spectrum.ts';
import type { Job, PipelineEvent } from '../../../pipelines/contract/job.ts';
import { createObstetricPipeline } from '../../../pipelines/obstetric/pipeline.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { NO_MODELS } from './evidence-sample.ts';

const GA_DAYS = 210;

const HEADER: StudyHeader = {
  patientName: 'PHANTOM^OBSTETRIC',
  patientId: 'PHANTOM-1',
  patientBirthDate: '19950101',
  patientAge: '031Y',
  patientSizeMetres: 1.7,
  patientWeightKg: 70,
  lastMenstrualDate: '20250619',
  studyInstanceUid: '2.25.1',
  seriesInstanceUid: '2.25.2',
  studyId: '1',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'PH1',
  studyDescription: 'Obstetric ultrasound (phantom)',
};

/** Returns an umbilical artery with reversed end-diastolic flow. */
async function reversedFlow(): Promise<Buffer> {
  const frames = umbilicalArtery.simulate({
    gaDays: GA_DAYS,
    sizes: sizesAt(GA_DAYS, MEDIAN_GROWTH),
    seed: 8104,
    frames: 1,
    anatomy: { edvShare: -0.2, beats: 6 },
    screen: { columns: 640, rows: 480 },
  });
  return writeUltrasound(frames, HEADER, {
    sopInstanceUid: '2.25.100',
    instanceNumber: 1,
    encoding: { compression: 'native', colour: 'grey' },
    ...umbilicalArtery.header?.(frames),
  });
}

const events: PipelineEvent[] = [];
let result: Result;
let resultWasThere = false;

beforeAll(async () => {
  const folder = await temporaryFolder();
  for (const part of ['files', 'artifacts']) await mkdir(join(folder, part));
  await writeFile(join(folder, 'files', 'spectrum.dcm'), await reversedFlow());
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: ['spectrum.dcm'],
    priorFiles: [],
    options: { dating: { ga_days: GA_DAYS }, previews: false },
    clinicalContext: {},
    // This is a phantom, so its measurements count only with this setting.
    evidence: 'simulated',
    models: { allow: 'all', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const path = join(folder, 'result.json');
  const pipeline = createObstetricPipeline({
    openLocator: async () => NO_MODELS,
    writeArtifacts: async () => {
      resultWasThere = await readFile(path).then(
        () => true,
        () => false,
      );
      return [];
    },
  });
  await pipeline(folder, (event) => events.push(event), new AbortController().signal);
  result = resultSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}, 60_000);

describe('a critical finding', () => {
  it('is in the result', () => {
    const finding = result.findings.find(({ severity }) => severity === 'critical');
    expect(finding?.section).toBe('doppler');
    expect(finding?.text).toContain('reversed end-diastolic flow');
  });

  it('is reported once, with its code and evidence, before a document or the result is written', () => {
    const triage = events.filter(({ type }) => type === 'triage');
    expect(triage).toEqual([
      {
        type: 'triage',
        flag: {
          code: 'umbilical-end-diastolic-flow',
          system: 'urn:sonogate:99USINT',
          display: 'Umbilical end diastolic flow',
          severity: 'critical',
          section: 'doppler',
          evidence: ['umbilical-artery-pi'],
        },
      },
    ]);
    const reporting = events.findIndex((one) => one.type === 'stage' && one.name === 'reporting');
    expect(events.findIndex(({ type }) => type === 'triage')).toBeLessThan(reporting);
    expect(resultWasThere).toBe(false);
  });
});
