import type { Measurement } from '../../result/envelope.ts';
import { notChartedText, remarkOfGrowth, say } from '../../result/render/obstetric/growth.ts';
import type { Dating, SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import { type ClassificationDraft, notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue, listedForFetuses, SOFT_Z } from '../shared/measurement.ts';
import type { Amendment, ObstetricSection, SectionOutcome } from '../shared/section.ts';
import {
  conflictFindings,
  crossingFinding,
  type DatingConflict,
  datingConflict,
  datingFinding,
  discordanceFindings,
  partFindings,
  type Size,
  sizeClassification,
  sizeFindings,
  sizeOf,
  sizeStatement,
  statedAgeFindings,
  twinStatement,
  twinWeights,
  weightFinding,
  weightsByFetus,
} from './judge.ts';
import {
  CHARTED,
  type Charted,
  chartedValue,
  chartOfStudy,
  type GrowthEvidence,
  type GrowthSince,
  growthSince,
  isCharted,
  type NotCharted,
} from './measure.ts';
import { smallFetus } from './small-fetus.ts';

function amendment(entry: Charted | NotCharted): Amendment {
  const { measurement } = entry;
  return isCharted(entry)
    ? {
        measurement: measurement.id,
        reference: entry.reference,
        interpretation: entry.interpretation,
        remarks: [],
      }
    : {
        measurement: measurement.id,
        reference: null,
        interpretation: null,
        remarks: [remarkOfGrowth('growth.not-charted', entry.reason)],
      };
}

interface Judgement {
  charted: Charted[];
  notCharted: NotCharted[];
  /** Values so far from the mean that the dating or the measurement must be wrong. */
  doubtful: Charted[];
  size: Size | null;
}

function judge(measured: readonly Measurement[], gaDays: number): Judgement {
  const entries = measured.map((measurement) => chartOfStudy(measurement, gaDays / 7));
  const charted = entries.filter(isCharted);
  const notCharted = entries.filter((entry): entry is NotCharted => !isCharted(entry));
  const doubtful = charted.filter(({ z }) => Math.abs(z) > SOFT_Z);
  return {
    charted,
    notCharted,
    doubtful,
    size: doubtful.length === 0 ? sizeOf(charted) : null,
  };
}

function summaryOf(
  { charted, size }: Judgement,
  dating: Dating,
  datingInDoubt: boolean,
  since: GrowthSince,
): Statement[] {
  const named: readonly Charted[] = size?.by ?? [];
  const others = CHARTED.flatMap((key) => {
    const entry = chartedValue(charted, key);
    return entry && !named.includes(entry) ? [entry.measurement] : [];
  });
  const { basis, ga_days: days } = dating;
  return [
    size ? sizeStatement(size, datingInDoubt) : say.gap('growth.not-judged', {}),
    say.value('growth.dated', { basis, days }),
    ...(others.length > 0 ? [say.value('growth.values', {}, others)] : []),
    ...since.statements,
  ];
}

function reasonOf({ notCharted, doubtful, size }: Judgement): SectionOutcome['reason'] {
  const needsWeight = !size && doubtful.length === 0;
  const undecided = size && size.category === null ? [sizeStatement(size, false)] : [];
  if (notCharted.length === 0 && doubtful.length === 0 && !needsWeight) {
    return undecided.length > 0
      ? { code: 'at_cut_off', gaps: undecided, needs: ['measurements by hand'] }
      : null;
  }
  const gap = say.gap(
    'growth.incomplete',
    {
      notCharted: notCharted.map(({ reason }) => reason),
      doubtful: doubtful.length > 0,
      needsWeight,
    },
    notCharted.map(({ measurement }) => measurement),
  );
  return {
    code: doubtful.length > 0 ? 'dating_doubtful' : (notCharted[0]?.reason.code ?? 'no_weight'),
    gaps: [gap, ...undecided],
    needs: size ? [] : ['AC, or HC, AC and FL'],
  };
}

/**
 * Returns the outcome for several fetuses, without a size category. It lists the weights of named
 * fetuses in the machine's reports and, if these are two, their difference.
 */
function ofSeveral(
  evidence: GrowthEvidence,
  source: SeveralFetusesSource,
  weights: readonly Measurement[],
): SectionOutcome {
  const gap = say.gap('growth.several-fetuses', { source });
  const none = notAssessed('several_fetuses', gap, ['a study of each fetus by itself']);
  const { dating } = evidence.options;
  const data = dating ? { dating } : {};
  const twins = twinWeights(weights, evidence);
  const shown = twins ? [twinStatement(twins)] : listedForFetuses(weights);
  return {
    ...none,
    status: shown.length > 0 ? 'partial' : none.status,
    statements: [...shown, gap],
    data: twins ? { ...data, discordance_percent: twins.discordance } : data,
    measurements: [...weights],
    findings: twins ? discordanceFindings(twins) : [],
  };
}

function dataOf(
  dating: Dating,
  conflict: DatingConflict | null,
  since: GrowthSince,
  { notCharted }: Judgement,
  fgr: Record<string, unknown>,
): SectionOutcome['data'] {
  return {
    dating,
    dating_conflict: conflict && {
      by: conflict.age.id,
      ga_days: conflict.ageDays,
      days_apart: conflict.apartDays,
      limit_days: conflict.limitDays,
    },
    fetuses: 'singleton charts',
    fgr,
    earlier: since.earlier,
    change: since.change && {
      days_before: since.change.daysBefore,
      values: since.change.values.map(({ key, zPerWeek, before: earlier, now }) => ({
        concept: key,
        z_score_per_week: zPerWeek,
        centile_then: earlier.centile,
        centile_now: now.centile,
      })),
    },
    not_charted: notCharted.map(({ measurement, reason }) => ({
      measurement: measurement.id,
      code: reason.code,
      reason: notChartedText(reason),
    })),
  };
}

function run(
  evidence: GrowthEvidence,
  before: readonly Measurement[],
  classified: readonly ClassificationDraft<unknown>[] = [],
): SectionOutcome {
  const { dating } = evidence.options;
  const several = evidence.severalFetuses;
  const weights = several ? weightsByFetus(evidence) : [];
  if (several && (dating || weights.length > 0)) return ofSeveral(evidence, several, weights);
  if (!dating) {
    const gap = say.gap('growth.no-age', {});
    const outcome = notAssessed('no_gestational_age', gap, ['options.dating']);
    return { ...outcome, findings: weightFinding(before) };
  }
  const measured = CHARTED.flatMap((key) => acceptedValue(before, key) ?? []);
  if (measured.length === 0) {
    const gap = say.gap('growth.nothing-measured', {});
    return { ...notAssessed('no_biometry', gap, ['biometry']), data: { dating } };
  }
  const gaDays = dating.ga_days;
  const judgement = judge(measured, gaDays);
  const { charted, notCharted, doubtful, size } = judgement;
  const since = growthSince(evidence, doubtful.length > 0 ? [] : charted, gaDays);
  const conflict = datingConflict(before, dating);
  const datingInDoubt = conflict !== null;
  const small = smallFetus({
    charted: size ? charted : [],
    gaDays,
    since,
    datingInDoubt,
    measurements: before,
    classified,
    centileText: evidence.centileText,
  });
  const reason = reasonOf(judgement);
  return {
    status: charted.length === 0 ? 'not_assessed' : reason ? 'partial' : 'complete',
    reason,
    statements: summaryOf(judgement, dating, datingInDoubt, since),
    data: dataOf(dating, conflict, since, judgement, small.data),
    amendments: [...charted, ...notCharted].map(amendment),
    classifications: [...(size ? sizeClassification(size) : []), ...small.classifications],
    findings: [
      ...datingFinding(doubtful),
      ...conflictFindings(conflict, dating),
      ...statedAgeFindings(evidence.study.cart ?? [], dating),
      ...(size ? sizeFindings(size, datingInDoubt) : []),
      ...(doubtful.length > 0 ? [] : partFindings(charted, datingInDoubt)),
      ...weightFinding(before),
      ...crossingFinding(since, gaDays),
      ...small.findings,
    ],
    guidance: small.guidance,
  };
}

export const growth: ObstetricSection<GrowthEvidence> = {
  id: 'growth',
  title: 'Growth',
  needs: ['gestational age from a source other than this biometry', 'biometry'],
  concludes: true,
  run,
};
