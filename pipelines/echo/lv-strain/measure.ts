import type { EchoConcept } from '../../concepts/echo.ts';
import type { BeatMean } from '../../measure/statistics.ts';
import { contourStrain } from '../../measure/wall.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { type ApicalClips, type MeasuredClip, overBeats } from '../chambers/beats.ts';
import { APICAL_VIEWS, type ApicalView } from '../chambers/gaps.ts';
import { ventricleFigure } from '../chambers/geometry.ts';
import { outlined } from '../chambers/outlined.ts';

const STRAIN_KEYS = {
  A4C: 'gls-end-systolic-4c',
  A2C: 'gls-end-systolic-2c',
  A3C: 'gls-end-systolic-3c',
} as const satisfies Record<ApicalView, EchoConcept>;

/** Minimum frame rate for strain, frames per second (echo 2.8). */
const STRAIN_RATE = 40;

export function strainValues(clips: ApicalClips): Measurement[] {
  return APICAL_VIEWS.flatMap((view) => {
    const on = clips[view];
    if (!on) return [];
    const [first, second] = on.clip.frames;
    const rate = first && second ? 1 / (second.time - first.time) : 0;
    const slow =
      rate < STRAIN_RATE ? [remarkOfEcho('strain.slow', { rate: Math.round(rate) })] : [];
    return outlined({
      key: STRAIN_KEYS[view],
      section: 'lv-strain',
      method: 'contour-strain',
      on,
      value: viewStrain(on),
      remarks: [remarkOfEcho('strain.by-least-volume', {}), ...slow],
    });
  });
}

const viewStrain = (on: MeasuredClip): BeatMean | null =>
  overBeats(on, ({ diastole, systole }) =>
    contourStrain(ventricleFigure(diastole), ventricleFigure(systole)),
  );
