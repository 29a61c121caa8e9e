import { UNDESCRIBED } from '../../../pipelines/contract/study.ts';
import type { EchoReviewed } from '../../../pipelines/echo/review.ts';
import { beatingClip, HEALTHY } from './ventricle-sample.ts';

/** Returns a heart that networks outlined in two apical views. */
export function outlinedHeart(): EchoReviewed {
  const clips = [beatingClip('A4C', HEALTHY), beatingClip('A2C', HEALTHY)];
  return {
    gathered: {
      study: {
        clips: clips.map(({ file, scale, frames, framesInClip }) => ({
          ...UNDESCRIBED,
          file,
          width: 800,
          height: 800,
          mode: '2d',
          calibrationRefused: null,
          frames: Array.from({ length: framesInClip }, (_, index) => ({
            index,
            time: frames[index]?.time ?? 0,
            gray: () => Promise.reject(new Error('no pixels')),
            rgb: () => Promise.reject(new Error('no pixels')),
          })),
          regions: scale
            ? [{ area: { minX: 0, minY: 0, maxX: 799, maxY: 799 }, scale, source: 'region' }]
            : [],
        })),
        refused: [],
        files: 2,
        series: 1,
      },
      context: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 70 },
      spectra: [],
      clips: [],
      views: { apical: { clips, volumesTrusted: true }, parasternal: { clips: null } },
      priors: [],
      accept: 'simulated',
      models: [],
    },
    options: { report: true, report_language: 'en', return: ['json'] },
    models: [],
    indication: null,
  };
}
