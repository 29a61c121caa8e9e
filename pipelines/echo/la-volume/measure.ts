import { SQUARE_CENTIMETRE } from '../../measure/outline.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type ApicalClips,
  biplane,
  faultIn,
  firstOf,
  isCalibrated,
  type MeasuredClip,
  overBeats,
  sized,
  soundBeats,
} from '../chambers/beats.ts';
import { axial, leftAtrium, planeVolume } from '../chambers/geometry.ts';
import {
  axisCaliper,
  outlineCaliper,
  outlined,
  outlinedId,
  SUFFIX,
  withOutlineFault,
} from '../chambers/outlined.ts';
import { isTooSmallAtrium } from '../locate/outline-faults.ts';

const atrialBeats = (on: MeasuredClip) =>
  soundBeats(on, ({ diastole, systole: { la } }) => {
    const small = la !== null && isTooSmallAtrium(la.area, diastole.lv.area);
    return small ? 'too-small-beside-lv' : faultIn(la);
  });

/**
 * Returns the area, length and volume of the atrium at end-systole, when it is largest (echo 6).
 */
export function atrialValues({ A4C: four, A2C: two }: ApicalClips): Measurement[] {
  const section = 'la-volume';
  const [fourBeats, twoBeats] = [four && atrialBeats(four), two && atrialBeats(two)];
  const single = [fourBeats, twoBeats].flatMap((beats) => {
    if (!beats) return [];
    const { on, fault } = beats;
    const { view } = on.clip;
    if (view === 'A3C') return [];
    const suffix = SUFFIX[view];
    const at = firstOf(on, 'systole');
    const atrium = at && leftAtrium(at);
    const area = overBeats(on, ({ systole }) => systole.la && systole.la.area / SQUARE_CENTIMETRE);
    const length = overBeats(on, ({ systole }) => {
      const figure = axial(systole.la);
      return figure && figure.axis.length / 10;
    });
    const volume = overBeats(on, ({ systole }) => planeVolume(leftAtrium(systole)));
    const outline = at?.la ? [outlineCaliper(at.la.outline, on.clip)] : [];
    const given = { section, on } as const;
    const values = [
      ...outlined({
        ...given,
        key: `la-area-${suffix}`,
        method: 'outlined-area',
        value: sized(on, area),
        at,
        calipers: outline,
      }),
      ...outlined({
        ...given,
        key: `la-length-${suffix}`,
        method: 'outlined-length',
        value: sized(on, length),
        at,
        calipers: atrium ? [axisCaliper(atrium, on.clip)] : [],
      }),
      ...outlined({
        ...given,
        key: `la-volume-${suffix}`,
        method: 'disc-summation',
        value: sized(on, volume),
      }),
    ];
    return withOutlineFault(values, 'la', fault);
  });
  if (!fourBeats || !twoBeats || !four || !two) return single;
  if (!isCalibrated(four) || !isCalibrated(two)) return single;
  const both = outlined({
    key: 'la-volume-biplane',
    section,
    method: 'biplane-discs',
    on: four,
    value: biplane(fourBeats.on, twoBeats.on, 'systole', leftAtrium),
    inputs: [outlinedId('la-volume-4c'), outlinedId('la-volume-2c')],
  });
  return [...single, ...withOutlineFault(both, 'la', fourBeats.fault ?? twoBeats.fault)];
}
