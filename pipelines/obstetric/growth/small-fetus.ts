import { chartEntry, type FindingConceptKey, findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import type { DatingBasis } from '../../result/render/dating.ts';
import { BASIS_TEXT } from '../../result/render/dating.ts';
import { abbreviations, acceptedValue, formatValue } from '../../result/render/number-text.ts';
import { centileText } from '../../result/render/unit-text.ts';
import type { FindingDraft, GuidanceDraft } from '../../result/section-outcome.ts';
import { FLUID_BY } from '../amniotic-fluid/judge.ts';
import {
  CENTILE_CROSSING,
  LATE_FORM_WEEKS,
  type RestrictionCriterion,
  type RestrictionEvidence,
  type RestrictionForm,
  restrictionCriteria,
  restrictionForm,
  SIZE_CUTOFFS,
} from './guideline.ts';
import type { GrowthSince } from './interval-growth.ts';
import { type Charted, type ChartedKey, chartedValue, valueWithCentile } from './measure.ts';

const CONCEPT: FindingConceptKey = 'fetal-growth-restriction';
const DELPHI = 'Gordijn et al. 2016, UOG 48:333-339';

/** What the judgement of a small fetus draws on; what was not assessed is absent or null. */
export interface SmallFetusEvidence {
  charted: readonly Charted[];
  gaDays: number;
  basis: DatingBasis;
  since: GrowthSince;
  /** Adds what a sentence about size for age depends on. */
  conditioned: (text: string) => string;
  /** Of the sections that ran before: Doppler indices with their centiles. */
  measurements: readonly Measurement[];
  classified: Result['classifications'];
}

type Flow = NonNullable<RestrictionEvidence['endDiastolicFlow']>;
const FLOWS: readonly Flow[] = ['forward', 'intermittent-absent', 'absent', 'reversed'];

function classifiedAs(classified: Result['classifications'], section: string, id: string) {
  return classified.find((one) => one.section === section && one.id === id)?.value ?? null;
}

function flowOf(classified: Result['classifications']): Flow | null {
  const flow = classifiedAs(classified, 'doppler', 'end-diastolic-flow');
  return FLOWS.find((one) => one === flow) ?? null;
}

/** The indices of the definition. */
const DOPPLER_KEYS = [
  'umbilical-artery-pi',
  'uterine-artery-mean-pi',
  'cerebroplacental-ratio',
] as const;

function restrictionEvidence(given: SmallFetusEvidence): RestrictionEvidence {
  const { charted, gaDays, measurements, classified, since } = given;
  const centile = (key: Parameters<typeof acceptedValue>[1]) =>
    acceptedValue(measurements, key)?.reference?.centile ?? null;
  return {
    gaWeeks: gaDays / 7,
    efwCentile: chartedValue(charted, 'efw')?.centile ?? null,
    acCentile: chartedValue(charted, 'ac')?.centile ?? null,
    uaPiCentile: centile('umbilical-artery-pi'),
    utaPiCentile: centile('uterine-artery-mean-pi'),
    cprCentile: centile('cerebroplacental-ratio'),
    endDiastolicFlow: flowOf(classified),
    centileFall: since.fall?.points ?? null,
  };
}

/** Whole points; with decimals where rounding would put a fall onto the cut-off. */
function pointsText(points: number): string {
  if (points <= 0) return 'no fall';
  const whole = points.toFixed(0);
  return `${Number(whole) === CENTILE_CROSSING ? points.toFixed(2) : whole} points`;
}

function valueText({ kind, value }: RestrictionCriterion): string {
  if (value === null) return 'not assessed';
  if (typeof value === 'string') return value;
  return kind === 'fall' ? pointsText(value) : `centile ${centileText(value)}`;
}

const criterionText = (one: RestrictionCriterion) =>
  typeof one.value === 'number'
    ? `${one.name} (${one.kind === 'fall' ? pointsText(one.value) : centileText(one.value)})`
    : one.name;

const distinct = (texts: readonly string[]) => [...new Set(texts)];

/** Of a size below both cut-offs the lower one says all. */
function tellingCriteria(criteria: readonly RestrictionCriterion[]): RestrictionCriterion[] {
  const told = new Set<string>();
  return criteria.filter(({ met, kind, needs }) => {
    if (!met || (kind === 'centile' && told.has(needs) && (needs === 'EFW' || needs === 'AC'))) {
      return false;
    }
    told.add(needs);
    return true;
  });
}

const DOPPLER_NEEDED =
  'umbilical artery (and after 32 weeks middle cerebral artery) Doppler is needed to separate constitutional smallness from growth restriction.';

function leadOf(
  form: RestrictionForm,
  { gaWeeks, efwCentile }: RestrictionEvidence,
  criteria: readonly RestrictionCriterion[],
) {
  const onlyAbdomen = efwCentile !== null && efwCentile >= SIZE_CUTOFFS.small;
  const small = onlyAbdomen
    ? `Abdominal circumference below the ${SIZE_CUTOFFS.small}th centile, weight not`
    : 'Small for gestational age';
  if (form === 'sga-doppler-needed') return `${small}; ${DOPPLER_NEEDED}`;
  if (form === 'sga-not-fgr') {
    return `${small}; the Doppler criteria of the consensus definition of growth restriction were assessed and none is met.`;
  }
  const form32 = gaWeeks < LATE_FORM_WEEKS ? 'early' : 'late';
  const met = distinct(tellingCriteria(criteria).map(criterionText)).join(', ');
  return `Meets the consensus definition of ${form32} fetal growth restriction: ${met}.`;
}

function findingOf(
  form: RestrictionForm,
  lead: string,
  evidence: readonly Charted[],
): FindingDraft[] {
  if (form !== 'early-fgr' && form !== 'late-fgr') return [];
  return [
    {
      id: 'growth-restriction',
      section: 'growth',
      concept: findingConcept(CONCEPT),
      text: lead,
      severity: 'abnormal',
      confidence: null,
      evidence: evidence.map(({ measurement }) => measurement.id),
    },
  ];
}

/** What is met of the definition where that alone does not make it; nothing where nothing is. */
function loneCriterionFindings(
  criteria: readonly RestrictionCriterion[],
  missing: readonly string[],
  gaWeeks: number,
): FindingDraft[] {
  const met = distinct(tellingCriteria(criteria).map(criterionText));
  if (met.length === 0) return [];
  const form = gaWeeks < LATE_FORM_WEEKS ? 'early' : 'late';
  const open = missing.length > 0 ? ` Not assessed: ${missing.join(', ')}.` : '';
  const text = `Of the consensus definition of ${form} fetal growth restriction only this is met: ${met.join(', ')}. It does not make the definition alone.${open}`;
  return [
    {
      id: 'growth-restriction-criterion',
      section: 'growth',
      concept: findingConcept(CONCEPT),
      text,
      severity: 'info',
      confidence: null,
      evidence: [],
    },
  ];
}

/** Indices of the same study with their centiles, and the end-diastolic flow; null: there are none. */
function dopplerText({ measurements, classified }: SmallFetusEvidence): string | null {
  const indices = DOPPLER_KEYS.flatMap((key) => {
    const one = acceptedValue(measurements, key);
    const centile = one?.reference?.centile;
    if (!one || centile == null) return [];
    return [
      `${abbreviations([key])} ${formatValue(key, one.value)} (centile ${centileText(centile)})`,
    ];
  });
  const flow = flowOf(classified);
  const parts = [...indices, ...(flow ? [`umbilical end-diastolic flow ${flow}`] : [])];
  return parts.length > 0 ? `Doppler: ${parts.join(', ')}.` : null;
}

/** In the order of obstetric 3.9: dating, chart, centiles, trajectory, fluid, Doppler, what is missing. */
function guidanceText(
  given: SmallFetusEvidence,
  lead: string,
  values: readonly Charted[],
  missing: readonly string[],
): string {
  const { gaDays, basis, since, classified } = given;
  const fluid =
    classifiedAs(classified, 'amniotic-fluid', FLUID_BY.pocket) ??
    classifiedAs(classified, 'amniotic-fluid', FLUID_BY.index);
  const doppler = dopplerText(given);
  const notAssessed = [...missing, ...(fluid ? [] : ['amniotic fluid']), 'anatomy'];
  const named = values
    .map((entry) => valueWithCentile(entry, entry.measurement.concept.key as ChartedKey))
    .join(', ');
  const charts = distinct(
    values.map(({ reference }) => chartEntry(reference.chart)?.name ?? reference.chart),
  );
  return [
    lead,
    `Dated by ${BASIS_TEXT[basis]}: ${weeksAndDays(gaDays)} weeks; ${named}, by ${charts.join(' and ')}.`,
    since.sentence,
    ...(fluid ? [`Amniotic fluid: ${fluid}.`] : []),
    ...(doppler ? [doppler] : []),
    `Not assessed: ${distinct(notAssessed).join(', ')}.`,
    'Consider confirming the dating, detailed anatomy, amniotic fluid and serial Doppler per local protocol (ISUOG 2020, SMFM Consult Series 52).',
  ].join(' ');
}

/**
 * Growth restriction of a singleton by the Delphi consensus, and what a small fetus needs in the
 * words of obstetric 3.9: what was and was not available. Restriction is never excluded without
 * Doppler, and no delivery timing is stated.
 */
export function smallFetus(given: SmallFetusEvidence): {
  guidance: GuidanceDraft[];
  findings: FindingDraft[];
  classifications: Result['classifications'];
  data: Record<string, unknown>;
} {
  const evidence = restrictionEvidence(given);
  const form = restrictionForm(evidence);
  const criteria = restrictionCriteria(evidence);
  const missing = distinct(
    criteria.filter(({ value }) => value === null).map(({ needs }) => needs),
  );
  const data = {
    definition: 'delphi-2016',
    form,
    criteria_met: criteria.filter(({ met }) => met).map(criterionText),
    criteria_not_available: missing,
  };
  if (form === 'none' || form === 'not-assessable') {
    const findings = loneCriterionFindings(criteria, missing, evidence.gaWeeks);
    return { guidance: [], findings, classifications: [], data };
  }
  const values = (['efw', 'ac'] as const).flatMap((key) => chartedValue(given.charted, key) ?? []);
  const lead = given.conditioned(leadOf(form, evidence, criteria));
  return {
    data,
    findings: findingOf(form, lead, values),
    classifications: [
      {
        id: 'growth-restriction',
        section: 'growth',
        concept: findingConcept(CONCEPT),
        name: 'Fetal growth restriction',
        value: form,
        scheme: DELPHI,
        criteria: criteria.map((one) => ({
          name: one.name,
          value: valueText(one),
          met: one.met,
        })),
      },
    ],
    guidance: [
      {
        id: 'small-fetus',
        section: 'growth',
        text: guidanceText(given, lead, values, missing),
        source: `${DELPHI}; Lees et al. 2020, UOG 56:298-312`,
      },
    ],
  };
}
