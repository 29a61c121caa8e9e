import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acceptedValue, formatValue } from '../../result/render/number-text.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import {
  EARLY_LENGTHS,
  type EarlyLength,
  judgedRate,
  judgedValue,
  type MachineValues,
  machineValues,
} from '../shared/machine-values.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { EarlyEvidence } from './evidence.ts';
import { type EarlyClip, type EarlyFrame, EMBRYO_CLIP } from './evidence.ts';
import { YOLK_SAC_MM, yolkSacBand } from './guideline.ts';
import { CATEGORY_TEXT, differences, earlyFindings, earlyGaps, earlyGuidance } from './judge.ts';
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

/** Why nothing of the frames is measured; null where a sac is told on one of them. */
function withoutSac(frames: readonly EarlyFrame[]): SectionOutcome | null {
  if (frames.some(({ bodies }) => bodies === 'several')) {
    const detail =
      'More than one gestational sac may be present: which value belongs to which sac was not determined, and nothing was measured.';
    return inadequate('several_sacs', detail, NEEDS);
  }
  if (frames.some(({ sac }) => sac?.accepted)) return null;
  const why = frames.some(({ bodies }) => bodies === 'unclear')
    ? 'more than one echo-free area may be the sac, and neither a yolk sac nor an embryo shows which of them it is.'
    : 'no gestational sac could be outlined with confidence; this does not say that there is none.';
  return inadequate('low_confidence', `Early pregnancy was not assessed: ${why}`, NEEDS);
}

function namedValue(measurements: readonly Measurement[], key: EarlyLength) {
  const found = judgedValue(measurements, key);
  if (!found) return [];
  return [`${found.label} ${formatValue(key, found.value)}${isOfMachine(found) ? OF_MACHINE : ''}`];
}

const OF_MACHINE = ' (ultrasound machine)';

function namedYolkSac(measurements: readonly Measurement[]): string[] {
  const found = judgedValue(measurements, 'yolk-sac');
  if (!found) return [];
  const band = yolkSacBand(found.value);
  const usual = `usual ${YOLK_SAC_MM.small} to ${YOLK_SAC_MM.large} mm`;
  const size = band === 'usual' ? '' : ` (${band}; ${usual})`;
  const whose = isOfMachine(found) ? OF_MACHINE : '';
  return [`${found.label} ${formatValue('yolk-sac', found.value)}${size}${whose}`];
}

function summaryOf(
  seen: EarlySight,
  measurements: readonly Measurement[],
  judged: EarlyViability,
): string {
  const rate = judgedRate(measurements);
  const age = acceptedValue(measurements, 'ga-by-crl');
  const activity = rate
    ? [
        `cardiac activity seen, ${formatValue('fetal-heart-rate', rate.value)}${isOfMachine(rate) ? OF_MACHINE : ''}`,
      ]
    : seen.cardiacActivity
      ? ['cardiac activity seen on M-mode']
      : [];
  const parts = [
    seen.sac ? 'Gestational sac seen' : 'Values of the ultrasound machine',
    ...namedValue(measurements, 'mean-sac-diameter'),
    ...namedYolkSac(measurements),
    ...namedValue(measurements, 'crl'),
    ...activity,
    ...(age ? [`gestational age by CRL ${weeksAndDays(age.value)} weeks`] : []),
    ...(seen.embryo === false ? ['no embryo seen in either plane'] : []),
    CATEGORY_TEXT[judged.category],
  ];
  return [`${parts.join('; ')}.`, ...judged.unsure, ...differences(measurements)].join(' ');
}

