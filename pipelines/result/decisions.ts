import {
  type Caliper,
  type Confirmed,
  isFromReport,
  type Measurement,
  type Result,
} from './envelope.ts';
import { fetusKey, NO_FRAME, withDecisions } from './measured.ts';
import { remark } from './render/remarks.ts';

/**
 * This module applies a person's decisions about single values when the values are created.
 * Everything that depends on them is then calculated by the same code as in the pipeline, so
 * sections need not handle reviews. The decisions apply during one synchronous run of the sections.
 */

type Points = readonly (readonly [number, number])[];

/** Confirms a value, either unchanged or with the value and calipers set by a person. */
interface Confirmation {
  do: 'confirm';
  on: string;
  concept: string;
  fetus: string | null;
  as: Confirmed;
  /**
   * File from which the value was read. `evidence` is the key of the evidence for its method. A
   * value that a later run reads in the same place is confirmed as well.
   */
  file: string | null;
  frame: number | null;
  evidence: string | null;
  /** Null if the measured value was kept. */
  value: number | null;
  /** Null if the calipers were kept; an empty list if they were removed. */
  calipers: Caliper[] | null;
  /** Frame to which the calipers were moved; null if they stayed on the same frame. */
  movedTo: number | null;
  /** The number that a person accepted; reviews of earlier versions do not contain it. */
  seen?: number;
}

/**
 * Effect of a change on the evidence. A change is converted to effects once, when it is made. A
 * review consists of the effects of all changes that were not undone, in the order of the changes.
 * `on` is the identity of a measurement (`identityOf`).
 */
export type Effect =
  | Confirmation
  | { do: 'reject'; on: string }
  /** The person preferred another value of the same quantity to this one. */
  | { do: 'pass-over'; on: string }
  /**
   * A value on which this one is based was rejected or changed, so the confirmation no longer
   * applies.
   */
  | { do: 'withdraw-confirmation'; on: string }
  /**
   * The person rejected or passed over a value of this quantity. Only values in `known` may take
   * its place: a section lists only the first few values, so the person has not seen the others.
   */
  | {
      do: 'close';
      concept: string;
      laterality: Measurement['laterality'];
      known: readonly string[];
    }
  /**
   * A person drew the outline of a structure: an ellipse for a head, an outline for a ventricle.
   */
  | { do: 'outline'; file: string; frame: number; structure: string; points: Points }
  | { do: 'name-view'; file: string; view: string }
  | { do: 'name-plane'; file: string; frame: number; plane: string }
  | { do: 'note'; text: string };

/** A result under review, with the effects that led from the original to it. */
export interface ReviewedResult {
  original: Result;
  result: Result;
  effects: readonly Effect[];
}

/**
 * A person's decisions. `of` contains the decision about each measurement, by the identity of the
 * measurement.
 */
export interface Decisions {
  of: ReadonlyMap<string, Extract<Effect, { on: string }>>;
  /**
   * Returns true if a value is to be left out of every conclusion until a person confirms it. Null
   * in every run except the one that draws conclusions.
   */
  needsReview: ((one: Measurement) => boolean) | null;
  /**
   * Confirmed values, with the file and frame on which each was read. Structures found on the same
   * file and frame are used without review as well.
   */
  confirmed: readonly Confirmation[];
  /**
   * Quantities for which only values that the person has seen are used. `reopenedBy` lists the
   * files whose plane or view the person set afterwards. Values from these files are used as well,
   * unless the person confirmed a value of the quantity.
   */
  closed: readonly (Extract<Effect, { do: 'close' }> & { reopenedBy: readonly string[] })[];
  /** Planes of frames and views of clips that a person set. */
  named: readonly Extract<Effect, { do: 'name-plane' | 'name-view' }>[];
}

/** Runs `work` while the decisions apply; `work` must not return a promise. */
export const deciding = <T>(decisions: Decisions | null, work: () => T): T =>
  withDecisions(
    decisions && {
      decide: (one) => decide(one, decisions),
      typed: (concept, method) => typedIn(decisions, concept, method),
    },
    work,
  );

/**
 * Returns the identity of a measured value, which is the same in every run on the same evidence. It
 * does not include the id, which may change if other values change. A value in the machine's report
 * belongs to no frame; its fetus and its number distinguish it from the other values of the report.
 * A value of ours is distinguished by its frame, and a section may assign its fetus later.
 */
export function identityOf(
  one: Pick<
    Measurement,
    'concept' | 'source' | 'laterality' | 'phase' | 'method' | 'fetus' | 'value'
  >,
): string {
  const inReport = isFromReport(one) ? [fetusKey(one.fetus), one.value] : [];
  return identityAt(one.concept.key, one.method, one, inReport);
}

const identityAt = (
  concept: string,
  method: string,
  { source, laterality, phase }: Pick<Measurement, 'source' | 'laterality' | 'phase'>,
  inReport: readonly unknown[] = [],
) => JSON.stringify([concept, source.file, source.frame, laterality, phase, method, ...inReport]);

function typedIn({ of }: Decisions, concept: string, method: string): number | null {
  const nowhere = { source: NO_FRAME, laterality: null, phase: null };
  const effect = of.get(identityAt(concept, method, nowhere));
  return effect?.do === 'confirm' && effect.as === 'entered' ? effect.value : null;
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
  if (as === 'accepted') {
    return { ...stands, remarks: [...one.remarks, remark('review.accepted', {})] };
  }
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

/**
 * Returns true if a value read directly on an image belongs to a closed quantity and was not known
 * when the person's change closed it. Such a value must not replace the one that the person
 * rejected or passed over. Values from a file that the person reclassified afterwards are allowed,
 * unless the person confirmed a value of the quantity.
 */
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

/**
 * Returns true if the number that a person accepted is not, or may not be, the number of this value.
 * A stored number may be rounded. Without a stored number, only a value that nothing else can change
 * is certain to be the accepted one: a value read on one frame, or printed in a report.
 */
export function isOutdated({ as, seen }: Pick<Confirmation, 'as' | 'seen'>, one: Measurement) {
  if (seen !== undefined) return Math.abs(one.value - seen) > 1e-6 * Math.abs(seen);
  const isRead = one.inputs.length === 0 && (one.source.frame !== null || isFromReport(one));
  return as === 'accepted' && !isRead;
}

/**
 * Returns the result of a review. If a value was accepted and is now calculated from other inputs,
 * nobody has seen the new number, so the study is interpreted again without that acceptance.
 */
export function interpretedWith(
  effects: readonly Effect[],
  interpret: (effects: readonly Effect[]) => Result,
): Result {
  const result = interpret(effects);
  const outdated = (decisionsOf(effects)?.confirmed ?? []).flatMap((given): Effect[] => {
    const own = result.measurements.filter((one) => identityOf(one) === given.on);
    return own.length > 0 && own.every((one) => isOutdated(given, one))
      ? [{ do: 'withdraw-confirmation', on: given.on }]
      : [];
  });
  return outdated.length === 0 ? result : interpretedWith([...effects, ...outdated], interpret);
}
