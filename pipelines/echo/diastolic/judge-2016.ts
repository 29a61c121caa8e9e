import { classification } from '../conclude.ts';
import type { Criterion } from '../guidelines/criterion.ts';
import {
  algorithm2016A,
  algorithm2016B,
  CRITERIA_2016A,
  criteria2016A,
  criteria2016B,
} from '../guidelines/diastolic-2016.ts';
import { type DiastolicInputs, SECTION } from './diastolic-inputs.ts';
import type { Ejection } from './ejection.ts';
import { isElevated, type Judgement, limitedTo, resultInWords } from './judgement.ts';

const SCHEME = { A: 'ASE/EACVI 2016, algorithm A', B: 'ASE/EACVI 2016, algorithm B' } as const;

const category = (value: string, scheme: string, criteria: readonly Criterion[]) =>
  classification(SECTION, 'diastolic-2016', 'Diastolic function', value, scheme, criteria);

/** Algorithm A presumes it; what was not measured is not excluded (echo reference 10.4). */
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

const NOTHING: Judgement = {
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
  const first = resultInWords(SCHEME.A, present, criteria);
  const none = b.result === 'insufficient data';
  return {
    ...NOTHING,
    given: true,
    elevated: isElevated(b.result),
    text: none
      ? `${first}; algorithm B: no grade, since E or E/A is missing`
      : `${first}; ${resultInWords('algorithm B', b.result, b.criteria)}`,
    classifications: none
      ? [category(`${present}, grade not given`, SCHEME.A, criteria)]
      : [
          classification(
            SECTION,
            'diastolic-2016-presence',
            'Diastolic dysfunction',
            present,
            SCHEME.A,
            criteria,
          ),
          category(b.result, SCHEME.B, b.criteria),
        ],
  };
}

/** Diastolic function by ASE/EACVI 2016 (echo reference 10.3, 10.4). */
export function judge2016(
  of: DiastolicInputs['of2016'],
  ejection: Ejection,
  disease: readonly string[],
): Judgement {
  const reason = reasonForB(ejection, disease);
  if (reason) {
    const { result, criteria } = byB(of, ejection.reduced === true);
    return {
      ...NOTHING,
      given: result !== 'insufficient data',
      elevated: isElevated(result),
      text: resultInWords(`${SCHEME.B} (${reason})`, result, criteria),
      classifications: [category(result, SCHEME.B, criteria)],
    };
  }
  const result = algorithm2016A(of);
  if (result === 'diastolic dysfunction') return dysfunction(of, ejection);
  const criteria = criteria2016A(of);
  if (result === 'insufficient data') {
    return { ...NOTHING, text: resultInWords(SCHEME.A, result, criteria) };
  }
  if (ejection.contested) return { ...NOTHING, gaps: [NOT_CHOSEN] };
  const known = criteria.filter(({ met }) => met !== null).length;
  const limited = limitedTo(result, known < CRITERIA_2016A || ejection.reduced === null);
  return {
    ...NOTHING,
    given: true,
    text: resultInWords(SCHEME.A, limited, criteria),
    sentences: [DISEASE_UNKNOWN],
    classifications: [category(limited, SCHEME.A, criteria)],
  };
}