/** Of the machine's report; a rate is that of the embryo here, under a name of its own. */
function ofMachine(evidence: EarlyEvidence): MachineValues {
  const lengths = machineValues(evidence, EARLY_SECTION, EARLY_LENGTHS);
  // A rate alone says nothing of an early pregnancy: a machine gives it at every age.
  if (lengths.measurements.length === 0 && !evidence.views.earlyPregnancy?.length) return lengths;
  const { measurements } = machineValues(evidence, EARLY_SECTION, ['fetal-heart-rate']);
  const rates = measurements.map((one) => ({
    ...one,
    id: one.id.replace('fetal-heart-rate', 'embryonic-heart-rate'),
  }));
  return { ...lengths, measurements: [...lengths.measurements, ...rates] };
}

/** Of several fetuses no two images are put together (obstetric 0.5). */
function apart(clips: readonly EarlyClip[], unused: string | null, why: string): SectionOutcome {
  const detail = [
    `Each length of an embryo stands by itself, without an age or a category: ${why}.`,
    ...(unused ? [unused] : []),
  ].join(' ');
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', detail, needs: ['a study of each fetus by itself'] },
    summary: detail,
    data: { location: 'not_assessed', limitation: SIMULATED_ONLY },
    measurements: measureEmbryosApart(clips),
  };
}

function run(evidence: EarlyEvidence): SectionOutcome {
  const clips = evidence.views.earlyPregnancy ?? [];
  const machine = ofMachine(evidence);
  if (clips.length === 0 && machine.measurements.length === 0) {
    const none = 'Early pregnancy was not assessed: no view of a gestational sac was found.';
    return notAssessed('view_missing', [none, machine.unused].filter(Boolean).join(' '), NEEDS);
  }
  const nothing = clips.length > 0 ? withoutSac(clips.flatMap(({ frames }) => frames)) : null;
  if (nothing && (machine.measurements.length === 0 || nothing.reason?.code === 'several_sacs')) {
    return nothing;
  }
  const several = evidence.severalFetuses;
  if (several) return apart(clips, machine.unused, several);
  const measurements = measureEarlyPregnancy(clips, machine.measurements);
  if (measurements.every(({ unit }) => unit !== 'mm')) {
    const detail = 'A gestational sac was seen and not measured: no physical scale was available.';
    return notAssessed('no_calibration', detail, NEEDS);
  }
  const sweeps = evidence.views.fetalHeart?.mMode ?? [];
  const seen = earlySight(clips, sweeps, machine.measurements);
  const judged = judgeViability(seen, measurements, evidence.options.dating);
  const gaps = earlyGaps({ seen, measurements, clips, machine, view: VIEW, cine: CINE });
  return {
    status: 'partial',
    reason: {
      code: gaps[0]?.code ?? 'location_not_assessed',
      detail: gaps.map(({ detail }) => detail).join(' '),
      needs: gaps.map(({ need }) => need),
    },
    summary: summaryOf(seen, measurements, judged),
    data: {
      gestational_sac: seen.sac ? 'seen' : 'not_assessed',
      yolk_sac: seen.yolkSac ? 'seen' : seen.sac ? 'not_seen' : 'not_assessed',
      embryo: seen.embryo === null ? 'not_assessed' : seen.embryo ? 'seen' : 'not_seen',
      cardiac_activity:
        seen.cardiacActivity === null ? 'not_assessed' : seen.cardiacActivity ? 'seen' : 'not_seen',
      route: seen.transvaginal ? 'transvaginal' : 'not_known',
      location: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    measurements,
    classifications: [
      {
        id: 'early-pregnancy-category',
        section: EARLY_SECTION,
        concept: findingConcept('pregnancy-viability'),
        name: 'Early pregnancy category',
        value: judged.category,
        scheme: SRU,
        criteria: judged.criteria,
      },
    ],
    findings: earlyFindings(judged, seen, measurements, evidence.options.dating),
    guidance: earlyGuidance(judged, seen),
  };
}

/** Sac, yolk sac, embryo, cardiac activity and viability (obstetric 5). */
export const earlyPregnancy: ObstetricSection<EarlyEvidence> = {
  id: EARLY_SECTION,
  title: 'Early pregnancy',
  needs: NEEDS,
  reads: ['earlyPregnancy'],
  run,
};
