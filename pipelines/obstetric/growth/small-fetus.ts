import {
  type FindingConceptKey,
  findingConcept,
  type ObstetricConcept,
} from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  criterionText,
  type Lacking,
  type Need,
  needText,
  pointsText,
  say,
} from '../../result/render/obstetric/growth.ts';
import {
  type ClassificationDraft,
  type CriterionDraft,
  type FindingDraft,
  type GuidanceDraft,
  outcomeOf,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue } from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
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
import { type Charted, centileEnds, chartedValue, type GrowthSince } from './measure.ts';

const CONCEPT: FindingConceptKey = 'fetal-growth-restriction';
const DELPHI = 'Gordijn et al. 2016, UOG 48:333-339';

/** Evidence about a small fetus; absent or null for what was not assessed. */
interface SmallFetusEvidence {
  charted: readonly Charted[];
  gaDays: number;
  since: GrowthSince;
  /**
   * True if the age by biometry contradicts the given age. Conclusions that depend on the age are
   * then conditional.
   */
  datingInDoubt: boolean;
  /** Measurements of the sections that ran before, such as Doppler indices with their centiles. */
  measurements: readonly Measurement[];
  classified: readonly ClassificationDraft<unknown>[];
  /** Returns a centile as text, in the form used by every output (obstetric 0.3). */
  centileText(centile: number): string;
}

type Flow = NonNullable<RestrictionEvidence['endDiastolicFlow']>;
const FLOWS: readonly Flow[] = ['forward', 'intermittent-absent', 'absent', 'reversed'];

function flowOf(classified: readonly ClassificationDraft<unknown>[]): Flow | null {
  const flow = classified.find(({ id }) => id === 'end-diastolic-flow')?.value;
  return FLOWS.find((one) => one === flow) ?? null;
}

const DOPPLER_KEYS = [
  'umbilical-artery-pi',
  'uterine-artery-mean-pi',
  'cerebroplacental-ratio',
] as const;

/**
 * The values to which the definition is applied: as measured, or at the lower (0) or upper (1) ends
 * of their intervals. The lower end of a size goes with the largest fall of its centile.
 */
type End = 0 | 1 | 'as-measured';

/**
 * Returns the fall of the centile since an earlier scan; null without an earlier scan, and for
 * `as-measured` if the interval of the fall includes the cut-off.
 */
function fallAt({ fall }: GrowthSince, end: End): number | null {
  if (!fall) return null;
  if (fall.crosses !== null) return fall.points;
  const [least, most] = fall.ends;
  return end === 'as-measured' ? null : end === 0 ? most : least;
}

function restrictionEvidence(given: SmallFetusEvidence, end: End): RestrictionEvidence {
  const { charted, gaDays, measurements, classified, since } = given;
  const size = (key: 'efw' | 'ac') => {
    const one = chartedValue(charted, key);
    return one && (end === 'as-measured' ? one.centile : centileEnds(one)[end]);
  };
  // An index whose interval includes its cut-off has no interpretation and is not used as a
  // criterion.
  const centile = (key: ObstetricConcept) => {
    const one = acceptedValue(measurements, key);
    return one && one.interpretation !== null ? (one.reference?.centile ?? null) : null;
  };
  return {
    gaWeeks: gaDays / 7,
    efwCentile: size('efw'),
    acCentile: size('ac'),
    uaPiCentile: centile('umbilical-artery-pi'),
    utaPiCentile: centile('uterine-artery-mean-pi'),
    cprCentile: centile('cerebroplacental-ratio'),
    endDiastolicFlow: flowOf(classified),
    centileFall: fallAt(since, end),
  };
}

/** Returns the value of a criterion; of an index at its cut-off, its centile. */
function comparedValue(
  one: RestrictionCriterion,
  given: SmallFetusEvidence,
): CriterionDraft['value'] {
  const value = one.value ?? indexOf(one, given)?.centile ?? null;
  if (value === null) return null;
  if (typeof value === 'string') return { scale: 'end-diastolic-flow', category: value };
  return one.kind === 'fall'
    ? pointsText(value, CENTILE_CROSSING)
    : `centile ${given.centileText(value)}`;
}

const named = ({ name, kind, value }: RestrictionCriterion) => ({
  name,
  kind,
  value: typeof value === 'number' ? value : null,
  cutOff: CENTILE_CROSSING,
});

const metText = (one: RestrictionCriterion, { centileText }: SmallFetusEvidence) =>
  criterionText(named(one), { centile: centileText });

const distinct = <T>(all: readonly T[]) => [...new Set(all)];

