import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import type { PixelScale } from '../../contract/image.ts';
import { meanOfBeats } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import { lineBetween, measuredOn } from '../../result/measured.ts';
import { createMeasurement } from '../../result/measurement.ts';
import type { Remark } from '../../result/statement.ts';
import { beatsRemark, outlinedId, withAgreement } from '../chambers/outlined.ts';
import type { Line, LongAxisLine } from '../locate/parasternal.ts';
import { withPlausibility } from '../shared/plausibility.ts';
import type { ParasternalClip, ParasternalFrame } from './clip.ts';
import { type BeatsOfClip, beatsOf } from './clip.ts';
import type { ParasternalReadings } from './read.ts';
import { lengthOf } from './wall-edges.ts';

const CENTIMETRE = 10;

export interface Phased extends BeatsOfClip {
  clip: ParasternalClip;
  scale: PixelScale;
}

/**
 * Returns a calibrated clip with its accepted frames and beats. Null if the clip has no scale or no
 * whole beat.
 */
export function phased(clip: ParasternalClip): Phased | null {
  const found = beatsOf(clip);
  return clip.scale && found.beats.length > 0 ? { clip, scale: clip.scale, ...found } : null;
}

/** Quantity measured by each line in each phase (echo 5.1, 6). */
const DIMENSIONS: readonly {
  key: EchoConcept;
  section: string;
  line: LongAxisLine;
  phase: 'diastole' | 'systole';
  unit: 'cm' | 'mm';
}[] = [
  { key: 'ivsd', section: 'lv-size', line: 'septum', phase: 'diastole', unit: 'cm' },
  { key: 'lvidd', section: 'lv-size', line: 'cavity', phase: 'diastole', unit: 'cm' },
  { key: 'lvpwd', section: 'lv-size', line: 'posterior-wall', phase: 'diastole', unit: 'cm' },
  { key: 'lvids', section: 'lv-size', line: 'cavity', phase: 'systole', unit: 'cm' },
  { key: 'la-diameter', section: 'la-volume', line: 'left-atrium', phase: 'systole', unit: 'cm' },
];

export interface Drawn {
  key: EchoConcept;
  section: string;
  method: EchoMethod;
  clip: ParasternalClip;
  value: number;
  /** Number of beats of which the value is the mean. */
  beats: number;
  at: ParasternalFrame;
  line: Line;
  confidence: number;
  remark: Remark;
}

export function drawnMeasurement({
  key,
  section,
  method,
  clip,
  value,
  beats,
  at,
  line,
  confidence,
  remark,
}: Drawn) {
  const measurement = createMeasurement(outlinedId(key), key, value, method, {
    section,
    derivation: beats > 1 ? 'mean' : 'measured',
    source: measuredOn(clip, at.frame, 'model', [lineBetween(...line)]),
    confidence,
    remarks: [remark],
  });
  return withPlausibility(measurement, key);
}

function dimensions({ clip, scale, frames, beats, regular }: Phased): Measurement[] {
  return DIMENSIONS.flatMap(({ key, section, line, phase, unit }) => {
    const found = beats.flatMap((beat) => {
      const at = frames[beat[phase]];
      const own = at?.lines[line];
      return at && own ? [{ at, own, length: lengthOf(own, scale) }] : [];
    });
    const [first] = found;
    if (!first) return [];
    const mean = meanOfBeats(
      found.map(({ length }) => (unit === 'cm' ? length / CENTIMETRE : length)),
    );
    if (!mean) return [];
    const drawn = drawnMeasurement({
      key,
      section,
      method: 'outlined-dimension',
      clip,
      value: mean.value,
      beats: found.length,
      at: first.at,
      line: first.own,
      confidence: first.at.confidence,
      remark: beatsRemark({ beats: found, regular }),
    });
    return [withAgreement(drawn, key, mean)];
  });
}

/** Returns the dimensions from the long-axis clip on which most of them could be measured. */
export function longAxisValues({ clips }: ParasternalReadings): Measurement[] {
  const measured = (clips ?? [])
    .filter(({ family }) => family === 'PLAX')
    .flatMap((clip) => phased(clip) ?? [])
    .map(dimensions)
    .toSorted((one, other) => other.length - one.length);
  return measured[0] ?? [];
}
