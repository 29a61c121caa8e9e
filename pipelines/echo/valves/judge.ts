import type { ConceptKey } from '../../concepts/concepts.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { circleArea } from '../formulas/doppler.ts';
import type { Criterion } from '../shared/grading.ts';
import { named, type Values } from '../shared/values.ts';
import {
  aorticSigns,
  integratedGrade,
  isForeignArea,
  isNormalMitralArea,
  mitralStenosis2020,
  type RegurgitationGrade,
  STENOSIS,
  STENOTIC_GRADIENT,
  type StenosisGrade,
  stenosisGrade,
  stenosisStatements,
  tricuspidIntegrated,
} from './guideline.ts';

export interface AorticStenosis {
  grade: StenosisGrade;
  /** In the words of a report, which do not deny a sclerosis that nobody looked for. */
  words: string;
  statements: readonly string[];
  criteria: readonly Criterion[];
  /** The area that took part in the grade. */
  area: Measurement | null;
  /** A machine's area that contradicts the DVI beside it. */
  rejected: Measurement | null;
}

const REJECTED =
  'DVI and AVA over the LVOT area differ by more than 1 %: one of them belongs to another measurement';

/** The machine's valve area where it cannot be that of the LVOT and the DVI beside it. */
function foreignArea(values: Values): Measurement | null {
  const area = values.measurement('av-area');
  const [diameter, index] = [values.number('lvot-diameter'), values.number('velocity-index')];
  if (!area || !diameter || index === null) return null;
  if (!isForeignArea(area.value, circleArea(diameter), index)) return null;
  const note = [area.note, REJECTED].filter(Boolean).join('; ');
  return { ...area, quality: 'inadequate', note };
}

/** By VTI; by peak velocities where there is none (echo 11.1). */
function areasOf(values: Values, rejected: Measurement | null) {
  // Both areas rest on the same LVOT diameter, which may be what is wrong.
  if (rejected) return { area: null, areaIndex: null };
  const area = values.measurement('av-area');
  if (area) return { area, areaIndex: values.measurement('av-area-index') };
  return {
    area: values.measurement('av-area-vmax'),
    areaIndex: values.measurement('av-area-vmax-index'),
  };
}

const NO_STENOSIS: StenosisGrade = 'no stenosis or sclerosis';

const { severe, lowFlow, preservedEf } = STENOSIS;

/** What decides between the rows of the table, as it decides. */
const DECIDING = {
  'av-vmax': ['>= 4.0 m/s', 1, (v: number) => v >= severe.peak],
  'av-mean-gradient': ['>= 40 mmHg', 0, (v: number) => v >= severe.gradient],
  area: ['<= 1.00 cm²', 2, (v: number) => v <= severe.area],
  areaIndex: ['<= 0.60 cm²/m²', 2, (v: number) => v <= severe.areaIndex],
  'lvot-stroke-index': ['<= 35 ml/m²', 0, (v: number) => v <= lowFlow],
  lvef: ['< 50 %', 0, (v: number) => v < preservedEf],
} as const satisfies Record<string, readonly [string, number, (value: number) => boolean]>;

const ABBREVIATIONS: Readonly<Record<keyof typeof DECIDING, string>> = {
  'av-vmax': 'AV Vmax',
  'av-mean-gradient': 'AV mean gradient',
  area: 'AVA',
  areaIndex: 'AVAi',
  'lvot-stroke-index': 'SVi',
  lvef: 'LVEF',
};

function criteriaOf(
  given: Readonly<Record<keyof typeof DECIDING, Measurement | null>>,
): Criterion[] {
  return (Object.keys(DECIDING) as (keyof typeof DECIDING)[]).map((key) => {
    const [limit, decimals, met] = DECIDING[key];
    const one = given[key];
    return one
      ? { name: `${named(one)}: ${limit}`, met: met(rounded(one.value, decimals)) }
      : { name: `${ABBREVIATIONS[key]} ${limit}`, met: null };
  });
}

/** Grade of aortic stenosis with what it rests on and must be read with (echo 11.1). */
export function aorticStenosis(values: Values, ef: Measurement | null): AorticStenosis {
  const rejected = foreignArea(values);
  const { area, areaIndex } = areasOf(values, rejected);
  const of = (key: ConceptKey) => values.measurement(key);
  const given = {
    'av-vmax': of('av-vmax'),
    'av-mean-gradient': of('av-mean-gradient'),
    area,
    areaIndex,
    'lvot-stroke-index': of('lvot-stroke-index'),
    lvef: ef,
  };
  const inputs = {
    peak: values.number('av-vmax'),
    meanGradient: values.number('av-mean-gradient'),
    area: area?.value ?? null,
    areaIndex: areaIndex?.value ?? null,
    strokeIndex: values.number('lvot-stroke-index'),
    ef: ef?.value ?? null,
  };
  const grade = stenosisGrade(inputs);
  const velocityIndex = values.number('velocity-index');
  return {
    grade,
    words: grade === NO_STENOSIS ? 'no significant stenosis' : grade,
    statements: [
      ...(area?.concept.key === 'av-area-vmax'
        ? ['The valve area in the grade is that by peak velocities']
        : []),
      ...stenosisStatements(grade, { ...inputs, velocityIndex }),
    ],
    criteria: criteriaOf(given),
    area,
    rejected,
  };
}

