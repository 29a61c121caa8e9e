import {
  type EchoStudy,
  type EchoStudyTruth,
  echoPatient,
  echoStudy,
} from '../../../models/phantom/echo/study.ts';
import { type FetalSizes, MEDIAN_GROWTH } from '../../../models/phantom/sizes.ts';
import { obstetricPatient, simulateObstetricStudy } from '../../../models/phantom/study.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';

/** The true size in the phantom that each measurement is compared with. */
const FETAL_SIZE = {
  hc: 'hcMm',
  bpd: 'bpdMm',
  ofd: 'ofdMm',
  ac: 'acMm',
  tad: 'tadMm',
  apad: 'apadMm',
  fl: 'flMm',
} as const satisfies Partial<Record<ConceptKey, keyof FetalSizes>>;

const HEART_SIZE = {
  'lvef-networks': 'ejectionFractionPercent',
  'lvef-biplane': 'ejectionFractionPercent',
  'lvedv-biplane': 'endDiastolicMl',
  'lvesv-biplane': 'endSystolicMl',
  'gls-end-systolic': 'globalLongitudinalStrainPercent',
  'la-volume-biplane': 'leftAtriumMl',
  tapse: 'tapseMm',
  'ivc-diameter': 'cavaMm',
  'ivc-collapse': 'cavaCollapsePercent',
} as const satisfies Partial<Record<ConceptKey, keyof EchoStudyTruth>>;

interface ComparisonRow {
  name: string;
  /** UCUM unit. */
  unit: string;
  truth: number;
  /** The accepted value measured by the pipeline; null if there is none. */
  measured: number | null;
  repeats: number;
}

/** Pairs each true size in the phantom with the accepted value from the result. */
function compared(result: Result, truths: Readonly<Record<string, number>>): ComparisonRow[] {
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  const standing = countingValues(accepted);
  return Object.entries(truths).map(([key, truth]) => {
    const value = standing.find(({ concept }) => concept.key === key);
    const { abbreviation, unit } = CONCEPTS[key as ConceptKey];
    return {
      name: abbreviation,
      unit,
      truth,
      measured: value?.value ?? null,
      repeats: value ? Math.max(1, value.inputs.length) : 0,
    };
  });
}

const truthsOf = <Truth>(table: Readonly<Record<string, keyof Truth>>, truth: Truth) =>
  Object.fromEntries(Object.entries(table).map(([key, size]) => [key, Number(truth[size])]));

const compareFetus = (result: Result, sizes: FetalSizes) =>
  compared(result, truthsOf(FETAL_SIZE, sizes));

const compareHeart = (result: Result, truth: EchoStudyTruth) =>
  compared(result, truthsOf(HEART_SIZE, truth));

const NAME = 16;

/** Formats the comparison as lines of text for a terminal. */
export function comparisonTable(rows: readonly ComparisonRow[]): string[] {
  const lines = rows.map(({ name, unit, truth, measured, repeats }) => {
    const found = measured === null ? 'not measured' : `${measured.toFixed(1)} ${unit}`;
    const difference = measured === null ? '' : percent(measured / truth - 1);
    return [
      name.padEnd(NAME),
      `${truth.toFixed(1)} ${unit}`.padStart(10),
      found.padStart(14),
      difference.padStart(11),
      String(repeats).padStart(8),
    ].join('');
  });
  const head = `${''.padEnd(NAME)}${'true'.padStart(10)}${'measured'.padStart(14)}${'difference'.padStart(11)}${'values'.padStart(8)}`;
  return [head, ...lines];
}

function percent(fraction: number): string {
  return `${fraction >= 0 ? '+' : '−'}${Math.abs(100 * fraction).toFixed(1)} %`;
}

/** The studies of the demo, in order. No rule recognises the last one. */
export const DEMO_STUDIES = ['obstetric', 'echo', 'first-trimester', 'unrecognised'] as const;
export type DemoStudyName = (typeof DEMO_STUDIES)[number];

/** One phantom study as sent by the demo, with the true sizes. */
export interface DemoStudy {
  name: DemoStudyName;
  what: string;
  files: readonly { name: string; bytes: Buffer }[];
  /** Number of files that arrive after the study was interpreted: the last ones in the list. */
  late: number;
  patient: {
    patientId: string;
    patientName: string;
    patientBirthDate: string;
    gender: 'female' | 'male';
  };
  studyInstanceUid: string;
  compare(result: Result): ComparisonRow[];
  /** Whether every true size must have been measured for the demo to succeed. */
  everySize: boolean;
}

/**
 * At 23+0 weeks most sections apply: the mid-trimester checklist and the cervical length until
 * 24+0, and estimated fetal weight from 22+0.
 */
