import type { Clip, Study, SweepKind } from '../contract/study.ts';
import { traceDoppler } from '../measure/doppler.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { createMeasurement } from '../result/measurement.ts';
import { withPlausibility } from './plausibility.ts';

/** The peak of one spectral display, of whatever flow it is. */
export interface SpectrumReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based */
  frame: number;
  kind: SweepKind;
  /** The structure that the header names, `scheme:value`; most carts name none. */
  region: string | null;
  /** cm/s, mean of the beats that are alike; null where the display was not traced. */
  peak: number | null;
  side: 'above' | 'below' | null;
  beats: number;
  confidence: number;
  refusal: string | null;
}

const SPECTRAL: ReadonlySet<SweepKind> = new Set(['pw', 'cw', 'doppler']);

async function readClip(clip: Clip): Promise<SpectrumReading[]> {
  const frame = clip.frames.at(-1);
  const sweeps = clip.sweeps.filter(({ kind }) => SPECTRAL.has(kind));
  if (!frame || sweeps.length === 0) return [];
  const image = await frame.gray();
  return sweeps.map((sweep): SpectrumReading => {
    const waveform = traceDoppler(image, sweep);
    const { file, sopInstanceUid, anatomicRegion: region } = clip;
    const of = { file, sopInstanceUid, frame: frame.index, kind: sweep.kind, region };
    if (waveform.status === 'refused') {
      return { ...of, peak: null, side: null, beats: 0, confidence: 0, refusal: waveform.reason };
    }
    const { beats, side, confidence } = waveform;
    const peak = beats.reduce((sum, beat) => sum + beat.peak, 0) / beats.length;
    return { ...of, peak, side, beats: beats.length, confidence, refusal: null };
  });
}

/** Traces the last frame of every clip with a spectral display: on it the sweep is complete. */
export async function readSpectra(study: Study, signal: AbortSignal): Promise<SpectrumReading[]> {
  const readings: SpectrumReading[] = [];
  for (const clip of study.clips) {
    signal.throwIfAborted();
    readings.push(...(await readClip(clip)));
  }
  return readings;
}

/** Structure of the header and kind of Doppler → what the peak is; a flow that may be two is none. */
const PEAKS: readonly { region: string; kind: SweepKind; key: ConceptKey }[] = [
  { region: 'SCT:13418002', kind: 'pw', key: 'lvot-vmax' },
  { region: 'SCT:34202007', kind: 'cw', key: 'av-vmax' },
  { region: 'SCT:46030003', kind: 'cw', key: 'tr-vmax' },
];

/** Fewer beats, or a fainter trace, and the value is shown as not accepted (reference 0.5). */
const GATE = { beats: 3, confidence: 0.5 } as const;

const CENTIMETRES = 100;

/** The peaks of displays whose structure the header names, in the sections that own them. */
export function spectralPeaks(
  readings: readonly SpectrumReading[],
  sectionOf: (key: ConceptKey) => string | null,
): Measurement[] {
  return PEAKS.flatMap(({ region, kind, key }) => {
    const section = sectionOf(key);
    const own = readings.filter((one) => one.region === region && one.kind === kind);
    const best = own.toSorted((one, other) => other.confidence - one.confidence)[0];
    if (!best || best.peak === null || !section) return [];
    const enough = best.beats >= GATE.beats && best.confidence >= GATE.confidence;
    const measurement = createMeasurement(
      `${key}-traced`,
      key,
      best.peak / CENTIMETRES,
      'spectral-trace',
      {
        section,
        derivation: 'mean',
        source: {
          provenance: 'image-analysis',
          file: best.file,
          sop_instance_uid: best.sopInstanceUid,
          frame: best.frame + 1,
          calipers: [],
        },
        confidence: best.confidence,
        quality: enough ? 'accepted' : 'low',
        note: enough
          ? `${best.beats} beats`
          : `${best.beats} beats; the trace is too faint or too short`,
      },
    );
    return [withPlausibility(measurement, key)];
  });
}
