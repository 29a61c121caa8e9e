import type { Caliper, Confirmed, Measurement } from './envelope.ts';
import { withDecisions } from './measured.ts';
import { remark } from './render/remarks.ts';

/**
 * Applies a person's decisions about single values when the values are created. Everything derived
 * from a value is then calculated by the same code as in the pipeline, and no section needs to
 * handle reviews. The decisions apply during one synchronous run of the sections.
 */

type Points = readonly (readonly [number, number])[];

/** The value counts, unchanged or with the value and calipers that a person gave. */
export interface Confirmation {
  do: 'confirm';
  on: string;
  concept: string;
  as: Confirmed;
  /**
   * Where the value was read, and by which evidence. A run must read it there again so that it
   * counts.
   */
  file: string | null;
  frame: number | null;
  evidence: string | null;
  /** Null if the measured value was not changed. */
  value: number | null;
  /** Null if the calipers were not changed; an empty list if they were removed. */
  calipers: Caliper[] | null;
  /** Frame to which the calipers were moved; null if they were not moved. */
  movedTo: number | null;
}

/**
 * The effect of a change on the evidence. A change is converted to effects once, when it is made. A
 * review consists of the effects of all changes that were not undone, in the order of the changes.
 * `on` is the identity of a measurement (`identityOf`).
 */
export type Effect =
  | Confirmation
  | { do: 'reject'; on: string }
  /** The person chose another value of the same quantity. */
  | { do: 'pass-over'; on: string }
  /**
   * The outline of a structure drawn by a person: the ellipse of a head, or the outline of a
   * ventricle.
   */
  | { do: 'outline'; file: string; frame: number; structure: string; points: Points }
  | { do: 'name-view'; file: string; view: string }
  | { do: 'name-plane'; file: string; frame: number; plane: string }
  | { do: 'note'; text: string };

/** Decisions by the identity of the measurement. */
export interface Decisions {
  of: ReadonlyMap<string, Extract<Effect, { on: string }>>;
  /**
   * Set in the run that draws conclusions: a value for which it returns true is left out of every
   * conclusion until a person confirms it.
   */
  needsReview: ((one: Measurement) => boolean) | null;
  /** What a person confirmed, and where it was read, because those readings count as well. */
  confirmed: readonly Confirmation[];
  /** Frames whose plane, or clips whose view, a person named. */
  named: readonly Extract<Effect, { do: 'name-plane' | 'name-view' }>[];
}

/** Runs `work` while the decisions apply; `work` must not return a promise. */
export const deciding = <T>(decisions: Decisions | null, work: () => T): T =>
  withDecisions(decisions && ((one) => decide(one, decisions)), work);

/**
 * Returns the identity of a measured value, which is the same in every run over the same evidence.
 * The id is not part of it, because it may change with the values beside it; nor is the fetus,
 * which a section assigns last.
 */
export function identityOf({
  concept,
  source,
  laterality,
  phase,
  method,
}: Pick<Measurement, 'concept' | 'source' | 'laterality' | 'phase' | 'method'>): string {
  return JSON.stringify([concept.key, source.file, source.frame, laterality, phase, method]);
}

const withheld = (one: Measurement, code: 'review.rejected' | 'review.passed-over') =>
  ({
    ...one,
    quality: 'inadequate',
    standing: 'withheld',
    remarks: [remark(code, {})],
  }) satisfies Measurement;

function confirmed(one: Measurement, { as, value, calipers, movedTo }: Confirmation): Measurement {
  const stands = {
    ...one,
    quality: 'accepted',
    standing: 'counts',
    confirmed: as,
  } satisfies Measurement;
  if (as === 'accepted') return stands;
  return {
    ...stands,
    value: value ?? one.value,
    source: {
      ...one.source,
      provenance: 'person',
      frame: movedTo ?? one.source.frame,
      calipers: calipers ?? one.source.calipers,
    },
    origin: 'person',
    confidence: null,
    uncertainty: null,
    remarks: [remark('review.by-person', { typed: as === 'entered' })],
  };
}

function decide(one: Measurement, { of, needsReview }: Decisions): Measurement {
  const effect = of.get(identityOf(one));
  switch (effect?.do) {
    case 'confirm':
      return confirmed(one, effect);
    case 'reject':
      return withheld(one, 'review.rejected');
    case 'pass-over':
      return withheld(one, 'review.passed-over');
    default:
      return one.quality === 'accepted' && needsReview?.(one)
        ? { ...one, quality: 'review', standing: 'proposed' }
        : one;
  }
}

/**
 * Converts a list of effects to decisions. A later effect on the same value replaces an earlier
 * one.
 */
export function decisionsOf(effects: readonly Effect[]): Decisions | null {
  if (effects.length === 0) return null;
  const of = new Map(effects.flatMap((one) => ('on' in one ? [[one.on, one] as const] : [])));
  return {
    of,
    needsReview: null,
    confirmed: [...of.values()].filter((one) => one.do === 'confirm'),
    named: effects.filter((one) => one.do === 'name-plane' || one.do === 'name-view'),
  };
}
