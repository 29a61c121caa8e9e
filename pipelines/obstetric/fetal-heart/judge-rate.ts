import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { asRepeat, fetusKey } from '../../result/measured.ts';
import {
  bandText,
  RATE_SOURCE,
  type RateSource,
  say,
} from '../../result/render/obstetric/fetal-heart.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import { type Statement, UNNAMED_FETUS } from '../../result/statement.ts';
import {
  atCutOff,
  keyedByFetus,
  statementOfFetus,
  withMachineValues,
} from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import type { RateEvidence } from './evidence.ts';
import {
  FETAL_RATE,
  type FetalRateBand,
  fetalRateBand,
  hasRateBands,
  rateBandsAt,
  recalledLimit,
  SLOW_AT_ANY_AGE,
} from './guideline.ts';
import { FETAL_HEART_SECTION, type RateGroup, type RateReading, REGULAR } from './measure-rate.ts';

const KEY = 'fetal-heart-rate';

const GRAVEST_FIRST: readonly FetalRateBand[] = [
  'slow',
  'slow-at-any-age',
  'tachycardia',
  'fast-at-any-age',
  'fast',
  'borderline',
  'normal',
];

function schemeAt(gaDays: number | null): string {
  if (!hasRateBands(gaDays)) return SLOW_AT_ANY_AGE.source;
  const source = rateBandsAt(gaDays)?.source ?? FETAL_RATE.source;
  const limit = recalledLimit(gaDays);
  return limit === null
    ? source
    : `${source}; its limit of ${limit} per minute is recalled, not verified`;
}

interface Judged extends RateReading {
  /**
   * Null if the interval of the rate includes a limit, or if there are no bands and the rate is
   * neither slow nor fast at any age.
   */
  band: FetalRateBand | null;
  /** Bands at both ends of the interval, if they differ. */
  between: readonly [FetalRateBand, FetalRateBand] | null;
}

