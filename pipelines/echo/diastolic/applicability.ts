import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import { median } from '../../measure/statistics.ts';
import type { MitralDisease } from '../../result/render/echo/diastolic.ts';
import { type DisplayDoubt, remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import { isChild, type PatientEvidence, type Values } from '../shared/section.ts';

/** What decides whether the algorithms may be used. */
export interface RhythmAndFilling extends PatientEvidence {
  study: {
    clips: readonly {
      file: string;
      /** Heart rate in the header, beats per minute. */
      heartRate: number | null;
      /** The stage of a stress protocol; 1 is rest. */
      stageNumber?: number | null | undefined;
    }[];
  };
  spectra: readonly {
    flow: string | null;
    regular: boolean | null;
    /** `doubt`: why the quantity cannot be relied on; null where it can. */
    quantities: readonly { key: EchoConcept; doubt: DisplayDoubt | null }[];
  }[];
}

/** Heart rate, beats per minute, above which E and A merge (echo 10.2). */
const FASTEST = 100;

/**
 * Why the algorithms of sinus rhythm may not be used; null and empty where nothing in the study
 * forbids them.
 */
export interface Applicability {
  child: boolean;
  /** Disease of the mitral valve, which makes E/e' invalid, so that nothing is graded. */
  mitral: readonly MitralDisease[];
  /**
   * Whether filling is irregular and without an A wave, as in atrial fibrillation. Only an ECG
   * proves atrial fibrillation.
   */
  fibrillating: boolean;
  /** Why E/A cannot be used; null where it can. */
  filling: Remark | null;
}

const inflows = ({ spectra }: RhythmAndFilling) =>
  spectra.filter(({ flow }) => flow === 'mitral-inflow');

const isFibrillating = (evidence: RhythmAndFilling) =>
  inflows(evidence).some(
    ({ regular, quantities }) =>
      regular === false && quantities.every(({ key }) => key !== 'mitral-a'),
  );

/**
 * Why A cannot be separated from E; null unless the A of every display that shows it is doubtful.
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
 * Heart rate, beats per minute, in the clips in which E and A were measured. Where those clips are
 * not known, as with values of the machine's report, the heart rate of all clips at rest. Null: no
 * clip states it.
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
 * Whether anything in the study forbids the algorithms; it has to be known before one is used (echo
 * 10.2).
 */
export const applicabilityOf = (
  evidence: RhythmAndFilling,
  values: Values,
  mitral: readonly MitralDisease[],
): Applicability => ({
  child: isChild(evidence),
  mitral,
  fibrillating: isFibrillating(evidence),
  filling: unusableFilling(evidence, values),
});

/** What the LVEF means for the algorithms of 2016: it decides which of them is used. */
export interface Ejection {
  /** Null: not known, or contested. */
  reduced: boolean | null;
  /**
   * Whether the LVEF was measured, but values contradict each other on which side of the limit it
   * is.
   */
  contested: boolean;
}
