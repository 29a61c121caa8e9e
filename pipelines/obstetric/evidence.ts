import type { AcceptedEvidence } from '../../config/schema.ts';
import { fetusOf } from '../contract/fetus-name.ts';
import type { Study } from '../contract/study.ts';
import { deciding } from '../result/decisions.ts';
import type { Dating } from '../result/render/obstetric/shared.ts';
import { centileText } from '../result/render/unit-text.ts';
import type { BrainUncertainty } from './anomaly-screen/evidence.ts';
import type { BiometryEvidence, LengthUncertainty } from './biometry/measure.ts';
import type { SpectrumReading } from './doppler/evidence.ts';
import { FETAL_ARTERIES, traceProblem } from './doppler/measure.ts';
import type { EarlyEvidence } from './early-pregnancy/evidence.ts';
import type { ChestUncertainty, RateEvidence, SpectrumBeats } from './fetal-heart/evidence.ts';
import { embryonicRateBand, recalledLimit } from './fetal-heart/guideline.ts';
import { ratesOf } from './fetal-heart/measure-rate.ts';
import type { EarlierScan, GrowthEvidence } from './growth/measure.ts';
import { measureEarlierScan, type ScanRead } from './growth/read.ts';
import type { PresentationEvidence } from './presentation/judge.ts';
import type { Readings } from './readers.ts';
import { machineReport } from './shared/machine-report.ts';
import type { SectionEvidence } from './shared/section.ts';
import { oneNamePerFetus, severalFetuses } from './shared/several-fetuses.ts';
import type { UterineUncertainty } from './shared/uterine-maps.ts';

/** Half widths of 95 % intervals, measured on held-out images; null if unknown. */
export interface LocatorUncertainty extends LengthUncertainty {
  /** Half width for the angle of progression, degrees. */
  angleOfProgression?: number | null;
  /** Half widths for uterine lengths, mm. */
  uterus?: UterineUncertainty | null;
  chest?: ChestUncertainty | null;
  brain?: BrainUncertainty | null;
}

/** Input and readings available before the sections run. */
export interface StudyEvidence
  extends Pick<BiometryEvidence, 'planes' | 'readings' | 'held' | 'withoutModel'> {
  study: Study;
  options: { dating?: Dating | undefined; report: boolean };
  /** Evidence that a method must have for its values to be used without review. */
  accept: AcceptedEvidence;
  uncertainty: LocatorUncertainty;
  /**
   * What each reader in `readers.ts` found; null if the reader failed, absent if it did not run.
   */
  views: Partial<Readings>;
  /** Names of the earlier studies in the request. */
  priors: readonly string[];
  /**
   * Readings of the earlier studies, newest first; absent if the request has no earlier studies.
   */
  earlier?: readonly ScanRead[];
}

/**
 * Values that one section needs from another. They are passed as evidence so that sections do not
 * import each other.
 */
type FromOtherSections = Pick<RateEvidence, 'spectrumBeats' | 'fetusOf'> &
  Pick<PresentationEvidence, 'heartRates'> &
  Pick<EarlyEvidence, 'embryonicRate'> &
  Pick<GrowthEvidence, 'centileText'>;

/** Everything that the sections may use. It is collected once, before the first section runs. */
export interface ObstetricEvidence
  extends Omit<StudyEvidence, 'earlier'>,
    SectionEvidence,
    FromOtherSections {
  study: Study;
  options: StudyEvidence['options'];
  earlier: readonly EarlierScan[];
}

function spectrumBeats(spectra: readonly SpectrumReading[]): SpectrumBeats[] {
  return spectra.flatMap((reading): SpectrumBeats[] => {
    const { file, sopInstanceUid, frame, fetus, vessel, waveform, held } = reading;
    if (!FETAL_ARTERIES.some((one) => one === vessel) || held === 'all') return [];
    const at = { file, sopInstanceUid, frame, fetus };
    if (waveform.status === 'refused') {
      return waveform.reason === 'beats-differ' ? [{ ...at, rhythm: null }] : [];
    }
    const { beatsPerMinute, confidence, beats, beatsSeen, variationSeen } = waveform;
    const steady = traceProblem(waveform) === null;
    const variation = beats.length >= 3 ? variationSeen : null;
    const alike = { beats: beats.length, seen: beatsSeen };
    return [{ ...at, rhythm: { beatsPerMinute, confidence, steady, variation, alike } }];
  });
}

const embryonicRate: EarlyEvidence['embryonicRate'] = (gaDays, beatsPerMinute) => {
  const band = embryonicRateBand(gaDays, beatsPerMinute);
  return band && { band, recalled: gaDays === null ? null : recalledLimit(gaDays) };
};

/** Returns the evidence in which each fetus has the same name on the images and in the reports. */
function withOneNamePerFetus(given: StudyEvidence): StudyEvidence & Pick<RateEvidence, 'fetusOf'> {
  const { study, views } = given;
  const nameOf = oneNamePerFetus(given);
  const renamed = <Of extends { fetus: string | null }>(one: Of): Of =>
    one.fetus === null ? one : { ...one, fetus: nameOf(one.fetus) };
  return {
    ...given,
    study: { ...study, ...(study.cart && { cart: study.cart.map(renamed) }) },
    views: { ...views, ...(views.spectra && { spectra: views.spectra.map(renamed) }) },
    fetusOf(clip) {
      const name = fetusOf(clip);
      return name === null ? null : nameOf(name);
    },
  };
}

/**
 * Collects the evidence for the sections: the readings, and values derived from them that several
 * sections need.
 *
 * @param several the evidence of several fetuses, including sweeps that need review. Nothing is
 * concluded from such a sweep, but if it shows twins, nothing may be concluded for a single fetus
 * either.
 */
export function evidenceOf(
  read: StudyEvidence,
  several: SectionEvidence['severalFetuses'] = severalFetuses(read),
): ObstetricEvidence {
  const given = withOneNamePerFetus(read);
  const cart = given.study.cart ?? [];
  const evidence = {
    ...given,
    severalFetuses: several,
    machine: machineReport(cart),
    // A person's decisions concern the values of this study only.
    earlier: deciding(null, () =>
      (given.earlier ?? []).map((scan) => measureEarlierScan(scan, given)),
    ),
    spectrumBeats: spectrumBeats(given.views.spectra ?? []),
    embryonicRate,
    centileText,
  };
  const heartRates = ratesOf(evidence)
    .map(({ measurement }) => measurement)
    .filter(({ quality }) => quality === 'accepted');
  return { ...evidence, heartRates };
}
