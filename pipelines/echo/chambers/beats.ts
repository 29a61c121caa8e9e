import { cardiacPhases, type PhaseSource } from '../../measure/cardiac-phases.ts';
import { oncePer } from '../../measure/once-per.ts';
import { type BeatMean, isRegular, meanOfBeats } from '../../measure/statistics.ts';
import type { OutlineFault } from '../locate/outline-faults.ts';
import { ADVISED_BEATS, type ApicalView } from './gaps.ts';
import {
  biplaneVolume,
  type ChamberClip,
  type ChamberFigure,
  type ChamberFrame,
  type ChamberOf,
  type FrameGeometry,
  frameGeometry,
} from './geometry.ts';

export interface ClipBeat {
  diastole: FrameGeometry;
  systole: FrameGeometry;
  /** Seconds to the next beat; null if not known. */
  interval: number | null;
}

export interface MeasuredClip {
  clip: ChamberClip;
  beats: readonly ClipBeat[];
  phases: PhaseSource;
  /** True if the RR intervals are even; null if fewer than three R waves are known. */
  regular: boolean | null;
  /** Share of the outlined frames that can be used for measurement. */
  usable: number;
  /** False if the cavity area jumps from frame to frame; the clip is then not measured. */
  steady: boolean;
  /** Mean probability over the cavity in the measured frames, 0 to 1. */
  confidence: number;
}

export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/**
 * Above this unsteadiness, the outlines count as failed. The area of a heart changes smoothly from
 * frame to frame, but the area of failed outlines jumps.
 */
const UNSTEADY = 0.1;

function unsteadiness(areas: readonly number[]): number {
  const range = Math.max(...areas) - Math.min(...areas);
  const residues = areas.slice(1, -1).map((area, i) => {
    const beside = ((areas[i] ?? area) + (areas[i + 2] ?? area)) / 2;
    return Math.abs(area - beside);
  });
  return range > 0 ? mean(residues) / range : 0;
}

/**
 * Returns whether the R waves are evenly spaced, and the maximum number of beats to average.
 * `regular` is null if fewer than three R waves are known.
 */
export function averaging(rWaves: readonly number[]): { regular: boolean | null; most: number } {
  const regular = isRegular(rWaves);
  return { regular, most: ADVISED_BEATS[regular === false ? 'irregular' : 'regular'] };
}

/**
 * Returns the chambers of a frame, measured on outlines corrected by a person. Null in the same
 * cases as `frameGeometry`.
 */
export const correctedGeometry = (
  frame: ChamberFrame,
  corrected: NonNullable<ChamberFrame['corrected']>,
  scale: ChamberClip['scale'],
): FrameGeometry | null =>
  frameGeometry(
    { ...frame, outlines: { ...frame.outlines, ...corrected }, faults: [], chamberFaults: {} },
    scale,
  );

/**
 * Replaces the outlines of beats with those corrected by a person. If any outline was corrected,
 * only the beats with a corrected outline are measured, because the person looked only at these. A
 * beat is left out if its corrected outline cannot be measured, because its original outline would
 * otherwise be reported as the person's.
 */
function withCorrections(beats: readonly ClipBeat[], { frames, scale }: ChamberClip): ClipBeat[] {
  const corrected = new Map(
    frames.flatMap((one) =>
      one.corrected ? [[one.frame, correctedGeometry(one, one.corrected, scale)] as const] : [],
    ),
  );
  if (corrected.size === 0) return [...beats];
  const asDrawn = (found: FrameGeometry) =>
    corrected.has(found.frame) ? (corrected.get(found.frame) ?? null) : found;
  return beats
    .filter(
      ({ diastole, systole }) => corrected.has(diastole.frame) || corrected.has(systole.frame),
    )
    .flatMap((beat) => {
      const [diastole, systole] = [asDrawn(beat.diastole), asDrawn(beat.systole)];
      return diastole && systole ? [{ ...beat, diastole, systole }] : [];
    });
}

/**
 * Returns a clip with its beats, up to the number to be averaged. There are no beats if the clip
 * shows no whole beat or if its outlines are unsteady.
 */
