import type { Point } from '../contract/image.ts';
import type { Change, Changed } from '../contract/review.ts';
import { type Clip, holds, scaleFor } from '../contract/study.ts';
import { distance } from '../measure/ellipse.ts';
import { type Effect, identityOf, isOutdated, type ReviewedResult } from '../result/decisions.ts';
import { type Caliper, isFromReport, type Measurement, type Result } from '../result/envelope.ts';
import { isSummary } from '../result/measured.ts';
import { conclusionOf } from '../result/render/conclusion.ts';
import { titleAndLimitations } from '../result/render/report-lines.ts';

/**
 * Converts a person's change into effects on the evidence. The changed measurement is looked up
 * once, at the time of the change, so that the effects remain valid after later changes.
 */

/** Thrown if a change cannot be made. `path` leads to the invalid member of the change. */
export class ChangeRefused extends Error {
  override name = 'ChangeRefused';
  readonly path: readonly string[];

  constructor(detail: string, ...path: readonly string[]) {
    super(detail);
    this.path = path;
  }
}

/** A structure whose outline a person may correct, and the values that depend on it. */
export interface CorrectableOutline {
  structure: string;
  /** Concepts of the values measured on the outline, on the same frame. */
  follow: readonly string[];
  /** Concepts of values based on the former outline, which become invalid. */
  replaces?: readonly string[];
}

/** Clips of the study, and the endpoint's rules for its values. */
export interface EndpointRules {
  clips: readonly Clip[];
  /** Returns the bounds of a quantity in its unit; null if unknown. */
  limitsOf(concept: string): { low: number; high: number } | null;
  /** Returns the concepts of values from the same source on which a value is based without an input. */
  restsOn(concept: string): readonly string[];
  /**
   * Returns the outline on which a value is measured; null if there is no outline or if it cannot
   * be corrected.
   */
  outlineOf(measurement: Measurement): CorrectableOutline | null;
  /** Returns the outline of the structure on another frame; null if no outline was found there. */
  outlineAt(measurement: Measurement, frame: number): readonly Point[] | null;
  /** Returns why nothing can be measured on an outline that a person drew; null if it is usable. */
  faultOf(measurement: Measurement, frame: number, points: readonly Point[]): string | null;
  /** Views and planes that a person may choose; empty if the endpoint has none. */
  views: readonly string[];
  planes: readonly string[];
}

type Of<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/**
 * Returns the measurement with this id from the current result or, if it is no longer there, from
 * the original result.
 * @throws ChangeRefused if neither has it.
 */
function measurementNamed(id: string, { result, original }: ReviewedResult): Measurement {
  const found =
    result.measurements.find((one) => one.id === id) ??
    original.measurements.find((one) => one.id === id);
  if (!found) throw new ChangeRefused(`The result has no measurement "${id}".`, 'measurement');
  return found;
}

/**
 * Returns the identity by which the pipeline knows a value, even after a person moved the value to
 * another frame or typed another number in place of the machine's.
 */
function targetOf(one: Measurement, { original, effects }: ReviewedResult): string {
  const own = identityOf(one);
  if (original.measurements.some((other) => identityOf(other) === own)) return own;
  const changed = effects.findLast(
    (effect) =>
      effect.do === 'confirm' &&
      effect.concept === one.concept.key &&
      effect.fetus === one.fetus &&
      effect.file === one.source.file &&
      (effect.movedTo ?? effect.frame) === one.source.frame &&
      (effect.value ?? one.value) === one.value,
  );
  return changed && 'on' in changed ? changed.on : own;
}

const inputsOf = ({ inputs }: Measurement, { result }: ReviewedResult): Measurement[] =>
  inputs.flatMap((id) => result.measurements.find((other) => other.id === id) ?? []);

/**
 * Returns the repeated values from which a mean or median was calculated; for any other value, the
 * value itself. The inputs of a mean of different quantities, such as the three diameters of a sac,
 * are not repeats.
 */
function partsOf(one: Measurement, state: ReviewedResult): Measurement[] {
  if (!isSummary(one)) return [one];
  const parts = inputsOf(one, state).filter(({ concept }) => concept.key === one.concept.key);
  return parts.length > 0 ? parts : [one];
}