const GA_DAYS = 161;

/**
 * Simulates the obstetric study. `acquisition` differs in each run, so that a second demo does not
 * repeat the UIDs of the first.
 */
async function obstetric(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await simulateObstetricStudy({
    seed,
    gaDays: GA_DAYS,
    growth: MEDIAN_GROWTH,
    contents: 'complete',
    acquisition,
  });
  const { sizes } = study.truth;
  return {
    name: 'obstetric',
    what: `${study.files.length} phantom objects with a sweep and a cine of the heart, gestational age ${GA_DAYS} days, size appropriate for dates`,
    files: study.files,
    late: 0,
    patient: { ...study.patient, gender: 'female' },
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: (result) => (sizes ? compareFetus(result, sizes) : []),
    everySize: true,
  };
}

/**
 * At 8+3 weeks an embryo is visible, and its heartbeat can be seen on the cine loop, which is the
 * last image.
 */
const EARLY_DAYS = 59;

/**
 * A first-trimester study of a different patient. Its cine loop arrives late, as if the cart had
 * lost its network connection.
 */
async function firstTrimester(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await simulateObstetricStudy({
    seed: seed + 2,
    gaDays: EARLY_DAYS,
    contents: 'stills',
    acquisition,
  });
  return {
    name: 'first-trimester',
    what: `${study.files.length} phantom objects of an early pregnancy, gestational age ${EARLY_DAYS} days; the cine arrives late`,
    files: study.files,
    late: 1,
    patient: { ...study.patient, gender: 'female' },
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: () => [],
    everySize: true,
  };
}

/** An image from an examination that neither endpoint can interpret. */
async function unrecognised(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await simulateObstetricStudy({
    seed: seed + 1,
    gaDays: GA_DAYS,
    shots: [{ of: 'abdominal', frames: 1, encoding: { compression: 'jpeg', colour: 'grey' } }],
    studyDescription: 'Upper abdomen (phantom)',
    acquisition,
  });
  return {
    name: 'unrecognised',
    what: 'one phantom image of an upper abdomen',
    files: study.files,
    late: 0,
    patient: { ...study.patient, gender: 'female' },
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: () => [],
    everySize: false,
  };
}

const asAdult = ({
  patientId,
  patientName,
  patientBirthDate,
  patientSex,
}: EchoStudy['patient']): DemoStudy['patient'] => ({
  patientId,
  patientName,
  patientBirthDate,
  gender: patientSex === 'M' ? 'male' : 'female',
});

/** The patients of the obstetric and the echo phantom for a seed. */
export const phantomPatients = (seed: number): DemoStudy['patient'][] => [
  { ...obstetricPatient({ seed, gaDays: GA_DAYS }), gender: 'female' },
  asAdult(echoPatient({ seed })),
];

async function echo(seed: number, acquisition: string): Promise<DemoStudy> {
  const study = await echoStudy({ seed, acquisition });
  return {
    name: 'echo',
    what: `${study.files.length} phantom objects of an adult heart`,
    files: study.files,
    late: 0,
    patient: asAdult(study.patient),
    studyInstanceUid: study.truth.studyInstanceUid,
    compare: (result) => compareHeart(result, study.truth),
    // Some sizes might not be measured: a permissive installation does not run every model, and the
    // result then states the reason.
    everySize: false,
  };
}

const MAKERS = { obstetric, echo, 'first-trimester': firstTrimester, unrecognised } as const;

/** Creates a demo study. The same seed gives the same patient. */
export function phantomStudy(name: DemoStudyName, seed: number): Promise<DemoStudy> {
  return MAKERS[name](seed, new Date().toISOString());
}

/** FHIR identifier system of phantom patients in the demo's EHR. */
export const PATIENT_ID_SYSTEM = 'urn:oid:2.25.1';

/**
 * Registers a phantom patient with an EHR, as a hospital's registration message would.
 * @throws Error if the EHR refuses the patient.
 */
export async function registerPatient(
  baseUrl: string,
  patient: DemoStudy['patient'],
): Promise<void> {
  const [family = '', given = ''] = patient.patientName.split('^');
  const birthDate = patient.patientBirthDate.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  const answer = await fetch(`${baseUrl}/Patient`, {
    method: 'POST',
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify({
      resourceType: 'Patient',
      identifier: [{ system: PATIENT_ID_SYSTEM, value: patient.patientId }],
      name: [{ family, given: [given] }],
      birthDate,
      gender: patient.gender,
    }),
  });
  if (!answer.ok) throw new Error(`the EHR answered ${answer.status}`);
}
