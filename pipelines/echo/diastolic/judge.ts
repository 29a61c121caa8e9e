import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type Criterion,
  categoryOfDiastolic,
  criterionText,
  type DiastolicResult,
  type gradeText,
  type MyocardialSign,
  type Result2016B,
  SCHEMES,
  sayOfDiastolic,
} from '../../result/render/echo/diastolic.ts';
import type { Statement } from '../../result/statement.ts';
import { classification, type EchoClassification } from '../shared/section.ts';
import type { Ejection } from './applicability.ts';
import {
  algorithm2016A,
  algorithm2016B,
  CRITERIA_2016A,
  criteria2016A,
  criteria2016B,
} from './guideline-2016.ts';
import {
  algorithm2025,
  criteria2025,
  discordant,
  fibrillationCriteria,
  fibrillationMarkers,
  fibrillationPressure,
  isElevated2025,
  isLimited2025,
  presence2025,
  presenceCriteria2025,
} from './guideline-2025.ts';
import type { DiastolicInputs } from './measure.ts';

export interface Judgement {
  result: DiastolicResult | null;
  conclusions: readonly (Statement | null)[];
  gaps: readonly Statement[];
  /** True if the data were sufficient for a result. */
  given: boolean;
  elevated: boolean;
  classifications: EchoClassification[];
}

const NO_JUDGEMENT: Judgement = {
  result: null,
  conclusions: [],
  gaps: [],
  given: false,
  elevated: false,
  classifications: [],
};

const ALONE = { because: null, next: null } as const;

const isElevated2016 = (result: Result2016B) => result === 'grade-ii' || result === 'grade-iii';

type Category = Parameters<typeof gradeText>[0];

const graded = (
  id: string,
  name: string,
  { result, limited = false, ungraded = false }: Category,
  scheme: string,
  criteria: readonly Criterion[],
) =>
  classification(
    id,
    name,
    categoryOfDiastolic('diastolic', { result, limited, ungraded }),
    scheme,
    criteria.map((one) => ({ ...one, name: criterionText(one.name) })),
  );

const category2016 = (
  grade: Category,
  scheme: '2016-a' | '2016-b',
  criteria: readonly Criterion[],
) => graded('diastolic-2016', 'Diastolic function', grade, SCHEMES[scheme], criteria);

function reasonForB({ reduced }: Ejection, disease: readonly MyocardialSign[]) {
  if (reduced) return 'reduced-ef';
  return disease.length > 0 ? disease : null;
}

function byB(of: DiastolicInputs['of2016'], reducedEf: boolean) {
  const inputs = { ...of, reducedEf };
  return { result: algorithm2016B(inputs), criteria: criteria2016B(inputs) };
}

function dysfunction(of: DiastolicInputs['of2016'], ejection: Ejection): Judgement {
  const criteria = criteria2016A(of);
  const known = criteria.filter(({ met }) => met !== null).length;
  const present = { result: 'dysfunction', limited: known < CRITERIA_2016A } as const;
  const b = byB(of, ejection.reduced === true);
  const none = b.result === 'insufficient-data';
  return {
    ...NO_JUDGEMENT,
    given: true,
    elevated: isElevated2016(b.result),
    result: {
      scheme: '2016-a',
      ...present,
      criteria,
      because: null,
      next: none ? 'no-grade' : b,
    },
    classifications: none
      ? [category2016({ ...present, ungraded: true }, '2016-a', criteria)]
      : [
          graded(
            'diastolic-2016-presence',
            'Diastolic dysfunction',
            present,
            SCHEMES['2016-a'],
            criteria,
          ),
          category2016({ result: b.result }, '2016-b', b.criteria),
        ],
  };
}

