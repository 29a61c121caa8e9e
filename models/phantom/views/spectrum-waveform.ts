import type { Random } from '../random.ts';

export const VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;
export type Vessel = (typeof VESSELS)[number];

/** Velocity of the fastest blood over one beat: cm/s by the phase of the beat, 0 to 1. */
export interface Waveform {
  vessel: Vessel;
  beatsPerMinute: number;
  velocity(phase: number): number;
}

export type Anatomy = Readonly<Record<string, number>>;

/** Fast rise to the peak, exponential fall until the next one; 1 at the peak, 0 at the foot. */
function arterial(rise: number, decay: number): (phase: number) => number {
  const floor = Math.exp(-decay);
  return (phase) => {
    if (phase < rise) return 0.5 - 0.5 * Math.cos((Math.PI * phase) / rise);
    const since = (phase - rise) / (1 - rise);
    return (Math.exp(-decay * since) - floor) / (1 - floor);
  };
}

const bump = (phase: number, at: number, width: number) => {
  const distance = Math.abs(phase - at);
  const nearest = Math.min(distance, 1 - distance);
  return Math.exp(-((nearest / width) ** 2) / 2);
};

interface Ranges {
  psv: readonly [number, number];
  /** End-diastolic over peak systolic velocity. */
  edvShare: readonly [number, number];
  rise: readonly [number, number];
  decay: readonly [number, number];
  rate: readonly [number, number];
}

const ARTERIES: Readonly<Record<Exclude<Vessel, 'ductus-venosus'>, Ranges>> = {
  'umbilical-artery': {
    psv: [28, 65],
    edvShare: [0.2, 0.5],
    rise: [0.16, 0.24],
    decay: [1, 2.2],
    rate: [115, 165],
  },
  'middle-cerebral-artery': {
    psv: [25, 75],
    edvShare: [0.12, 0.3],
    rise: [0.13, 0.2],
    decay: [2, 3.5],
    rate: [115, 165],
  },
  'uterine-artery': {
    psv: [60, 110],
    edvShare: [0.2, 0.6],
    rise: [0.12, 0.18],
    decay: [1.6, 3],
    rate: [62, 100],
  },
};

function drawArtery(
  vessel: Exclude<Vessel, 'ductus-venosus'>,
  anatomy: Anatomy,
  random: Random,
): Waveform {
  const ranges = ARTERIES[vessel];
  const psv = anatomy.psv ?? random.range(...ranges.psv);
  const edv = psv * (anatomy.edvShare ?? random.range(...ranges.edvShare));
  const shape = arterial(random.range(...ranges.rise), random.range(...ranges.decay));
  const notched = vessel === 'uterine-artery' && (anatomy.notch ?? random.integer(0, 1)) > 0;
  const depth = notched ? random.range(0.1, 0.18) * psv : 0;
  // Absent end-diastolic flow ends well before the next beat; reversed flow passes through zero.
  const trough = edv <= 0 ? Math.min(edv, -0.02 * psv) : edv;
  return {
    vessel,
    beatsPerMinute: anatomy.beatsPerMinute ?? random.range(...ranges.rate),
    velocity: (phase) => {
      const forward = trough + (psv - trough) * shape(phase) - depth * bump(phase, 0.42, 0.04);
      return edv === 0 ? Math.max(0, 1.25 * forward - 0.25 * psv) : forward;
    },
  };
}

/** S in ventricular systole, D in early diastole, the trough `a` with the atrial contraction. */
function drawDuctus(anatomy: Anatomy, random: Random): Waveform {
  const s = anatomy.psv ?? random.range(45, 80);
  const a = s * (anatomy.aWaveShare ?? random.range(0.3, 0.65));
  const d = random.range(0.8, 0.95) * s;
  const valley = random.range(0.72, 0.82) * Math.min(s, d);
  return {
    vessel: 'ductus-venosus',
    beatsPerMinute: anatomy.beatsPerMinute ?? random.range(115, 165),
    velocity: (phase) =>
      valley +
      (s - valley) * bump(phase, 0.3, 0.09) +
      (d - valley) * bump(phase, 0.62, 0.08) +
      (a - valley) * bump(phase, 0.92, 0.07),
  };
}

/** A beat of a vessel, drawn widely where `anatomy` leaves it open. */
export function drawWaveform(vessel: Vessel, anatomy: Anatomy, random: Random): Waveform {
  return vessel === 'ductus-venosus'
    ? drawDuctus(anatomy, random)
    : drawArtery(vessel, anatomy, random);
}

export interface WaveformTruth {
  psv: number;
  /** Velocity at the foot of the next beat. */
  edv: number;
  lowest: number;
  /** Time average of the maximum velocity over the beat. */
  tamx: number;
}

/** What a perfect trace of the beat would give, cm/s. */
export function truthOf({ velocity, vessel }: Waveform): WaveformTruth {
  const steps = 2000;
  const values = Array.from({ length: steps }, (_, i) => velocity(i / steps));
  return {
    psv: Math.max(...values),
    edv: vessel === 'ductus-venosus' ? Math.min(...values) : velocity(1 - 1e-6),
    lowest: Math.min(...values),
    tamx: values.reduce((sum, value) => sum + value, 0) / steps,
  };
}
