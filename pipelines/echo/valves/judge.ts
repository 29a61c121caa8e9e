import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type MitralStenosisGrade,
  namedText,
  type RegurgitationGrade,
  remarkOfEcho,
  type SuspectedStenosis,
} from '../../result/render/echo/shared.ts';
import {
  type AorticStenosisGrade,
  type MitralRemark,
  type StenosisRemark,
  sayOfValves,
  type TricuspidResult,
} from '../../result/render/echo/valves.ts';
import type { Statement } from '../../result/statement.ts';
import { circleArea } from '../formulas.ts';
import type { Criterion } from '../shared/grading.ts';
import { belongsToMachine, type Values } from '../shared/section.ts';
import {
  contradictsArea,
  exceedsPeakGradient,
  integratedGrade,
  isForeignArea,
  isNormalMitralArea,
  largerStroke,
  mitralStenosis2020,
  STENOSIS,
  STENOTIC_GRADIENT,
  severeAorticSigns,
  stenosisGrade,
  stenosisRemarks,
  tricuspidIntegrated,
} from './guideline.ts';

export interface AorticStenosis {
  grade: AorticStenosisGrade;
  statements: readonly Statement[];
  criteria: readonly Criterion[];
  area: Measurement | null;
  /** The machine's valve area, if it contradicts the DVI in the same report. */
  rejected: Measurement | null;
  /**
   * Mean gradient and peak velocity if no jet can have both, or peak velocity and valve area if one
   * of them must be wrong. There is no grade then.
   */
  contradiction: Contradiction | null;
}

interface Contradiction {
  code: 'valves.gradient-contradicts' | 'valves.area-contradicts';
  between: readonly Measurement[];
  /** Severity of the finding; null if neither value suggests stenosis. */
  severity: 'critical' | 'abnormal' | null;
}

/** Grades that are not a finding. */
export const UNREMARKABLE: ReadonlySet<AorticStenosisGrade> = new Set([
  'insufficient-data',
  'none',
  'low-gradient-peak-unknown',
]);

function ofGradient({ asMeasured }: Values): Contradiction | null {
  const peak = asMeasured.measurement('av-vmax');
  const gradient = asMeasured.measurement('av-mean-gradient');
  if (!peak || !gradient || !exceedsPeakGradient(gradient.value, peak.value)) return null;
  const alone = { peak: null, meanGradient: null, area: null, areaIndex: null };
  const unknown = { ...alone, strokeIndex: null, ef: null };
  const grades = [
    stenosisGrade({ ...unknown, meanGradient: gradient.value }),
    stenosisGrade({ ...unknown, peak: peak.value }),
  ];
  const loud = grades.includes('very-severe') ? 'critical' : 'abnormal';
  return {
    code: 'valves.gradient-contradicts',
    between: [gradient, peak],
    severity: grades.every((one) => UNREMARKABLE.has(one)) ? null : loud,
  };
}

function ofArea(values: Values, area: Measurement | null): Contradiction | null {
  const peak = values.measurement('av-vmax');
  if (!peak || !area || !contradictsArea(peak.value, area.value)) return null;
  return { code: 'valves.area-contradicts', between: [peak, area], severity: 'abnormal' };
}

/**
 * Returns the machine's valve area, marked as inadequate, if it is inconsistent with the LVOT area
 * and the DVI in the same report. Null otherwise, and if a person confirmed the area.
 */
function foreignArea(values: Values): Measurement | null {
  const area = values.measurement('av-area');
  const [diameter, index] = [values.number('lvot-diameter'), values.number('velocity-index')];
  if (!area || area.confirmed || !diameter || index === null) return null;
  if (!isForeignArea(area.value, circleArea(diameter), index)) return null;
  const remarks = [...area.remarks, remarkOfEcho('valves.foreign-area', {})];
  return { ...area, quality: 'inadequate', remarks };
}

/**
 * Returns the valve area and its index by VTI or, if there is none, by peak velocity (echo 11.1).
 */
function areasOf(values: Values, rejected: Measurement | null) {
  // If the machine's area contradicts its DVI, the LVOT diameter may be wrong. The area by peak
  // velocity uses the same diameter, so it cannot replace the area by VTI.
  if (rejected) return { area: null, areaIndex: null };
  const area = values.measurement('av-area');
  if (area) return { area, areaIndex: values.measurement('av-area-index') };
  return {
    area: values.measurement('av-area-vmax'),
    areaIndex: values.measurement('av-area-vmax-index'),
  };
}

const { severe, lowFlow, preservedEf } = STENOSIS;

