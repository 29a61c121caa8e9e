import { rounded } from '../../measure/rounding.ts';
import type { ConceptKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { circleArea } from '../formulas/doppler.ts';
import { STENOSIS, type StenosisGrade, stenosisGrade } from '../guidelines/aortic-stenosis.ts';
import type { Criterion } from '../guidelines/criterion.ts';
import { isForeignArea, stenosisStatements } from '../guidelines/stenosis-statements.ts';
import { named, type Values } from '../values.ts';

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

/** By VTI; by peak velocities where there is none (reference 11.1). */
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

/** Grade of aortic stenosis with what it rests on and must be read with (reference 11.1). */
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
