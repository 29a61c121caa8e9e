import type { EchoConcept } from '../../concepts/echo.ts';
import { areaOf, SQUARE_CENTIMETRE } from '../../measure/outline.ts';
import type { Measurement } from '../../result/envelope.ts';
import { firstOf, type MeasuredClip, overBeats, type Phase, sized } from '../chambers/beats.ts';
import type { FrameGeometry } from '../chambers/geometry.ts';
import { outlineCaliper, outlined, SUFFIX } from '../chambers/outlined.ts';
/** Returns the areas of the cavity and the myocardium in one view (echo 3). */
export function chamberAreas(on: MeasuredClip): Measurement[] {
  const { clip } = on;
  const suffix = SUFFIX[clip.view];
  const section = 'segment-chambers';
  const of = (key: EchoConcept, phase: Phase, figure: (frame: FrameGeometry) => number | null) => {
    const area = overBeats(on, (beat) => {
      const size = figure(beat[phase]);
      return size && size / SQUARE_CENTIMETRE;
    });
    return {
      key,
      section,
      method: 'outlined-area',
      on,
      value: sized(on, area),
    } as const;
  };
  const cavity = (key: EchoConcept, phase: Phase) => {
    const at = firstOf(on, phase);
    const calipers = at ? [outlineCaliper(at.lv.outline, clip)] : [];
    return outlined({ ...of(key, phase, ({ lv }) => lv.area), at, calipers });
  };
  const muscle = (key: EchoConcept) => {
    const at = firstOf(on, 'diastole');
    const calipers = at?.muscle ? [outlineCaliper(at.muscle, clip)] : [];
    const area = ({ muscle: outline }: FrameGeometry) => outline && areaOf(outline);
    return outlined({ ...of(key, 'diastole', area), at, calipers });
  };
  return [
    ...cavity(`lv-ed-area-${suffix}`, 'diastole'),
    ...cavity(`lv-es-area-${suffix}`, 'systole'),
    ...muscle(`lv-muscle-area-${suffix}`),
  ];
}
