import type { EchoConcept } from '../../concepts/echo.ts';
import type { Point } from '../../contract/image.ts';
import { directionsOf, onAxis, wallsAt } from '../../measure/chamber.ts';
import { chordLength, SQUARE_CENTIMETRE } from '../../measure/outline.ts';
import type { BeatMean } from '../../measure/statistics.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import {
  type ClipBeat,
  faultIn,
  isCalibrated,
  type MeasuredClip,
  overBeats,
  sized,
  soundBeats,
} from '../chambers/beats.ts';
import {
  type AxialFigure,
  axial,
  BASAL_THIRD,
  type ChamberClip,
  widest,
} from '../chambers/geometry.ts';
import {
  cutCaliper,
  lineCaliper,
  outlineCaliper,
  outlined,
  withOutlineFault,
} from '../chambers/outlined.ts';
import { fractionalChange } from '../formulas.ts';
import { inadequate } from '../shared/plausibility.ts';

const SECTION = 'rv-function';

/**
 * Returns the lateral hinge point of the RV. The free wall is on the left in a normal display and
 * on the right in a mirrored one.
 */
const lateral = ({ axis }: AxialFigure, { mirrored }: ChamberClip): Point =>
  mirrored ? axis.hinges.right : axis.hinges.left;

const ventricle = (frame: ClipBeat['diastole']) => axial(frame.rv);

/**
 * Returns how far, in mm, the lateral hinge point moves towards the RV apex from end-diastole to
 * end-systole. Null if it cannot be measured.
 */
function annulusExcursion({ diastole, systole }: ClipBeat, clip: ChamberClip): number | null {
  const [before, after] = [ventricle(diastole), ventricle(systole)];
  if (!before || !after) return null;
  const [from, to] = [lateral(before, clip), lateral(after, clip)];
  const { along } = directionsOf(before.axis);
  return (to.x - from.x) * along.x + (to.y - from.y) * along.y;
}

function cutAt(figure: AxialFigure, share: number, clip: ChamberClip): Caliper[] {
  const ends = wallsAt(figure.outline, figure.axis, share);
  return ends ? [cutCaliper(figure, share, ends, directionsOf(figure.axis).across, clip)] : [];
}

const midWidth = ({ outline, axis }: AxialFigure) =>
  chordLength(outline, onAxis(axis, 0.5), directionsOf(axis).across);

function ventricleRatio({ diastole }: ClipBeat): number | null {
  const right = ventricle(diastole);
  return right && widest(right, BASAL_THIRD).width / widest(diastole.lv, BASAL_THIRD).width;
}

const areaRatio = ({ diastole: { rv, lv } }: ClipBeat): number | null => rv && rv.area / lv.area;

/**
 * Values that show whether the outline of the RV is plausible. The excursion of the annulus is not
 * one of them, because an implausible excursion only means that the hinge point is wrong.
 */
const SIZES: readonly EchoConcept[] = [
  'rv-ed-area',
  'rv-fac',
  'rv-basal',
  'rv-to-lv',
  'rv-to-lv-area',
];

/**
 * Withholds all values if the outline is implausible: one of the RV sizes is implausible, the RV is
 * not smaller in systole, or the beats contradict each other. The remaining sizes, the ratio to the
 * LV and the motion of the annulus are then unreliable too.
 */
function withheldIfImplausible(values: Measurement[], change: BeatMean | null): Measurement[] {
  const of = (key: EchoConcept) => values.find(({ concept }) => concept.key === key);
  const [diastole, systole] = [of('rv-ed-area'), of('rv-es-area')];
  const wrong = SIZES.map(of).find((one) => one?.quality === 'inadequate');
  const grows = diastole && systole && systole.value >= diastole.value;
  const [least, greatest] = change?.contradicting ?? [];
  const contradicting =
    least !== undefined && greatest !== undefined
      ? remarkOfEcho('outlines.beats-contradict', { key: 'rv-fac', least, greatest })
      : null;
  const reason = grows
    ? remarkOfEcho('right-heart.fault', { fault: 'grows-in-systole' })
    : (contradicting ??
      (wrong && remarkOfEcho('outlines.rv-unreliable', { key: wrong.concept.key as EchoConcept })));
  if (!reason) return values;
  return values.map((one) => (one.quality === 'inadequate' ? one : inadequate(one, reason)));
}

