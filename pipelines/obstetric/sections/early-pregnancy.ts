import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../charts/dates.ts';
import {
  DIAGNOSTIC,
  embryonicRateBand,
  SUSPICIOUS,
  SUSPICIOUS_MSD,
  suspiciousSigns,
  type ViabilityCategory,
  viability,
} from '../charts/early-pregnancy.ts';
import { measureEarlyPregnancy } from '../early-lengths.ts';
import { format, standing } from '../measurement.ts';
import type { EarlyClip } from '../read/early-pregnancy.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const ID = 'early-pregnancy';
const VIEW = 'calibrated transvaginal images of sac and embryo in two planes';
const CINE = 'a cine of the embryo of at least 1.5 s';
const SRU = 'SRU consensus, Doubilet et al., NEJM 2013;369:1443-1451';

/** What the images allow to say; null: not assessed. */
interface Seen {
  transvaginal: boolean;
  yolkSac: boolean;
  /** False only where the sac was seen in both planes. */
  embryo: boolean | null;
  /** False only where a cine with the embryo in it was long and quick enough to see it. */
  cardiacActivity: boolean | null;
  /** Seconds of the clip in which cardiac activity was looked for and not seen. */
  silentSeconds: number | null;
}

function look(clips: readonly EarlyClip[]): Seen {
  const withSac = clips.filter(({ frames }) => frames.some(({ sac }) => sac?.accepted));
  const contents = withSac.flatMap(({ frames }) => frames.flatMap((frame) => frame.contents ?? []));
  const embryoSeen = contents.some(({ embryo }) => embryo !== null);
  const planes = new Set(withSac.flatMap(({ plane }) => plane ?? []));
  const silent = withSac.filter(
    ({ cardiac, frames }) =>
      cardiac?.status === 'not-seen' && frames.some(({ contents: held }) => held?.embryo),
  );
  const beating = withSac.some(({ cardiac }) => cardiac?.status === 'beating');
  const times = silent.map(({ clip }) => clip.frames.at(-1)?.time ?? 0);
  return {
    transvaginal: withSac.length > 0 && withSac.every(({ route }) => route === 'transvaginal'),
    yolkSac: contents.some(({ yolkSac }) => yolkSac !== null),
    embryo: embryoSeen || beating ? true : planes.size === 2 ? false : null,
    cardiacActivity: beating ? true : silent.length > 0 ? false : null,
    silentSeconds: times.length > 0 ? Math.max(...times) : null,
  };
}

interface Judged {
  category: ViabilityCategory;
  criteria: Result['classifications'][number]['criteria'];
}

/** SRU's criteria in their order; the first list holds for transvaginal images only. */
function judge(
  seen: Seen,
  measurements: readonly Measurement[],
  evidence: ObstetricEvidence,
): Judged {
  const value = (key: 'crl' | 'mean-sac-diameter' | 'yolk-sac') =>
    standing(measurements, key)?.value ?? null;
  const crl = value('crl');
  const msd = value('mean-sac-diameter');
  const { embryo, cardiacActivity } = seen;
  const dating = evidence.options.dating;
  const signs = suspiciousSigns({
    yolkSac: value('yolk-sac'),
    msd,
    crl,
    embryo,
    daysByLmp: dating?.basis === 'lmp' ? dating.ga_days : null,
  });
  const byScan = viability({ crl, msd, embryo, cardiacActivity });
  const anySign = cardiacActivity !== true && Object.values(signs).some(Boolean);
  const held =
    byScan === 'diagnostic-of-pregnancy-loss' && !seen.transvaginal
      ? 'uncertain-viability'
      : byScan;
  const open = held === 'uncertain-viability' || held === 'not-assessable';
  const category = open && anySign ? 'suspicious-for-pregnancy-loss' : held;
  const heart =
    cardiacActivity === null ? 'not assessed' : cardiacActivity ? 'seen' : 'not seen in the clip';
  const crlText = crl === null ? 'CRL not measured' : `CRL ${format('crl', crl)}`;
  const msdText = msd === null ? 'MSD not measured' : `MSD ${format('mean-sac-diameter', msd)}`;
  const embryoText =
    embryo === null ? 'embryo not assessed' : embryo ? 'embryo seen' : 'no embryo seen';
  const silent = crl !== null && cardiacActivity === false;
  const empty = msd !== null && embryo === false;
  return {
    category,
    criteria: [
      {
        name: 'transvaginal images',
        value: seen.transvaginal ? 'yes' : 'not known',
        met: seen.transvaginal,
      },
      {
        name: `CRL at least ${DIAGNOSTIC.crl} mm and no cardiac activity`,
        value: `${crlText}, cardiac activity ${heart}`,
        met: silent && crl >= DIAGNOSTIC.crl,
      },
      {
        name: `MSD at least ${DIAGNOSTIC.msd} mm and no embryo`,
        value: `${msdText}, ${embryoText}`,
        met: empty && msd >= DIAGNOSTIC.msd,
      },
      {
        name: `CRL below ${DIAGNOSTIC.crl} mm and no cardiac activity`,
        value: `${crlText}, cardiac activity ${heart}`,
        met: silent && crl < DIAGNOSTIC.crl,
      },
      {
        name: `MSD from ${SUSPICIOUS_MSD} mm and no embryo`,
        value: `${msdText}, ${embryoText}`,
        met: empty && msd >= SUSPICIOUS_MSD && msd < DIAGNOSTIC.msd,
      },
      {
        name: `yolk sac above ${SUSPICIOUS.yolkSacAbove} mm`,
        value: standing(measurements, 'yolk-sac')
          ? format('yolk-sac', value('yolk-sac') ?? 0)
          : 'not measured',
        met: signs.largeYolkSac,
      },
      {
        name: `MSD less CRL below ${SUSPICIOUS.smallSacBelow} mm`,
        value: `${msdText}, ${crlText}`,
        met: signs.smallSac,
      },
      {
        name: 'no embryo from 6 weeks after the last menstrual period',
        value: embryoText,
        met: signs.lateEmbryo,
      },
    ],
  };
}

