import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  CERVIX_CATEGORIES,
  type CervixCategory,
  say,
} from '../../result/render/obstetric/cervix.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
  type GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { finding } from '../shared/section.ts';
import {
  CERVIX_CATEGORY_DAYS,
  CERVIX_MM,
  cervixCategory,
  PROGESTERONE_MM,
  sideOfShort,
} from './guideline.ts';
import type { MeasuredCervix } from './measure.ts';

export const CERVIX_SECTION = 'cervix';

const ISUOG = 'ISUOG 2022';

/** Returns why there is no category at this age; null if there is one. */
export function withoutCategory(gaDays: number | undefined): Statement | null {
  if (gaDays === undefined) return say.gap('cervix.no-age', {});
  const { from, to } = CERVIX_CATEGORY_DAYS;
  return gaDays < from || gaDays > to ? say.gap('cervix.outside-weeks', { from, to }) : null;
}

/** The category of a cervical length, and what is uncertain about it. */
interface JudgedCervix {
  /**
   * Null if the interval includes a cut-off or the machine value contradicts ours, unless even
   * `longest` is short: the category is then `short`. With several fetuses, always `short` or null.
   */
  category: CervixCategory | null;
  /** Categories on both sides of a cut-off within the interval; null if it contains no cut-off. */
  between: readonly [CervixCategory, CervixCategory] | null;
  /** Set if there are several fetuses and the length is not short: there is no category for it. */
  ofSeveral: Statement | null;
  /** Set if the machine value is in a category that no value within our interval has. */
  contradiction: Statement | null;
  /**
   * Greatest length, mm, that the cervix may have: the upper end of the interval or, if it
   * contradicts ours and is greater, the machine value.
   */
  longest: number;
}

/**
 * Categorises our length, taking the machine's shortest length into account. If the cervix is
 * certainly short but the exact category is unknown, the category is `short`.
 *
 * @param several true if there are several fetuses.
 */
export function judgeCervix(
  length: Measurement,
  machine: Measurement | null,
  several: boolean,
): JudgedCervix {
  const categoryOf = several ? sideOfShort : cervixCategory;
  const within = categoryWithin(length, categoryOf);
  const [low, high] = within.between ?? [within.category, within.category];
  const place = (category: CervixCategory) => CERVIX_CATEGORIES.indexOf(category);
  const other = machine && categoryOf(machine.value);
  const contradicts = other !== null && (place(other) < place(low) || place(other) > place(high));
  const longest = Math.max(
    length.value + (length.uncertainty ?? 0),
    contradicts && machine ? machine.value : 0,
  );
  const open = longest <= CERVIX_MM.short ? 'short' : null;
  return {
    category: contradicts || several ? open : (within.category ?? open),
    between: within.between,
    ofSeveral:
      several && within.category === 'normal'
        ? say.gap('cervix.several-fetuses', { cutOff: CERVIX_MM.short })
        : null,
    contradiction:
      contradicts && machine
        ? say.gap('cervix.machine-differs', { category: other }, [machine])
        : null,
    longest,
  };
}

/**
 * Builds the classification for a category of cervical length, including the cut-offs. A cut-off is
 * met only if the greatest length that the cervix may have does not exceed it.
 */
export function cervixClassification(
  category: CervixCategory,
  { value }: Measurement,
  longest: number,
  several: boolean,
): ClassificationDraft {
  const ofSingleton = [CERVIX_MM.extremelyShort, CERVIX_MM.veryShort, PROGESTERONE_MM];
  const limits = [...(several ? [] : ofSingleton), CERVIX_MM.short];
  return {
    id: 'cervical-length-category',
    concept: findingConcept('short-cervix'),
    name: 'Cervical length',
    value: category,
    scheme: several
      ? `several fetuses, asymptomatic, 16 to 24 weeks: ${ISUOG}`
      : `singleton, asymptomatic, 16 to 24 weeks: SMFM Consult 70 (2024), ${ISUOG}, FMF`,
    criteria: limits.map((limit) =>
      criterion(`at most ${limit} mm`, { of: 'cervical-length', value }, longest <= limit),
    ),
  };
}

/** Returns the findings of a short cervix and of a funnel at the internal os. */
export function cervixFindings(
  length: Measurement,
  funnel: MeasuredCervix['funnel'],
  category: CervixCategory | null,
): FindingDraft[] {
  const { confidence } = length;
  const found: FindingDraft[] = [];
  if (category !== null && length.value <= CERVIX_MM.short) {
    const said = say.conclusion('cervix.short', { cutOff: CERVIX_MM.short }, [length]);
    const given = { confidence };
    found.push(finding('short-cervix', 'short-cervix', said, 'abnormal', given));
  }
  if (funnel) {
    const id = 'cervical-funnelling';
    const said = say.conclusion('cervix.funnel', { shape: funnel.shape });
    const given = { confidence, evidence: funnel.measurements.map((one) => one.id) };
    found.push(finding(id, id, said, 'abnormal', given));
  }
  return found;
}

/** Returns guidance on what to consider for a short cervix. */
export function cervixGuidance(
  category: CervixCategory | null,
  mm: number,
  several: boolean,
): GuidanceDraft[] {
  if (category === null || mm > CERVIX_MM.short) return [];
  return [
    {
      id: 'short-cervix',
      statement: say.advice('cervix.advice-short', {}),
      source: `${several ? '' : 'SMFM Consult Series 70, 2024; '}${ISUOG}, Ultrasound Obstet Gynecol 60:435-456`,
    },
  ];
}
