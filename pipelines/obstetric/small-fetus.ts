import { centileText } from '../result/centile-text.ts';
import { type FindingConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';
import {
  LATE_FORM_WEEKS,
  type RestrictionCriterion,
  type RestrictionEvidence,
  type RestrictionForm,
  restrictionCriteria,
  restrictionForm,
} from './charts/growth-restriction.ts';
import {
  type Charted,
  type ChartedKey,
  chartedValue,
  valueWithCentile,
} from './growth-references.ts';
import type { GrowthSince } from './growth-since.ts';
import { BASIS_TEXT, type DatingBasis } from './input.ts';
import { standing } from './measurement.ts';

const CONCEPT: FindingConceptKey = 'fetal-growth-restriction';
const DELPHI = 'Gordijn et al. 2016, UOG 48:333-339';

/** What the judgement of a small fetus draws on; what was not assessed is absent or null. */
export interface SmallFetusEvidence {
  charted: readonly Charted[];
  gaDays: number;
  basis: DatingBasis;
  since: GrowthSince;
  /** Of the sections that ran before: Doppler indices with their centiles. */
  measurements: readonly Measurement[];
  classified: Result['classifications'];
}

type Flow = NonNullable<RestrictionEvidence['endDiastolicFlow']>;
const FLOWS: readonly Flow[] = ['forward', 'intermittent-absent', 'absent', 'reversed'];

function classifiedAs(classified: Result['classifications'], section: string, id: string) {
  return classified.find((one) => one.section === section && one.id === id)?.value ?? null;
}

function restrictionEvidence(given: SmallFetusEvidence): RestrictionEvidence {
  const { charted, gaDays, measurements, classified, since } = given;
  const centile = (key: Parameters<typeof standing>[1]) =>
    standing(measurements, key)?.reference?.centile ?? null;
  const flow = classifiedAs(classified, 'doppler', 'end-diastolic-flow');
  return {
    gaWeeks: gaDays / 7,
    efwCentile: chartedValue(charted, 'efw')?.centile ?? null,
    acCentile: chartedValue(charted, 'ac')?.centile ?? null,
    uaPiCentile: centile('umbilical-artery-pi'),
    utaPiCentile: centile('uterine-artery-mean-pi'),
    cprCentile: centile('cerebroplacental-ratio'),
    endDiastolicFlow: FLOWS.find((one) => one === flow) ?? null,
    centileFall: since.fall?.points ?? null,
  };
}

const valueText = ({ value }: RestrictionCriterion) =>
  typeof value === 'number' ? `centile ${centileText(value)}` : (value ?? 'not assessed');

const criterionText = (one: RestrictionCriterion) =>
  typeof one.value === 'number' ? `${one.name} (${centileText(one.value)})` : one.name;

const distinct = (texts: readonly string[]) => [...new Set(texts)];

function leadOf(form: RestrictionForm, early: boolean, criteria: readonly RestrictionCriterion[]) {
  if (form === 'sga-doppler-needed') {
    return 'Small for gestational age; umbilical artery (and after 32 weeks middle cerebral artery) Doppler is needed to separate constitutional smallness from growth restriction.';
  }
  if (form === 'sga-not-fgr') {
    return 'Small for gestational age; the Doppler criteria of the consensus definition of growth restriction were assessed and none is met.';
  }
  const met = criteria.filter((one) => one.met).map(criterionText);
  return `Meets the consensus definition of ${early ? 'early' : 'late'} fetal growth restriction: ${distinct(met).join(', ')}.`;
}

function findingOf(form: RestrictionForm, lead: string, evidence: readonly Charted[]): Finding[] {
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

function guidanceText(
  given: SmallFetusEvidence,
  lead: string,
  values: readonly Charted[],
  missing: readonly string[],
): string {
  const { gaDays, basis, since, classified } = given;
  const fluid = classifiedAs(classified, 'amniotic-fluid', 'deepest-vertical-pocket');
  const notAssessed = [...missing, ...(fluid ? [] : ['amniotic fluid']), 'anatomy'];
  const named = values
    .map((entry) => valueWithCentile(entry, entry.measurement.concept.key as ChartedKey))
    .join(', ');
  return [
    lead,
    `Dated by ${BASIS_TEXT[basis]}: ${weeksAndDays(gaDays)} weeks; ${named}.`,
    ...(since.change ? [since.sentence] : []),
    ...(fluid ? [`Amniotic fluid: ${fluid}.`] : []),
    `Not assessed: ${distinct(notAssessed).join(', ')}.`,
    'Consider confirming the dating, detailed anatomy, amniotic fluid and serial Doppler per local protocol (ISUOG 2020, SMFM Consult Series 52).',
  ].join(' ');
}

/**
 * Growth restriction of a singleton by the Delphi consensus, and what a small fetus needs in the
 * words of reference 3.9: what was and was not available. Restriction is never excluded without
 * Doppler, and no delivery timing is stated.
 */
export function smallFetus(given: SmallFetusEvidence): {
  guidance: Result['guidance'];
  findings: Finding[];
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
    return { guidance: [], findings: [], classifications: [], data };
  }
  const values = (['efw', 'ac'] as const).flatMap((key) => chartedValue(given.charted, key) ?? []);
  const lead = leadOf(form, evidence.gaWeeks < LATE_FORM_WEEKS, criteria);
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
