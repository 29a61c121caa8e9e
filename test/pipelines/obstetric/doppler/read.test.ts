import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ImageHeader,
  type StudyHeader,
  writeUltrasound,
} from '../../../../models/phantom/dicom.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../../models/phantom/view.ts';
import { fetalHeartMMode } from '../../../../models/phantom/views/m-mode.ts';
import { leftUterineArtery, umbilicalArtery } from '../../../../models/phantom/views/spectrum.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { spectraReader } from '../../../../pipelines/obstetric/doppler/read.ts';
import { fetalHeartReader } from '../../../../pipelines/obstetric/fetal-heart/read.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type { Locator } from '../../../../pipelines/obstetric/locator.ts';
import type { ReaderInput } from '../../../../pipelines/obstetric/shared/reader.ts';
import { NO_MODELS } from '../evidence-sample.ts';

const HEADER: StudyHeader = {
  patientName: 'PHANTOM^OBSTETRIC',
  patientId: 'PHANTOM-1',
  patientBirthDate: '19960101',
  patientAge: '030Y',
  patientSizeMetres: 1.65,
  patientWeightKg: 65,
  lastMenstrualDate: '20250619',
  studyInstanceUid: '2.25.71',
  seriesInstanceUid: '2.25.72',
  studyId: '1',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'PH1',
  studyDescription: 'Doppler (phantom)',
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spectra-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;

/** Writes a phantom as DICOM, and returns what the readers receive. */
async function written(
  view: PhantomView,
  changes: Partial<ImageHeader> = {},
): Promise<ReaderInput<Locator>> {
  files += 1;
  const frames = view.simulate({ gaDays: 210, sizes: sizesAt(210), seed: 11, frames: 1 });
  const bytes = await writeUltrasound(frames, HEADER, {
    sopInstanceUid: `2.25.73.${files}`,
    instanceNumber: files,
    encoding: { compression: 'native', colour: 'grey' },
    ...view.header?.(frames),
    ...changes,
  });
  const file = `${files}.dcm`;
  const path = join(folder, file);
  await writeFile(path, bytes);
  return {
    study: await readStudy([{ name: file, path }]),
    options: parseOptions({}),
    planes: [],
    locator: NO_MODELS,
    signal: new AbortController().signal,
  };
}

describe('spectra of DICOM files', () => {
  it('are traced, with the vessel of the header', async () => {
    const [reading] = await spectraReader.read(await written(umbilicalArtery));
    expect(reading).toMatchObject({
      vessel: 'umbilical-artery',
      laterality: null,
      waveform: { status: 'traced' },
    });
  });

  it('have the side stated in the header', async () => {
    const [reading] = await spectraReader.read(await written(leftUterineArtery));
    expect(reading).toMatchObject({ vessel: 'uterine-artery', laterality: 'left' });
  });

  it.each([
    [{ ViewName: 'UtA', Laterality: 'R' }, 'right'],
    [{ ViewName: 'UtA lt', Laterality: 'R' }, 'left'],
    [{ ViewName: 'UtA', Laterality: 'R', ImageLaterality: 'L' }, 'left'],
    [{ ViewName: 'UtA', Laterality: 'R', ImageLaterality: 'U' }, null],
  ])('with the header %j are of the side %s', async (attributes, laterality) => {
    const [reading] = await spectraReader.read(await written(umbilicalArtery, { attributes }));
    expect(reading).toMatchObject({ vessel: 'uterine-artery', laterality });
  });

  it('have no vessel if the header states none', async () => {
    const [reading] = await spectraReader.read(await written(umbilicalArtery, { attributes: {} }));
    expect(reading).toMatchObject({ vessel: null, waveform: { status: 'traced' } });
  });

  it('are not read if the calibrated region was removed', async () => {
    expect(await spectraReader.read(await written(umbilicalArtery, { regions: [] }))).toEqual([]);
  });
});

describe('M-mode sweeps of DICOM files', () => {
  it('have a rate with their time scale, and none without it', async () => {
    const calibrated = await fetalHeartReader.read(await written(fetalHeartMMode));
    expect(calibrated.mMode[0]?.rhythm.status).toBe('beating');
    const without = await fetalHeartReader.read(await written(fetalHeartMMode, { regions: [] }));
    expect(without.mMode).toEqual([]);
  });
});
