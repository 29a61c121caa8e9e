import type { Caliper, Confirmed, Measurement } from './envelope.ts';
import { withDecisions } from './measured.ts';
import { remark } from './render/remarks.ts';

/**
 * What a person decided about single values is applied where values are made: whatever is derived
 * from a value then follows by the same code as in the pipeline, and no section knows of reviews.
 * The decisions are in force during one synchronous run of the sections.
 */

type Points = readonly (readonly [number, number])[];

/** The value counts, as it is or with what a person gave it. */
export interface Confirmation {
  do: 'confirm';
  on: string;
  concept: string;
  as: Confirmed;
  /** Where the value was read, and by which evidence: it must be read again to count. */
  file: string | null;
  frame: number | null;
  evidence: string | null;
  /** Null: the value as it is measured. */
  value: number | null;
  /** Null: the calipers as they are; an empty list: none. */
  calipers: Caliper[] | null;
  /** Frame to which the calipers were moved; null: where they are. */
  movedTo: number | null;
}

/**
 * What a change does to the evidence. A change is turned into effects once, when it is made; the
 * review at any time is the effects of all changes that were not undone, in the order of the changes.
 * `on` is the identity of a measurement (`identityOf`).
 */
export type Effect =
  | Confirmation
  | { do: 'reject'; on: string }
  /** The person chose another value of the same quantity. */
  | { do: 'pass-over'; on: string }
  /** A structure as a person outlined it: the ellipse of a head, the outline of a ventricle. */
  | { do: 'outline'; file: string; frame: number; structure: string; points: Points }
  | { do: 'name-view'; file: string; view: string }
  | { do: 'name-plane'; file: string; frame: number; plane: string }
  | { do: 'note'; text: string };

/** Decisions by the identity of the measurement. */
export interface Decisions {
  of: ReadonlyMap<string, Extract<Effect, { on: string }>>;
  /**
   * Set in the run that concludes: a value for which it holds is kept out of every conclusion, as
   * long as nobody confirmed it.
   */
  needsReview: ((one: Measurement) => boolean) | null;
  /** What a person confirmed, with where it was read: those readings count as well. */
  confirmed: readonly Confirmation[];
  /** Frames whose plane, and clips whose view, a person named. */
  named: readonly Extract<Effect, { do: 'name-plane' | 'name-view' }>[];
}

/** Runs `work` with decisions in force; `work` must not return a promise. */
export const deciding = <T>(decisions: Decisions | null, work: () => T): T =>
  withDecisions(decisions && ((one) => decide(one, decisions)), work);

/**
 * What makes a measured value the same one in every run over the same evidence. Neither its id,
 * which may change with the values beside it, nor its fetus, which a section names last, belongs to it.
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

/** The decisions of a list of effects; a later one about the same value replaces an earlier one. */
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
