import { classification } from '../conclude.ts';
import { type Criterion, criteriaInWords } from '../guidelines/criterion.ts';
import {
  algorithm2025,
  criteria2025,
  discordant,
  isLimited2025,
} from '../guidelines/diastolic-2025.ts';
import { presence2025, presenceCriteria2025 } from '../guidelines/diastolic-presence.ts';
import { type DiastolicInputs, SECTION } from './diastolic-inputs.ts';
import { isElevated, type Judgement, limitedTo, resultInWords } from './judgement.ts';

const SCHEME = 'ASE 2025';

/** Apart from LA pressure (echo reference 10.5). */
function presenceOf(of: DiastolicInputs['of2025']) {
  const presence = presence2025(of);
  if (presence === 'insufficient data') return null;
  const criteria = presenceCriteria2025(of);
  const scheme = `${SCHEME}, presence of dysfunction`;
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

/** Diastolic function and LA pressure by ASE 2025, sinus rhythm (echo reference 10.5). */
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
    text: resultInWords(SCHEME, limited, criteria),
    sentences: [
      conflicts.length > 0 ? `Discordant: ${conflicts.join(', ')} suggests raised LAP` : null,
      open
        ? `Supplemental signs of raised LAP of ${SCHEME} (${criteriaInWords(supplemental)}); without one a diastolic exercise test decides`
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
        `${SCHEME}, sinus rhythm`,
        criteria,
      ),
      ...(presence ? [presence.category] : []),
    ],
  };
}
