import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acceptedValue, formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft, GuidanceDraft } from '../../result/section-outcome.ts';
import { embryonicRateBand } from '../fetal-heart/guideline.ts';
import { bandsRemark } from '../fetal-heart/judge-rate.ts';
import {
  bothValues,
  differ,
  EARLY_LENGTHS,
  judgedRate,
  judgedValue,
  type MachineValues,
} from '../shared/machine-values.ts';
import type { EarlyClip, EarlyEvidence } from './evidence.ts';
import { DATING_CRL, redatingDays } from './guideline.ts';
import { EARLY_SECTION } from './measure.ts';
import type { EarlySight, EarlyViability, JudgedViability } from './viability.ts';

/** How the report says each category. */
export const CATEGORY_TEXT: Readonly<Record<JudgedViability, string>> = {
  'suspicious-for-pregnancy-loss':
    'concerning for early pregnancy loss, not diagnostic; pregnancy of uncertain viability',
  'uncertain-viability': 'pregnancy of uncertain viability',
  'embryo-with-cardiac-activity': 'embryo with cardiac activity',
  'not-assessable': 'viability not assessable from these images',
};

/** A category that must be acted on: looked at again, by a person. */
const OPEN: ReadonlySet<JudgedViability> = new Set([
  'suspicious-for-pregnancy-loss',
  'uncertain-viability',
]);

/** An echo-free area is a gestational sac for sure only with a yolk sac or an embryo in it. */
const UNPROVEN =
  'Neither yolk sac nor embryo was seen in the outlined echo-free area: that it is a gestational sac within the uterus, and no bladder or cyst, was not assessed.';

function viabilityFinding(
  { category, unsure }: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
): FindingDraft[] {
  if (!OPEN.has(category)) return [];
  const keys = ['mean-sac-diameter', 'crl'] as const;
  const values = keys.flatMap((key) => judgedValue(measurements, key) ?? []);
  const numbers = keys.flatMap((key) => {
    const one = judgedValue(measurements, key);
    const whose = one && isOfMachine(one) ? ' (ultrasound machine)' : '';
    return one ? `${one.label} ${formatValue(key, one.value)}${whose}` : [];
  });
  const silent = seen.silentSeconds === null ? [] : [silentSentence(seen.silentSeconds)];
  const unproven = seen.embryo === false && !seen.yolkSac ? [UNPROVEN] : [];
  const head = CATEGORY_TEXT[category];
  const text = [
    `${[`${head[0]?.toUpperCase()}${head.slice(1)}`, ...numbers].join('; ')}.`,
    ...silent,
    ...unproven,
    ...unsure,
  ].join(' ');
  return [
    {
      id: 'viability',
      section: EARLY_SECTION,
      concept: findingConcept('pregnancy-viability'),
      text,
      severity: 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}

function silentSentence(seconds: number): string {
  return `No cardiac activity was seen during the recorded clip of ${seconds.toFixed(1)} s; confirmation by a second observer is required.`;
}

function rateFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const rate = judgedRate(measurements);
  const age = acceptedValue(measurements, 'ga-by-crl');
  if (!rate || !age) return [];
  const gaDays = Math.round(age.value);
  const band = embryonicRateBand(gaDays, rate.value);
  if (!band || band === 'usual') return [];
  const remark = bandsRemark(gaDays);
  return [
    {
      id: 'embryonic-heart-rate',
      section: EARLY_SECTION,
      concept: findingConcept('cardiac-activity'),
      text: `Embryonic heart rate ${formatValue('fetal-heart-rate', rate.value)}${isOfMachine(rate) ? ' (ultrasound machine)' : ''}: ${band} at ${weeksAndDays(age.value)} weeks by CRL.${remark ? ` ${remark}` : ''}`,
      severity: band === 'borderline' ? 'info' : 'abnormal',
      confidence: rate.confidence,
      evidence: [rate.id, age.id],
    },
  ];
}

/** That the age by CRL differs from the one given by more than is let stand; it re-dates nothing. */
function datingFinding(
  measurements: readonly Measurement[],
  dating: EarlyEvidence['options']['dating'],
): FindingDraft[] {
  const age = acceptedValue(measurements, 'ga-by-crl');
  const crl = judgedValue(measurements, 'crl');
  if (!age || !crl || dating?.basis !== 'lmp') return [];
  const apart = Math.abs(Math.round(age.value) - dating.ga_days);
  const limit = redatingDays(dating.ga_days);
  if (apart <= limit) return [];
  return [
    {
      id: 'age-by-crl',
      section: EARLY_SECTION,
      concept: findingConcept('gestational-age'),
      text: `Age by CRL ${weeksAndDays(age.value)} weeks, ${apart} days from the ${weeksAndDays(dating.ga_days)} weeks by last menstrual period: beyond ${limit} days dating by ultrasound is advised (ACOG Committee Opinion 700). The age given was kept.`,
      severity: 'info',
      confidence: null,
      evidence: [age.id, crl.id],
    },
  ];
}

/** Where the machine and the images are further apart than ours is uncertain, a sentence each. */
export function differences(measurements: readonly Measurement[]): string[] {
  return EARLY_LENGTHS.flatMap((key) => {
    const both = bothValues(measurements, key);
    if (!both || !differ(both)) return [];
    const { machine, own } = both;
    return `${own.label} ${formatValue(key, machine.value)} by the ultrasound machine, ${formatValue(key, own.value)} as measured here: measure by hand.`;
  });
}

function differenceFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const sentences = differences(measurements);
  if (sentences.length === 0) return [];
  const pairs = EARLY_LENGTHS.flatMap((key) => bothValues(measurements, key) ?? []).filter(differ);
  return [
    {
      id: 'early-values-differ',
      section: EARLY_SECTION,
      concept: findingConcept('repeatability'),
      text: sentences.join(' '),
      severity: 'abnormal',
      confidence: null,
      evidence: pairs.flatMap(({ machine, own }) => [machine.id, own.id]),
    },
  ];
}

