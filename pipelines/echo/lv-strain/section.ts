import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { APICAL_VIEWS } from '../locate/names.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import { isNearCutOff, VARIABILITY } from '../shared/grading.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import { GLS_LIMITS, strainBand } from './guideline.ts';
import { strainAgainstEf } from './judge.ts';
import {
  type OverallStrain,
  overallStrain,
  STRAIN_VIEWS,
  type StrainSources,
  strainSources,
  strainsDisagree,
} from './measure.ts';

/** What this section needs beside the values. */
interface LvStrainEvidence extends PatientEvidence, OutlineEvidence {
  /** Every measured value, of the machine and of the outlines. */
  measured: readonly Measurement[];
  heart: OutlineEvidence['heart'] & {
    /** Whether what follows from the change of a volume may be reported. */
    trusted: boolean;
    /** Strain in per cent; null where no view gives one that can be believed. */
    segments: readonly { segment: number; name: string; strain: number | null }[];
  };
}

const ID = 'lv-strain';
const NEEDS = [
  'A4C, A2C and A3C clips of 40 to 90 frames per second',
  'a permitted model of the chambers, or GLS in the report of the machine',
] as const;

const VIEWS = [...STRAIN_VIEWS['gls-end-systolic'], ...STRAIN_VIEWS['gls-peak-systolic']] as const;

/** Peak at any time: shown, and no band, which is of systole (ST25; echo 8.1, 8.2). */
const ANY_TIME = ['gls-peak', 'gls-peak-4c', 'gls-peak-2c', 'gls-peak-3c'] as const;

const viewsIn = (values: Values, keys: readonly (typeof VIEWS)[number][]) =>
  APICAL_VIEWS.filter((_, index) => {
    const key = keys[index];
    return key !== undefined && values.measurement(key) !== null;
  });

/** Which views gave a strain, and by whom; a mean of fewer than three of one method is not made. */
function missingViews(evidence: LvStrainEvidence, { machine, outlines }: StrainSources): string {
  const reported = Object.values(STRAIN_VIEWS).flatMap((keys) => viewsIn(machine, keys));
  const outlined = viewsIn(outlines, STRAIN_VIEWS['gls-end-systolic']);
  const why = [
    reported.length > 0 ? `The machine reports ${[...new Set(reported)].join(', ')}.` : null,
    outlined.length > 0 ? `The outlines give ${outlined.join(', ')}.` : outlineGap(evidence),
  ].filter((text) => text !== null);
  const given = why.length > 0 ? why.join(' ') : 'No view gave a strain.';
  return `GLS was not assessed: it is the mean of three views of one method. ${given}`;
}

const ORIGINS = {
  machine: 'of the machine',
  'machine views': 'mean of three views of the machine',
  contour: 'mean of three views of contour strain',
} as const satisfies Record<OverallStrain['origin'], string>;

function bandInWords({ measurement, origin }: OverallStrain, band: string): string {
  const { key } = measurement.concept;
  const timing = key === 'gls-end-systolic' ? 'end-systolic' : 'peak systolic';
  return `GLS: ${band}; endocardial, ${timing}, ${ORIGINS[origin]}, values depend on the vendor`;
}

function run(evidence: LvStrainEvidence, values: Values) {
  const segments = evidence.heart.trusted
    ? evidence.heart.segments.flatMap(({ segment, name, strain }) =>
        strain === null ? [] : [{ segment, name, strain: rounded(strain, 1) }],
      )
    : [];
  const sources = strainSources(evidence);
  const contour = VIEWS.some((key) => sources.outlines.measurement(key) !== null);
  const standing = overallStrain(sources);
  const gls = standing?.measurement ?? null;
  const other = gls?.concept.key === 'gls-end-systolic' ? 'gls-peak-systolic' : 'gls-end-systolic';
  // What a mean of the outlines was made of stands beside the machine's value of the same view.
  const averaged = VIEWS.flatMap((key) => {
    const view = sources.outlines.measurement(key);
    return view && gls?.inputs.includes(view.id) ? [view] : [];
  });
  const views = VIEWS.flatMap(
    (key) => sources.machine.measurement(key) ?? sources.outlines.measurement(key) ?? [],
  );
  const band = gls && !isChild(evidence) ? strainBand(gls.value) : null;
  const discordance = gls && band ? strainAgainstEf(evidence, values, gls) : null;
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
    sentences: [
      standing && band && bandInWords(standing, band),
      gls &&
      band &&
      isNearCutOff(rounded(gls.value, 1), Object.values(GLS_LIMITS), VARIABILITY.strain)
        ? `The GLS lies within ${VARIABILITY.strain} points of a limit of its band, which is within measurement variability`
        : null,
      discordance?.text ?? null,
      contour
        ? 'What the outlines give is contour strain (length of the inner outline), not speckle tracking'
        : null,
      strainsDisagree(sources)
        ? `Contour strain of the outlines and strain of the machine differ by more than ${VARIABILITY.strain} points${standing?.origin === 'contour' ? '' : '; the value of the machine stands'}`
        : null,
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      standing ? null : missingViews(evidence, sources),
      !standing && anyTime.some((one) => one !== null)
        ? 'Peak strain at any time is not graded: the bands are of end-systolic or peak systolic strain.'
        : null,
      segments.length > 0
        ? null
        : "A segmental bull's-eye was not made: no segment was followed in the images.",
    ],
    data: { model: '17 segments', segments },
    findings: [
      band === 'abnormal' && gls
        ? finding(
            ID,
            'gls-abnormal',
            `${named(gls)}: reduced longitudinal shortening`,
            'abnormal',
            [gls],
          )
        : null,
      discordance &&
        finding(ID, 'gls-lvef-discordant', discordance.text, 'info', discordance.between),
    ],
    classifications: [
      band && classification(ID, 'gls-band', 'Global longitudinal strain', band, 'ASE/EACVI 2025'),
    ],
  });
}

/** Longitudinal strain of the left ventricle (echo 8). */
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
