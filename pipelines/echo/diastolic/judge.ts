import type { Result } from '../../result/envelope.ts';
import { classification } from '../shared/conclude.ts';
import { type Criterion, criteriaInWords } from '../shared/grading.ts';
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
  isLimited2025,
  presence2025,
  presenceCriteria2025,
} from './guideline-2025.ts';
import { type DiastolicInputs, SECTION } from './measure.ts';

export interface Judgement {
  /** The result with the name of its scheme and its criteria; null where none is given. */
  text: string | null;
  /** Beside it. */
  sentences: readonly (string | null)[];
  gaps: readonly (string | null)[];
  /** Whether the data sufficed for a result. */
  given: boolean;
  elevated: boolean;
  classifications: Result['classifications'];
}

/** Never a grade without the name of its algorithm and the criteria used (echo 10.7). */
export const resultInWords = (scheme: string, result: string, criteria: readonly Criterion[]) =>
  `${scheme}: ${result} (${criteriaInWords(criteria)})`;

export const isElevated = (result: string) => /elevated/i.test(result);

/** The canonical result, and that it rests on less than the algorithm asks for. */
export const limitedTo = (result: string, limited: boolean) =>
  limited ? `${result}, limited` : result;

const SCHEME_2016 = { A: 'ASE/EACVI 2016, algorithm A', B: 'ASE/EACVI 2016, algorithm B' } as const;

const category2016 = (value: string, scheme: string, criteria: readonly Criterion[]) =>
  classification(SECTION, 'diastolic-2016', 'Diastolic function', value, scheme, criteria);

/** Algorithm A presumes it; what was not measured is not excluded (echo 10.4). */
const DISEASE_UNKNOWN =
  'Myocardial disease, with which algorithm B of 2016 would stand for algorithm A, is not known beyond what was measured here';

const NOT_CHOSEN =
  'No result of ASE/EACVI 2016 is given: the LVEF, which chooses its algorithm, is left open';

/** Why algorithm B stands from the beginning; null where algorithm A comes first. */
function reasonForB({ reduced }: Ejection, disease: readonly string[]): string | null {
  if (reduced) return 'LVEF below 50 %';
  return disease.length > 0 ? `myocardial disease: ${disease.join(', ')}` : null;
}

function byB(of: DiastolicInputs['of2016'], reducedEf: boolean) {
  const inputs = { ...of, reducedEf };
  return { result: algorithm2016B(inputs), criteria: criteria2016B(inputs) };
}

const NO_JUDGEMENT: Judgement = {
  text: null,
  sentences: [],
  gaps: [],
  given: false,
  elevated: false,
  classifications: [],
};

/** A positive algorithm A: dysfunction is said, and what algorithm B makes of it. */
function dysfunction(of: DiastolicInputs['of2016'], ejection: Ejection): Judgement {
  const criteria = criteria2016A(of);
  const known = criteria.filter(({ met }) => met !== null).length;
  const present = limitedTo('diastolic dysfunction', known < CRITERIA_2016A);
  const b = byB(of, ejection.reduced === true);
  const first = resultInWords(SCHEME_2016.A, present, criteria);
  const none = b.result === 'insufficient data';
  return {
    ...NO_JUDGEMENT,
    given: true,
    elevated: isElevated(b.result),
    text: none
      ? `${first}; algorithm B: no grade, since E or E/A is missing`
      : `${first}; ${resultInWords('algorithm B', b.result, b.criteria)}`,
    classifications: none
      ? [category2016(`${present}, grade not given`, SCHEME_2016.A, criteria)]
      : [
          classification(
            SECTION,
            'diastolic-2016-presence',
            'Diastolic dysfunction',
            present,
            SCHEME_2016.A,
            criteria,
          ),
          category2016(b.result, SCHEME_2016.B, b.criteria),
        ],
  };
}

