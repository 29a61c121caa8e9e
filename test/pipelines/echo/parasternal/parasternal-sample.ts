import type {
  ParasternalClip,
  ParasternalFrame,
} from '../../../../pipelines/echo/parasternal/clip.ts';

type Line = readonly [{ x: number; y: number }, { x: number; y: number }];

/** Returns a vertical line of `length` pixels that starts at a row. */
const down = (from: number, length: number): Line => [
  { x: 100, y: from },
  { x: 100, y: from + length },
];

const VIEWS = { PLAX: 'PLAX', PSAX: 'PSAX-PM', subcostal: 'SUBCOSTAL-4C' } as const;

/**
 * Returns a clip at half a millimetre per pixel, with a cavity of 50 mm, walls of 9 and 10 mm, and
 * fluid if requested.
 */
export function parasternalClip(
  family: ParasternalClip['family'],
  fluidMm: number | null,
  shown = 1,
  gapMm: number | null = null,
): ParasternalClip {
  const frames = Array.from({ length: 40 }, (_, frame): ParasternalFrame => {
    const squeeze = (1 - Math.cos((2 * Math.PI * frame) / 40)) / 2;
    const cavity = 100 - 40 * squeeze;
    return {
      frame,
      time: frame / 45,
      cavity: 1000 * cavity,
      lines:
        family === 'PLAX'
          ? {
              septum: down(40, 18),
              cavity: down(58, cavity),
              'posterior-wall': down(58 + cavity, 20),
              'left-atrium': down(60, 70),
            }
          : {},
      wall: null,
      gap: gapMm !== null && frame % 10 < 10 * shown ? down(180, 2 * gapMm) : null,
      fluid: fluidMm !== null && frame % 10 < 10 * shown ? down(200, 2 * fluidMm) : null,
      confidence: 0.9,
      fluidConfidence: 0.9,
      accepted: true,
    };
  });
  return {
    file: `${family}.dcm`,
    sopInstanceUid: null,
    family,
    view: VIEWS[family],
    scale: { x: 0.5, y: 0.5 },
    heartRate: 67,
    rWaves: [],
    frames,
  };
}
