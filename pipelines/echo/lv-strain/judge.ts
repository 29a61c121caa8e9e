import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { StrainOrigin } from '../../result/render/echo/lv-strain.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { globalStrain } from '../formulas.ts';
import { EJECTION_FRACTION } from '../lvef/guideline.ts';
import { gradableEf } from '../lvef/judge.ts';
import { VARIABILITY } from '../shared/grading.ts';
import {
  belongsToMachine,
  type PatientEvidence,
  rangedSex,
  type Values,
} from '../shared/section.ts';

/**
 * Limits of GLS, per cent. A GLS more negative than `normal` is normal, and one less negative than
 * `abnormal` is abnormal (ST25).
 */
export const GLS_LIMITS = { normal: -18, abnormal: -16 } as const;

export type StrainBand = 'normal' | 'borderline' | 'abnormal';

/** Returns the band of a GLS. The GLS is in per cent and negative (ST25; echo 8.2). */
export function strainBand(gls: number): StrainBand {
  const shown = rounded(gls, 1);
  if (shown < GLS_LIMITS.normal) return 'normal';
  return shown <= GLS_LIMITS.abnormal ? 'borderline' : 'abnormal';
}

/** Minimum RELAPS (relative apical strain) at which apical sparing is suspected (PHE12). */
export const APICAL_SPARING = 1;

function normalFrom(evidence: PatientEvidence): number {
  const { male, female } = EJECTION_FRACTION;
  const sex = rangedSex(evidence);
  return sex ? EJECTION_FRACTION[sex].normal[0] : Math.max(male.normal[0], female.normal[0]);
}

/**
 * Returns the LVEF if it is normal although the GLS is less negative than -16 %. Null if the two
 * agree (echo 19, rule 4).
 */
export function discordantEf(
  evidence: PatientEvidence,
  values: Values,
  strain: Measurement,
): Measurement | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) < normalFrom(evidence)) return null;
  return rounded(strain.value, 1) > GLS_LIMITS.abnormal ? ef : null;
}

/** Single-view strains that are averaged for the GLS, in the order of `APICAL_VIEWS`. */
export const STRAIN_VIEWS = {
  'gls-end-systolic': ['gls-end-systolic-4c', 'gls-end-systolic-2c', 'gls-end-systolic-3c'],
  'gls-peak-systolic': ['gls-peak-systolic-4c', 'gls-peak-systolic-2c', 'gls-peak-systolic-3c'],
} as const satisfies Partial<Record<EchoConcept, readonly EchoConcept[]>>;

type GlobalKey = keyof typeof STRAIN_VIEWS;

const SECTION = 'lv-strain';

/**
 * Timings of GLS. End-systolic strain is preferred; peak systolic strain is accepted if it is
 * labelled as such (ST25; echo 8.1).
 */
const TIMINGS = ['gls-end-systolic', 'gls-peak-systolic'] as const satisfies readonly GlobalKey[];

export interface OverallStrain {
  measurement: Measurement;
  origin: StrainOrigin;
}

export interface StrainSources {
  machine: Values;
  outlines: Values;
}

/**
 * Separates the machine's speckle tracking from contour strain. Values of the two methods are never
 * averaged.
 */
export const strainSources = (values: Values): StrainSources => ({
  machine: values.only(belongsToMachine),
  outlines: values.only((one) => !belongsToMachine(one)),
});

function globalStrainOf(values: Values, key: GlobalKey): Measurement | null {
  return values.calculated(key, {
    section: SECTION,
    method: 'mean-of-views',
    from: STRAIN_VIEWS[key],
    value: (...views) => globalStrain(views) ?? Number.NaN,
  });
}

/**
 * Returns the overall GLS from the first available source: the machine's GLS (end-systolic before
 * peak systolic), the mean of three views from the machine, or the mean of three views from the
 * outlines (docs/echo.md). If a machine value is used, a remark states the value from the outlines.
 * Null if no GLS is known.
 */
export function overallStrain({ machine, outlines }: StrainSources): OverallStrain | null {
  const contour = globalStrainOf(outlines, 'gls-end-systolic');
  const reported = TIMINGS.find((key) => machine.measurement(key) !== null);
  const timings = reported ? [reported] : TIMINGS;
  const [own] = timings.flatMap((key) => globalStrainOf(machine, key) ?? []);
  if (!own) return contour && { measurement: contour, origin: 'contour' };
  const beside = contour ? [remarkOfEcho('strain.contour-beside', { value: contour.value })] : [];
  const given = own.origin === 'person' ? 'person' : 'machine';
  return {
    measurement: { ...own, remarks: [...own.remarks, ...beside] },
    origin: reported ? given : 'machine-views',
  };
}

const differs = (one: number | null, other: number | null) =>
  one !== null &&
  other !== null &&
  rounded(Math.abs(rounded(one, 1) - rounded(other, 1)), 1) > VARIABILITY.strain;

/**
 * Returns true if the strain from the outlines and the machine's strain differ by more than their
 * variability, overall or in one view. The difference is reported, not resolved silently (echo 19,
 * rule 4).
 */
export function strainsDisagree({ machine, outlines }: StrainSources): boolean {
  const contour = globalStrainOf(outlines, 'gls-end-systolic')?.value ?? null;
  return (
    TIMINGS.some((key) => differs(globalStrainOf(machine, key)?.value ?? null, contour)) ||
    TIMINGS.some((key) =>
      STRAIN_VIEWS[key].some((view, index) => {
        const outlined = STRAIN_VIEWS['gls-end-systolic'][index];
        return outlined && differs(machine.number(view), outlines.number(outlined));
      }),
    )
  );
}
