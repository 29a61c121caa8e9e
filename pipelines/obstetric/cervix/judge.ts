import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft, GuidanceDraft } from '../../result/section-outcome.ts';
import type { CervixCategory } from './guideline.ts';
import { CERVIX_CATEGORY_DAYS, CERVIX_MM, cervixCategory, PROGESTERONE_MM } from './guideline.ts';
import type { MeasuredCervix } from './measure.ts';

export const CERVIX_SECTION = 'cervix';

/** A length as every sentence shows it. */
export const lengthText = (mm: number) => formatValue('cervical-length', mm);

/** Why no category is given; null where one is. */
export function withoutCategory(gaDays: number | undefined): string | null {
  if (gaDays === undefined) {
    return 'Gestational age was not given, so the length was not categorised.';
  }
  const { from, to } = CERVIX_CATEGORY_DAYS;
  return gaDays < from || gaDays > to
    ? `The length is categorised between ${weeksAndDays(from)} and ${weeksAndDays(to)} weeks only.`
    : null;
}

export const CATEGORY_TEXT: Readonly<Record<CervixCategory, string>> = {
  long: 'long',
  normal: 'normal length',
  short: 'short',
  'very-short': 'very short',
  'extremely-short': 'extremely short',
};

/** The category with the cut-offs that it was decided by. */
export function cervixClassification(
  category: CervixCategory,
  mm: number,
): Result['classifications'][number] {
  const value = lengthText(mm);
  return {
    id: 'cervical-length-category',
    section: CERVIX_SECTION,
    concept: findingConcept('short-cervix'),
    name: 'Cervical length',
    value: category,
    scheme: 'singleton, asymptomatic, 16 to 24 weeks: SMFM Consult 70 (2024), ISUOG 2022, FMF',
    criteria: [
      {
        name: `at most ${CERVIX_MM.extremelyShort} mm`,
        value,
        met: mm <= CERVIX_MM.extremelyShort,
      },
      { name: `at most ${CERVIX_MM.veryShort} mm`, value, met: mm <= CERVIX_MM.veryShort },
      { name: `at most ${PROGESTERONE_MM} mm`, value, met: mm <= PROGESTERONE_MM },
      { name: `at most ${CERVIX_MM.short} mm`, value, met: mm <= CERVIX_MM.short },
    ],
  };
}

/** A short cervix, and a funnel of the internal os. */
export function cervixFindings(
  length: Measurement,
  funnel: MeasuredCervix['funnel'],
  category: CervixCategory | null,
): FindingDraft[] {
  const base = {
    section: CERVIX_SECTION,
    severity: 'abnormal' as const,
    confidence: length.confidence,
  };
  const short = category !== null && length.value <= CERVIX_MM.short;
  return [
    ...(short
      ? [
          {
            ...base,
            id: 'short-cervix',
            concept: findingConcept('short-cervix'),
            text: `Short cervix: ${lengthText(length.value)} (cut-off ${CERVIX_MM.short} mm).`,
            evidence: [length.id],
          },
        ]
      : []),
    ...(funnel
      ? [
          {
            ...base,
            id: 'cervical-funnelling',
            concept: findingConcept('cervical-funnelling'),
            text: `Funnelling of the internal os, shape ${funnel.shape}.`,
            evidence: funnel.measurements.map(({ id }) => id),
          },
        ]
      : []),
  ];
}

/** What to consider of a short cervix. */
export function cervixGuidance(category: CervixCategory | null, mm: number): GuidanceDraft[] {
  if (category === null || mm > CERVIX_MM.short) return [];
  return [
    {
      id: 'short-cervix',
      section: CERVIX_SECTION,
      text: 'Consider the local protocol for a short cervix; the risk of preterm birth rises as the length falls.',
      source: 'SMFM Consult Series 70, 2024; ISUOG 2022, Ultrasound Obstet Gynecol 60:435-456',
    },
  ];
}

/** Said where the machine's value falls into another category than ours. */
export function contradiction(
  category: CervixCategory | null,
  machine: Measurement | null,
): string | null {
  if (category === null || machine === null) return null;
  const other = cervixCategory(machine.value);
  return other === category
    ? null
    : `By the value of the ultrasound machine, ${lengthText(machine.value)}, the length is ${CATEGORY_TEXT[other]}: measure by hand.`;
}