/** Quantities that determine the grade, each with its limit as text, its decimals and a test. */
const DECIDING = {
  'av-vmax': [`>= ${severe.peak.toFixed(1)} m/s`, 1, (v: number) => v >= severe.peak],
  'av-mean-gradient': [`>= ${severe.gradient} mmHg`, 0, (v: number) => v >= severe.gradient],
  area: [`<= ${severe.area.toFixed(2)} cm²`, 2, (v: number) => v <= severe.area],
  areaIndex: [`<= ${severe.areaIndex.toFixed(2)} cm²/m²`, 2, (v: number) => v <= severe.areaIndex],
  'lvot-stroke-index': [`<= ${lowFlow} ml/m²`, 0, (v: number) => v <= lowFlow],
  lvef: [`< ${preservedEf} %`, 0, (v: number) => v < preservedEf],
} as const satisfies Record<string, readonly [string, number, (value: number) => boolean]>;

const ABBREVIATIONS: Readonly<Record<keyof typeof DECIDING, string>> = {
  'av-vmax': 'AV Vmax',
  'av-mean-gradient': 'AV mean gradient',
  area: 'AVA',
  areaIndex: 'AVAi',
  'lvot-stroke-index': 'SVi',
  lvef: 'LVEF',
};

function criteriaOf(
  given: Readonly<Record<keyof typeof DECIDING, Measurement | null>>,
): Criterion[] {
  return (Object.keys(DECIDING) as (keyof typeof DECIDING)[]).map((key) => {
    const [limit, decimals, met] = DECIDING[key];
    const one = given[key];
    return one
      ? { name: `${namedText(one)}: ${limit}`, met: met(rounded(one.value, decimals)) }
      : { name: `${ABBREVIATIONS[key]} ${limit}`, met: null };
  });
}

const remark = (one: StenosisRemark) =>
  sayOfValves.conclusion('valves.stenosis-remark', { remark: one });

/**
 * Grades aortic stenosis. Returns the grade with its evidence and the statements needed to
 * understand it (echo 11.1).
 */
export function aorticStenosis(values: Values, ef: Measurement | null): AorticStenosis {
  const rejected = foreignArea(values);
  const { area, areaIndex } = areasOf(values, rejected);
  const of = (key: EchoConcept) => values.measurement(key);
  const given = {
    'av-vmax': of('av-vmax'),
    'av-mean-gradient': of('av-mean-gradient'),
    area,
    areaIndex,
    'lvot-stroke-index': of('lvot-stroke-index'),
    lvef: ef,
  };
  const inputs = {
    peak: values.number('av-vmax'),
    meanGradient: values.number('av-mean-gradient'),
    area: area?.value ?? null,
    areaIndex: areaIndex?.value ?? null,
    strokeIndex: values.number('lvot-stroke-index'),
    ef: ef?.value ?? null,
  };
  const contradiction = ofGradient(values) ?? ofArea(values, area);
  const grade = contradiction ? 'insufficient-data' : stenosisGrade(inputs);
  const velocityIndex = values.number('velocity-index');
  const { highFlow, remarks } = stenosisRemarks(grade, { ...inputs, velocityIndex });
  return {
    grade,
    statements: [
      ...(area?.concept.key === 'av-area-vmax' ? [remark('area-by-peak-velocities')] : []),
      ...(highFlow
        ? [
            sayOfValves.conclusion('valves.check-high-flow', {
              flow: highFlow,
              limit: STENOSIS.highFlow,
            }),
          ]
        : []),
      ...remarks.map(remark),
    ],
    criteria: criteriaOf(given),
    area,
    rejected,
    contradiction,
  };
}

export interface MitralStenosis {
  grade: MitralStenosisGrade | null;
  /** Value from which the grade was derived; null without a grade. */
  by: 'area' | 'half-time' | null;
  /** Set if a value suggests stenosis but does not allow a grade. */
  suspected: SuspectedStenosis | null;
  remark: MitralRemark | null;
}

const UNGRADED: MitralStenosis = { grade: null, by: null, suspected: null, remark: null };

/**
 * Mitral valve area by half-time, cm², up to which stenosis is suspected even if no gradient was
 * measured (VHD20; echo 11.5).
 */
const STENOTIC_AREA = 1.5;

function byHalfTime(values: Values, isHalfTimeInvalid: boolean): MitralStenosis {
  const area = values.number('mv-area-half-time');
  const gradient = values.number('mv-mean-gradient');
  const isSteep = gradient !== null && rounded(gradient, 0) >= STENOTIC_GRADIENT;
  if (isSteep && (area === null || isHalfTimeInvalid)) {
    return {
      ...UNGRADED,
      suspected: { kind: 'steep-gradient', gradient: STENOTIC_GRADIENT },
      remark: area === null ? null : 'with-regurgitation',
    };
  }
  if (area === null) return UNGRADED;
  if (isNormalMitralArea(area)) return { ...UNGRADED, remark: isSteep ? 'normal' : null };
  if (isSteep) {
    const grade = mitralStenosis2020(area);
    return { ...UNGRADED, grade, by: 'half-time', remark: 'by-half-time' };
  }
  // AR makes the area by half-time too large, so a small area is suspicious even then.
  return rounded(area, 2) <= STENOTIC_AREA
    ? { ...UNGRADED, suspected: { kind: 'small-area', area, gradient: STENOTIC_GRADIENT } }
    : UNGRADED;
}

