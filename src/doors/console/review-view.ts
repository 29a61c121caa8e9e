import { drawnMeasurements } from '../../../pipelines/artifacts/display/drawn-on-clip.ts';
import { rounded } from '../../../pipelines/measure/rounding.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { decimalsOf } from '../../../pipelines/result/render/number-text.ts';
import { INTERMEDIATE } from '../../../pipelines/result/standing.ts';
import type { ListedChange, ReviewObject } from '../../core/reviews/reviews.ts';
import type { ResultView } from './result-contract.ts';
import type { ReviewChange, ReviewStep, ReviewView } from './review-contract.ts';
import { imageNames, unitOf, valueText } from './wording.ts';

type Originals = ReviewObject['original'];

/** Converts a review to the console's form, without making any decision. */
export function viewReview(review: ReviewObject, result: ResultView): ReviewView {
  const { state, revision, etag, changes, signatures, readers, may } = review;
  const { measurements } = review.result;
  return {
    state,
    revision,
    etag,
    result,
    drawn: drawnByFile(measurements),
    steps: stepsOf(review.result, review.original),
    changes: namedUndos(changes, review),
    signatures,
    signaturesNeeded: review.signatures_needed,
    readers,
    may,
    names: {
      ...imageNames(review.result.endpoint),
      given: changes.filter(({ undone }) => !undone).reduceRight(namedImages, []),
    },
  };
}

/**
 * Appends the name that a change gave to an image; other kinds of change add nothing. The changes
 * are passed from the newest to the oldest, so the newest name of an image comes first.
 */
function namedImages(
  given: ReviewView['names']['given'],
  { change }: ListedChange,
): ReviewView['names']['given'] {
  if (change.kind === 'name-view') {
    return [...given, { file: change.file, frame: null, value: change.view }];
  }
  if (change.kind !== 'name-plane') return given;
  return [...given, { file: change.file, frame: change.frame, value: change.plane }];
}

function drawnByFile(measurements: readonly Measurement[]): ReviewView['drawn'] {
  const files = new Set(measurements.flatMap(({ source }) => source.file ?? []));
  return Object.fromEntries(
    [...files].map((file) => [file, drawnMeasurements(file, measurements)]),
  );
}

const isRejected = ({ remarks }: Measurement): boolean =>
  remarks.some(({ code }) => code === 'review.rejected');

/** Whether a person decides on a value: it counts, would count once confirmed, or was rejected. */
const isStep = (one: Measurement): boolean =>
  ['counts', 'proposed'].includes(one.standing) || isRejected(one);

/**
 * Puts the values in the order of the table: section by section. Sections whose values are only
 * inputs to other values come last.
 */
function inReadingOrder(
  measurements: readonly Measurement[],
  sections: Result['sections'],
): Measurement[] {
  const places = new Map(sections.map(({ id }, place) => [id, place]));
  const placeOf = ({ section }: Measurement): number =>
    INTERMEDIATE.has(section) ? sections.length : (places.get(section) ?? sections.length);
  return measurements.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function stepsOf({ measurements, sections }: Result, original: Originals): ReviewStep[] {
  const byId = new Map(measurements.map((one) => [one.id, one]));
  const titles = new Map(sections.map(({ id, title }) => [id, title]));
  return inReadingOrder(measurements.filter(isStep), sections).map((one) => {
    const parts = one.inputs.flatMap((id) => byId.get(id) ?? []);
    const shown = one.source.file === null ? (parts.find(hasCalipers) ?? one) : one;
    const others = measurements.filter(
      (other) => other !== one && (isRepeatOf(other, one) || isPartOf(other, one)),
    );
    const before = original[one.id];
    const [text, unitText] = [valueText(one), unitOf(one)];
    const was = before ? valueText(before) : null;
    return {
      id: one.id,
      label: [one.label, one.laterality, one.fetus && `fetus ${one.fetus}`]
        .filter(Boolean)
        .join(', '),
      section: titles.get(one.section) ?? one.section,
      value: rounded(one.value, decimalsOf(one.concept.key)),
      text,
      unitText,
      unit: one.unit,
      quality: one.quality,
      decision: one.confirmed ?? (isRejected(one) ? 'rejected' : null),
      original: was === text ? null : was && `${was} ${unitText}`.trimEnd(),
      file: shown.source.file,
      frame: shown.source.frame,
      draggable: draggableOf(one),
      others: others.map((other) => ({
        id: other.id,
        text: `${valueText(other)} ${unitText}`.trimEnd(),
        file: other.source.file,
        frame: other.source.frame,
      })),
    };
  });
}

const hasCalipers = ({ source }: Measurement): boolean => source.calipers.length > 0;

const isRepeatOf = (other: Measurement, one: Measurement): boolean =>
  other.standing === 'repeat' &&
  other.concept.key === one.concept.key &&
  other.laterality === one.laterality &&
  other.fetus === one.fetus;

const isPartOf = (other: Measurement, one: Measurement): boolean =>
  one.inputs.includes(other.id) && other.concept.key === one.concept.key;

/**
 * Returns the kind of shape that a person can drag to change a value; null for a polyline, and for
 * a value with several shapes, because no single one determines it.
 */
function draggableOf({ source }: Measurement): ReviewStep['draggable'] {
  const [shape, ...more] = source.calipers;
  if (!shape || more.length > 0 || shape.type === 'polyline') return null;
  return shape.type === 'polygon' ? 'outline' : 'calipers';
}

const DONE = {
  accept: 'accepted',
  reject: 'rejected',
  'set-value': 'typed',
  'move-calipers': 'measured again',
  'set-outline': 'outlined again',
  'choose-repeat': 'chosen from repeats',
  'choose-frame': 'measured on a different frame',
  'name-view': 'View named',
  'name-plane': 'Plane named',
  note: 'Line written',
  undo: 'Undone',
} as const satisfies Record<ListedChange['kind'], string>;

/** Describes every change. The text for an undo contains the text of the change that was undone. */
function namedUndos(changes: readonly ListedChange[], review: ReviewObject): ReviewChange[] {
  const shown = changes.map((change) => viewChange(change, review));
  return shown.map((one, n) => {
    const change = changes[n]?.change;
    const undone = change?.kind === 'undo' && shown.find(({ id }) => id === change.change);
    return undone ? { ...one, text: `${DONE.undo}: ${undone.text}` } : one;
  });
}

function viewChange(
  { id, at, author, change, before, after, undone }: ListedChange,
  { result, original }: ReviewObject,
): ReviewChange {
  const of = (measurement: string) =>
    result.measurements.find((one) => one.id === measurement) ?? original[measurement];
  const side = ({ value, text }: typeof before, one: Measurement | undefined): string =>
    text ??
    (value === null || !one ? '' : `${valueText({ ...one, value })} ${unitOf(one)}`.trimEnd());
  const one = 'measurement' in change ? of(change.measurement) : undefined;
  const [was, is] = [side(before, one), side(after, one)];
  const subject = one ? `${one.label} ` : '';
  const turned = was && is && was !== is ? `: ${was} → ${is}` : is ? `: ${is}` : '';
  const text = `${subject}${DONE[change.kind]}${turned}`;
  return { id, at, author, text, undone, isUndo: change.kind === 'undo' };
}
