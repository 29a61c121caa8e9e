import type { Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { BASIS_TEXT } from '../../result/render/dating.ts';
import { acceptedValue } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { notAssessed } from '../../result/section-outcome.ts';
import type { ObstetricOptions } from '../input.ts';
import { SOFT_Z } from '../shared/plausibility.ts';
import type { Amendment, ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { GrowthEvidence } from './evidence.ts';
import { type GrowthSince, growthSince } from './interval-growth.ts';
import {
  conditionedOn,
  conflictFindings,
  crossingFinding,
  type DatingConflict,
  datingConflict,
  datingFinding,
  discordanceFindings,
  discordanceSentence,
  partFindings,
  type Size,
  sizeAcrossCutOffs,
  sizeClassification,
  sizeFindings,
  sizeOf,
  sizeSentence,
  statedAgeFindings,
  twinWeights,
  weightFinding,
} from './judge.ts';
import {
  CHARTED,
  type Charted,
  chartedValue,
  chartStanding,
  isCharted,
  type NotCharted,
  valueWithCentile,
} from './measure.ts';
import { smallFetus } from './small-fetus.ts';

function amendment(entry: Charted | NotCharted): Amendment {
  const { measurement } = entry;
  return isCharted(entry)
    ? {
        measurement: measurement.id,
        reference: entry.reference,
        interpretation: entry.interpretation,
        note: null,
      }
    : { measurement: measurement.id, reference: null, interpretation: null, note: entry.reason };
}

type Dating = NonNullable<ObstetricOptions['dating']>;

interface Judgement {
  charted: Charted[];
  notCharted: NotCharted[];
  /** So far from the mean that the dating or the measurement must be wrong. */
  doubtful: Charted[];
  /** Null where it cannot be judged. */
  size: Size | null;
}

function judge(measured: readonly Measurement[], gaDays: number): Judgement {
  const entries = measured.map((measurement) => chartStanding(measurement, gaDays / 7));
  const charted = entries.filter(isCharted);
  const notCharted = entries.filter((entry): entry is NotCharted => !isCharted(entry));
  const doubtful = charted.filter(({ z }) => Math.abs(z) > SOFT_Z);
  return { charted, notCharted, doubtful, size: doubtful.length === 0 ? sizeOf(charted) : null };
}

function summaryOf(
  { charted, size }: Judgement,
  dating: Dating,
  conflict: DatingConflict | null,
  since: GrowthSince,
): string {
  const named: readonly Charted[] = size?.by ?? [];
  const others = CHARTED.flatMap((key) => {
    const entry = chartedValue(charted, key);
    return entry && !named.includes(entry) ? [valueWithCentile(entry, key)] : [];
  });
  return [
    size ? conditionedOn(conflict, sizeSentence(size)) : 'Size for gestational age was not judged.',
    `Dated by ${BASIS_TEXT[dating.basis]}: ${weeksAndDays(dating.ga_days)} weeks.`,
    ...(others.length > 0 ? [`${others.join(', ')}.`] : []),
    ...(size ? sizeAcrossCutOffs(size, dating.ga_days / 7) : []),
    since.sentence,
  ].join(' ');
}

function reasonOf({ notCharted, doubtful, size }: Judgement): SectionOutcome['reason'] {
  const parts = [
    ...notCharted.map(({ measurement, reason }) => `${measurement.label}: ${reason}`),
    ...(doubtful.length > 0 ? ['values do not fit the stated age'] : []),
    ...(size || doubtful.length > 0 ? [] : ['the size category needs a weight or an AC']),
  ];
  if (parts.length === 0) return null;
  const text = parts.join('; ');
  return {
    code: doubtful.length > 0 ? 'dating_doubtful' : (notCharted[0]?.code ?? 'no_weight'),
    detail: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    needs: size ? [] : ['AC, or HC, AC and FL'],
  };
}

/** Of several fetuses no size; of two whose weights are named, how far these are apart. */
function ofSeveral(
  evidence: GrowthEvidence,
  several: string,
  dating: Dating | null,
): SectionOutcome {
  const detail = `Size for gestational age was not assessed: ${several}. The charts are of singletons.`;
  const none = notAssessed('several_fetuses', detail, ['a study of each fetus by itself']);
  const data = dating ? { dating } : {};
  const twins = twinWeights(evidence);
  if (!twins) return { ...none, data };
  return {
    ...none,
    status: 'partial',
    summary: `${discordanceSentence(twins)} ${detail}`,
    data: { ...data, discordance_percent: twins.discordance },
    measurements: [...twins.weights],
    findings: discordanceFindings(twins),
  };
}

function run(
  evidence: GrowthEvidence,
  before: readonly Measurement[],
  classified: Result['classifications'] = [],
): SectionOutcome {
  const { dating } = evidence.options;
  const several = evidence.severalFetuses;
  if (several && (dating || twinWeights(evidence))) {
    return ofSeveral(evidence, several, dating ?? null);
  }
  if (!dating) {
    const detail = 'Gestational age was not given, so size for age was not assessed.';
    return notAssessed('no_gestational_age', detail, ['options.dating']);
  }
  const measured = CHARTED.flatMap((key) => acceptedValue(before, key) ?? []);
  if (measured.length === 0) {
    const detail = 'Nothing was measured that could be compared with a growth chart.';
    return { ...notAssessed('no_biometry', detail, ['biometry']), data: { dating } };
  }
  const judgement = judge(measured, dating.ga_days);
  const { charted, notCharted, doubtful, size } = judgement;
  const gaDays = dating.ga_days;
  const since = growthSince(evidence, doubtful.length > 0 ? [] : charted, gaDays);
  const conflict = datingConflict(before, dating);
  const conditioned = (text: string) => conditionedOn(conflict, text);
  const onlyIfDated = (findings: readonly FindingDraft[]) =>
    findings.map((one) => ({ ...one, text: conditioned(one.text ?? '') }));
  const small = smallFetus({
    charted: size ? charted : [],
    gaDays,
    basis: dating.basis,
    since,
    conditioned,
    measurements: before,
    classified,
  });
  const reason = reasonOf(judgement);
  return {
    status: charted.length === 0 ? 'not_assessed' : reason ? 'partial' : 'complete',
    reason,
    summary: summaryOf(judgement, dating, conflict, since),
    data: {
      dating,
      dating_conflict: conflict && {
        by: conflict.age.id,
        ga_days: conflict.ageDays,
        days_apart: conflict.apartDays,
        limit_days: conflict.limitDays,
      },
      fetuses: 'singleton charts',
      fgr: small.data,
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
      not_charted: notCharted.map(({ measurement, code, reason: why }) => ({
        measurement: measurement.id,
        code,
        reason: why,
      })),
    },
    amendments: [...charted, ...notCharted].map(amendment),
    classifications: [...(size ? [sizeClassification(size)] : []), ...small.classifications],
    findings: [
      ...datingFinding(doubtful),
      ...conflictFindings(conflict, dating),
      ...statedAgeFindings(evidence.study.cart ?? [], dating),
      ...onlyIfDated(size ? sizeFindings(size) : []),
      ...onlyIfDated(doubtful.length > 0 ? [] : partFindings(charted)),
      ...weightFinding(charted, before),
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
