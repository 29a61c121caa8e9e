import type { HeartRequest } from '../heart/sizes.ts';
import type { ColourRequest, Jet } from './colour.ts';
import type { EchoSpectrumId, Flow } from './spectrum.ts';

/** A named adult heart: its dimensions, and the flows that differ from those of a healthy adult. */
export interface EchoCase {
  heart: HeartRequest;
  /**
   * Spectra that differ from those of a healthy adult or that a healthy adult does not have.
   * Velocities are in cm/s, times in ms.
   */
  flows: Partial<Record<EchoSpectrumId, Flow>>;
  /** Leaks, with the views that show them. */
  jets?: readonly (Jet & Pick<ColourRequest, 'view'>)[];
}

const HEALTHY: HeartRequest = {
  lengthMm: 86,
  widthMm: 46,
  septalWallMm: 9,
  lateralWallMm: 9,
  ejectionFraction: 0.62,
  longitudinal: 0.17,
  beatsPerMinute: 66,
  leftAtriumMl: 50,
  rightAtriumRadiusMm: 19,
  rightBasalMm: 34,
  rightNarrowing: 0.3,
  tapseMm: 22,
  rightWallMm: 3.5,
  sinusMm: 32,
  cavaMm: 16,
  cavaCollapse: 0.65,
  unevenness: 0.3,
};

/**
 * Named hearts. Each clearly meets the published criterion for the condition in its name, but none
 * is a patient. They test whether a reader measures dimensions correctly, not whether it detects
 * disease.
 */
export const ECHO_CASES = {
  normal: { heart: HEALTHY, flows: { 'tricuspid-regurgitation': { peak: 225 } } },
  'dilated-low-ef': {
    heart: {
      ...HEALTHY,
      lengthMm: 101,
      widthMm: 65,
      ejectionFraction: 0.25,
      longitudinal: 0.07,
      beatsPerMinute: 82,
      leftAtriumMl: 98,
      rightBasalMm: 40,
      tapseMm: 14,
      cavaMm: 20,
      cavaCollapse: 0.55,
    },
    flows: {
      'mitral-inflow': { e: 98, a: 40, decelerationMs: 130 },
      'septal-annulus': { s: 4.5, e: 4.2, a: 4.6 },
      'lateral-annulus': { s: 5.5, e: 5.6, a: 5 },
      'tricuspid-annulus': { s: 8.2, e: 8, a: 9 },
      lvot: { peak: 68 },
      'tricuspid-regurgitation': { peak: 290 },
      'mitral-regurgitation': { peak: 450 },
    },
    jets: [{ valve: 'mitral', view: 'A4C', venaContractaMm: 4, lengthMm: 26 }],
  },
  hypertrophy: {
    heart: {
      ...HEALTHY,
      widthMm: 42,
      septalWallMm: 19,
      lateralWallMm: 12,
      ejectionFraction: 0.68,
      longitudinal: 0.13,
      leftAtriumMl: 78,
    },
    flows: {
      'mitral-inflow': { e: 62, a: 88, decelerationMs: 260 },
      'septal-annulus': { s: 6.5, e: 4.8, a: 8 },
      'lateral-annulus': { s: 7.5, e: 6.2, a: 8.6 },
    },
  },
  effusion: {
    heart: { ...HEALTHY, effusionMm: 24, beatsPerMinute: 96, cavaMm: 24, cavaCollapse: 0.2 },
    flows: {},
  },
  'aortic-stenosis': {
    heart: {
      ...HEALTHY,
      septalWallMm: 13.5,
      lateralWallMm: 12.5,
      ejectionFraction: 0.6,
      leftAtriumMl: 72,
      aorticOpening: 0.25,
    },
    flows: {
      'aortic-valve': { peak: 445 },
      lvot: { peak: 92 },
      'mitral-inflow': { e: 70, a: 92, decelerationMs: 240 },
      'septal-annulus': { s: 6.2, e: 5, a: 8 },
      'lateral-annulus': { s: 7.4, e: 6.6, a: 9 },
    },
  },
  'mitral-regurgitation': {
    heart: { ...HEALTHY, lengthMm: 94, widthMm: 57, ejectionFraction: 0.64, leftAtriumMl: 118 },
    flows: {
      'mitral-regurgitation': { peak: 520 },
      'mitral-inflow': { e: 135, a: 60, decelerationMs: 170 },
      'tricuspid-regurgitation': { peak: 290 },
    },
    jets: [{ valve: 'mitral', view: 'A4C', venaContractaMm: 8, lengthMm: 44 }],
  },
  'pulmonary-hypertension': {
    heart: {
      ...HEALTHY,
      widthMm: 40,
      rightBasalMm: 52,
      rightNarrowing: 0.12,
      tapseMm: 13,
      rightWallMm: 7,
      rightAtriumRadiusMm: 27,
      cavaMm: 26,
      cavaCollapse: 0.2,
    },
    flows: {
      'tricuspid-regurgitation': { peak: 395 },
      rvot: { peak: 60, accelerationMs: 68 },
      'tricuspid-annulus': { s: 7.4, e: 7, a: 11 },
    },
    jets: [{ valve: 'tricuspid', view: 'A4C', venaContractaMm: 6, lengthMm: 36 }],
  },
  'aortic-regurgitation': {
    heart: { ...HEALTHY, lengthMm: 95, widthMm: 58, ejectionFraction: 0.6, sinusMm: 39 },
    flows: {
      'aortic-regurgitation': { peak: 430, pressureHalfTimeMs: 190 },
      lvot: { peak: 130 },
      'aortic-valve': { peak: 190 },
    },
    jets: [{ valve: 'aortic', view: 'A5C', venaContractaMm: 6.5, lengthMm: 42 }],
  },
  'amyloid-like': {
    heart: {
      ...HEALTHY,
      widthMm: 41,
      septalWallMm: 16.5,
      lateralWallMm: 15.5,
      ejectionFraction: 0.52,
      longitudinal: 0.07,
      leftAtriumMl: 86,
      rightWallMm: 8,
      tapseMm: 15,
      effusionMm: 6,
    },
    flows: {
      'mitral-inflow': { e: 96, a: 34, decelerationMs: 138 },
      'septal-annulus': { s: 4.2, e: 3.6, a: 3.4 },
      'lateral-annulus': { s: 4.8, e: 4.6, a: 3.8 },
      'tricuspid-regurgitation': { peak: 285 },
    },
  },
} as const satisfies Record<string, EchoCase>;
export type EchoCaseName = keyof typeof ECHO_CASES;
