import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StudyHeader, writeUltrasound } from '../../../models/phantom/dicom.ts';
import { ECHO_CASES } from '../../../models/phantom/echo/cases.ts';
import { simulateEchoSpectrum, spectrumHeader } from '../../../models/phantom/echo/spectrum.ts';
import { createHeart } from '../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../models/phantom/random.ts';
import type { PipelineEnd, PipelineEvent } from '../../../pipelines/contract/job.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { pipeline } from '../../../src/app/pipelines/echo.ts';
import { PATIENT } from '../input/cart-sr/cart-report.ts';
import { adultReport, workFolder } from './cart-study.ts';

const HEADER: StudyHeader = {
  patientName: 'PHANTOM^HEART',
  patientId: 'PHANTOM-1',
  patientBirthDate: '19660101',
  patientAge: '060Y',
  patientSizeMetres: 1.7,
  patientWeightKg: 70,
  studyInstanceUid: '2.25.81',
  seriesInstanceUid: '2.25.82',
  studyId: '1',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'PH2',
  studyDescription: 'Doppler (phantom)',
};

const run = (folder: string, events: PipelineEvent[] = []) =>
  pipeline(folder, (event) => events.push(event), new AbortController().signal);

describe('a study whose machine reported its measurements', () => {
  const events: PipelineEvent[] = [];
  let folder: string;
  let end: PipelineEnd;
  let result: Result;

  beforeAll(async () => {
    folder = await workFolder(
      { 'report.dcm': adultReport() },
      {
        options: { report: true },
        clinicalContext: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 70 },
      },
    );
    end = await run(folder, events);
    result = resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
  }, 30_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const section = (id: string) => result.sections.find((one) => one.id === id);
  const category = (id: string) => result.classifications.find((one) => one.id === id)?.value;
  const value = (key: string) => result.measurements.find(({ concept }) => concept.key === key);

  it('ends with a result of all fifteen sections in the order of the contract', () => {
    expect(end).toEqual({ type: 'done' });
    expect(result.sections.map(({ id }) => id)).toEqual([
      'views',
      'segment-chambers',
      'lvef',
      'lv-size',
      'la-volume',
      'rv-function',
      'lv-strain',
      'wall-motion',
      'diastolic',
      'valves',
      'pulmonary-hypertension',
      'pericardial-effusion',
      'cardiomyopathy',
      'focused',
      'report',
    ]);
  });

  it('reports why it did not assess what requires images', () => {
    for (const id of ['segment-chambers', 'lv-strain', 'pericardial-effusion']) {
      expect(section(id)).toMatchObject({ status: 'not_assessed' });
    }
    expect(section('segment-chambers')?.reason?.detail).toMatch(/no A4C, A2C or A3C clip/);
  });

  it('grades LVEF from the biplane volumes: 118 and 66 ml are 44 %, mildly abnormal in a man', () => {
    expect(value('lvef-biplane')?.value).toBeCloseTo(44.07, 2);
    expect(category('lvef-grade')).toBe('mildly abnormal');
    expect(category('heart-failure-range')).toBe('HFmrEF range');
  });

  it('calculates mass and geometry: 1.4, 4.8, 1.2 cm over 1.848 m2', () => {
    expect(value('lv-mass')?.value).toBeCloseTo(245.73, 2);
    expect(category('lv-geometry')).toBe('concentric hypertrophy');
    expect(value('lv-mass-index')?.inputs).toEqual(['lv-mass', 'body-surface-area']);
  });

  it('reads values in other units, and values with general names by their site', () => {
    expect(value('lvidd')?.value).toBeCloseTo(4.8, 6);
    expect(value('mitral-e')?.value).toBeCloseTo(90, 6);
    expect(value('tr-vmax')?.value).toBeCloseTo(3.4, 6);
    expect(value('av-vmax')).toMatchObject({ value: 4.2, source: { provenance: 'cart-sr' } });
  });

  it('grades the valve, the filling pressure and the pulmonary pressure', () => {
    expect(category('aortic-stenosis')).toBe('severe AS (high-gradient)');
    expect(category('diastolic-2016')).toBe('grade II, elevated LAP');
    expect(category('diastolic-2025')).toBe('grade 2, elevated LAP');
    expect(value('rvsp')?.value).toBeCloseTo(4 * 3.4 ** 2 + 15, 6);
    expect(category('ph-probability')).toBe('high');
  });

  it('drafts a report with no number that is not in the result', () => {
    expect(section('report')).toMatchObject({ status: 'complete' });
    expect(result.report?.findings.join('\n')).toContain('LV mass: 246 g');
  });

  it('writes PDF, SR and FHIR, and uses none of the obstetric templates', async () => {
    const names = await readdir(join(folder, 'artifacts'));
    expect(names).toEqual(
      expect.arrayContaining(['report.pdf', 'sr-tid1500.dcm', 'fhir-bundle.json']),
    );
    expect(names).not.toContain('sr-tid5000.dcm');
  });

  it('contains nothing that identifies the patient of the report', async () => {
    const text = JSON.stringify(result);
    expect(text).not.toContain(PATIENT.id);
    expect(text).not.toContain('Beispiel');
  });

  it('reports its stages in ascending order', () => {
    const shares = events.flatMap((event) => (event.type === 'stage' ? [event.progress] : []));
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares.length).toBeGreaterThan(2);
  });
});

describe('a display of the mitral inflow', () => {
  it('is previewed by what it shows before the study is interpreted', async () => {
    const echoCase = ECHO_CASES.normal;
    const heart = createHeart(drawHeart(createRandom(7), echoCase.heart));
    const frame = simulateEchoSpectrum('mitral-inflow', {
      heart,
      seed: 5,
      flow: { e: 80, a: 60, decelerationMs: 190 },
    });
    const bytes = await writeUltrasound([frame], HEADER, {
      sopInstanceUid: '2.25.83.1',
      instanceNumber: 1,
      encoding: { compression: 'native', colour: 'grey' },
      ...spectrumHeader('mitral-inflow', frame),
    });
    const folder = await workFolder({ 'inflow.dcm': bytes });
    const events: PipelineEvent[] = [];
    await run(folder, events);
    await rm(folder, { recursive: true, force: true });
    const at = (wanted: (event: PipelineEvent) => boolean) => events.findIndex(wanted);
    const first = events.find((event) => event.type === 'partial');
    expect(first).toMatchObject({ caption: expect.stringContaining('Mitral E') });
    expect(at((event) => event.type === 'partial')).toBeLessThan(
      at((event) => event.type === 'stage' && event.name === 'postprocessing'),
    );
  }, 120_000);
});

describe('a study without an echo examination', () => {
  it('is rejected with the reason of each file', async () => {
    const folder = await workFolder({ 'a.txt': Buffer.from('no image') });
    const end = await run(folder);
    expect(end).toMatchObject({ type: 'rejected', code: 'no_readable_image' });
    await rm(folder, { recursive: true, force: true });
  });
});