/**
 * Returns the criteria that the statement lists. If a size is below both of its cut-offs, only the
 * lower cut-off is listed.
 */
function listedCriteria(criteria: readonly RestrictionCriterion[]): RestrictionCriterion[] {
  const listed = new Set<string>();
  return criteria.filter(({ met, kind, needs }) => {
    if (!met || (kind === 'centile' && listed.has(needs) && SIZES.has(needs))) {
      return false;
    }
    listed.add(needs);
    return true;
  });
}

/** The criterion inputs (`needs`) that are sizes of this scan. */
const SIZES: ReadonlySet<Need> = new Set<Need>(['efw', 'ac']);

type ReportedForm = Exclude<RestrictionForm, 'none' | 'not-assessable'>;

function leadOf(
  form: ReportedForm,
  { gaWeeks, efwCentile }: RestrictionEvidence,
  criteria: readonly RestrictionCriterion[],
  given: SmallFetusEvidence,
  open: readonly Need[],
): Statement {
  const { datingInDoubt } = given;
  const indices = new Set<Need>(Object.values(NEEDS));
  return say.conclusion('growth.restriction', {
    form,
    doppler: lackingOf(
      given,
      criteria.filter(({ kind, needs }) => kind === 'centile' && indices.has(needs)),
      [],
    ),
    onlyAbdomen: efwCentile !== null && efwCentile >= SIZE_CUTOFFS.small,
    cutOff: SIZE_CUTOFFS.small,
    met: listedCriteria(criteria).map(named),
    early: gaWeeks < LATE_FORM_WEEKS,
    datingInDoubt,
    sizeIsOpen: open.some((one) => SIZES.has(one)),
    fallIsOpen: open.some((one) => !SIZES.has(one)),
  });
}

function findingOf(
  form: RestrictionForm,
  lead: Statement,
  values: readonly Charted[],
): FindingDraft[] {
  if (form !== 'early-fgr' && form !== 'late-fgr') return [];
  const evidence = values.map(({ measurement }) => measurement.id);
  return [finding('growth-restriction', CONCEPT, lead, 'abnormal', { evidence })];
}

function loneCriterionFindings(
  criteria: readonly RestrictionCriterion[],
  { missing, undecided }: Required<Lacking>,
  gaWeeks: number,
): FindingDraft[] {
  const met = listedCriteria(criteria).map(named);
  if (met.length === 0) return [];
  const early = gaWeeks < LATE_FORM_WEEKS;
  const said = say.conclusion('growth.lone-criterion', { met, missing, undecided, early });
  return [finding('growth-restriction-criterion', CONCEPT, said, 'info')];
}

const dopplerIndices = ({ measurements }: SmallFetusEvidence) =>
  DOPPLER_KEYS.flatMap((key) => {
    const one = acceptedValue(measurements, key);
    const centile = one?.reference?.centile;
    return one && centile != null ? [{ key, value: one.value, centile }] : [];
  });

/** The criterion input (`needs`) that each Doppler index provides. */
const NEEDS = {
  'umbilical-artery-pi': 'umbilical-doppler',
  'uterine-artery-mean-pi': 'uterine-doppler',
  'cerebroplacental-ratio': 'cerebroplacental-ratio',
} as const satisfies Record<(typeof DOPPLER_KEYS)[number], Need>;

/**
 * Returns the input that a criterion needs. For the umbilical artery, this is the whole Doppler
 * examination, unless only the PI or only the flow is missing.
 */
function needOf({ kind, needs }: RestrictionCriterion, given: SmallFetusEvidence): Need {
  if (needs !== NEEDS['umbilical-artery-pi']) return needs;
  if (kind === 'flow') {
    const pi = dopplerIndices(given).some(({ key }) => key === 'umbilical-artery-pi');
    return pi ? 'umbilical-flow' : needs;
  }
  return flowOf(given.classified) === null ? needs : 'umbilical-pi';
}

/** Returns the Doppler index of a criterion; null if it was not measured, or for another criterion. */
function indexOf({ kind, needs }: RestrictionCriterion, given: SmallFetusEvidence) {
  const index = dopplerIndices(given).find(({ key }) => NEEDS[key] === needs);
  return kind === 'centile' && index ? index : null;
}

function lackingOf(
  given: SmallFetusEvidence,
  criteria: readonly RestrictionCriterion[],
  atCutOff: readonly Need[],
): Required<Lacking> {
  const open = criteria.filter(({ value }) => value === null);
  const isUndecided = (one: RestrictionCriterion) =>
    one.kind === 'fall' ? given.since.fall !== null : indexOf(one, given) !== null;
  return {
    missing: distinct(open.filter((one) => !isUndecided(one)).map((one) => needOf(one, given))),
    undecided: distinct([
      ...atCutOff,
      ...open.filter(isUndecided).map((one) => needOf(one, given)),
    ]),
  };
}

