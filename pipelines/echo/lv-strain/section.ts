import { rounded } from '../../measure/rounding.ts';
import { sayOfLvStrain } from '../../result/render/echo/lv-strain.ts';
import type { Statement } from '../../result/statement.ts';
import { APICAL_VIEWS, type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { isNearCutOff, VARIABILITY } from '../shared/grading.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  type Values,
} from '../shared/section.ts';
import {
  discordantEf,
  GLS_LIMITS,
  type OverallStrain,
  overallStrain,
  STRAIN_VIEWS,
  type StrainBand,
  type StrainSources,
  strainBand,
  strainSources,
  strainsDisagree,
} from './judge.ts';

interface LvStrainEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & {
    /** True if values derived from a change in volume may be reported. */
    trusted: boolean;
    /** In per cent; null if the strain is not plausible in any view. */
    segments: readonly { segment: number; name: string; strain: number | null }[];
  };
}

const ID = 'lv-strain';
const NEEDS = [
  'A4C, A2C and A3C clips of 40 to 90 frames per second',
  'a permitted model of the chambers, or GLS in the report of the machine',
] as const;

const VIEWS = [...STRAIN_VIEWS['gls-end-systolic'], ...STRAIN_VIEWS['gls-peak-systolic']] as const;

/**
 * Peak strain at any time in the beat. It is shown without a band, because the bands apply to
 * systolic strain (ST25; echo 8.1, 8.2).
 */
const ANY_TIME = ['gls-peak', 'gls-peak-4c', 'gls-peak-2c', 'gls-peak-3c'] as const;

const viewsIn = (values: Values, keys: readonly (typeof VIEWS)[number][]) =>
  APICAL_VIEWS.filter((_, index) => {
    const key = keys[index];
    return key !== undefined && values.measurement(key) !== null;
  });

function missingViews(
  evidence: LvStrainEvidence,
  { machine, outlines }: StrainSources,
): Statement[] {
  const reported = new Set(Object.values(STRAIN_VIEWS).flatMap((keys) => viewsIn(machine, keys)));
  const outlined = viewsIn(outlines, STRAIN_VIEWS['gls-end-systolic']);
  const why = [
    reported.size > 0
      ? sayOfLvStrain.gap('lv-strain.machine-views', { views: [...reported] })
      : null,
    outlined.length > 0
      ? sayOfLvStrain.gap('lv-strain.outlined-views', { views: outlined })
      : outlineGap(evidence),
  ].filter((one) => one !== null);
  return [
    sayOfLvStrain.gap('lv-strain.needs-three-views', {}),
    ...(why.length > 0 ? why : [sayOfLvStrain.gap('lv-strain.no-view', {})]),
  ];
}

function bandStatement({ measurement, origin }: OverallStrain, band: StrainBand): Statement {
  const timing =
    measurement.concept.key === 'gls-end-systolic' ? 'gls-end-systolic' : 'gls-peak-systolic';
  return sayOfLvStrain.conclusion('lv-strain.band', { band, timing, origin }, [measurement]);
}

function run(evidence: LvStrainEvidence, values: Values) {
  const segments = evidence.heart.trusted
    ? evidence.heart.segments.flatMap(({ segment, name, strain }) =>
        strain === null ? [] : [{ segment, name, strain: rounded(strain, 1) }],
      )
    : [];
  const sources = strainSources(values);
  const contour = VIEWS.some((key) => sources.outlines.measurement(key) !== null);
  const overall = overallStrain(sources);
  const gls = overall?.measurement ?? null;
  const other = gls?.concept.key === 'gls-end-systolic' ? 'gls-peak-systolic' : 'gls-end-systolic';
  // The mean may come from the views of the outlines. These views are then listed even if the
  // machine has values for them.
  const averaged = VIEWS.flatMap((key) => {
    const view = sources.outlines.measurement(key);
    return view && gls?.inputs.includes(view.id) ? [view] : [];
  });
  const views = VIEWS.flatMap(
    (key) => sources.machine.measurement(key) ?? sources.outlines.measurement(key) ?? [],
  );
  const band = gls && !isChild(evidence) ? strainBand(gls.value) : null;
  const ef = gls && band ? discordantEf(evidence, values, gls) : null;
  const discordance =
    ef && gls && sayOfLvStrain.conclusion('lv-strain.discordant-with-ef', {}, [ef, gls]);
  const anyTime = ANY_TIME.map((key) => sources.machine.measurement(key));
  return conclude(lvStrain, {
    measurements: [
      gls,
      sources.machine.measurement(other),
      ...views,
      ...averaged.filter(({ id }) => views.every((view) => view.id !== id)),
      ...anyTime,
      values.measurement('mechanical-dispersion'),
    ],
    conclusions: [
      overall && band && bandStatement(overall, band),
      gls &&
      band &&
      isNearCutOff(rounded(gls.value, 1), Object.values(GLS_LIMITS), VARIABILITY.strain)
        ? sayOfLvStrain.conclusion('lv-strain.at-limit', { points: VARIABILITY.strain })
        : null,
      discordance,
      contour ? sayOfLvStrain.conclusion('lv-strain.contour', {}) : null,
      segments.length > 0 ? sayOfLvStrain.limitation('lv-strain.smoothed', {}) : null,
      strainsDisagree(sources)
        ? sayOfLvStrain.conclusion('lv-strain.sources-differ', {
            points: VARIABILITY.strain,
            machine: overall?.origin !== 'contour',
          })
        : null,
    ],
    gaps: [
      isChild(evidence) ? PATIENT_GAPS.child : null,
      ...(overall ? [] : missingViews(evidence, sources)),
      !overall && anyTime.some((one) => one !== null)
        ? sayOfLvStrain.gap('lv-strain.any-time', {})
        : null,
      segments.length > 0 ? null : sayOfLvStrain.gap('lv-strain.no-segments', {}),
    ],
    data: { model: '17 segments', segments },
    findings: [
      band === 'abnormal' && gls
        ? finding(
            'gls-abnormal',
            sayOfLvStrain.conclusion('lv-strain.reduced', {}, [gls]),
            'abnormal',
          )
        : null,
      discordance && finding('gls-lvef-discordant', discordance, 'info'),
    ],
    classifications: [
      band && classification('gls-band', 'Global longitudinal strain', band, 'ASE/EACVI 2025'),
    ],
  });
}

/** Reports longitudinal strain of the left ventricle (echo 8). */
export const lvStrain: EchoSection<LvStrainEvidence> = {
  id: ID,
  title: 'Left ventricular strain',
  needs: NEEDS,
  measures: [
    'gls-end-systolic',
    'gls-peak-systolic',
    ...VIEWS,
    ...ANY_TIME,
    'mechanical-dispersion',
  ],
  run,
};
