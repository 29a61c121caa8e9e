import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import { median } from '../../measure/statistics.ts';
import type { MitralDisease } from '../../result/render/echo/diastolic.ts';
import { type DisplayDoubt, remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import { isChild, type PatientEvidence, type Values } from '../shared/section.ts';

export interface RhythmAndFilling extends PatientEvidence {
  study: {
    clips: readonly {
      file: string;
      /** From the header, beats per minute. */
      heartRate: number | null;
      /** Stage of a stress protocol; 1 is rest. */
      stageNumber?: number | null | undefined;
    }[];
  };
  spectra: readonly {
    flow: string | null;
    regular: boolean | null;
    quantities: readonly { key: EchoConcept; doubt: DisplayDoubt | null }[];
  }[];
}

/** Heart rate, beats per minute, above which E and A merge (echo 10.2). */
const FASTEST = 100;

/**
 * Reasons why the algorithms for sinus rhythm may not be used. A field is null, false or empty if
 * its reason does not apply.
 */
export interface Applicability {
  child: boolean;
  /** Mitral valve diseases that make E/e' invalid. Diastolic function is then not graded. */
  mitral: readonly MitralDisease[];
  /**
   * True if filling is irregular and has no A wave, as in atrial fibrillation. Only an ECG can
   * prove atrial fibrillation.
   */
  fibrillating: boolean;
  /**
   * True if one display shows such filling, but an A wave was measured elsewhere. The rhythm may have
   * changed, or the display may be faint.
   */
  isRhythmContested: boolean;
  /** Why E/A cannot be used; null if it can be used. */
  filling: Remark | null;
}

const inflows = ({ spectra }: RhythmAndFilling) =>
  spectra.filter(
    ({ flow, quantities }) =>
      flow === 'mitral-inflow' && quantities.every(({ doubt }) => doubt !== 'under-stress'),
  );

const showsFibrillation = (evidence: RhythmAndFilling) =>
  inflows(evidence).some(
    ({ regular, quantities }) =>
      regular === false && quantities.every(({ key }) => key !== 'mitral-a'),
  );

/**
 * Returns why A is doubtful, for example because it merges with E. Null if A is reliable in at
 * least one display, or is not shown in any.
 */
function fusion(evidence: RhythmAndFilling): Remark | null {
  const atrial = inflows(evidence).flatMap(({ quantities }) =>
    quantities.filter(({ key }) => key === 'mitral-a'),
  );
  const [first] = atrial;
  return first?.doubt && atrial.every(({ doubt }) => doubt !== null)
    ? remarkOfEcho('display.doubt', { doubt: first.doubt })
    : null;
}

/**
 * Returns the median heart rate, beats per minute, of the clips on which E and A were measured. If
 * these clips are not known (for example, if the values come from the machine's report) or have no
 * rate, all clips at rest are used. Null if these have no rate either.
 */
function rateAtFilling({ study }: RhythmAndFilling, values: Values): number | null {
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

function unusableFilling(evidence: RhythmAndFilling, values: Values): Remark | null {
  const rate = rateAtFilling(evidence, values);
  return rate !== null && rounded(rate, 0) > FASTEST
    ? remarkOfEcho('diastolic.fast', { rate: rounded(rate, 0), most: FASTEST })
    : fusion(evidence);
}

/**
 * Collects the reasons why the algorithms may not be used. Called before any algorithm (echo 10.2).
 */
export const applicabilityOf = (
  evidence: RhythmAndFilling,
  values: Values,
  mitral: readonly MitralDisease[],
): Applicability => {
  const isShown = showsFibrillation(evidence);
  const hasAtrialWave = values.measurement('mitral-a') !== null;
  return {
    child: isChild(evidence),
    mitral,
    fibrillating: isShown && !hasAtrialWave,
    isRhythmContested: isShown && hasAtrialWave,
    filling: unusableFilling(evidence, values),
  };
};

/** LVEF for the 2016 algorithms. It determines which of the two algorithms is used. */
export interface Ejection {
  /** Null if not known or contested. */
  reduced: boolean | null;
  /** True if the measured LVEF values are on different sides of the limit. */
  contested: boolean;
}