/** Grades diastolic function according to ASE/EACVI 2016 (echo 10.3, 10.4). */
export function judge2016(
  of: DiastolicInputs['of2016'],
  ejection: Ejection,
  disease: readonly MyocardialSign[],
): Judgement {
  const because = reasonForB(ejection, disease);
  if (because) {
    const { result, criteria } = byB(of, ejection.reduced === true);
    return {
      ...NO_JUDGEMENT,
      given: result !== 'insufficient-data',
      elevated: isElevated2016(result),
      result: { scheme: '2016-b', result, limited: false, criteria, because, next: null },
      classifications: [category2016({ result }, '2016-b', criteria)],
    };
  }
  const result = algorithm2016A(of);
  if (result === 'dysfunction') return dysfunction(of, ejection);
  const criteria = criteria2016A(of);
  if (result === 'insufficient-data') {
    return {
      ...NO_JUDGEMENT,
      result: { scheme: '2016-a', result, limited: false, criteria, ...ALONE },
    };
  }
  if (ejection.contested) {
    return { ...NO_JUDGEMENT, gaps: [sayOfDiastolic.gap('diastolic.scheme-not-chosen', {})] };
  }
  const known = criteria.filter(({ met }) => met !== null).length;
  const limited = known < CRITERIA_2016A || ejection.reduced === null;
  return {
    ...NO_JUDGEMENT,
    given: true,
    result: { scheme: '2016-a', result, limited, criteria, ...ALONE },
    // Algorithm A assumes that there is no myocardial disease, but signs that were not measured
    // cannot be excluded (10.4).
    conclusions: [sayOfDiastolic.limitation('diastolic.disease-unknown', {})],
    classifications: [category2016({ result, limited }, '2016-a', criteria)],
  };
}

function presenceOf(of: DiastolicInputs['of2025']) {
  const presence = presence2025(of);
  if (presence === 'insufficient-data') return null;
  const criteria = presenceCriteria2025(of);
  return {
    statement: sayOfDiastolic.conclusion('diastolic.result', {
      scheme: '2025-presence',
      result: presence,
      limited: false,
      criteria: [...criteria],
      ...ALONE,
    }),
    category: graded(
      'diastolic-2025-presence',
      'Diastolic dysfunction',
      { result: presence },
      'ASE 2025, presence of dysfunction',
      criteria,
    ),
  };
}

/** Average E/e' below which filling pressure is low ([C]; echo 19, rule 4 gives no number). */
const LOW_RATIO = 8;

/**
 * Returns the statement on a severely enlarged atrium beside a low E/e', which the filling pressure
 * does not explain (echo 19, rule 4).
 *
 * @param atrium LA volume index of a severely enlarged atrium; null for any other.
 */
export function unexplainedAtrium(
  atrium: Measurement | null,
  ratio: Measurement | null,
): Statement | null {
  if (!atrium || !ratio || ratio.quality !== 'accepted') return null;
  return rounded(ratio.value, 1) < LOW_RATIO
    ? sayOfDiastolic.conclusion('diastolic.unexplained-atrium', {}, [atrium, ratio])
    : null;
}

/** Grades diastolic function and LA pressure in sinus rhythm according to ASE 2025 (echo 10.5). */
export function judge2025(
  of: DiastolicInputs['of2025'],
  supplemental: readonly Criterion[],
): Judgement {
  const result = algorithm2025(of);
  const criteria = criteria2025(of);
  const given = result !== 'insufficient-data';
  const open = result === 'indeterminate';
  const limited = given && !open && isLimited2025(of);
  const markers = discordant(of);
  const presence = presenceOf(of);
  return {
    result: { scheme: '2025', result, limited, criteria, ...ALONE },
    conclusions: [
      markers.length > 0 ? sayOfDiastolic.conclusion('diastolic.discordant', { markers }) : null,
      open ? sayOfDiastolic.conclusion('diastolic.supplemental', { criteria: supplemental }) : null,
      presence?.statement ?? null,
    ],
    gaps: [],
    given,
    elevated: isElevated2025(result),
    classifications: [
      graded(
        'diastolic-2025',
        'LA pressure and diastolic grade',
        { result, limited },
        'ASE 2025, sinus rhythm',
        criteria,
      ),
      ...(presence ? [presence.category] : []),
    ],
  };
}

/**
 * Grades LA pressure in atrial fibrillation, according to ASE 2025 (echo 10.6). A statement says
 * why the algorithms for sinus rhythm were not used: the flow suggests atrial fibrillation, which
 * only an ECG can prove.
 */
export function judgeFibrillation(of: DiastolicInputs['ofFibrillation']): Judgement {
  const result = fibrillationPressure(of);
  const criteria = [...fibrillationCriteria(of), ...fibrillationMarkers(of)];
  return {
    result: { scheme: '2025-fibrillation', result, limited: false, criteria, ...ALONE },
    conclusions: [],
    gaps: [sayOfDiastolic.gap('diastolic.fibrillation', {})],
    given: result !== 'insufficient-data',
    elevated: result === 'elevated-lap',
    classifications: [
      graded(
        'diastolic-fibrillation',
        'LA pressure',
        { result },
        'ASE 2025, atrial fibrillation',
        criteria,
      ),
    ],
  };
}