const CATEGORY_TEXT: Readonly<Record<ViabilityCategory, string>> = {
  'diagnostic-of-pregnancy-loss': 'a criterion diagnostic of early pregnancy loss is met',
  'suspicious-for-pregnancy-loss':
    'concerning for early pregnancy loss, not diagnostic; pregnancy of uncertain viability',
  'uncertain-viability': 'pregnancy of uncertain viability',
  'embryo-with-cardiac-activity': 'embryo with cardiac activity',
  'not-assessable': 'viability not assessable from these images',
};

/** A category that must be acted on: looked at again, by a person. */
const OPEN: ReadonlySet<ViabilityCategory> = new Set([
  'diagnostic-of-pregnancy-loss',
  'suspicious-for-pregnancy-loss',
  'uncertain-viability',
]);

function viabilityFinding(
  { category }: Judged,
  seen: Seen,
  measurements: readonly Measurement[],
): Finding[] {
  if (!OPEN.has(category)) return [];
  const values = (['mean-sac-diameter', 'crl'] as const).flatMap(
    (key) => standing(measurements, key) ?? [],
  );
  const numbers = values.map(
    ({ label, value, concept }) =>
      `${label} ${format(concept.key === 'crl' ? 'crl' : 'mean-sac-diameter', value)}`,
  );
  const silent = seen.silentSeconds === null ? [] : [silentSentence(seen.silentSeconds)];
  const head = CATEGORY_TEXT[category];
  const text = [
    `${[`${head[0]?.toUpperCase()}${head.slice(1)}`, ...numbers].join('; ')}.`,
    ...silent,
  ].join(' ');
  return [
    {
      id: 'viability',
      section: ID,
      concept: findingConcept('pregnancy-viability'),
      text,
      // Told at once: an empty sac or an embryo without cardiac activity where one was to be seen.
      severity: category === 'diagnostic-of-pregnancy-loss' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}

function silentSentence(seconds: number): string {
  return `No cardiac activity was seen during the recorded clip of ${seconds.toFixed(1)} s; confirmation by a second observer is required.`;
}

function rateFinding(measurements: readonly Measurement[]): Finding[] {
  const rate = measurements.find(({ id }) => id === 'embryonic-heart-rate');
  const age = standing(measurements, 'ga-by-crl');
  const band = rate && age ? embryonicRateBand(Math.round(age.value), rate.value) : null;
  if (!rate || !age || (band !== 'slow' && band !== 'fast')) return [];
  return [
    {
      id: 'embryonic-heart-rate',
      section: ID,
      concept: findingConcept('cardiac-activity'),
      text: `Embryonic heart rate ${format('fetal-heart-rate', rate.value)}: ${band} at ${weeksAndDays(age.value)} weeks by CRL.`,
      severity: 'abnormal',
      confidence: rate.confidence,
      evidence: [rate.id, age.id],
    },
  ];
}

function guidance({ category }: Judged): Result['guidance'] {
  if (!OPEN.has(category)) return [];
  return [
    {
      id: 'repeat-early-scan',
      section: ID,
      text:
        category === 'diagnostic-of-pregnancy-loss'
          ? 'Consider a second opinion and a repeat scan per local protocol before any diagnosis.'
          : 'Consider a repeat scan per local protocol.',
      source: 'NICE NG126 (2019)',
    },
  ];
}

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
  seen: Seen,
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

function summaryOf(seen: Seen, measurements: readonly Measurement[], judged: Judged): string {
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
  const seen = look(clips);
  const judged = judge(seen, measurements, evidence);
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
        section: ID,
        concept: findingConcept('pregnancy-viability'),
        name: 'Early pregnancy category',
        value: judged.category,
        scheme: SRU,
        criteria: judged.criteria,
      },
    ],
    findings: [...viabilityFinding(judged, seen, measurements), ...rateFinding(measurements)],
    guidance: guidance(judged),
  };
}

/** Sac, yolk sac, embryo, cardiac activity and viability (obstetric reference 5). */
export const earlyPregnancy: ObstetricSection = {
  id: ID,
  title: 'Early pregnancy',
  needs: [VIEW, CINE],
  reads: ['earlyPregnancy'],
  run,
};
