import type { Study } from '../contract/study.ts';
import { cartMeasurements, cartQuantities } from '../result/cart-values.ts';
import type { Dating } from '../result/render/obstetric/shared.ts';
import type { BrainUncertainty } from './anomaly-screen/evidence.ts';
import type { LengthUncertainty } from './biometry/evidence.ts';
import type { ChestUncertainty } from './fetal-heart/evidence.ts';
import type { EarlierScan } from './growth/evidence.ts';
import { measureEarlierScan, type ScanRead } from './growth/read.ts';
import type { Readings } from './readers.ts';
import type { FramePlane, FrameReading, Structure } from './shared/plane.ts';
import type { SectionEvidence } from './shared/section.ts';
import { severalFetuses } from './shared/several-fetuses.ts';
import type { UterineUncertainty } from './shared/uterine-maps.ts';

/** Half width of the 95 % interval as measured on held-out images; null where unknown. */
export interface LocatorUncertainty extends LengthUncertainty {
  /** Degrees. */
  angleOfProgression?: number | null;
  /** mm */
  uterus?: UterineUncertainty | null;
  chest?: ChestUncertainty | null;
  brain?: BrainUncertainty | null;
}

/** What the request and the readers give, before the sections run. */
export interface StudyEvidence {
  study: Study;
  options: { dating?: Dating | undefined; report: boolean };
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LocatorUncertainty;
  /** What each reader of `readers.ts` found; null where it failed, absent where it was not run. */
  views: Partial<Readings>;
  /** Names of earlier studies that came with the request. */
  priors: readonly string[];
  /** What was read of them, newest first; absent: none came. */
  earlier?: readonly ScanRead[];
}

/** All that the sections may look at: gathered once, before any of them runs. */
export interface ObstetricEvidence extends Omit<StudyEvidence, 'earlier'>, SectionEvidence {
  study: Study;
  options: StudyEvidence['options'];
  earlier: readonly EarlierScan[];
}

/** The evidence of the sections: what was read, and what follows from it for all of them. */
export function evidenceOf(given: StudyEvidence): ObstetricEvidence {
  const cart = given.study.cart ?? [];
  return {
    ...given,
    severalFetuses: severalFetuses(given),
    machine: {
      values: (section, keys, where = () => true) =>
        cartMeasurements(cart.filter(where), section, keys),
      quantities: (section, keys) => cartQuantities(cart, section, keys),
    },
    earlier: (given.earlier ?? []).map((scan) => measureEarlierScan(scan, given)),
  };
}
