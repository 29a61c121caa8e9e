import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ImageHeader,
  type StudyHeader,
  writeUltrasound,
} from '../../../../models/phantom/dicom.ts';
import { ECHO_CASES } from '../../../../models/phantom/echo/cases.ts';
import {
  type EchoMModeId,
  mModeHeader,
  simulateEchoMMode,
} from '../../../../models/phantom/echo/m-mode.ts';
import {
  type EchoSpectrumId,
  type Flow,
  simulateEchoSpectrum,
  spectrumHeader,
} from '../../../../models/phantom/echo/spectrum.ts';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { tracedMeasurements } from '../../../../pipelines/echo/displays/measure.ts';
import { readDisplays } from '../../../../pipelines/echo/displays/read.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { noteOf } from '../rendered.ts';

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

const heart = createHeart(drawHeart(createRandom(3).fork('heart'), ECHO_CASES.normal.heart));

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'displays-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;

/** Writes the display as DICOM, and returns what is read from it. */
async function read(frame: PhantomFrame, header: Partial<ImageHeader>) {
  files += 1;
  const name = `${files}.dcm`;
  const path = join(folder, name);
  const bytes = await writeUltrasound([frame], HEADER, {
    sopInstanceUid: `2.25.83.${files}`,
    instanceNumber: files,
    encoding: { compression: 'native', colour: 'grey' },
    ...header,
  });
  await writeFile(path, bytes);
  const signal = new AbortController().signal;
  const readings = await readDisplays(
    await readStudy([{ name, path }], { unpackTo: folder, signal }),
    signal,
  );
  return { readings, values: tracedMeasurements(readings, () => 'valves') };
}

async function spectrum(id: EchoSpectrumId, flow: Flow, given: object = {}) {
  const frame = simulateEchoSpectrum(id, { heart, seed: 5, flow, beats: 4, ...given });
  return { truth: frame.truth.values ?? {}, ...(await read(frame, spectrumHeader(id, frame))) };
}

type Expected = readonly [key: EchoConcept, truth: string, factor: number, tolerance: number];

/** Tolerances are shares of the truth, slightly above the largest error over many seeds. */
const SPECTRA: readonly (readonly [EchoSpectrumId, Flow, readonly Expected[]])[] = [
  [
    'mitral-inflow',
    { e: 80, a: 60, decelerationMs: 190 },
    [
      ['mitral-e', 'eCmPerSecond', 1, 0.06],
      ['mitral-a', 'aCmPerSecond', 1, 0.12],
      ['deceleration-time', 'decelerationMs', 1, 0.1],
    ],
  ],
  [
    'lvot',
    { peak: 95 },
    [
      ['lvot-vmax', 'peakCmPerSecond', 0.01, 0.05],
      ['lvot-vti', 'vtiCm', 1, 0.12],
    ],
  ],
  [
    'rvot',
    { peak: 75, accelerationMs: 95 },
    [
      ['rvot-acceleration', 'accelerationMs', 1, 0.2],
      ['rvot-vti', 'vtiCm', 1, 0.12],
    ],
  ],
  [
    'aortic-valve',
    { peak: 430 },
    [
      ['av-vmax', 'peakCmPerSecond', 0.01, 0.05],
      ['av-vti', 'vtiCm', 1, 0.12],
      ['av-mean-gradient', 'meanGradientMmHg', 1, 0.15],
    ],
  ],
  ['tricuspid-regurgitation', { peak: 310 }, [['tr-vmax', 'peakCmPerSecond', 0.01, 0.05]]],
  [
    'aortic-regurgitation',
    { peak: 420, pressureHalfTimeMs: 250 },
    [['ar-half-time', 'pressureHalfTimeMs', 1, 0.1]],
  ],
  [
    'mitral-stenosis',
    { peak: 190, pressureHalfTimeMs: 190 },
    [['mv-half-time', 'pressureHalfTimeMs', 1, 0.15]],
  ],
  [
    'pulmonary-vein',
    { s: 60, d: 45, reversal: 28 },
    [
      ['pulmonary-vein-s', 'sCmPerSecond', 1, 0.06],
      ['pulmonary-vein-d', 'dCmPerSecond', 1, 0.06],
    ],
  ],
  [
    'septal-annulus',
    { s: 8, e: 7, a: 9 },
    [
      ['e-prime-septal', 'ePrimeCmPerSecond', 1, 0.12],
      ['s-prime-septal', 'sCmPerSecond', 1, 0.14],
    ],
  ],
  ['tricuspid-annulus', { s: 12, e: 11, a: 12 }, [['rv-s-prime', 'sCmPerSecond', 1, 0.12]]],
];

/** Tolerances in the unit of the concept. */
const M_MODES: readonly (readonly [EchoMModeId, readonly Expected[]])[] = [
  [
    'm-mode-lv',
    [
      ['ivsd', 'ivsdMm', 0.1, 0.2],
      ['lvidd', 'lviddMm', 0.1, 0.25],
      ['lvpwd', 'lvpwdMm', 0.1, 0.2],
      ['lvids', 'lvidsMm', 0.1, 0.25],
    ],
  ],
  ['m-mode-tapse', [['tapse', 'tapseMm', 1, 2]]],
  ['m-mode-mapse', [['mapse', 'mapseMm', 1, 1.5]]],
  [
    'm-mode-ivc',
    [
      ['ivc-diameter', 'cavaLargestMm', 1, 2],
      ['ivc-collapse', 'cavaCollapsePercent', 1, 8],
    ],
  ],
];