/** The category where it must be acted on, a heart rate and an age that do not fit the CRL. */
export function earlyFindings(
  judged: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
  dating: EarlyEvidence['options']['dating'],
): FindingDraft[] {
  return [
    ...viabilityFinding(judged, seen, measurements),
    ...differenceFinding(measurements),
    ...rateFinding(measurements),
    ...datingFinding(measurements, dating),
  ];
}

/** Days before a repeat scan (NICE NG126): by a transvaginal one, and by a transabdominal one only. */
const REPEAT_DAYS = { transvaginal: 7, other: 14 } as const;

/** What to do next where viability is in doubt. */
export function earlyGuidance(
  { category, seemsLost }: EarlyViability,
  { transvaginal }: EarlySight,
): GuidanceDraft[] {
  if (!OPEN.has(category)) return [];
  const days = transvaginal ? REPEAT_DAYS.transvaginal : REPEAT_DAYS.other;
  const when = `a repeat scan after at least ${days} days`;
  return [
    {
      id: 'repeat-early-scan',
      section: EARLY_SECTION,
      text: seemsLost
        ? `Consider a second opinion and ${when} per local protocol before any diagnosis.`
        : `Consider ${when} per local protocol.`,
      source: 'NICE NG126 (2019)',
    },
  ];
}

/** What of an early pregnancy stays open, why, and what would close it. */
export interface EarlyGap {
  code: string;
  detail: string;
  need: string;
}

interface Known {
  seen: EarlySight;
  measurements: readonly Measurement[];
  clips: readonly EarlyClip[];
  machine: MachineValues;
  /** The words for the views and the cine that the section needs. */
  view: string;
  cine: string;
}

function cardiacGap({ clips, cine }: Known): EarlyGap {
  const moving = clips.some(({ clip }) => clip.frames.length > 1);
  return {
    code: 'cine_missing',
    detail: moving
      ? 'Cardiac activity was not assessed: no clip of the embryo was long and quick enough.'
      : 'Cardiac activity was not assessed: a still image cannot show it.',
    need: cine,
  };
}

function sizeGaps({ measurements, machine, view }: Known): EarlyGap[] {
  const crl = judgedValue(measurements, 'crl');
  const undated = crl && (crl.value < DATING_CRL.from || crl.value > DATING_CRL.to);
  const { from, to } = DATING_CRL;
  return [
    ...(judgedValue(measurements, 'mean-sac-diameter')
      ? []
      : [
          {
            code: 'planes_missing',
            detail:
              'Mean sac diameter could not be computed; viability criteria based on MSD were not applied.',
            need: 'sagittal and transverse images of the sac, named by the cart',
          },
        ]),
    ...(undated
      ? [
          {
            code: 'outside_chart_range',
            detail: `CRL ${formatValue('crl', crl.value)} is outside the ${from} to ${to} mm for which age by CRL holds: no age was given.`,
            need: view,
          },
        ]
      : []),
    ...differences(measurements).map((detail) => ({ code: 'values_differ', detail, need: view })),
    ...(machine.unused
      ? [
          {
            code: 'several_fetuses',
            detail: machine.unused,
            need: 'one report for each fetus',
          },
        ]
      : []),
  ];
}

function viabilityGaps(seen: EarlySight): EarlyGap[] {
  return [
    ...(seen.embryo === false
      ? [
          {
            code: 'two_planes_only',
            detail: 'An embryo beside the two planes of the sac would not be seen.',
            need: 'a sweep through the whole sac, looked at by the examiner',
          },
        ]
      : []),
    ...(seen.cardiacActivity === true
      ? []
      : [
          {
            code: 'history_not_applied',
            detail:
              'The criteria that rest on an earlier scan, and an empty amnion, were not looked at.',
            need: 'the findings of an earlier scan',
          },
        ]),
  ];
}

/** All gaps in the order in which they matter; the last, the location, is always among them. */
export function earlyGaps(known: Known): EarlyGap[] {
  const { seen, view } = known;
  return [
    ...(seen.sac
      ? []
      : [
          {
            code: 'view_missing',
            detail: 'No gestational sac was told on the images.',
            need: view,
          },
        ]),
    ...sizeGaps(known),
    ...(seen.cardiacActivity === null ? [cardiacGap(known)] : []),
    ...(seen.transvaginal
      ? []
      : [
          {
            code: 'route_unknown',
            detail:
              'The images are not known to be transvaginal, for which the criteria of loss hold.',
            need: 'the route of the examination in the view name',
          },
        ]),
    ...viabilityGaps(seen),
    {
      code: 'location_not_assessed',
      detail:
        'Whether the sac lies within the uterus was not assessed; the criteria hold for an intrauterine sac.',
      need: 'confirmation of the location by the examiner',
    },
  ];
}
