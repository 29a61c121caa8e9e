import type { PixelScale, Point } from '../../contract/image.ts';
import { oncePer } from '../../measure/once-per.ts';
import { areaOf, SQUARE_CENTIMETRE } from '../../measure/outline.ts';
import { tenth } from '../../measure/rounding.ts';
import { sayOfSegmentChambers } from '../../result/render/echo/segment-chambers.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { type ApicalView, type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { CHAMBERS, type Chamber } from '../locate/names.ts';
import {
  conclude,
  type EchoSection,
  type PatientEvidence,
  type Values,
} from '../shared/section.ts';

interface OutlinedClip {
  clip: {
    file: string;
    view: ApicalView;
    framesInClip: number;
    /** Every `stride`-th frame was outlined. */
    stride: number;
    mirrored: boolean;
    scale: PixelScale | null;
    frames: readonly {
      frame: number;
      faults: readonly string[];
      outlines: Partial<Record<Chamber, readonly Point[]>>;
    }[];
  };
  beats: readonly { diastole: { frame: number }; systole: { frame: number } }[];
  phases: string;
  usable: number;
  confidence: number;
  steady: boolean;
}

interface SegmentChambersEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & { outlined: readonly OutlinedClip[] };
}

const ID = 'segment-chambers';
const NEEDS = ['A4C, A2C or A3C 2D clips', 'a permitted model of the chambers'] as const;

const KEYS = [
  'lv-ed-area-4c',
  'lv-es-area-4c',
  'lv-muscle-area-4c',
  'lv-ed-area-2c',
  'lv-es-area-2c',
  'lv-muscle-area-2c',
  'lv-ed-area-3c',
  'lv-es-area-3c',
  'lv-muscle-area-3c',
] as const;

const pair = ({ x, y }: Point) => [tenth(x), tenth(y)];

/**
 * Returns the area of each outlined chamber on a frame, cm2; null if there is no scale.
 * `epicardium` is the cavity together with the surrounding myocardium.
 */
export function chamberAreasOf(
  outlines: OutlinedClip['clip']['frames'][number]['outlines'],
  scale: PixelScale | null,
): Readonly<Record<string, number>> | null {
  if (!scale) return null;
  const squareCentimetres = (outline: readonly Point[]) =>
    (areaOf(outline) * scale.x * scale.y) / SQUARE_CENTIMETRE;
  const areas = Object.fromEntries(
    CHAMBERS.flatMap((chamber) => {
      const outline = outlines[chamber];
      return outline ? [[chamber, squareCentimetres(outline)] as const] : [];
    }),
  );
  const { lv, myocardium } = areas;
  const whole = lv !== undefined && myocardium !== undefined ? { epicardium: lv + myocardium } : {};
  const rounded = Object.entries({ ...areas, ...whole }).map(([name, area]) => [
    name,
    Math.round(100 * area) / 100,
  ]);
  return Object.fromEntries(rounded);
}

/**
 * Returns the outlines of a clip, frame by frame, in pixel-centre coordinates of the stored frame.
 */
const clipData = oncePer(({ clip, beats, phases, usable, confidence }: OutlinedClip) => ({
  file: clip.file,
  view: clip.view,
  frames: clip.framesInClip,
  outlined: clip.frames.length,
  every: clip.stride,
  usable_share: usable,
  confidence,
  mirrored_display: clip.mirrored,
  mm_per_pixel: clip.scale,
  phases_from: phases,
  beats: beats.map(({ diastole, systole }) => ({
    end_diastole_frame: diastole.frame + 1,
    end_systole_frame: systole.frame + 1,
  })),
  outlines: clip.frames.map(({ frame, faults, outlines }) => ({
    frame: frame + 1,
    faults,
    areas_cm2: chamberAreasOf(outlines, clip.scale),
    ...Object.fromEntries(
      CHAMBERS.flatMap((chamber) => {
        const outline = outlines[chamber];
        return outline ? [[chamber, outline.map(pair)]] : [];
      }),
    ),
  })),
}));

function outlinedStatement({ clip, beats, steady }: OutlinedClip): Statement {
  return sayOfSegmentChambers.conclusion('segment-chambers.outlined', {
    view: clip.view,
    steady,
    chambers: CHAMBERS.filter((chamber) => clip.frames.some((one) => one.outlines[chamber])),
    sound: clip.frames.filter(({ faults }) => faults.length === 0).length,
    outlined: clip.frames.length,
    stride: clip.stride,
    frames: clip.framesInClip,
    beats: beats.length,
  });
}

function run(evidence: SegmentChambersEvidence, values: Values): SectionOutcome {
  const { heart } = evidence;
  const gap = outlineGap(evidence);
  const measurements = KEYS.map((key) => values.measurement(key)).filter((one) => one !== null);
  const data = { clips: heart.outlined.map(clipData) };
  const right = heart.outlined.some(({ clip }) => clip.frames.some(({ outlines }) => outlines.rv));
  const gaps = [
    gap,
    heart.outlined.some(({ clip }) => clip.scale === null)
      ? sayOfSegmentChambers.gap('segment-chambers.no-scale', {})
      : null,
    gap === null && !right ? sayOfSegmentChambers.gap('segment-chambers.no-right-heart', {}) : null,
  ].filter((one) => one !== null);
  const conclusions = heart.outlined.map(outlinedStatement);
  if (gap !== null || measurements.length > 0) {
    return { ...conclude(segmentChambers, { measurements, conclusions, gaps, data }), data };
  }
  return {
    status: 'partial',
    reason: { code: 'calibration_missing', gaps, needs: [...NEEDS] },
    statements: [...conclusions, ...gaps],
    data,
  };
}

/** Reports the chamber outlines on the frames of the apical clips (echo 3). */
export const segmentChambers: EchoSection<SegmentChambersEvidence> = {
  id: ID,
  title: 'Chamber masks',
  needs: NEEDS,
  measures: KEYS,
  run,
};