function widths(on: MeasuredClip): Measurement[] {
  const { clip } = on;
  const at = on.beats[0]?.diastole ?? null;
  const right = at && ventricle(at);
  const width = (
    key: EchoConcept,
    measure: (figure: AxialFigure) => number,
    share: number | null,
  ) => {
    const value = overBeats(on, (one) => {
      const figure = ventricle(one.diastole);
      return figure && measure(figure);
    });
    return outlined({
      key,
      section: SECTION,
      method: 'outlined-width',
      on,
      value: sized(on, value),
      at,
      calipers: right && share !== null ? cutAt(right, share, clip) : [],
      remarks: [remarkOfEcho('outlines.standard-a4c', {})],
    });
  };
  return [
    ...width(
      'rv-basal',
      (figure) => widest(figure, BASAL_THIRD).width,
      right && widest(right, BASAL_THIRD).share,
    ),
    ...width('rv-mid', midWidth, 0.5),
  ];
}

/**
 * Returns the right heart values from an A4C clip (echo 7): areas, diameters, the motion of the
 * annulus and the ratio of the ventricles. A remark states that a standard A4C underestimates the
 * RV.
 */
export function rightHeartValues(seen: MeasuredClip | null): Measurement[] {
  if (seen?.clip.view !== 'A4C') return [];
  const { on, fault } = soundBeats(seen, ({ diastole, systole }) =>
    faultIn(diastole.rv, systole.rv),
  );
  const { clip } = on;
  const [beat] = on.beats;
  const [diastole, systole] = [beat?.diastole ?? null, beat?.systole ?? null];
  const right = diastole && ventricle(diastole);
  const given = { section: SECTION, on } as const;
  const area = (key: EchoConcept, phase: 'diastole' | 'systole') => {
    const at = phase === 'diastole' ? diastole : systole;
    const value = overBeats(on, (one) => one[phase].rv && one[phase].rv.area / SQUARE_CENTIMETRE);
    const calipers = at?.rv ? [outlineCaliper(at.rv.outline, clip)] : [];
    return outlined({
      ...given,
      key,
      method: 'outlined-area',
      value: sized(on, value),
      at,
      calipers,
    });
  };
  const after = systole && ventricle(systole);
  const change = overBeats(on, (one) =>
    one.diastole.rv && one.systole.rv
      ? fractionalChange(one.diastole.rv.area, one.systole.rv.area)
      : null,
  );
  const ofVentricle = [
    ...area('rv-ed-area', 'diastole'),
    ...area('rv-es-area', 'systole'),
    // If the clip has a scale, the section calculates the fractional area change from the areas
    // instead.
    ...outlined({
      ...given,
      key: 'rv-fac',
      method: 'fraction-of-areas',
      value: isCalibrated(on) ? null : change,
      remarks: [remarkOfEcho('outlines.ratio-only', { of: 'areas' })],
    }),
    ...widths(on),
    ...outlined({
      ...given,
      key: 'tapse',
      method: 'annulus-motion',
      value: sized(
        on,
        overBeats(on, (one) => annulusExcursion(one, clip)),
      ),
      at: systole,
      calipers:
        right && after ? [lineCaliper(lateral(right, clip), lateral(after, clip), clip)] : [],
    }),
    ...outlined({
      ...given,
      key: 'rv-to-lv',
      method: 'ratio-of-diameters',
      value: overBeats(on, ventricleRatio),
      at: diastole,
    }),
    ...outlined({
      ...given,
      key: 'rv-to-lv-area',
      method: 'ratio-of-areas',
      value: overBeats(on, areaRatio),
      at: diastole,
    }),
  ];
  return [
    ...withOutlineFault(withheldIfImplausible(ofVentricle, change), 'rv', fault),
    ...atrialArea(seen),
  ];
}

function atrialArea(given: MeasuredClip): Measurement[] {
  const { on, fault } = soundBeats(given, ({ systole: { ra } }) => faultIn(ra));
  const at = on.beats[0]?.systole ?? null;
  const area = overBeats(on, ({ systole: { ra } }) => ra && ra.area / SQUARE_CENTIMETRE);
  const measured = outlined({
    key: 'ra-area',
    section: 'pulmonary-hypertension',
    method: 'outlined-area',
    on,
    value: sized(on, area),
    at,
    calipers: at?.ra ? [outlineCaliper(at.ra.outline, on.clip)] : [],
  });
  return withOutlineFault(measured, 'ra', fault);
}
