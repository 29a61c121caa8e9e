import type { CartMeasurement } from '../contract/cart.ts';
import { findingConcept, STATED_AGE } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';
import { NO_REDATING_FROM_DAYS, redatingDays } from './charts/early-pregnancy.ts';
import { BASIS_TEXT, type ObstetricOptions } from './input.ts';
import { standing } from './measurement.ts';

type Dating = NonNullable<ObstetricOptions['dating']>;

/** Ages by biometry, the one of more lengths first, and what a sentence calls them. */
const AGES = [
  { key: 'ga-by-hc-ac-fl', by: 'HC, AC and FL' },
  { key: 'ga-by-hc', by: 'HC' },
] as const;

/** An age by biometry that is further from the age by last period than is let stand. */
export interface DatingConflict {
  age: Measurement;
  /** The lengths it was made of, as a sentence names them. */
  by: string;
  ageDays: number;
  apartDays: number;
  limitDays: number;
}

/**
 * Whether the age by biometry asks for another date than the last period gave (ACOG Committee Opinion
 * 700; obstetric reference 5.2). An age that a scan has set is never dated anew.
 */
export function datingConflict(
  measurements: readonly Measurement[],
  { basis, ga_days }: Dating,
): DatingConflict | null {
  if (basis !== 'lmp') return null;
  const [found] = AGES.flatMap(({ key, by }) => {
    const age = standing(measurements, key);
    return age ? [{ age, by }] : [];
  });
  if (!found) return null;
  const ageDays = Math.round(found.age.value);
  const apartDays = Math.abs(ageDays - ga_days);
  const limitDays = redatingDays(ga_days);
  return apartDays > limitDays ? { ...found, ageDays, apartDays, limitDays } : null;
}

/** Said of every sentence about size for age while the age itself is in doubt. */
const ONLY_IF_DATED = 'This holds only if the dating is right.';

/** A sentence about size for age, with its condition where the age is in doubt. */
export function conditionedOn(conflict: DatingConflict | null, text: string): string {
  return conflict ? `${text} ${ONLY_IF_DATED}` : text;
}

function datingFinding(id: string, text: string, evidence: string[]): Finding {
  return {
    id,
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    text: `${text} The age given was kept.`,
    severity: 'abnormal',
    confidence: null,
    evidence,
  };
}

/** Both ages and the limit that they break. Late in pregnancy no new date is advised. */
export function conflictFindings(conflict: DatingConflict | null, { ga_days }: Dating): Finding[] {
  if (!conflict) return [];
  const { age, by, ageDays, apartDays, limitDays } = conflict;
  const found = `Age by ${by} ${weeksAndDays(ageDays)} weeks, ${apartDays} days from the ${weeksAndDays(ga_days)} weeks by ${BASIS_TEXT.lmp}`;
  const advice =
    ga_days < NO_REDATING_FROM_DAYS
      ? `beyond ${limitDays} days dating by ultrasound is advised unless an earlier scan confirms the age given (ACOG Committee Opinion 700).`
      : `beyond ${limitDays} days the dating is in doubt (ACOG Committee Opinion 700). From ${weeksAndDays(NO_REDATING_FROM_DAYS)} weeks on one scan does not date a pregnancy anew: growth that is too slow or too fast looks the same.`;
  return [datingFinding('age-by-biometry', `${found}: ${advice}`, [age.id])];
}

/** UCUM unit of an age in a report → days. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/** That the machine's report states another age by last period than the one that was used. */
export function statedAgeFindings(
  cart: readonly CartMeasurement[],
  { basis, ga_days }: Dating,
): Finding[] {
  if (basis !== 'lmp') return [];
  const { scheme, code } = STATED_AGE.lmp;
  const [stated] = cart.flatMap(({ concept, value, unit }) => {
    const days = DAYS[unit];
    const isAge = concept.scheme === scheme && concept.code === code;
    return isAge && days !== undefined && value > 0 ? [Math.round(value * days)] : [];
  });
  const limit = redatingDays(ga_days);
  if (stated === undefined || Math.abs(stated - ga_days) <= limit) return [];
  const text = `The report of the ultrasound machine states ${weeksAndDays(stated)} weeks by ${BASIS_TEXT.lmp}, ${Math.abs(stated - ga_days)} days from the ${weeksAndDays(ga_days)} weeks given; check the dating.`;
  return [datingFinding('age-stated-by-machine', text, [])];
}