/** Returns the other values of the same quantity, side and fetus, except means and medians. */
function rivalsOf(chosen: readonly Measurement[], state: ReviewedResult): Measurement[] {
  const [first] = chosen;
  const own = new Set(chosen.map(identityOf));
  return state.result.measurements.filter(
    (one) =>
      first !== undefined &&
      one.concept.key === first.concept.key &&
      one.laterality === first.laterality &&
      one.fetus === first.fetus &&
      !own.has(identityOf(one)) &&
      !(isSummary(one) && one.inputs.length > 0),
  );
}

type Confirm = Extract<Effect, { do: 'confirm' }>;

const confirm = (
  one: Measurement,
  as: Confirm['as'],
  state: ReviewedResult,
  given: Partial<Pick<Confirm, 'value' | 'calipers' | 'movedTo' | 'seen'>> = {},
): Confirm => {
  const on = targetOf(one, state);
  const before = state.effects.findLast((effect) => effect.do === 'confirm' && effect.on === on);
  const origin = before?.do === 'confirm' ? before : null;
  return {
    do: 'confirm',
    on,
    concept: one.concept.key,
    fetus: one.fetus,
    as,
    file: one.source.file,
    frame: origin?.frame ?? one.source.frame,
    evidence: one.evidence ?? origin?.evidence ?? null,
    value: null,
    calipers: null,
    movedTo: null,
    ...given,
  };
};

/**
 * Closes the quantities of the measurements in `some`, which were rejected or passed over. A value
 * of such a quantity that reaches the review later cannot replace the rejected one.
 */
function closing(some: readonly Measurement[], state: ReviewedResult): Effect[] {
  const all = [...state.original.measurements, ...state.result.measurements];
  const bySide = Map.groupBy(some, ({ concept, laterality }) =>
    JSON.stringify([concept.key, laterality]),
  );
  return [...bySide.values()].flatMap(([first]) => {
    if (!first) return [];
    const { concept, laterality } = first;
    const same = all.filter((one) => one.concept.key === concept.key);
    const known = new Set(same.map((one) => targetOf(one, state)));
    return [{ do: 'close', concept: concept.key, laterality, known: [...known] }];
  });
}

const passOver = (some: readonly Measurement[], state: ReviewedResult): Effect[] =>
  some.map((one) => ({ do: 'pass-over', on: targetOf(one, state) }));

/**
 * Passes over values in favour of a value that a person entered or chose, and closes their quantity
 * (`closing`) even if no other value is listed: of several images, a section may list the largest
 * value only. Not used for a corrected outline, because its values may then belong to another frame.
 */
const setAside = (
  others: readonly Measurement[],
  chosen: Measurement,
  state: ReviewedResult,
): Effect[] => [...passOver(others, state), ...closing([chosen, ...others], state)];

/**
 * Rejects values, and withdraws the confirmation of values that are based on them. A value that a
 * person typed or measured with a caliper stays confirmed, because it no longer depends on them.
 */
function reject(some: readonly Measurement[], state: ReviewedResult, rules: EndpointRules) {
  const decisionOn = (one: Measurement) => {
    const on = targetOf(one, state);
    return state.effects.findLast((effect) => 'on' in effect && effect.on === on);
  };
  const isOfPerson = (one: Measurement) => {
    const decision = decisionOn(one);
    return decision?.do === 'confirm' && decision.value !== null;
  };
  const based = [...some];
  for (const of of based) {
    const isBasedOnIt = (one: Measurement) =>
      one.inputs.includes(of.id) ||
      (isFromReport(one) === isFromReport(of) &&
        rules.restsOn(one.concept.key).includes(of.concept.key));
    based.push(
      ...state.result.measurements.filter(
        (one) => isBasedOnIt(one) && !isOfPerson(one) && !based.includes(one),
      ),
    );
  }
  const withdrawn = based.flatMap((one): Effect[] => {
    const decision = decisionOn(one);
    return decision?.do === 'confirm' ? [{ do: 'withdraw-confirmation', on: decision.on }] : [];
  });
  return [...withdrawn, ...some.map((one): Effect => ({ do: 'reject', on: targetOf(one, state) }))];
}

/** Accepts a value, together with those of its inputs that still need confirmation by a person. */
function accept(one: Measurement, state: ReviewedResult, seen = new Set<string>()): Effect[] {
  if (seen.has(one.id)) return [];
  seen.add(one.id);
  const waiting = inputsOf(one, state).filter(({ quality }) => quality === 'review');
  const own = partsOf(one, state).includes(one) ? [acceptUnchanged(one, state)] : [];
  const parts = partsOf(one, state).filter((part) => part !== one && !waiting.includes(part));
  return [
    ...own,
    ...parts.map((part) => acceptUnchanged(part, state)),
    ...waiting.flatMap((input) => accept(input, state, seen)),
  ];
}

