import type { Caliper, Confirmed, Measurement } from './envelope.ts';
import { withDecisions } from './measured.ts';
import { remark } from './render/remarks.ts';

/**
 * Applies a person's decisions on single values when the values are created. All values and
 * conclusions that depend on them are then calculated by the same code as in the pipeline, so that
 * no section needs to handle reviews. The decisions apply during one synchronous run of the
 * sections.
 */

type Points = readonly (readonly [number, number])[];

/** The value is confirmed: unchanged, or with the value and the calipers that a person gave. */
export interface Confirmation {
  do: 'confirm';
  on: string;
  concept: string;
  as: Confirmed;
  /**
   * File in which the value was read; `evidence` is the evidence of the method. The confirmation
   * applies to a value that a run reads there again.
   */
  file: string | null;
  frame: number | null;
  evidence: string | null;
  /** Null if the measured value was not changed. */
  value: number | null;
  /** Null if the calipers were not changed; an empty list if they were removed. */
  calipers: Caliper[] | null;
  /** Frame to which the calipers were moved; null if they stay on their frame. */
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
   * The person rejected or passed over a value of the quantity. A value that was not there then,
   * because the section lists only the first few, does not take its place.
   */
  | {
      do: 'close';
      concept: string;
      laterality: Measurement['laterality'];
      known: readonly string[];
    }
  /**
   * A person drew the outline of a structure: the ellipse of a head, or the outline of a ventricle.
   */
  | { do: 'outline'; file: string; frame: number; structure: string; points: Points }
  | { do: 'name-view'; file: string; view: string }
  | { do: 'name-plane'; file: string; frame: number; plane: string }
  | { do: 'note'; text: string };

/** Decisions on measurements, by identity. */
export interface Decisions {
  of: ReadonlyMap<string, Extract<Effect, { on: string }>>;
  /**
   * Set in the run that draws conclusions. A value for which it returns true is left out of every
   * conclusion until a person confirms it.
   */
  needsReview: ((one: Measurement) => boolean) | null;
  /**
   * Confirmed values and where they were read, because the readings at these places are used as
   * well.
   */
  confirmed: readonly Confirmation[];
  /**
   * Quantities of which only values that the person has seen are used. `reopenedBy` lists the files
   * whose plane or view the person named afterwards; if the person gave no value, values from these
   * files are used as well.
   */
  closed: readonly (Extract<Effect, { do: 'close' }> & { reopenedBy: readonly string[] })[];
  /** Planes of frames and views of clips that a person named. */
  named: readonly Extract<Effect, { do: 'name-plane' | 'name-view' }>[];
}

/** Runs `work` while the decisions apply; `work` must not return a promise. */
export const deciding = <T>(decisions: Decisions | null, work: () => T): T =>
  withDecisions(decisions && ((one) => decide(one, decisions)), work);

/**
 * Returns the identity of a measured value, which is the same in every run over the same evidence.
 * The id is not part of it, because the id may change if other values change. The fetus is not part
 * of it, because a section assigns the fetus last.
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

/** Returns whether a value read on an image would take the place of one that the person removed. */
function isUnseen(
  { concept, laterality, source: { file }, inputs }: Measurement,
  identity: string,
  { closed, confirmed: given }: Decisions,
): boolean {
  if (file === null || inputs.length > 0) return false;
  const isGiven = given.some((of) => of.concept === concept.key);
  return closed.some(
    (of) =>
      of.concept === concept.key &&
      of.laterality === laterality &&
      !of.known.includes(identity) &&
      (isGiven || !of.reopenedBy.includes(file)),
  );
}

function decide(one: Measurement, decisions: Decisions): Measurement {
  const { of, needsReview } = decisions;
  const identity = identityOf(one);
  const effect = of.get(identity);
  if (!effect && isUnseen(one, identity, decisions)) return withheld(one, 'review.passed-over');
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
    closed: effects.flatMap((one, at) => {
      const later = effects.slice(at + 1);
      const reopenedBy = later.flatMap((of) =>
        of.do === 'name-plane' || of.do === 'name-view' ? [of.file] : [],
      );
      return one.do === 'close' ? [{ ...one, reopenedBy }] : [];
    }),
    named: effects.filter((one) => one.do === 'name-plane' || one.do === 'name-view'),
  };
}