/**
 * Grades mitral stenosis from planimetry. If there is none, the half-time is used, but only if a
 * gradient suggests stenosis and no AR may shorten it (`mayShortenHalfTime`). If only one of them
 * suggests stenosis, it is suspected but not graded (echo 11.5).
 */
export function mitralStenosis(values: Values, isHalfTimeInvalid: boolean): MitralStenosis {
  const planimetry = values.number('mv-area-planimetry');
  if (planimetry === null) return byHalfTime(values, isHalfTimeInvalid);
  return isNormalMitralArea(planimetry)
    ? { ...UNGRADED, remark: 'normal' }
    : { ...UNGRADED, grade: mitralStenosis2020(planimetry), by: 'area' };
}

const squareMillimetres = (area: number | null) => (area === null ? null : 100 * area);

const NO_SIGNS = { venaContracta: null, jetWidth: null, halfTime: null } as const;

const aorticInputs = (values: Values) => ({
  venaContracta: values.number('ar-vena-contracta'),
  jetWidth: values.number('ar-jet-width'),
  halfTime: values.number('ar-half-time'),
});

function graded(valve: 'aortic' | 'mitral', values: Values) {
  const prefix = valve === 'aortic' ? 'ar' : 'mr';
  const quantities = {
    orifice: squareMillimetres(values.number(`${prefix}-orifice`)),
    volume: values.number(`${prefix}-volume`),
    fraction: values.number(`${prefix}-fraction`),
  };
  const signs = valve === 'aortic' ? aorticInputs(values) : NO_SIGNS;
  const known = [...Object.values(quantities), ...Object.values(signs)].some((v) => v !== null);
  return known ? integratedGrade(valve, severeAorticSigns(signs), quantities) : null;
}

export interface Regurgitations {
  AR: RegurgitationGrade | null;
  MR: RegurgitationGrade | null;
  TR: TricuspidResult | null;
}

/**
 * Grades the regurgitation of each valve with at least one quantified value (echo 11.2, 11.3,
 * 11.6).
 */
export function regurgitations(values: Values): Regurgitations {
  return {
    AR: graded('aortic', values),
    MR: graded('mitral', values),
    TR: tricuspidIntegrated(values.number('tr-vena-contracta'), null),
  };
}

/**
 * Lists the valves whose regurgitation was not quantified. Such a valve is not necessarily
 * competent (echo 11.8).
 */
export function regurgitationGap(grades: Regurgitations): Statement | null {
  const missing = (['AR', 'MR', 'TR'] as const).filter((key) => grades[key] === null);
  return missing.length > 0
    ? sayOfValves.gap('valves.regurgitation-not-assessed', { valves: missing })
    : null;
}

const INSIGNIFICANT: ReadonlySet<RegurgitationGrade> = new Set<RegurgitationGrade>([
  'mild',
  'indeterminate',
]);

/**
 * Returns true if the regurgitation is at least moderate, or if this cannot be ruled out because
 * the quantities contradict each other.
 */
export const isSignificant = (grade: Regurgitations['AR']) =>
  grade !== null && !INSIGNIFICANT.has(grade);

/**
 * Returns true if AR is significant, or if it has no grade and a specific sign of severe AR. It then
 * shortens the half-time of the mitral inflow (echo 11.5).
 */
export const mayShortenHalfTime = (values: Values, { AR }: Regurgitations): boolean =>
  isSignificant(AR) || (AR === 'indeterminate' && severeAorticSigns(aorticInputs(values)) > 0);

/**
 * Returns the statement that the stroke volume of the LVOT and that of the biplane volumes
 * contradict each other; null if they agree, or if significant MR or AR explains the difference
 * (echo 4.6, 19).
 */
export function strokesDiffer(values: Values, { AR, MR }: Regurgitations): Statement | null {
  const outflow = values.measurement('lvot-stroke-volume');
  const filled = values.measurement('lvedv-biplane');
  const emptied = values.measurement('lvesv-biplane');
  if (outflow?.quality !== 'accepted' || !filled || !emptied) return null;
  if (belongsToMachine(filled) !== belongsToMachine(emptied)) return null;
  const ventricle = filled.value - emptied.value;
  const larger = largerStroke(outflow.value, ventricle);
  if (!larger || (larger === 'ventricle' && (isSignificant(AR) || isSignificant(MR)))) return null;
  const mayLeak = larger === 'ventricle' && (AR === null || MR === null);
  const params = { larger, ventricle, mayLeak };
  return sayOfValves.conclusion('valves.strokes-differ', params, [outflow]);
}
