import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { machineValueId } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/early-pregnancy.ts';
import { type SeveralFetusesSource, SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import { categoryWithin, inadequate, notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  EARLY_LENGTHS,
  judgedRate,
  judgedValue,
  listedForFetuses,
  type MachineValues,
  machineValues,
} from '../shared/measurement.ts';
import { type ObstetricSection, reasonOf, type SectionOutcome } from '../shared/section.ts';
import type { EarlyEvidence } from './evidence.ts';
import { type EarlyClip, type EarlyFrame, EMBRYO_CLIP } from './evidence.ts';
import { YOLK_SAC_MM, yolkSacBand } from './guideline.ts';
import { differences, earlyFindings, earlyGaps, earlyGuidance } from './judge.ts';
import { EARLY_SECTION, measureEarlyPregnancy, measureEmbryosApart } from './measure.ts';
import {
  type EarlySight,
  type EarlyViability,
  earlySight,
  judgeViability,
  SRU,
} from './viability.ts';

const VIEW = 'calibrated transvaginal images of sac and embryo in two planes';
const CINE = `a cine of the embryo of at least ${EMBRYO_CLIP.frames} frames at ${EMBRYO_CLIP.framesPerSecond} a second`;
const NEEDS = [VIEW, CINE];

function withoutSac(frames: readonly EarlyFrame[]): SectionOutcome | null {
  if (frames.some(({ bodies }) => bodies === 'several')) {
    return inadequate('several_sacs', say.gap('early.several-sacs', {}), NEEDS);
  }
  if (frames.some(({ sac }) => sac?.accepted)) return null;
  const unclear = frames.some(({ bodies }) => bodies === 'unclear');
  const gap = unclear ? say.gap('early.sac-unclear', {}) : say.gap('early.no-sac', {});
  return inadequate('low_confidence', gap, NEEDS);
}

function unusualYolkSac(measurements: readonly Measurement[]) {
  const found = judgedValue(measurements, 'yolk-sac');
  const band = found && categoryWithin(found, yolkSacBand).category;
  return band === null || band === 'usual'
    ? null
    : { band, from: YOLK_SAC_MM.small, to: YOLK_SAC_MM.large };
}

function summaryOf(
  seen: EarlySight,
  measurements: readonly Measurement[],
  { category, between, doubts, nearMsd: msd }: EarlyViability,
): Statement[] {
  const rate = judgedRate(measurements);
  const lengths = EARLY_LENGTHS.flatMap((key) => judgedValue(measurements, key) ?? []);
  const age = acceptedValue(measurements, 'ga-by-crl');
  const found = say.value(
    'early.found',
    {
      sac: seen.sac,
      yolkSac: unusualYolkSac(measurements),
      onMMode: !rate && seen.cardiacActivity === true,
      noEmbryo: seen.embryo === false,
      category,
    },
    [...lengths, ...(rate ? [rate] : []), ...(age ? [age] : [])],
  );
  const doubt = doubts.length > 0 || msd ? [say.limitation('early.doubt', { doubts, msd })] : [];
  const sides = between ? [say.gap('early.at-cut-off', { between: [...between] }, lengths)] : [];
  return [found, ...sides, ...doubt, ...differences(measurements)];
}

/**
 * Returns the values in the machine's report. The heart rate in it is the embryo's and gets a
 * separate id.
 */
function ofMachine(evidence: EarlyEvidence): MachineValues {
  const lengths = machineValues(evidence, EARLY_SECTION, EARLY_LENGTHS);
  // A heart rate alone does not indicate an early pregnancy, because machines report one at every
  // age.
  if (lengths.measurements.length === 0 && !evidence.views.earlyPregnancy?.length) return lengths;
  const { measurements } = machineValues(evidence, EARLY_SECTION, ['fetal-heart-rate']);
  const rates = measurements.map((one) => ({
    ...one,
    id: machineValueId('embryonic-heart-rate', one),
  }));
  return { ...lengths, measurements: [...lengths.measurements, ...rates] };
}

/**
 * Returns the outcome for several fetuses. Values from different images are never combined
 * (obstetric 0.5).
 */
function apart(
  clips: readonly EarlyClip[],
  { unused, listed }: Pick<MachineValues, 'unused' | 'listed'>,
  source: SeveralFetusesSource,
): SectionOutcome {
  const gaps = [say.gap('early.apart', { source }), ...(unused ? [unused] : [])];
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', gaps, needs: ['a study of each fetus by itself'] },
    statements: [...gaps, ...listedForFetuses(listed)],
    data: { location: 'not_assessed', limitation: SIMULATED_ONLY },
    measurements: [...measureEmbryosApart(clips), ...listed],
  };
}

const seenWord = (seen: boolean | null) =>
  seen === null ? 'not_assessed' : seen ? 'seen' : 'not_seen';

function run(evidence: EarlyEvidence): SectionOutcome {
  const clips = evidence.views.earlyPregnancy ?? [];
  const machine = ofMachine(evidence);
  if (clips.length === 0 && machine.measurements.length + machine.listed.length === 0) {
    const gaps = [say.gap('early.no-view', {}), ...(machine.unused ? [machine.unused] : [])];
    return notAssessed('view_missing', gaps, NEEDS);
  }
  const nothing = clips.length > 0 ? withoutSac(clips.flatMap(({ frames }) => frames)) : null;
  if (nothing && (machine.measurements.length === 0 || nothing.reason?.code === 'several_sacs')) {
    return nothing;
  }
  const several = evidence.severalFetuses;
  if (several) return apart(clips, machine, several);
  const measurements = measureEarlyPregnancy(clips, machine.measurements);
  if (measurements.every(({ unit }) => unit !== 'mm')) {
    return notAssessed('no_calibration', say.gap('early.no-scale', {}), NEEDS);
  }
  const sweeps = evidence.views.fetalHeart?.mMode ?? [];
  const seen = earlySight(clips, sweeps, machine.measurements, measurements);
  const judged = judgeViability(seen, measurements, evidence.options.dating);
  const gaps = earlyGaps({ seen, measurements, clips, machine, view: VIEW, cine: CINE });
  return {
    status: 'partial',
    reason: reasonOf(gaps),
    statements: summaryOf(seen, measurements, judged),
    data: {
      gestational_sac: seen.sac ? 'seen' : 'not_assessed',
      yolk_sac: seenWord(seen.yolkSac),
      embryo: seenWord(seen.embryo),
      cardiac_activity: seenWord(seen.cardiacActivity),
      route: seen.transvaginal ? 'transvaginal' : 'not_known',
      location: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    measurements,
    classifications: [
      {
        id: 'early-pregnancy-category',
        concept: findingConcept('pregnancy-viability'),
        name: 'Early pregnancy category',
        value: judged.category,
        scheme: SRU,
        criteria: judged.criteria,
      },
    ],
    findings: earlyFindings(judged, seen, measurements, evidence),
    guidance: earlyGuidance(judged, seen),
  };
}

/**
 * The section on early pregnancy: sac, yolk sac, embryo, cardiac activity and viability (obstetric
 * 5).
 */
export const earlyPregnancy: ObstetricSection<EarlyEvidence> = {
  id: EARLY_SECTION,
  title: 'Early pregnancy',
  needs: NEEDS,
  reads: ['earlyPregnancy'],
  run,
};