interface RateOutcome {
  measurements: Measurement[];
  statements: Statement[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
  /** True if at least one rate was accepted. */
  known: boolean;
}

const isFromMachine = ({ source }: RateReading) => source === 'machine';

const rhythm = ({ variation, alike }: Pick<RateReading, 'variation' | 'alike'>) => ({
  variation,
  alike,
  regular: REGULAR,
});

const isIrregular = ({ variation }: RateReading) => variation !== null && variation > REGULAR;

const rhythmOf = (judged: readonly Judged[]) =>
  judged.find(isIrregular) ?? judged.find(({ variation }) => variation !== null) ?? judged[0];

function rhythmFindings(judged: readonly Judged[]): FindingDraft[] {
  const irregular = judged.find(isIrregular);
  if (!irregular) return [];
  const { measurement } = irregular;
  const said = say.conclusion('heart.irregular', rhythm(irregular), [measurement]);
  const given = { confidence: measurement.confidence };
  return [finding('fetal-heart-rhythm', 'fetal-heart-screen', said, 'abnormal', given)];
}

function bandOf(rate: Measurement, gaDays: number | null): Pick<Judged, 'band' | 'between'> {
  const within = categoryWithin(rate, (value) => fetalRateBand(gaDays, value));
  const [low, high] = within.between ?? [null, null];
  // Without bands, one end or both are null.
  return { band: within.category, between: low !== null && high !== null ? [low, high] : null };
}

const doubtsOf = (judged: readonly Judged[]): Statement[] =>
  judged.flatMap(({ measurement, between }) =>
    between === null ? [] : atCutOff(measurement, { between }),
  );

/**
 * Returns the source that the report states with a rate; null for the leading rate (`counting`),
 * unless it comes from the machine.
 */
const shownSource = (one: Judged, counting: Judged): RateSource | null =>
  one !== counting || isFromMachine(one) ? one.source : null;

const { tachycardia } = FETAL_RATE;

const worstOf = (judged: readonly Judged[]) =>
  GRAVEST_FIRST.flatMap((band) => judged.find((one) => one.band === band) ?? [])[0] ?? null;

const BAND = 'fetal-heart-rate-band';

const bandFinding = (
  { confidence }: Measurement,
  said: Statement,
  severity: FindingDraft['severity'],
) => finding(BAND, BAND, said, severity, { confidence });

function bandFindings(
  judged: readonly Judged[],
  counting: Judged,
  gaDays: number | null,
): FindingDraft[] {
  const worst = worstOf(judged);
  if (!worst?.band || worst.band === 'normal') {
    // If the interval includes only abnormal bands (fast and tachycardia), the rate is abnormal in
    // any case.
    const beyond = judged.find(({ between }) => between?.every((band) => band !== 'normal'));
    const [statement] = beyond ? doubtsOf([beyond]) : [];
    return beyond && statement ? [bandFinding(beyond.measurement, statement, 'abnormal')] : [];
  }
  const { measurement, band } = worst;
  const given = {
    source: shownSource(worst, counting),
    band,
    tachycardia,
    recalled: gaDays === null ? null : recalledLimit(gaDays),
  };
  const said = say.conclusion('heart.band', given, [measurement]);
  return [bandFinding(measurement, said, band === 'borderline' ? 'info' : 'abnormal')];
}

function apart(one: Judged, other: Judged): boolean {
  const [a, b] = [one.measurement, other.measurement];
  return Math.abs(a.value - b.value) > (a.uncertainty ?? 0) + (b.uncertainty ?? 0);
}

/**
 * Returns the finding that the sources yield different rates. A heart rate changes within minutes,
 * so the difference is abnormal only if the bands differ as well.
 */
function sourceFindings(judged: readonly Judged[]): FindingDraft[] {
  const [first] = judged;
  if (!first) return [];
  const known = judged.flatMap(({ band }) => band ?? []);
  const bands = new Set(known).size > 1;
  const beyond = judged.some((one) => judged.some((other) => apart(one, other)));
  if (!bands && !beyond) return [];
  const said = say.gap(
    'heart.sources-differ',
    {
      sources: judged.map(({ source }) => source),
      bands: bands && known.length === judged.length ? known : [],
      tachycardia,
    },
    judged.map(({ measurement }) => measurement),
  );
  const severity = bands && beyond ? 'abnormal' : 'info';
  return [finding('fetal-heart-rate-sources', BAND, said, severity)];
}

/**
 * Returns the classification by the most severe band. Empty if no rate has a band, or if that band is
 * normal but the interval of another rate includes a limit: that rate may be abnormal.
 */
function bandClassification(
  judged: readonly Judged[],
  gaDays: number | null,
): ClassificationDraft[] {
  const worst = worstOf(judged);
  const isOpen = judged.some(({ between }) => between !== null);
  if (!worst?.band || (worst.band === 'normal' && isOpen)) return [];
  return [
    {
      id: BAND,
      concept: findingConcept(BAND),
      name: 'Fetal heart rate',
      value: worst.band,
      scheme: schemeAt(gaDays),
      criteria: judged.flatMap(({ band, source, measurement }) =>
        band
          ? [
              criterion(
                judged.length > 1
                  ? `${RATE_SOURCE[source]}: ${bandText(band, tachycardia)}`
                  : bandText(band, tachycardia),
                { of: KEY, value: measurement.value, unit: false },
                band === worst.band,
              ),
            ]
          : [],
      ),
    },
  ];
}

function rateStatements(
  judged: readonly Judged[],
  counting: Judged,
  gaDays: number | null,
): Statement[] {
  const { measurement, band, between } = counting;
  const source = shownSource(counting, counting);
  const range = between ? 'at-limit' : gaDays === null ? 'no-age' : 'none-known';
  const given = { source, band, tachycardia, range } as const;
  return [
    say.value('heart.rate', given, [measurement]),
    ...doubtsOf(judged),
    say.conclusion('heart.rhythm', rhythm(rhythmOf(judged) ?? counting)),
  ];
}

const isListed = ({ measurement }: RateReading) => measurement.section !== FETAL_HEART_SECTION;

/**
 * Assigns the ids of the rates. Our best accepted rate gets the id `fetal-heart-rate`, and the
 * machine's rate is listed beside it. If we have no accepted rate, the machine's rate gets this id.
 */
function withPlainId(rates: readonly RateReading[]): RateReading[] {
  const ours = rates.filter((one) => !isFromMachine(one));
  const best = ours.find(({ measurement }) => measurement.quality === 'accepted');
  const named = ours.map((one) => {
    if (!best) return one;
    const { measurement } = one;
    return {
      ...one,
      measurement: one === best ? { ...measurement, id: KEY } : asRepeat(measurement),
    };
  });
  const accepted = best ? named.map(({ measurement }) => measurement) : [];
  const machine = rates.filter(isFromMachine).map((one, index): RateReading => {
    // Without an accepted rate of ours, only the first machine rate may take the plain id, which is
    // `fetal-heart-rate`.
    if (isListed(one) || (!best && index > 0)) return one;
    const value = withMachineValues([one.measurement], accepted).at(-1);
    return { ...one, measurement: value ?? one.measurement };
  });
  return [...named, ...machine];
}

function judgeGroup(
  { rates, fetus, several }: RateGroup,
  gaDays: number | null,
  number: number,
): RateOutcome {
  const nameless = several && fetus === null;
  const given = nameless ? rates : withPlainId(rates);
  const measurements = given.filter((one) => !isListed(one)).map(({ measurement }) => measurement);
  const judged = given
    .filter(({ measurement }) => measurement.quality === 'accepted')
    .map((one) => ({
      ...one,
      ...bandOf(one.measurement, gaDays),
    }));
  const [counting] = judged;
  const none = { measurements, statements: [], findings: [], classifications: [], known: false };
  if (!counting) return none;
  const statements = rateStatements(judged, counting, gaDays);
  const own = {
    measurements,
    findings: [
      ...bandFindings(judged, counting, gaDays),
      ...sourceFindings(judged),
      ...rhythmFindings(judged),
    ],
    classifications: bandClassification(judged, gaDays),
  };
  if (fetus !== null) {
    const said = statements.map((one) => statementOfFetus(one, fetus));
    return { ...keyedByFetus(own, fetus), statements: said, known: true };
  }
  if (!nameless) return { ...own, statements, known: true };
  const unnamed = (one: Statement): Statement => ({ ...one, fetus: UNNAMED_FETUS });
  return {
    measurements,
    statements: statements.map(unnamed),
    findings: own.findings.map(({ statement, ...one }) => ({
      ...one,
      id: `${one.id}-unnamed-${number}`,
      ...(statement && { statement: unnamed(statement) }),
    })),
    classifications: [],
    known: true,
  };
}

/** Returns the outcome for all rates. The rates of each fetus are assessed separately. */
export function judgeRates(groups: readonly RateGroup[], gaDays: number | null): RateOutcome {
  const all = groups.map((group, index) => judgeGroup(group, gaDays, index + 1));
  return {
    measurements: all.flatMap(({ measurements }) => measurements),
    statements: all.flatMap(({ statements }) => statements),
    findings: all.flatMap(({ findings }) => findings),
    classifications: all.flatMap(({ classifications }) => classifications),
    known: all.some(({ known }) => known),
  };
}

/**
 * Returns true if the images show an accepted heart rate that is not below the normal fetal range.
 * A slower heartbeat may be the mother's.
 */
const isFetalBeat = ({ measurement, source }: RateReading) =>
  measurement.quality === 'accepted' &&
  source !== 'machine' &&
  measurement.value >= FETAL_RATE.least;

function beatsElsewhere(groups: readonly RateGroup[], fetus: string | null): boolean {
  return groups.some(
    (group) =>
      group.rates.some(isFetalBeat) &&
      (!group.several ||
        (fetus !== null && group.fetus !== null && fetusKey(group.fetus) === fetusKey(fetus))),
  );
}

/**
 * Returns findings for fetal M-mode sweeps on which nothing repeats at the rate of a heartbeat. The
 * line may have missed the heart, so there is no finding if another image of the same fetus shows a
 * beating heart.
 */
export function silentSweeps(
  { study, views, fetusOf }: RateEvidence,
  groups: readonly RateGroup[],
): { statements: Statement[]; findings: FindingDraft[] } {
  const silent = (views.fetalHeart?.mMode ?? []).filter(
    ({ fetal, rhythm }) => fetal && rhythm.status === 'not-seen',
  );
  const cines = views.presentation?.cardiac ?? [];
  const unproven = silent.filter(({ file }) => {
    const clip = study.clips.find((one) => one.file === file);
    return !beatsElsewhere(groups, clip ? fetusOf(clip) : null);
  });
  const id = 'cardiac-activity';
  const said = say.gap('heart.second-observer', {});
  return {
    statements: [
      ...(silent.length > 0 ? [say.gap('heart.silent-m-mode', {})] : []),
      ...(cines.some(({ activity }) => activity.status === 'not-seen')
        ? [say.gap('heart.silent-cine', {})]
        : []),
    ],
    findings: unproven.length > 0 ? [finding(id, id, said, 'critical')] : [],
  };
}

/** Reports that a fetal M-mode sweep is too short to show whether a heart beats. */
export const shortSweeps = ({ views }: RateEvidence): Statement[] =>
  (views.fetalHeart?.mMode ?? []).some(
    ({ fetal, rhythm }) =>
      fetal && rhythm.status === 'not-assessable' && rhythm.reason === 'too-short',
  )
    ? [say.gap('heart.short-m-mode', {})]
    : [];
