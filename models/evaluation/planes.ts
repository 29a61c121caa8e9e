import { namePlanes, type PlaneSessions } from '../../pipelines/obstetric/name-planes.ts';
import {
  type GatedPlane,
  HEAD_PLANES,
  planeOfLogits,
} from '../../pipelines/obstetric/planes/locate.ts';
import { PLANES } from '../../pipelines/obstetric/shared/plane.ts';
import { mean, round } from './agreement.ts';
import { type Case, readGray } from './cases.ts';

export interface Classified {
  one: Case;
  estimate: GatedPlane;
}

export async function classify(
  sessions: PlaneSessions,
  cases: readonly Case[],
): Promise<Classified[]> {
  const classified: Classified[] = [];
  for (const one of cases) {
    const [estimate] = await namePlanes(sessions, [await readGray(one.path)]);
    if (estimate) classified.push({ one, estimate });
  }
  return classified;
}

const organOf = (plane: string | undefined) =>
  HEAD_PLANES.some((head) => head === plane) ? 'brain' : plane;

/**
 * Returns the share of correct classifications after the gate, by organ (brain, abdomen, femur,
 * thorax). For heads with a labelled axial plane, the share is also given by plane. Images labelled
 * `other` are left out.
 */
export function organAgreement(classified: readonly Classified[]) {
  const labelled = classified.filter(({ one }) => one.plane !== 'other');
  const organs = [...new Set(labelled.map(({ one }) => organOf(one.plane) ?? ''))];
  const share = (cases: readonly Classified[], test: (one: Classified) => boolean) =>
    round(mean(cases.map((one) => (test(one) ? 1 : 0))), 4);
  const sameOrgan = ({ one, estimate }: Classified) =>
    organOf(one.plane) === organOf(estimate.label);
  const heads = labelled.filter(({ one }) => organOf(one.plane) === 'brain');
  return {
    organs: {
      cases: labelled.length,
      accuracy: share(labelled, sameOrgan),
      recall: Object.fromEntries(
        organs.map((organ) => [
          organ,
          share(
            labelled.filter(({ one }) => organOf(one.plane) === organ),
            sameOrgan,
          ),
        ]),
      ),
    },
    brainPlanes: {
      cases: heads.length,
      accuracy: share(heads, ({ one, estimate }) => one.plane === estimate.label),
    },
  };
}

/**
 * Returns the confusion matrix (rows: truth, columns: label after the gate), recall, accuracy and
 * calibration.
 */
export function planeAgreement(classified: readonly Classified[]) {
  const truths = PLANES.filter((plane) => classified.some(({ one }) => one.plane === plane));
  const confusion = Object.fromEntries(
    truths.map((truth) => {
      const row = classified.filter(({ one }) => one.plane === truth);
      const count = (label: string) => row.filter((c) => c.estimate.label === label).length;
      return [truth, Object.fromEntries(PLANES.map((label) => [label, count(label)]))];
    }),
  );
  const right = ({ one, estimate }: Classified) => one.plane === estimate.label;
  return {
    cases: classified.length,
    accuracy: round(mean(classified.map((c) => (right(c) ? 1 : 0))), 4),
    recall: Object.fromEntries(
      truths.map((truth) => {
        const row = classified.filter(({ one }) => one.plane === truth);
        return [truth, round(mean(row.map((c) => (right(c) ? 1 : 0))), 4)];
      }),
    ),
    belowGate: classified.filter((c) => c.estimate.belowGate !== null).length,
    expectedCalibrationError: round(calibrationError(classified), 4),
    confusion,
  };
}

/** Returns the expected calibration error over ten bins of the highest probability (Guo 2017). */
function calibrationError(classified: readonly Classified[]): number {
  const bins = Array.from({ length: 10 }, () => ({ right: 0, sum: 0 }));
  for (const { one, estimate } of classified) {
    const best = PLANES.reduce((a, b) =>
      estimate.probabilities[b] > estimate.probabilities[a] ? b : a,
    );
    const probability = estimate.probabilities[best];
    const bin = bins[Math.min(9, Math.floor(10 * probability))];
    if (!bin) continue;
    bin.right += best === one.plane ? 1 : 0;
    bin.sum += probability;
  }
  return bins.reduce((gap, { right, sum }) => gap + Math.abs(right - sum), 0) / classified.length;
}

/**
 * Returns the temperature with the smallest negative log likelihood on labelled cases, and this
 * likelihood.
 */
export function bestTemperature(classified: readonly Classified[], current: number) {
  const candidates = Array.from({ length: 56 }, (_, i) => 0.5 + 0.05 * i);
  const loss = (temperature: number) =>
    mean(
      classified.map(({ one, estimate }) => {
        // The logits, up to a constant, recovered from the probabilities at the current
        // temperature.
        const logits = PLANES.map(
          (plane) => current * Math.log(estimate.probabilities[plane] || 1e-12),
        );
        const again = planeOfLogits(logits, PLANES, temperature, 0);
        return -Math.log(again.probabilities[one.plane as (typeof PLANES)[number]] || 1e-12);
      }),
    );
  return candidates
    .map((temperature) => ({ temperature: round(temperature, 2), loss: loss(temperature) }))
    .reduce((a, b) => (b.loss < a.loss ? b : a));
}
