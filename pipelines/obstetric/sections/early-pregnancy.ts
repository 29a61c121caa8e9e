import { findingConcept } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../charts/dates.ts';
import { CATEGORY_TEXT, earlyFindings, earlyGuidance } from '../early-findings.ts';
import { EARLY_SECTION, measureEarlyPregnancy } from '../early-lengths.ts';
import {
  type EarlySight,
  type EarlyViability,
  earlySight,
  judgeViability,
  SRU,
} from '../early-viability.ts';
import { format, standing } from '../measurement.ts';
import type { EarlyClip } from '../read/early-pregnancy.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const VIEW = 'calibrated transvaginal images of sac and embryo in two planes';
const CINE = 'a cine of the embryo of at least 1.5 s';

function notAssessed(
  code: string,
  detail: string,
  measurements: Measurement[] = [],
): SectionOutcome {
  return {
    status: 'not_assessed',
    reason: { code, detail, needs: [VIEW, CINE] },
    summary: detail,
    measurements,
  };
}

interface Gap {
  code: string;
  detail: string;
  need: string;
}

function gapsOf(
  seen: EarlySight,
  measurements: readonly Measurement[],
  clips: readonly EarlyClip[],
): Gap[] {
  const gaps: Gap[] = [];
  if (!standing(measurements, 'mean-sac-diameter')) {
    gaps.push({
      code: 'planes_missing',
      detail:
        'Mean sac diameter could not be computed; viability criteria based on MSD were not applied.',
      need: 'sagittal and transverse images of the sac, named by the cart',
    });
  }
  if (seen.cardiacActivity === null) {
    const moving = clips.some(({ clip }) => clip.frames.length > 1);
    gaps.push({
      code: 'cine_missing',
      detail: moving
        ? 'Cardiac activity was not assessed: no clip of the embryo was long and quick enough.'
        : 'Cardiac activity was not assessed: a still image cannot show it.',
      need: CINE,
    });
  }
  if (!seen.transvaginal) {
    gaps.push({
      code: 'route_unknown',
      detail:
        'The images are not known to be transvaginal, so no criterion diagnostic of loss was applied.',
      need: 'the route of the examination in the view name',
    });
  }
  gaps.push({
    code: 'location_not_assessed',
    detail:
      'Whether the sac lies within the uterus was not assessed; the criteria hold for an intrauterine sac.',
    need: 'confirmation of the location by the examiner',
  });
  return gaps;
}

function summaryOf(
  seen: EarlySight,
  measurements: readonly Measurement[],
  judged: EarlyViability,
): string {
  const named = (['mean-sac-diameter', 'yolk-sac', 'crl'] as const).flatMap((key) => {
    const found = standing(measurements, key);
    return found ? [`${found.label} ${format(key, found.value)}`] : [];
  });
  const rate = measurements.find(({ id }) => id === 'embryonic-heart-rate');
  const age = standing(measurements, 'ga-by-crl');
  const parts = [
    'Gestational sac seen',
    ...named,
    ...(rate ? [`cardiac activity seen, ${format('fetal-heart-rate', rate.value)}`] : []),
    ...(age ? [`gestational age by CRL ${weeksAndDays(age.value)} weeks`] : []),
    ...(seen.embryo === false ? ['no embryo seen in either plane'] : []),
    CATEGORY_TEXT[judged.category],
  ];
  return `${parts.join('; ')}.`;
}

function run(evidence: ObstetricEvidence): SectionOutcome {
  const clips = evidence.views.earlyPregnancy ?? [];
  if (clips.length === 0) {
    return notAssessed(
      'view_missing',
      'Early pregnancy was not assessed: no view of a gestational sac was found.',
    );
  }
  const frames = clips.flatMap((clip) => clip.frames);
  const accepted = frames.filter(({ sac }) => sac?.accepted);
  if (accepted.length === 0) {
    const detail =
      'Early pregnancy was not assessed: no gestational sac could be outlined with confidence; this does not say that there is none.';
    return { ...notAssessed('low_confidence', detail), status: 'inadequate' };
  }
  const measurements = measureEarlyPregnancy(clips);
  if (measurements.every(({ unit }) => unit !== 'mm')) {
    return notAssessed(
      'no_calibration',
      'A gestational sac was seen and not measured: no physical scale was available.',
    );
  }
  const seen = earlySight(clips);
  const judged = judgeViability(seen, measurements, evidence.options.dating);
  const gaps = gapsOf(seen, measurements, clips);
  return {
    status: 'partial',
    reason: {
      code: gaps[0]?.code ?? 'location_not_assessed',
      detail: gaps.map(({ detail }) => detail).join(' '),
      needs: gaps.map(({ need }) => need),
    },
    summary: summaryOf(seen, measurements, judged),
    data: {
      gestational_sac: 'seen',
      yolk_sac: seen.yolkSac ? 'seen' : 'not_seen',
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
    findings: earlyFindings(judged, seen, measurements),
    guidance: earlyGuidance(judged),
  };
}

/** Sac, yolk sac, embryo, cardiac activity and viability (obstetric reference 5). */
export const earlyPregnancy: ObstetricSection = {
  id: EARLY_SECTION,
  title: 'Early pregnancy',
  needs: [VIEW, CINE],
  reads: ['earlyPregnancy'],
  run,
};