/** Accepts a value as it is. An earlier change to the value by a person is kept. */
function acceptUnchanged(one: Measurement, state: ReviewedResult): Effect {
  const on = targetOf(one, state);
  const before = state.effects.findLast((effect) => 'on' in effect && effect.on === on);
  if (before?.do === 'confirm' && !isOutdated(before, one.value)) return before;
  return confirm(one, 'accepted', state, { seen: one.value });
}

function withinLimits(concept: string, value: number, unit: string, rules: EndpointRules): void {
  const limits = rules.limitsOf(concept);
  if (!Number.isFinite(value)) throw new ChangeRefused('not a number', 'value');
  if (limits && (value < limits.low || value > limits.high)) {
    const range = `${limits.low} to ${limits.high} ${unit}`.trim();
    throw new ChangeRefused(`The value must be within ${range}.`, 'value');
  }
}

export const toPoints = (points: readonly (readonly [number, number])[]): Point[] =>
  points.map(([x, y]) => ({ x, y }));

const PER_MM: Readonly<Record<string, number>> = { mm: 1, cm: 0.1 };

/** Maximum difference between a value and the length of its caliper, as a share. */
const SAME_LENGTH = 0.02;

/**
 * Returns the length of a line in the unit of the value, once for each scale of the frame: that of
 * the 2D region at the line, then the depth scale of each sweep. An entry is null if its scale does
 * not apply to the line. The lengths of two lines can thus be compared entry by entry.
 */
function lengthsOf(line: readonly Point[], unit: string, clip: Clip): (number | null)[] {
  const [from, to] = line;
  const perMm = PER_MM[unit];
  if (!from || !to || perMm === undefined) return [];
  const scale = scaleFor(clip, [from, to])?.scale;
  const depths = clip.sweeps.map(({ area, unit: of, valuePerPixel }) =>
    of === 'cm' && valuePerPixel !== null && holds(area, [from, to])
      ? Math.abs(to.y - from.y) * valuePerPixel * 10 * perMm
      : null,
  );
  return [scale ? distance(from, to, scale) * perMm : null, ...depths];
}

function clipOf({ source }: Measurement, { clips }: EndpointRules): Clip {
  const clip = clips.find(({ file }) => file === source.file);
  if (clip && source.frame !== null) return clip;
  throw new ChangeRefused(
    'The value belongs to no single frame; choose one of its repeats.',
    'measurement',
  );
}

function withinFrame(points: readonly Point[], { width, height }: Clip): void {
  const index = points.findIndex(({ x, y }) => x < 0 || y < 0 || x > width || y > height);
  if (index >= 0) {
    throw new ChangeRefused('The point is outside of the frame.', 'points', String(index));
  }
}

/**
 * Returns the new value of a line that was moved, using the scale with which the old value was
 * measured.
 */
function movedLine(
  one: Measurement,
  points: readonly Point[],
  rules: EndpointRules,
): { value: number; calipers: Caliper[] } {
  const clip = clipOf(one, rules);
  withinFrame(points, clip);
  const [caliper, ...others] = one.source.calipers;
  if (caliper?.type !== 'line' || others.length > 0) {
    throw new ChangeRefused('The value is not the length of one line; type it instead.', 'points');
  }
  const before = lengthsOf(toPoints(caliper.points), one.unit, clip);
  const after = lengthsOf(points, one.unit, clip);
  const fits = before.findIndex(
    (length) =>
      length !== null && Math.abs(length - one.value) <= SAME_LENGTH * Math.abs(one.value),
  );
  const value = after[fits] ?? null;
  if (value === null) {
    throw new ChangeRefused(
      'The value does not follow from its calipers; type it instead.',
      'points',
    );
  }
  withinLimits(one.concept.key, value, one.unit, rules);
  return { value, calipers: [{ type: 'line', points: points.map(({ x, y }) => [x, y]) }] };
}

/**
 * Returns the effects of a corrected outline: the outline itself, and all values measured on it.
 */
