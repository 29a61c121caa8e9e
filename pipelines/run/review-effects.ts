import type { Change } from '../contract/review.ts';
import { type Effect, identityOf, isOutdated, type ReviewedResult } from '../result/decisions.ts';
import { isFromReport, type Measurement, type Result } from '../result/envelope.ts';
import { isSummary } from '../result/measured.ts';
import { conclusionOf } from '../result/render/conclusion.ts';
import { titleAndLimitations } from '../result/render/report-lines.ts';
import {
  ChangeRefused,
  clipOf,
  type EndpointRules,
  movedLine,
  toPoints,
  withinFrame,
  withinLimits,
} from './review-rules.ts';

/**
 * Converts a person's change into effects on the evidence. The changed measurement is looked up
 * once, at the time of the change, so that the effects remain valid after later changes.
 */

type Of<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/**
 * Returns the measurement with this id from the current result or, if it is no longer there, from
 * the original result.
 * @throws ChangeRefused if neither has it.
 */
export function measurementNamed(id: string, { result, original }: ReviewedResult): Measurement {
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
  if (before?.do === 'confirm' && !isOutdated(before, one)) return before;
  return confirm(one, 'accepted', state, { seen: one.value });
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
