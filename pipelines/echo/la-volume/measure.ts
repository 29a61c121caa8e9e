import type { Measurement } from '../../result/envelope.ts';
import {
  type ApicalClips,
  biplane,
  firstOf,
  isCalibrated,
  overBeats,
  sized,
} from '../chambers/beats.ts';
import { axial, leftAtrium, planeVolume } from '../chambers/geometry.ts';
import {
  axisCaliper,
  outlineCaliper,
  outlined,
  outlinedId,
  SQUARE_CENTIMETRE,
  SUFFIX,
} from '../chambers/outlined.ts';
/** Area, length and volume of the atrium at end-systole, when it is fullest (echo 6). */
export function atrialValues({ A4C: four, A2C: two }: ApicalClips): Measurement[] {
  const section = 'la-volume';
  const single = [four, two].flatMap((on) => {
    if (!on || on.clip.view === 'A3C') return [];
    const suffix = SUFFIX[on.clip.view];
    const at = firstOf(on, 'systole');
    const atrium = at && leftAtrium(at);
    const area = overBeats(on, ({ systole }) => systole.la && systole.la.area / SQUARE_CENTIMETRE);
    const length = overBeats(on, ({ systole }) => {
      const figure = axial(systole.la);
      return figure && figure.axis.length / 10;
    });
    const volume = overBeats(on, ({ systole }) => planeVolume(leftAtrium(systole)));
    const outline = at?.la ? [outlineCaliper(at.la.outline, on.clip)] : [];
    return [
      ...outlined({
        key: `la-area-${suffix}`,
        section,
        method: 'outlined-area',
        on,
        value: sized(on, area),
        at,
        calipers: outline,
      }),
      ...outlined({
        key: `la-length-${suffix}`,
        section,
        method: 'outlined-length',
        on,
        value: sized(on, length),
        at,
        calipers: atrium ? [axisCaliper(atrium, on.clip)] : [],
      }),
      ...outlined({
        key: `la-volume-${suffix}`,
        section,
        method: 'disc-summation',
        on,
        value: sized(on, volume),
      }),
    ];
  });
  if (!four || !two || !isCalibrated(four) || !isCalibrated(two)) return single;
  const both = outlined({
    key: 'la-volume-biplane',
    section,
    method: 'biplane-discs',
    on: four,
    value: biplane(four, two, 'systole', leftAtrium),
    inputs: [outlinedId('la-volume-4c'), outlinedId('la-volume-2c')],
  });
  return [...single, ...both];
}
