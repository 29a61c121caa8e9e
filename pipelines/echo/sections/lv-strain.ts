import { APICAL_VIEWS } from '../chambers/chamber-clip.ts';
import { outlineGap } from '../chambers/outline-gap.ts';
import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { rounded } from '../formulas/rounding.ts';
import { globalStrain } from '../formulas/strain.ts';
import { strainBand } from '../guidelines/strain.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, named, type Values } from '../values.ts';

const ID = 'lv-strain';
const NEEDS = [
  'A4C, A2C and A3C clips of 40 to 90 frames per second',
  'a permitted model of the chambers, or GLS in the report of the machine',
] as const;

const VIEWS = ['gls-end-systolic-4c', 'gls-end-systolic-2c', 'gls-end-systolic-3c'] as const;

/** Which of the three views gave no strain; a mean of fewer is not made (reference 8.1). */
function missingViews(evidence: EchoEvidence, values: Values): string {
  const missing = APICAL_VIEWS.filter((_, index) => {
    const key = VIEWS[index];
    return key === undefined || values.measurement(key) === null;
  });
  const why = outlineGap(evidence) ?? `No strain of ${missing.join(', ')}.`;
  return `GLS was not assessed: it is the mean of three views. ${why}`;
}

function run(evidence: EchoEvidence, values: Values) {
  const segments = evidence.heart.trusted
    ? evidence.heart.segments.flatMap(({ segment, name, strain }) =>
        strain === null ? [] : [{ segment, name, strain: rounded(strain, 1) }],
      )
    : [];
  const contour = VIEWS.some((key) => values.measurement(key)?.source.provenance === 'model');
  const mean = calculated(values, 'gls-end-systolic', {
    section: ID,
    method: 'mean-of-views',
    from: VIEWS,
    value: (...views) => globalStrain(views) ?? Number.NaN,
  });
  const standing = mean?.quality === 'accepted' ? mean : values.measurement('gls-peak-systolic');
  const band = standing && !isChild(evidence) ? strainBand(standing.value) : null;
  return conclude(lvStrain, {
    measurements: [
      mean,
      values.measurement('gls-peak-systolic'),
      ...VIEWS.map((key) => values.measurement(key)),
      values.measurement('mechanical-dispersion'),
    ],
    sentences: [
      band &&
        `GLS: ${band}; endocardial, ${standing === mean ? 'end-systolic' : 'peak systolic'}, values depend on the vendor`,
      contour
        ? 'Strain is contour strain (length of the inner outline), not speckle tracking'
        : null,
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      standing ? null : missingViews(evidence, values),
      segments.length > 0
        ? null
        : "A segmental bull's-eye was not made: no segment was followed in the images.",
    ],
    data: { model: '17 segments', segments },
    findings: [
      band === 'abnormal' && standing
        ? finding(
            ID,
            'gls-abnormal',
            `${named(standing)}: reduced longitudinal shortening`,
            'abnormal',
            [standing],
          )
        : null,
    ],
    classifications: [
      band && classification(ID, 'gls-band', 'Global longitudinal strain', band, 'ASE/EACVI 2025'),
    ],
  });
}

/** Longitudinal strain of the left ventricle (echo reference 8). */
export const lvStrain: EchoSection = {
  id: ID,
  title: 'Left ventricular strain',
  needs: NEEDS,
  measures: ['gls-end-systolic', 'gls-peak-systolic', ...VIEWS, 'mechanical-dispersion'],
  run,
};
