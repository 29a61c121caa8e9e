import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { derivedUid, writeUltrasound } from '../../models/phantom/dicom.ts';
import { type PhantomFrame, simulateFrame } from '../../models/phantom/frame.ts';
import { sizesAt } from '../../models/phantom/sizes.ts';

export interface PhantomFiles {
  studyUid: string;
  sopInstanceUids: string[];
  paths: string[];
  folder: string;
}

export const PATIENT = {
  patientName: 'PHANTOM^WARD',
  patientId: 'WARD-7',
  patientBirthDate: '19930405',
};

const IDENTITY = {
  ...PATIENT,
  lastMenstrualDate: '20250731',
  studyDate: '20260115',
  accessionNumber: 'ACC7',
  studyDescription: 'Obstetric ultrasound',
};

const PLANES = ['transthalamic', 'abdominal', 'femur'] as const;
let drawn: PhantomFrame[] | undefined;

/** The screens that all studies share, drawn only once. */
const screens = () => {
  const sizes = sizesAt(168);
  drawn ??= PLANES.map((plane, index) => simulateFrame({ plane, sizes, seed: 11 + index }));
  return drawn;
};

/** Writes a small study of one fetus at 24 weeks by LMP, with one still of each plane. */
export async function phantomFiles(
  name: string,
  identity: Partial<typeof IDENTITY> = {},
): Promise<PhantomFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-phantom-'));
  const studyUid = derivedUid(`${name} study`);
  const study = {
    ...IDENTITY,
    patientAge: '032Y',
    patientSizeMetres: 1.68,
    patientWeightKg: 70,
    studyInstanceUid: studyUid,
    seriesInstanceUid: derivedUid(`${name} series`),
    studyId: '7',
    studyTime: '101500',
    ...identity,
  };
  const sopInstanceUids = PLANES.map((plane) => derivedUid(`${name} ${plane}`));
  const paths = await Promise.all(
    screens().map(async (frame, index) => {
      const bytes = await writeUltrasound([frame], study, {
        sopInstanceUid: sopInstanceUids[index] ?? '',
        instanceNumber: index + 1,
        encoding: { compression: 'native', colour: 'grey' },
      });
      const path = join(folder, `${PLANES[index]}.dcm`);
      await writeFile(path, bytes);
      return path;
    }),
  );
  return { studyUid, sopInstanceUids, paths, folder };
}