function corrected(
  one: Measurement,
  points: readonly (readonly [number, number])[],
  state: ReviewedResult,
  rules: EndpointRules,
): Effect[] {
  const clip = clipOf(one, rules);
  withinFrame(toPoints(points), clip);
  const outline = rules.outlineOf(one);
  const { file } = one.source;
  const target = confirm(one, 'edited', state);
  if (!outline || file === null || target.frame === null) {
    throw new ChangeRefused('The value is not measured on an outline.', 'measurement');
  }
  const fault = rules.faultOf(one, target.frame, toPoints(points));
  if (fault !== null) throw new ChangeRefused(fault, 'points');
  const { measurements } = state.result;
  const onFrame = measurements.filter(
    (of) =>
      of === one ||
      (outline.follow.includes(of.concept.key) &&
        of.source.file === file &&
        of.source.frame === one.source.frame),
  );
  // A value derived from several frames, such as an ejection fraction, is confirmed by this outline
  // only if the values on the other frames no longer need confirmation.
  const settled = new Set(
    [...onFrame, ...measurements.filter(({ quality }) => quality === 'accepted')].map(
      ({ id }) => id,
    ),
  );
  const ofFrames = measurements.filter(
    ({ concept, source, inputs }) =>
      outline.follow.includes(concept.key) &&
      source.frame === null &&
      inputs.length > 0 &&
      inputs.every((id) => settled.has(id)),
  );
  const follow = [...new Set([...onFrame, ...ofFrames])];
  const replaced = measurements.filter(
    (of) => outline.replaces?.includes(of.concept.key) && of.source.file === file,
  );
  return [
    {
      do: 'outline',
      file,
      frame: target.frame,
      structure: outline.structure,
      points: points.map(([x, y]): [number, number] => [x, y]),
    },
    ...follow.map((of) => confirm(of, 'edited', state)),
    ...follow.flatMap((of) => passOver(rivalsOf([of], state), state)),
    ...passOver(replaced, state),
  ];
}

function setValue(
  { measurement, value }: Of<'set-value'>,
  state: ReviewedResult,
  rules: EndpointRules,
) {
  const one = measurementNamed(measurement, state);
  withinLimits(one.concept.key, value, one.unit, rules);
  const parts = partsOf(one, state);
  const [carrier = one] = parts;
  return [
    ...setAside(
      [...parts.filter((part) => part !== carrier), ...rivalsOf(parts, state)],
      carrier,
      state,
    ),
    confirm(carrier, 'entered', state, { value, calipers: [] }),
  ];
}

function moveCalipers(
  { measurement, points }: Of<'move-calipers'>,
  state: ReviewedResult,
  rules: EndpointRules,
): Effect[] {
  const one = measurementNamed(measurement, state);
  if (points.length === 4) return corrected(one, points, state, rules);
  const moved = movedLine(one, toPoints(points), rules);
  return [...setAside(rivalsOf([one], state), one, state), confirm(one, 'edited', state, moved)];
}

function chooseFrame(
  { measurement, frame, points }: Of<'choose-frame'>,
  state: ReviewedResult,
  rules: EndpointRules,
): Effect[] {
  const one = measurementNamed(measurement, state);
  const clip = clipOf(one, rules);
  if (frame > clip.frames.length) {
    throw new ChangeRefused(`The clip has ${clip.frames.length} frames.`, 'frame');
  }
  if (rules.outlineOf(one)) {
    const there =
      points ?? rules.outlineAt(one, frame)?.map(({ x, y }): [number, number] => [x, y]);
    if (!there) throw new ChangeRefused('Nothing was outlined on this frame; draw it.', 'points');
    return corrected(one, there, state, rules).map((effect) =>
      effect.do === 'confirm' ? { ...effect, movedTo: frame } : effect,
    );
  }
  const moved = points ? movedLine(one, toPoints(points), rules) : { value: one.value };
  return [
    ...setAside(rivalsOf([one], state), one, state),
    confirm(one, 'edited', state, { ...moved, movedTo: frame }),
  ];
}

function named(change: Of<'name-view'> | Of<'name-plane'>, rules: EndpointRules): Effect[] {
  const [names, name, member] =
    change.kind === 'name-view'
      ? [rules.views, change.view, 'view']
      : [rules.planes, change.plane, 'plane'];
  if (!names.includes(name)) {
    throw new ChangeRefused(
      `It must be one of: ${names.join(', ') || 'nothing can be named'}.`,
      member,
    );
  }
  const clip = rules.clips.find(({ file }) => file === change.file);
  if (!clip) throw new ChangeRefused('The study has no such file.', 'file');
  if (change.kind === 'name-view') return [{ do: 'name-view', file: change.file, view: name }];
  if (change.frame > clip.frames.length) {
    throw new ChangeRefused(`The clip has ${clip.frames.length} frames.`, 'frame');
  }
  return [{ do: 'name-plane', file: change.file, frame: change.frame, plane: name }];
}

