import type { ConceptKey } from '../../concepts/concepts.ts';
import { rounded } from '../../measure/rounding.ts';
import { median } from '../../measure/statistics.ts';
import { DYSFUNCTION } from '../cardiomyopathy/guideline.ts';
import { mitralAreaByHalfTime } from '../formulas/doppler.ts';
import { EF_PRECEDENCE, headlineEf, ungradedEf } from '../lvef/measure.ts';
import { isChild } from '../shared/conclude.ts';
import type { PatientEvidence } from '../shared/section.ts';
import type { Values } from '../shared/values.ts';
import { isNormalMitralArea, mitralStenosis2020, STENOTIC_GRADIENT } from '../valves/guideline.ts';
import { isSignificant, regurgitations } from '../valves/judge.ts';

/** MVA, cm2, up to which a half-time speaks for stenosis without a gradient (VHD20; echo 11.5). */
const STENOTIC_AREA = 1.5;

/** The section of the valves runs later: what it calculates is not yet among the values. */
function areaByHalfTime(values: Values): number | null {
  const halfTime = values.number('mv-half-time');
  const given = values.number('mv-area-half-time');
  return given ?? (halfTime === null ? null : mitralAreaByHalfTime(halfTime));
}

/** Any stenosis counts; a grade needs more than a doubt that forbids another (echo 11.5). */
function stenosis(values: Values): string | null {
  const planimetry = values.number('mv-area-planimetry');
  const byHalfTime = areaByHalfTime(values);
  const gradient = values.number('mv-mean-gradient');
  const steep = gradient !== null && rounded(gradient, 0) >= STENOTIC_GRADIENT;
  if (planimetry !== null) {
    return isNormalMitralArea(planimetry)
      ? null
      : `${mitralStenosis2020(planimetry)} by valve area`;
  }
  if (byHalfTime === null) {
    return steep
      ? `a mitral mean gradient of at least ${STENOTIC_GRADIENT} mmHg suggests stenosis`
      : null;
  }
  const speaks = steep || rounded(byHalfTime, 2) <= STENOTIC_AREA;
  return speaks && !isNormalMitralArea(byHalfTime)
    ? `${mitralStenosis2020(byHalfTime)} by half-time`
    : null;
}

/** "Significant" is read as moderate or more, or as quantities that contradict each other. */
function regurgitation(values: Values): string | null {
  const { MR } = regurgitations(values);
  return isSignificant(MR) ? `MR, ${MR}` : null;
}

/**
 * Disease of the mitral valve with which e' and E/e' are invalid and diastolic function has no
 * standard grade: any stenosis, significant regurgitation (D16, D25; echo 10.2). Empty: none
 * among what was measured, which excludes none.
 */
export function mitralDisease(values: Values): string[] {
  return [stenosis(values), regurgitation(values)].filter((found) => found !== null);
}

/** What the applicability of the algorithms is judged from. */
export interface RhythmAndFilling extends PatientEvidence {
  study: {
    clips: readonly {
      file: string;
      /** Beats per minute, of the header. */
      heartRate: number | null;
      /** Of a stress protocol; 1 is rest. */
      stageNumber?: number | null | undefined;
    }[];
  };
  spectra: readonly {
    flow: string | null;
    regular: boolean | null;
    /** `doubt`: why the quantity cannot be relied on; null where it can. */
    quantities: readonly { key: ConceptKey; doubt: string | null }[];
  }[];
}

/** Beats per minute above which E and A run into each other (echo 10.2). */
const FASTEST = 100;

/** Said with every grade: what decides whether the algorithm may be used (echo 10.2). */
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

const inflows = ({ spectra }: RhythmAndFilling) =>
  spectra.filter(({ flow }) => flow === 'mitral-inflow');

const isFibrillating = (evidence: RhythmAndFilling) =>
  inflows(evidence).some(
    ({ regular, quantities }) =>
      regular === false && quantities.every(({ key }) => key !== 'mitral-a'),
  );

/** Why A cannot be told from E: only where every display that shows it leaves the same doubt. */
function fusion(evidence: RhythmAndFilling): string | null {
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
export function rateAtFilling({ study }: RhythmAndFilling, values: Values): number | null {
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

function unusableFilling(evidence: RhythmAndFilling, values: Values): string | null {
  const rate = rateAtFilling(evidence, values);
  return rate !== null && rounded(rate, 0) > FASTEST
    ? `the heart rate of ${rounded(rate, 0)} is above ${FASTEST} per minute`
    : fusion(evidence);
}

/** The gate that stands before every algorithm (echo 10.2). */
export const applicabilityOf = (evidence: RhythmAndFilling, values: Values): Applicability => ({
  child: isChild(evidence),
  mitral: mitralDisease(values),
  fibrillating: isFibrillating(evidence),
  filling: unusableFilling(evidence, values),
});

/** What the LVEF says to the algorithms of 2016, which it chooses. */
export interface Ejection {
  /** Null: not known, or contested. */
  reduced: boolean | null;
  /** A value is there, and left open on which side of the limit it lies. */
  contested: boolean;
}

/** As shown, which is what a value is classified by (echo 0.3). */
const isReduced = (percent: number) => rounded(percent, 0) < DYSFUNCTION.ef;

const EF_KEYS: ReadonlySet<string> = new Set(EF_PRECEDENCE);

/** Readings that contradict each other may still lie on the same side of the limit. */
export function ejectionOf(values: Values): Ejection {
  const headline = headlineEf(values);
  if (!headline) return { reduced: null, contested: false };
  const reduced = isReduced(headline.value);
  const { between } = ungradedEf(values) ?? { between: null };
  const settled =
    between === null ||
    (between.length > 1 &&
      between.every(
        ({ concept, value }) => EF_KEYS.has(concept.key) && isReduced(value) === reduced,
      ));
  return settled ? { reduced, contested: false } : { reduced: null, contested: true };
}