export interface MitralStenosis {
  grade: ReturnType<typeof mitralStenosis2020> | null;
  /** What the grade must be read with, or why there is none. */
  statement: string | null;
}

const UNGRADED: MitralStenosis = { grade: null, statement: null };

const NORMAL =
  'No mitral stenosis is graded from a valve area of 4 cm² on, by convention, as the tables have no upper end';
const WITH_REGURGITATION =
  'Mitral stenosis was not graded by half-time, which does not hold with significant AR';
const BY_HALF_TIME =
  'The mitral valve area by half-time does not hold with significant AR, after commissurotomy, with a stiff LV or mitral annular calcification, which were not all excluded';

/**
 * By planimetry; by half-time only beside a gradient that speaks for stenosis, and without
 * significant AR, which shortens it (echo 11.5).
 */
export function mitralStenosis(values: Values, significantAr: boolean): MitralStenosis {
  const planimetry = values.number('mv-area-planimetry');
  if (planimetry !== null) {
    return isNormalMitralArea(planimetry)
      ? { grade: null, statement: NORMAL }
      : { grade: mitralStenosis2020(planimetry), statement: null };
  }
  const halfTime = values.number('mv-area-half-time');
  const gradient = values.number('mv-mean-gradient');
  const speaks = gradient !== null && rounded(gradient, 0) >= STENOTIC_GRADIENT;
  if (halfTime === null || !speaks) return UNGRADED;
  if (significantAr) return { grade: null, statement: WITH_REGURGITATION };
  if (isNormalMitralArea(halfTime)) return { grade: null, statement: NORMAL };
  return { grade: mitralStenosis2020(halfTime), statement: BY_HALF_TIME };
}

/** mm2 of cm2, as the tables of regurgitant orifices have it. */
const squareMillimetres = (area: number | null) => (area === null ? null : 100 * area);

const NO_SIGNS = { venaContracta: null, jetWidth: null, halfTime: null } as const;

function graded(valve: 'aortic' | 'mitral', values: Values) {
  const prefix = valve === 'aortic' ? 'ar' : 'mr';
  const quantities = {
    orifice: squareMillimetres(values.number(`${prefix}-orifice`)),
    volume: values.number(`${prefix}-volume`),
    fraction: values.number(`${prefix}-fraction`),
  };
  const signs =
    valve === 'aortic'
      ? {
          venaContracta: values.number('ar-vena-contracta'),
          jetWidth: values.number('ar-jet-width'),
          halfTime: values.number('ar-half-time'),
        }
      : NO_SIGNS;
  const known = [...Object.values(quantities), ...Object.values(signs)].some((v) => v !== null);
  return known ? integratedGrade(valve, aorticSigns(signs), quantities) : null;
}

export interface Regurgitations {
  AR: ReturnType<typeof graded>;
  MR: ReturnType<typeof graded>;
  TR: string | null;
}

/** Grade of each valve of which something was quantified (echo 11.2, 11.3, 11.6). */
export function regurgitations(values: Values): Regurgitations {
  return {
    AR: graded('aortic', values),
    MR: graded('mitral', values),
    TR: tricuspidIntegrated(values.number('tr-vena-contracta'), null),
  };
}

const VALVES = { AR: 'aortic', MR: 'mitral', TR: 'tricuspid' } as const;

const inWords = (names: readonly string[]) =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');

/** The valves whose regurgitation nothing quantifies: no statement that there is none (11.8). */
export function regurgitationGap(grades: Regurgitations): string | null {
  const missing = (['AR', 'MR', 'TR'] as const).flatMap((key) =>
    grades[key] ? [] : [VALVES[key]],
  );
  if (missing.length === 0) return null;
  if (missing.length === Object.keys(VALVES).length) return 'Regurgitation not assessed.';
  return `Regurgitation not assessed: ${inWords(missing)} valve.`;
}

const INSIGNIFICANT: ReadonlySet<RegurgitationGrade | string> = new Set([
  'grade I (mild)',
  'severity indeterminate',
]);

/** AR of moderate or more; quantities that contradict each other do not exclude it. */
export const isSignificant = (grade: Regurgitations['AR']) =>
  grade !== null && !INSIGNIFICANT.has(grade);
