import { echoStudy } from '../../../models/phantom/echo/study.ts';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { type ComparisonRow, compareFetus, compareHeart } from './comparison.ts';

export const DEMO_STUDIES = ['obstetric', 'echo'] as const;
export type DemoStudyName = (typeof DEMO_STUDIES)[number];

/** One phantom study as the demo sends it, with what a perfect reader would have found. */
export interface DemoStudy {
  name: DemoStudyName;
  /** For the line that says what was made. */
  what: string;
  files: readonly { name: string; bytes: Buffer }[];
  patient: {
    patientId: string;
    patientName: string;
    patientBirthDate: string;
    gender: 'female' | 'male';
  };
  studyInstanceUid: string;
  compare(result: Result): ComparisonRow[];
  /** Whether each true size must have been measured for the demo to be complete. */
  everySize: boolean;
}

const GA_DAYS = 203;

/** Each run is another acquisition, so that a second demo is no repetition of the first. */
async function obstetric(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await simulateObstetricStudy({
    seed,
    gaDays: GA_DAYS,
    contents: 'stills',
    acquisition,
  });
  return {
    name: 'obstetric',
    what: `${study.files.length} phantom objects, ${GA_DAYS} days of gestation`,
    files: study.files,
    patient: { ...study.patient, gender: 'female' },
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: (result) => compareFetus(result, study.truth.sizes),
    everySize: true,
  };
}

async function echo(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await echoStudy({ seed, acquisition });
  const { patientId, patientName, patientBirthDate, patientSex } = study.patient;
  return {
    name: 'echo',
    what: `${study.files.length} phantom objects, an adult heart`,
    files: study.files,
    patient: {
      patientId,
      patientName,
      patientBirthDate,
      gender: patientSex === 'M' ? 'male' : 'female',
    },
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: (result) => compareHeart(result, study.truth),
    // What the permitted models cannot measure is withheld, and says so.
    everySize: false,
  };
}

/** Makes a study of the demo; the same seed is the same patient. */
export function phantomStudy(name: DemoStudyName, seed: number): Promise<DemoStudy> {
  const acquisition = new Date().toISOString();
  return name === 'obstetric' ? obstetric(seed, acquisition) : echo(seed, acquisition);
}
