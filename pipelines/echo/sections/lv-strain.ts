import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { globalStrain } from '../formulas/strain.ts';
import { strainBand } from '../guidelines/strain.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, named, type Values } from '../values.ts';

const ID = 'lv-strain';
const NEEDS = [
  'A4C, A2C and A3C clips of 40 to 90 frames per second',
  'a permitted tracking model, or GLS in the report of the machine',
] as const;

const VIEWS = ['gls-end-systolic-4c', 'gls-end-systolic-2c', 'gls-end-systolic-3c'] as const;

function run(evidence: EchoEvidence, values: Values) {
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
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      standing
        ? null
        : 'GLS was not assessed: the machine reported none for three views, and no permitted model tracks the myocardium.',
      standing
        ? "A segmental bull's-eye was not made: no permitted model tracks the myocardium."
        : null,
    ],
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
