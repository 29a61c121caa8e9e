import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import type {
  BeatVelocities,
  SpectrumReading,
} from '../../../../pipelines/obstetric/doppler/evidence.ts';
import { doppler } from '../../../../pipelines/obstetric/doppler/section.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import { cartValue } from '../../cart-sample.ts';
import { evidenceWith, runSection } from '../evidence-sample.ts';

type Traced = Extract<SpectrumReading['waveform'], { status: 'traced' }>;

export interface Wave {
  psv?: number;
  edv?: number;
  tamx?: number;
  beats?: number;
  rate?: number;
  variation?: number;
  endFlow?: BeatVelocities['endFlow'];
  vanishesAt?: number;
}

export function beatOf({ psv = 45.2, edv = 11.3, tamx = 22.1, endFlow }: Wave): BeatVelocities {
  return {
    from: 0,
    to: 50,
    peak: psv,
    endDiastolic: edv,
    lowest: edv,
    average: tamx,
    peakColumn: 10,
    endFlow: endFlow ?? (edv > 0 ? 'forward' : edv < 0 ? 'reversed' : 'absent'),
  };
}

export function traced(wave: Wave = {}): Traced {
  const beats = Array.from({ length: wave.beats ?? 4 }, () => beatOf(wave));
  return {
    status: 'traced',
    side: 'above',
    beats,
    beatsSeen: beats.length,
    beatsPerMinute: wave.rate ?? 140,
    variation: wave.variation ?? 0.02,
    variationSeen: wave.variation ?? 0.02,
    otherVessel: false,
    hiddenBelow: 1,
    vanishesAt: wave.vanishesAt ?? null,
    confidence: 0.9,
    trace: { side: 'above', baselineRow: 350, points: [], beats: [] },
    spectrum: { left: 50, top: 200, zeroRow: 150, velocityPerRow: 0.4 },
  };
}

let spectra = 0;

export function spectrum(
  vessel: SpectrumReading['vessel'],
  wave: Wave | SpectrumReading['waveform'] = {},
  changes: Partial<SpectrumReading> = {},
): SpectrumReading {
  spectra += 1;
  return {
    file: `spectrum-${spectra}.dcm`,
    sopInstanceUid: `2.25.${spectra}`,
    frame: 0,
    vessel,
    laterality: null,
    fetus: null,
    velocities: true,
    correctionAngle: null,
    waveform: 'status' in wave ? wave : traced(wave),
    ...changes,
  };
}

/** Returns a value as found in the machine's structured report. */
export function fromMachine(key: ConceptKey, value: number): CartMeasurement {
  const concept = { scheme: 'LN', code: '12008-9', meaning: 'Pulsatility Index' };
  return cartValue({ key, concept, value, unit: CONCEPTS[key].unit });
}

export function run(
  readings: SpectrumReading[],
  gaDays: number | null = 224,
  cart: CartMeasurement[] = [],
) {
  const evidence = evidenceWith({
    study: { clips: [], cart, refused: [], files: readings.length, series: 1 },
    options: parseOptions(gaDays === null ? {} : { dating: { ga_days: gaDays } }),
    planes: null,
    readings: [],
    withoutModel: [],
    uncertainty: { hcPercent: null, acPercent: null, flMm: null },
    views: { spectra: readings },
    priors: [],
  });
  const outcome = runSection(doppler, evidence, []);
  const value = (id: string) => outcome.measurements?.find((one) => one.id === id) ?? null;
  const category = outcome.classifications?.find(({ id }) => id === 'fetal-doppler')?.value;
  return { ...outcome, value, category };
}
