import { classification } from '../conclude.ts';
import {
  fibrillationCriteria,
  fibrillationMarkers,
  fibrillationPressure,
} from '../guidelines/atrial-fibrillation.ts';
import { type DiastolicInputs, SECTION } from './diastolic-inputs.ts';
import { isElevated, type Judgement, resultInWords } from './judgement.ts';

/** LA pressure by ASE 2025 in atrial fibrillation, which only an ECG proves (echo reference 10.6). */
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
