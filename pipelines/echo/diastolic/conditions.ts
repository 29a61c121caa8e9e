import { rounded } from '../../measure/rounding.ts';
import type { MitralDisease, MyocardialSign } from '../../result/render/echo/diastolic.ts';
import { DYSFUNCTION, myocardialDisease } from '../cardiomyopathy/guideline.ts';
import { mitralAreaByHalfTime, pressureBehindJet } from '../formulas.ts';
import { LEFT_ATRIUM } from '../la-volume/guideline.ts';
import { massIndexRange } from '../lv-size/guideline.ts';
import { EF_PRECEDENCE, headlineEf, ungradedEf } from '../lvef/judge.ts';
import { rightHeartPressures } from '../pulmonary-hypertension/measure.ts';
import { graded, SEXES } from '../shared/grading.ts';
import { rangedSex, type Values } from '../shared/section.ts';
import {
  isSignificant,
  mayShortenHalfTime,
  mitralStenosis,
  regurgitations,
} from '../valves/judge.ts';
import { WALL_MOTION } from '../wall-motion/guideline.ts';
import type { Ejection } from './applicability.ts';
import { SECTION } from './measure.ts';
import type { DiastolicConditions, DiastolicEvidence } from './section.ts';

/**
 * Returns mitral stenosis of any degree, graded or suspected (echo 11.5). The area by half-time is
 * calculated here, because the valve section runs later. The machine's area is not used if its
 * half-time was corrected.
 */
function stenosis(values: Values): MitralDisease | null {
  const area = values.calculated('mv-area-half-time', {
    section: SECTION,
    method: 'half-time-constant',
    from: ['mv-half-time'],
    value: mitralAreaByHalfTime,
  });
  const known = values.with([area]);
  const isHalfTimeInvalid = mayShortenHalfTime(known, regurgitations(known));
  const { grade, by, suspected } = mitralStenosis(known, isHalfTimeInvalid);
  return grade && by ? { kind: 'stenosis', grade, by } : suspected;
}

function regurgitation(values: Values): MitralDisease | null {
  const { MR } = regurgitations(values);
  return MR && isSignificant(MR) ? { kind: 'regurgitation', grade: MR } : null;
}

/**
 * Returns the mitral valve diseases that make e' and E/e' invalid: stenosis of any degree, and
 * significant regurgitation. In patients with these diseases, no standard grade of diastolic
 * function exists (D16, D25; echo 10.2). An empty list means that no measured value shows a
 * disease. It does not exclude disease.
 */
function mitralDisease(values: Values): MitralDisease[] {
  return [stenosis(values), regurgitation(values)].filter((found) => found !== null);
}

/** The value is rounded first, because the report shows the rounded value (echo 0.3). */
const isReduced = (percent: number) => rounded(percent, 0) < DYSFUNCTION.ef;

const EF_KEYS: ReadonlySet<string> = new Set(EF_PRECEDENCE);

/**
 * Returns whether the LVEF is reduced. If measured values contradict each other, the answer is
 * still known as long as all of them are on the same side of the limit.
 */
function ejectionOf(values: Values): Ejection {
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

const NORMAL_SCORE = 1;

/**
 * Returns true if a segment moves abnormally. The apical cap is left out, because its motion is not
 * scored (ASE 2015).
 */
const isAbnormal = ({ segment, score }: DiastolicEvidence['heart']['segments'][number]) =>
  segment <= WALL_MOTION.scored && score !== null && score > NORMAL_SCORE;

function myocardialSigns(evidence: DiastolicEvidence, values: Values): MyocardialSign[] {
  const walls = [values.number('ivsd'), values.number('lvpwd')].filter((wall) => wall !== null);
  const index = values.measurement('lv-mass-index');
  const { trusted, segments } = evidence.heart;
  return myocardialDisease({
    sex: rangedSex(evidence),
    massIndex: index?.value ?? null,
    massRange: massIndexRange(index, values.measurement('lv-mass')),
    wall: walls.length > 0 ? Math.max(...walls) : null,
    scoreIndex: values.number('wall-motion-score-index'),
    abnormalSegment: trusted && segments.some(isAbnormal),
  });
}

/**
 * Functions that return what the diastolic section needs from the LVEF, LA, valve, wall motion and
 * right heart sections.
 */
export const DIASTOLIC_CONDITIONS: DiastolicConditions = {
  ejectionOf,
  mitralDisease,
  myocardialSigns,
  pressures: (values) => rightHeartPressures(values, SECTION),
  diastolicPressure(values) {
    const [end, atrial] = [values.number('pr-end-velocity'), values.number('ra-pressure')];
    return end === null || atrial === null ? null : pressureBehindJet(end, atrial);
  },
  severeAtrium: (index) =>
    graded(index, LEFT_ATRIUM.volumeIndex, SEXES) === 'severe' ? index : null,
};