export const measuredClip = oncePer((clip: ChamberClip): MeasuredClip => {
  const figures = clip.frames.flatMap((frame) => frameGeometry(frame, clip.scale) ?? []);
  const samples = figures.map(({ time, lv }) => ({ time, area: lv.area }));
  const steady = unsteadiness(samples.map(({ area }) => area)) <= UNSTEADY;
  // `cardiacPhases` assumes that a person chose a pair of pictures if it gets two samples. This
  // is true only for a clip of two frames.
  const some = samples.length > 2 || clip.framesInClip === 2;
  const timed = steady && some ? samples : [];
  const { beats, source } = cardiacPhases(timed, clip.rWaves, clip.heartRate);
  const { regular, most } = averaging(clip.rWaves);
  const found = beats.slice(0, most).flatMap(({ diastole, systole, interval }) => {
    const [first, second] = [figures[diastole], figures[systole]];
    return first && second ? [{ diastole: first, systole: second, interval }] : [];
  });
  const measured = withCorrections(found, clip);
  const used = new Set(measured.flatMap((beat) => [beat.diastole.frame, beat.systole.frame]));
  return {
    clip,
    beats: measured,
    phases: source,
    regular,
    steady,
    usable: figures.length / Math.max(1, clip.frames.length),
    confidence: mean(
      clip.frames.filter(({ frame }) => used.has(frame)).map(({ confidence }) => confidence.lv),
    ),
  };
});

/**
 * Returns the clip to measure for a view. A calibrated clip is preferred; otherwise, the product of
 * the share of usable frames and the confidence decides. Null if no clip of the view shows a beat.
 */
export function bestClip(
  clips: readonly MeasuredClip[],
  view: ChamberClip['view'],
): MeasuredClip | null {
  const worth = ({ clip, usable, confidence }: MeasuredClip) =>
    (clip.scale ? 1 : 0) + usable * confidence;
  const own = clips.filter(({ clip, beats }) => clip.view === view && beats.length > 0);
  return own.toSorted((one, other) => worth(other) - worth(one))[0] ?? null;
}

/**
 * Returns the mean of `measure` over the beats of a clip; null if `measure` returns null for every
 * beat.
 */
export const overBeats = (
  { beats }: MeasuredClip,
  measure: (beat: ClipBeat) => number | null,
): BeatMean | null => meanOfBeats(beats.flatMap((beat) => measure(beat) ?? []));

/**
 * Returns the clip with only the beats whose outlines have no fault. If every beat has a fault, it
 * returns all beats together with the fault of the first, so that the value can be shown as
 * withheld.
 *
 * @param faultOf returns the fault of the outlines on which a beat is measured.
 */
export function soundBeats(
  on: MeasuredClip,
  faultOf: (beat: ClipBeat) => OutlineFault | null,
): { on: MeasuredClip; fault: OutlineFault | null } {
  const beats = on.beats.filter((beat) => faultOf(beat) === null);
  const [first] = on.beats;
  if (beats.length > 0 || !first) return { on: { ...on, beats }, fault: null };
  return { on, fault: faultOf(first) };
}

/** Returns the first fault among the figures of a beat; null if no figure has a fault. */
export const faultIn = (...figures: readonly (ChamberFigure | null)[]): OutlineFault | null =>
  figures.flatMap((figure) => figure?.fault ?? [])[0] ?? null;

export type ApicalClips = Readonly<Record<ApicalView, MeasuredClip | null>>;

export type Phase = keyof Pick<ClipBeat, 'diastole' | 'systole'>;

export const isCalibrated = ({ clip }: MeasuredClip) => clip.scale !== null;

/**
 * Returns the value if the clip is calibrated, and null otherwise, because sizes cannot be measured
 * without a scale.
 */
export const sized = <Value>(on: MeasuredClip, value: Value): Value | null =>
  isCalibrated(on) ? value : null;

export const firstOf = ({ beats }: MeasuredClip, phase: Phase): FrameGeometry | null =>
  beats[0]?.[phase] ?? null;

/** Returns the mean biplane volume. Beat n of one view is paired with beat n of the other view. */
export function biplane(four: MeasuredClip, two: MeasuredClip, phase: Phase, of: ChamberOf) {
  const pairs = Math.min(four.beats.length, two.beats.length);
  const volumes = Array.from({ length: pairs }, (_, i) => {
    const [one, other] = [four.beats[i]?.[phase], two.beats[i]?.[phase]];
    return one && other ? biplaneVolume(of(one), of(other)) : null;
  }).filter((volume) => volume !== null);
  return meanOfBeats(volumes);
}