/**
 * Returns the effects of a change on the evidence.
 * @throws ChangeRefused if the change cannot be made.
 */
export function effectsOf(
  change: Exclude<Change, { kind: 'undo' }>,
  state: ReviewedResult,
  rules: EndpointRules,
): Effect[] {
  switch (change.kind) {
    case 'accept':
      return accept(measurementNamed(change.measurement, state), state);
    case 'reject': {
      const parts = partsOf(measurementNamed(change.measurement, state), state);
      return [...reject(parts, state, rules), ...closing(parts, state)];
    }
    case 'set-value':
      return setValue(change, state, rules);
    case 'move-calipers':
      return moveCalipers(change, state, rules);
    case 'set-outline':
      return corrected(measurementNamed(change.measurement, state), change.points, state, rules);
    case 'choose-repeat': {
      const one = measurementNamed(change.measurement, state);
      return [...setAside(rivalsOf([one], state), one, state), acceptUnchanged(one, state)];
    }
    case 'choose-frame':
      return chooseFrame(change, state, rules);
    case 'name-view':
    case 'name-plane':
      return named(change, rules);
    case 'note':
      return [{ do: 'note', text: change.text }];
  }
}

const NOTHING: Changed = {
  value: null,
  unit: null,
  quality: null,
  text: null,
  frame: null,
  points: null,
};

/** Returns the state of a value in the form used in the history of the review. */
function historyStateOf(one: Measurement | null): Changed {
  if (!one) return NOTHING;
  const [caliper] = one.source.calipers;
  return {
    ...NOTHING,
    value: one.value,
    unit: one.unit,
    quality: one.quality,
    frame: one.source.frame,
    points: caliper?.points ?? null,
  };
}

/**
 * Returns the result with the lines that a person wrote in the review, appended to the impression.
 */
export function withNotes(result: Result, effects: readonly Effect[]): Result {
  const notes = effects.flatMap((one) => (one.do === 'note' ? [one.text] : []));
  if (notes.length === 0) return result;
  // If no report was requested, one is made here to hold these lines. They follow the conclusion
  // that the documents show without a report.
  const { impression, impression_lines: lines } = conclusionOf(result);
  const report = result.report ?? {
    ...{ language: 'en' as const, findings: [] },
    ...titleAndLimitations(result, lines),
    ...{ impression, ...(lines && { impression_lines: lines }) },
  };
  return { ...result, report: { ...report, impression: [...report.impression, ...notes] } };
}

/**
 * Returns the value that a change applies to, before the change, and a function that finds it
 * afterwards.
 * @throws ChangeRefused if there is no such value.
 */
export function subjectOf(
  change: Change,
  state: ReviewedResult,
): { before: Changed; afterIn(result: Result): Changed } {
  const text = (words: string): Changed => ({ ...NOTHING, text: words });
  switch (change.kind) {
    case 'undo':
      return { before: NOTHING, afterIn: () => NOTHING };
    case 'note':
      return { before: NOTHING, afterIn: () => text(change.text) };
    case 'name-view':
      return { before: NOTHING, afterIn: () => text(change.view) };
    case 'name-plane':
      return { before: NOTHING, afterIn: () => text(change.plane) };
    default: {
      const one = measurementNamed(change.measurement, state);
      return {
        before: historyStateOf(one),
        afterIn: (result) => historyStateOf(successorOf(one, result)),
      };
    }
  }
}

/**
 * Returns the same value from another result: the value with the same identity, otherwise the value
 * of the same quantity with the same id, otherwise the value of the quantity that a person
 * confirmed.
 */
function successorOf(one: Measurement, { measurements }: Result): Measurement | null {
  const own = identityOf(one);
  const isSame = (other: Measurement) =>
    other.concept.key === one.concept.key &&
    other.laterality === one.laterality &&
    other.fetus === one.fetus;
  return (
    measurements.find((other) => identityOf(other) === own) ??
    measurements.find((other) => other.id === one.id && isSame(other)) ??
    measurements.find((other) => isSame(other) && other.confirmed !== undefined) ??
    null
  );
}