/** Diastolic function by ASE/EACVI 2016 (echo 10.3, 10.4). */
export function judge2016(
  of: DiastolicInputs['of2016'],
  ejection: Ejection,
  disease: readonly string[],
): Judgement {
  const reason = reasonForB(ejection, disease);
  if (reason) {
    const { result, criteria } = byB(of, ejection.reduced === true);
    return {
      ...NO_JUDGEMENT,
      given: result !== 'insufficient data',
      elevated: isElevated(result),
      text: resultInWords(`${SCHEME_2016.B} (${reason})`, result, criteria),
      classifications: [category2016(result, SCHEME_2016.B, criteria)],
    };
  }
  const result = algorithm2016A(of);
  if (result === 'diastolic dysfunction') return dysfunction(of, ejection);
  const criteria = criteria2016A(of);
  if (result === 'insufficient data') {
    return { ...NO_JUDGEMENT, text: resultInWords(SCHEME_2016.A, result, criteria) };
  }
  if (ejection.contested) return { ...NO_JUDGEMENT, gaps: [NOT_CHOSEN] };
  const known = criteria.filter(({ met }) => met !== null).length;
  const limited = limitedTo(result, known < CRITERIA_2016A || ejection.reduced === null);
  return {
    ...NO_JUDGEMENT,
    given: true,
    text: resultInWords(SCHEME_2016.A, limited, criteria),
    sentences: [DISEASE_UNKNOWN],
    classifications: [category2016(limited, SCHEME_2016.A, criteria)],
  };
}

const SCHEME_2025 = 'ASE 2025';

/** Apart from LA pressure (echo 10.5). */
function presenceOf(of: DiastolicInputs['of2025']) {
  const presence = presence2025(of);
  if (presence === 'insufficient data') return null;
  const criteria = presenceCriteria2025(of);
  const scheme = `${SCHEME_2025}, presence of dysfunction`;
  return {
    text: resultInWords(`${scheme}, apart from LAP`, presence, criteria),
    category: classification(
      SECTION,
      'diastolic-2025-presence',
      'Diastolic dysfunction',
      presence,
      scheme,
      criteria,
    ),
  };
}

/** Diastolic function and LA pressure by ASE 2025, sinus rhythm (echo 10.5). */
export function judge2025(
  of: DiastolicInputs['of2025'],
  supplemental: readonly Criterion[],
): Judgement {
  const result = algorithm2025(of);
  const criteria = criteria2025(of);
  const given = result !== 'insufficient data';
  const open = result === 'indeterminate';
  const limited = limitedTo(result, given && !open && isLimited2025(of));
  const conflicts = discordant(of);
  const presence = presenceOf(of);
  return {
    text: resultInWords(SCHEME_2025, limited, criteria),
    sentences: [
      conflicts.length > 0 ? `Discordant: ${conflicts.join(', ')} suggests raised LAP` : null,
      open
        ? `Supplemental signs of raised LAP of ${SCHEME_2025} (${criteriaInWords(supplemental)}); without one a diastolic exercise test decides`
        : null,
      presence?.text ?? null,
    ],
    gaps: [],
    given,
    elevated: isElevated(result),
    classifications: [
      classification(
        SECTION,
        'diastolic-2025',
        'LA pressure and diastolic grade',
        limited,
        `${SCHEME_2025}, sinus rhythm`,
        criteria,
      ),
      ...(presence ? [presence.category] : []),
    ],
  };
}

/** LA pressure by ASE 2025 in atrial fibrillation, which only an ECG proves (echo 10.6). */
export function judgeFibrillation(of: DiastolicInputs['ofFibrillation']): Judgement {
  const result = fibrillationPressure(of);
  const criteria = [...fibrillationCriteria(of), ...fibrillationMarkers(of)];
  return {
    text: resultInWords('ASE 2025, if the rhythm is atrial fibrillation', result, criteria),
    sentences: [],
    gaps: [
      'No grade of sinus rhythm is given: the RR intervals are irregular and no A wave is seen',
    ],
    given: result !== 'insufficient data',
    elevated: isElevated(result),
    classifications: [
      classification(
        SECTION,
        'diastolic-fibrillation',
        'LA pressure',
        result,
        'ASE 2025, atrial fibrillation',
        criteria,
      ),
    ],
  };
}