describe('a display whose structure the header names', () => {
  it.each(SPECTRA)('%s %o', async (id, flow, expected) => {
    const { truth, values } = await spectrum(id, flow);
    for (const [key, name, factor, tolerance] of expected) {
      const found = values.find(({ concept }) => concept.key === key);
      const known = factor * (truth[name] ?? Number.NaN);
      expect(found?.quality, key).toBe('accepted');
      expect(Math.abs((found?.value ?? Number.NaN) / known - 1), key).toBeLessThan(tolerance);
    }
  });

  it.each(M_MODES)('%s', async (id, expected) => {
    const frame = simulateEchoMMode(id, { heart, seed: 5 });
    const { values } = await read(frame, mModeHeader(id, frame, heart));
    for (const [key, name, factor, tolerance] of expected) {
      const found = values.find(({ concept }) => concept.key === key);
      const known = factor * (frame.truth.values?.[name] ?? Number.NaN);
      expect(Math.abs((found?.value ?? Number.NaN) - known), key).toBeLessThan(tolerance);
    }
  });

  it('means beats; the largest diameter of the vena cava is one, on one line', async () => {
    const derivationsOn = async (id: EchoMModeId) => {
      const frame = simulateEchoMMode(id, { heart, seed: 5 });
      const { values } = await read(frame, mModeHeader(id, frame, heart));
      return values.map(({ concept, derivation, source }) => [
        concept.key,
        derivation,
        source.calipers?.length,
      ]);
    };
    expect(await derivationsOn('m-mode-ivc')).toEqual([
      ['ivc-diameter', 'measured', 1],
      ['ivc-collapse', 'measured', 2],
    ]);
    expect(await derivationsOn('m-mode-tapse')).toEqual([['tapse', 'mean', expect.any(Number)]]);
  });

  it('reports no stenosis for a jet of AR under the name of the valve', async () => {
    const flow = { peak: 420, pressureHalfTimeMs: 250 };
    const frame = simulateEchoSpectrum('aortic-regurgitation', { heart, seed: 5, flow, beats: 4 });
    const header = spectrumHeader('aortic-regurgitation', frame);
    const attributes = { ...header.attributes, ViewName: 'AV CW' };
    const { values } = await read(frame, { ...header, attributes });
    expect(values.filter(({ quality }) => quality === 'accepted')).toEqual([]);
  });

  it('is not used if it was recorded under stress, except for a provoked gradient', async () => {
    const frame = simulateEchoSpectrum('aortic-valve', { heart, seed: 5, flow: { peak: 430 } });
    const header = spectrumHeader('aortic-valve', frame);
    const qualities = async (stage: object) => {
      const attributes = { ...header.attributes, ...stage };
      const { values } = await read(frame, { ...header, attributes });
      return values.map(({ concept, quality }) => `${concept.key}: ${quality}`);
    };
    expect(await qualities({ StageName: 'Peak', StageNumber: '3' })).toEqual([
      'av-vmax: low',
      'av-vti: low',
      'av-mean-gradient: low',
    ]);
    expect(await qualities({ StageName: 'Rest', StageNumber: '1' })).toContain('av-vmax: accepted');
    expect(await qualities({ ViewName: 'LVOT CW Valsalva' })).toEqual([
      'lvot-gradient-provoked: accepted',
    ]);
  });

  it('gives no value where the flow runs off the end of the scale', async () => {
    const { readings, values } = await spectrum('lvot', { peak: 95 }, { scaleShare: 0.8 });
    expect(readings[0]?.refusal).toMatch(/aliased|cut-off/);
    expect(values).toEqual([]);
  });

  it('keeps E and no A in an irregular rhythm without one, and says that RR intervals differ', async () => {
    const flow = { e: 90, a: 0, decelerationMs: 180 };
    const { readings, values } = await spectrum('mitral-inflow', flow, {
      irregularity: 0.25,
      beats: 6,
    });
    expect(readings[0]?.regular).toBe(false);
    expect(values.map(({ concept }) => concept.key)).not.toContain('mitral-a');
    expect(noteOf(values.find(({ concept }) => concept.key === 'mitral-e'))).toMatch(
      /^Irregular RR/,
    );
  });
});

describe('a display that the header does not name', () => {
  const unnamed = async (id: EchoSpectrumId, flow: Flow) => {
    const frame = simulateEchoSpectrum(id, { heart, seed: 5, flow, beats: 4 });
    const header = spectrumHeader(id, frame);
    const attributes = { ...header.attributes, ViewName: '' };
    return read(frame, { ...header, attributes });
  };

  it('is mitral inflow by its two waves per beat, and says so', async () => {
    const { readings, values } = await unnamed('mitral-inflow', { e: 80, a: 60 });
    expect(readings[0]).toMatchObject({ flow: 'mitral-inflow', namedBy: 'form' });
    expect(noteOf(values[0])).toContain('identified by its shape');
  });

  it('may be LVOT or RVOT, which is not enough', async () => {
    const { values } = await unnamed('lvot', { peak: 95 });
    expect(values.map(({ quality }) => quality)).not.toContain('accepted');
  });

  it('is a wall that its trace cannot name', async () => {
    const { values } = await unnamed('septal-annulus', {});
    const keys = values.map(({ concept }) => concept.key);
    expect(keys).toEqual(['s-prime-unnamed', 'e-prime-unnamed', 'a-prime-unnamed']);
  });

  it('is not assigned to a valve', async () => {
    const { readings, values } = await unnamed('tricuspid-regurgitation', { peak: 310 });
    expect(readings[0]?.flow).toBeNull();
    expect(values.map(({ concept, quality }) => [concept.key, quality])).toEqual([
      ['flow-peak-unnamed', 'low'],
    ]);
  });
});
