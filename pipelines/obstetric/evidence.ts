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

/** Half widths of 95 % intervals as measured on held-out images; null where not known. */
export interface LocatorUncertainty extends LengthUncertainty {
  /** Half width for the angle of progression, degrees. */
  angleOfProgression?: number | null;
  /** Half widths for uterine lengths, mm. */
  uterus?: UterineUncertainty | null;
  chest?: ChestUncertainty | null;
  brain?: BrainUncertainty | null;
}

/** What the request and the readers provide before the sections run. */
export interface StudyEvidence {
  study: Study;
  options: { dating?: Dating | undefined; report: boolean };
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LocatorUncertainty;
  /**
   * What each reader in `readers.ts` found; null where the reader failed, absent where it was not
   * run.
   */
  views: Partial<Readings>;
  /** Names of earlier studies that came with the request. */
  priors: readonly string[];
  /**
   * What was read from the earlier studies, newest first; absent where none came with the request.
   */
  earlier?: readonly ScanRead[];
}

/** Everything that the sections may use: it is gathered once, before any section runs. */
export interface ObstetricEvidence extends Omit<StudyEvidence, 'earlier'>, SectionEvidence {
  study: Study;
  options: StudyEvidence['options'];
  earlier: readonly EarlierScan[];
}

/** The evidence for the sections: what was read, and what follows from it for all of them. */
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
