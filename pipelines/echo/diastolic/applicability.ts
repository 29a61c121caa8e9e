import { rounded } from '../../measure/rounding.ts';
import { median } from '../../measure/statistics.ts';
import { isChild } from '../conclude.ts';
import type { EchoEvidence } from '../section.ts';
import type { Values } from '../values.ts';
import { mitralDisease } from './mitral-disease.ts';

/** Beats per minute above which E and A run into each other (echo reference 10.2). */
const FASTEST = 100;

/** Said with every grade: what decides whether the algorithm may be used (echo reference 10.2). */
export const APPLIES =
  'Holds in sinus rhythm without mitral annular calcification, mitral prosthesis, repair or clip, LBBB, pacing or CRT, LVAD, heart transplant, pericardial constriction, non-cardiac pulmonary hypertension, complete AV block or pregnancy, which are not known to this software; mitral stenosis and regurgitation are known only as far as they were measured';

/** What stands against the algorithms of sinus rhythm; null and empty: nothing that the study gives. */
export interface Applicability {
  child: boolean;
  /** Disease of the mitral valve, by which E/e' is invalid and nothing is graded. */
  mitral: readonly string[];
  /** Irregular filling without an A wave: as in atrial fibrillation, which only an ECG proves. */
  fibrillating: boolean;
  /** Why E/A cannot be used. */
  filling: string | null;
}

const inflows = ({ spectra }: EchoEvidence) =>
  spectra.filter(({ flow }) => flow === 'mitral-inflow');

const isFibrillating = (evidence: EchoEvidence) =>
  inflows(evidence).some(
    ({ regular, quantities }) =>
      regular === false && quantities.every(({ key }) => key !== 'mitral-a'),
  );

/** Why A cannot be told from E: only where every display that shows it leaves the same doubt. */
function fusion(evidence: EchoEvidence): string | null {
  const atrial = inflows(evidence).flatMap(({ quantities }) =>
    quantities.filter(({ key }) => key === 'mitral-a'),
  );
  const [first] = atrial;
  return first && atrial.every(({ doubt }) => doubt !== null) ? first.doubt : null;
}

/**
 * Heart rate where E and A were measured; of all clips at rest where that is not known, as with values
 * of the machine's report. Null: no clip says it.
 */
export function rateAtFilling({ study }: EchoEvidence, values: Values): number | null {
  const files = new Set(
    (['mitral-e', 'mitral-a'] as const).map((key) => values.measurement(key)?.source.file ?? null),
  );
  const rated = study.clips.flatMap(({ file, heartRate, stageNumber }) =>
    heartRate === null ? [] : [{ rate: heartRate, own: files.has(file), stage: stageNumber ?? 1 }],
  );
  const own = rated.filter((clip) => clip.own);
  const chosen = own.length > 0 ? own : rated.filter(({ stage }) => stage <= 1);
  return chosen.length > 0 ? median(chosen.map(({ rate }) => rate)) : null;
}

function unusableFilling(evidence: EchoEvidence, values: Values): string | null {
  const rate = rateAtFilling(evidence, values);
  return rate !== null && rounded(rate, 0) > FASTEST
    ? `the heart rate of ${rounded(rate, 0)} is above ${FASTEST} per minute`
    : fusion(evidence);
}

/** The gate that stands before every algorithm (echo reference 10.2). */
export const applicabilityOf = (evidence: EchoEvidence, values: Values): Applicability => ({
  child: isChild(evidence),
  mitral: mitralDisease(values),
  fibrillating: isFibrillating(evidence),
  filling: unusableFilling(evidence, values),
});
