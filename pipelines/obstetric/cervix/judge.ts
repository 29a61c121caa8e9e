import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/cervix.ts';
import type {
  ClassificationDraft,
  FindingDraft,
  GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  CERVIX_CATEGORY_DAYS,
  CERVIX_MM,
  type CervixCategory,
  cervixCategory,
  PROGESTERONE_MM,
} from './guideline.ts';
import type { MeasuredCervix } from './measure.ts';

export const CERVIX_SECTION = 'cervix';

/** Returns why there is no category at this age; null if there is one. */
export function withoutCategory(gaDays: number | undefined): Statement | null {
  if (gaDays === undefined) return say.gap('cervix.no-age', {});
  const { from, to } = CERVIX_CATEGORY_DAYS;
  return gaDays < from || gaDays > to ? say.gap('cervix.outside-weeks', { from, to }) : null;
}

/** Builds the classification for a category of cervical length, including the cut-offs. */
export function cervixClassification(category: CervixCategory, mm: number): ClassificationDraft {
  const limits = [CERVIX_MM.extremelyShort, CERVIX_MM.veryShort, PROGESTERONE_MM, CERVIX_MM.short];
  return {
    id: 'cervical-length-category',
    section: CERVIX_SECTION,
    concept: findingConcept('short-cervix'),
    name: 'Cervical length',
    value: category,
    scheme: 'singleton, asymptomatic, 16 to 24 weeks: SMFM Consult 70 (2024), ISUOG 2022, FMF',
    criteria: limits.map((limit) => ({
      name: `at most ${limit} mm`,
      value: { of: 'cervical-length', value: mm },
      met: mm <= limit,
    })),
  };
}

/** Returns the findings of a short cervix and of a funnel at the internal os. */
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
            statement: say.conclusion('cervix.short', { cutOff: CERVIX_MM.short }, [length]),
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
            statement: say.conclusion('cervix.funnel', { shape: funnel.shape }),
            evidence: funnel.measurements.map(({ id }) => id),
          },
        ]
      : []),
  ];
}

/** Returns guidance on what to consider for a short cervix. */
export function cervixGuidance(category: CervixCategory | null, mm: number): GuidanceDraft[] {
  if (category === null || mm > CERVIX_MM.short) return [];
  return [
    {
      id: 'short-cervix',
      section: CERVIX_SECTION,
      statement: say.advice('cervix.advice-short', {}),
      source: 'SMFM Consult Series 70, 2024; ISUOG 2022, Ultrasound Obstet Gynecol 60:435-456',
    },
  ];
}

/** Reports that the machine value falls into a different category from ours; null if they agree. */
export function contradiction(
  category: CervixCategory | null,
  machine: Measurement | null,
): Statement | null {
  if (category === null || machine === null) return null;
  const other = cervixCategory(machine.value);
  return other === category
    ? null
    : say.gap('cervix.machine-differs', { category: other }, [machine]);
}
