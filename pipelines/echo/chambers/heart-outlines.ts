import type { ConceptKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { LEFT_VENTRICLE } from '../guidelines/left-ventricle.ts';
import type { ApicalReadings } from '../read/apical.ts';
import type { ParasternalReadings } from '../read/parasternal.ts';
import { APICAL_VIEWS, type ApicalView } from './chamber-clip.ts';
import { bestClip, type MeasuredClip, measuredClip } from './clip-beats.ts';
import { type ApicalClips, leftHeartValues } from './left-heart-values.ts';
import { outlined } from './outlined.ts';
import { rightHeartValues } from './right-heart-values.ts';
import { viewStrain, type WallSegmentReading, wallSegments } from './wall-segments.ts';

/** The apical clips as they are measured: gathered once, for every section that draws on them. */
export interface HeartOutlines {
  /** Every clip that was outlined. */
  outlined: readonly MeasuredClip[];
  /** The one that stands for its view. */
  clips: ApicalClips;
  segments: readonly WallSegmentReading[];
  /** Whether volumes, and what follows from their change, may be said. */
  trusted: boolean;
}

export const NO_OUTLINES: HeartOutlines = {
  outlined: [],
  clips: { A4C: null, A2C: null, A3C: null },
  segments: [],
  trusted: false,
};

/** Whether both networks agree on an LVEF below the normal range of either sex. */
function isReduced(on: MeasuredClip | null): boolean {
  const agreeing = on?.clip.ejections.filter(({ accepted }) => accepted) ?? [];
  const percent = mean(agreeing.map((one) => one.percent));
  const { male, female } = LEFT_VENTRICLE.ef;
  return agreeing.length > 0 && percent < Math.min(male.normal[0], female.normal[0]);
}

/** @param parasternal null where that reader failed: its short axes show walls too. */
export function heartOutlines(
  { clips, volumesTrusted }: ApicalReadings,
  parasternal: ParasternalReadings | null = null,
): HeartOutlines {
  const all = (clips ?? []).map(measuredClip);
  const of = (view: ApicalView) => bestClip(all, view);
  const best = { A4C: of('A4C'), A2C: of('A2C'), A3C: of('A3C') };
  const segments = wallSegments({
    apical: best,
    shortAxes: parasternal?.clips ?? [],
    reduced: isReduced(best.A4C),
  });
  return { outlined: all, clips: best, segments, trusted: volumesTrusted };
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** LVEF of both networks, mean of the beats on which they agree (service.md 2.6). */
function networkValues(on: MeasuredClip | null): Measurement[] {
  if (!on || on.clip.ejections.length === 0) return [];
  const agreeing = on.clip.ejections.filter(({ accepted }) => accepted);
  const used = agreeing.length > 0 ? agreeing : on.clip.ejections;
  return outlined({
    key: 'lvef-networks',
    section: 'lvef',
    method: 'mean-of-networks',
    on,
    value: mean(used.map(({ percent }) => percent)),
    note: on.clip.scale ? null : 'ratio only; volumes not calibrated',
  }).map((measurement) => ({
    ...measurement,
    confidence: mean(used.map(({ confidence }) => confidence)),
    ...(agreeing.length === 0 && {
      quality: 'low' as const,
      note: 'the two networks do not agree',
    }),
  }));
}

const STRAIN_KEYS = {
  A4C: 'gls-end-systolic-4c',
  A2C: 'gls-end-systolic-2c',
  A3C: 'gls-end-systolic-3c',
} as const satisfies Record<ApicalView, ConceptKey>;

/** Frames a second from which strain is advised (reference 2.8). */
const STRAIN_RATE = 40;

function strainValues(clips: ApicalClips): Measurement[] {
  return APICAL_VIEWS.flatMap((view) => {
    const on = clips[view];
    if (!on) return [];
    const [first, second] = on.clip.frames;
    const rate = first && second ? 1 / (second.time - first.time) : 0;
    const slow = rate < STRAIN_RATE ? `${Math.round(rate)} frames a second, 40 advised` : null;
    return outlined({
      key: STRAIN_KEYS[view],
      section: 'lv-strain',
      method: 'contour-strain',
      on,
      value: viewStrain(on),
      note: ['end-systole by minimum volume', slow].filter(Boolean).join('; '),
    });
  });
}

const UNTRUSTED = 'no permitted model was shown to measure it well enough on real images';
const DISAGREEING = 'the two networks do not agree on this clip';

const withheld = (measurements: readonly Measurement[], why: string): Measurement[] =>
  measurements.map((one) => ({ ...one, quality: 'low', note: why }));

/** Sections whose outlines stand without a second network: they are drawings, not volumes. */
const DRAWN = new Set(['segment-chambers']);

/** Every value of the outlines, those that may not be said marked with the reason. */
export function outlinedValues(heart: HeartOutlines): Measurement[] {
  const { clips, trusted } = heart;
  const joint = networkValues(clips.A4C);
  const [left, right] = [leftHeartValues(clips), rightHeartValues(clips.A4C)];
  const all = [...left, ...right, ...strainValues(clips)];
  if (!trusted) {
    return all.flatMap((one) => (DRAWN.has(one.section) ? [one] : withheld([one], UNTRUSTED)));
  }
  const disputed = joint.some(({ quality }) => quality === 'low');
  return [
    ...joint,
    ...all.flatMap((one) =>
      disputed && one.section === 'lvef' ? withheld([one], DISAGREEING) : [one],
    ),
  ];
}