/** The definition of growth restriction, applied to both ends of the intervals of the sizes. */
interface FormWithin {
  /**
   * Form at the lower and at the upper end. If they agree, every size in between has the same form,
   * because a larger size and a smaller fall never meet more criteria.
   */
  between: readonly [RestrictionForm, RestrictionForm];
  /** For each criterion, whether it is met at both ends. */
  certain: boolean[];
  /** For each criterion, whether it is met at one end only. */
  open: boolean[];
  /** Sizes, and the fall since an earlier scan, whose interval includes a cut-off. */
  atCutOff: Need[];
}

function formWithin(given: SmallFetusEvidence): FormWithin {
  const [low, high] = [restrictionEvidence(given, 0), restrictionEvidence(given, 1)];
  const certain = restrictionCriteria(high).map(({ met }) => met);
  const atLow = restrictionCriteria(low);
  const open = atLow.map(({ met }, index) => met && !certain[index]);
  return {
    between: [restrictionForm(low), restrictionForm(high)],
    certain,
    open,
    atCutOff: distinct(atLow.filter((_, index) => open[index]).map(({ needs }) => needs)),
  };
}

/**
 * Returns the guidance (obstetric 3.9): the criteria, the inputs that were not assessed, and the
 * examinations to consider. Values, dating, growth since an earlier scan and indices at a cut-off
 * are not repeated, because other statements report them.
 */
function guidanceStatements(
  { measurements }: SmallFetusEvidence,
  lead: Statement,
  { missing }: Lacking,
): Statement[] {
  const fluid =
    acceptedValue(measurements, 'deepest-vertical-pocket') ??
    acceptedValue(measurements, 'amniotic-fluid-index');
  const notAssessed = [
    ...missing,
    ...(fluid ? [] : ['amniotic-fluid' as const]),
    'anatomy' as const,
  ];
  return [lead, say.advice('growth.advice', { missing: distinct(notAssessed) })];
}

/**
 * Assesses growth restriction of a singleton by the Delphi consensus. For a small fetus, it also
 * reports which data were available and which were missing, as obstetric 3.9 requires. If the
 * interval of a size or of the fall of its centile includes a cut-off on which the form depends,
 * there is guidance but no category. Restriction is never excluded without Doppler, and no time of
 * delivery is recommended.
 */
export function smallFetus(given: SmallFetusEvidence): {
  guidance: GuidanceDraft[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
  data: Record<string, unknown>;
} {
  const evidence = restrictionEvidence(given, 'as-measured');
  const form = restrictionForm(evidence);
  const criteria = restrictionCriteria(evidence);
  const { between, certain, open, atCutOff } = formWithin(given);
  const [low, high] = between;
  const isOpen = low !== high;
  const lacking = lackingOf(given, criteria, atCutOff);
  const data = {
    definition: 'delphi-2016',
    form: isOpen ? null : form,
    form_between: isOpen ? between : null,
    criteria_met: criteria.filter((_, at) => certain[at]).map((one) => metText(one, given)),
    criteria_at_cut_off: lacking.undecided.map(needText),
    criteria_not_available: lacking.missing.map(needText),
  };
  if (form === 'none' || form === 'not-assessable') {
    const findings = loneCriterionFindings(criteria, lacking, evidence.gaWeeks);
    return { guidance: [], findings, classifications: [], data };
  }
  const values = (['efw', 'ac'] as const).flatMap((key) => chartedValue(given.charted, key) ?? []);
  const lead = leadOf(form, evidence, criteria, given, isOpen ? atCutOff : []);
  const guidance = [
    {
      id: 'small-fetus',
      statements: guidanceStatements(given, lead, lacking),
      source: `${DELPHI}; ISUOG 2020, UOG 56:298-312; SMFM Consult Series 52`,
    },
  ];
  if (isOpen) return { data, findings: [], classifications: [], guidance };
  return {
    data,
    findings: findingOf(form, lead, values),
    classifications: [
      {
        id: 'growth-restriction',
        concept: findingConcept(CONCEPT),
        name: 'Fetal growth restriction',
        value: form,
        scheme: DELPHI,
        criteria: criteria.map((one, at) => ({
          name: one.name,
          value: comparedValue(one, given),
          outcome:
            open[at] || (one.value === null && indexOf(one, given) !== null)
              ? 'at_cut_off'
              : outcomeOf(one.value === null ? null : one.met),
        })),
      },
    ],
    guidance,
  };
}
