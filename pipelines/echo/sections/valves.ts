import type { ConceptKey } from '../../result/concepts.ts';
import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { strokeVolume } from '../formulas/doppler.ts';
import { continuityArea, mitralAreaByHalfTime } from '../formulas/valves.ts';
import { type StenosisGrade, stenosisGrade } from '../guidelines/aortic-stenosis.ts';
import { mitralStenosis2020, STENOTIC_GRADIENT } from '../guidelines/mitral-stenosis.ts';
import { aorticSigns, integratedGrade, tricuspidIntegrated } from '../guidelines/regurgitation.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, named, type Values, withValues } from '../values.ts';
import { headlineEf } from './lvef.ts';

const ID = 'valves';
const NEEDS = [
  'AV CW, LVOT PW and LVOT diameter',
  'colour clips with PISA or vena contracta',
] as const;

const MEASURED = [
  'av-vmax',
  'av-mean-gradient',
  'av-vti',
  'lvot-diameter',
  'lvot-vti',
  'lvot-vmax',
  'ar-half-time',
  'ar-vmax',
  'ar-vena-contracta',
  'ar-jet-width',
  'ar-orifice',
  'ar-volume',
  'ar-fraction',
  'mr-vmax',
  'mr-orifice',
  'mr-volume',
  'mr-fraction',
  'mv-area-planimetry',
  'mv-half-time',
  'mv-mean-gradient',
  'mv-vti',
  'pv-vmax',
  'tr-vena-contracta',
] as const satisfies readonly ConceptKey[];

/** mm2 of cm2, as the tables of regurgitant orifices have it. */
const squareMillimetres = (area: number | null) => (area === null ? null : 100 * area);

const UNREMARKABLE: ReadonlySet<StenosisGrade> = new Set([
  'insufficient data',
  'no stenosis or sclerosis',
  'mean gradient <20 mmHg; mild or no stenosis, Vmax needed',
]);

/** Continuity equation, stroke volume and their indices, each from what was measured. */
function flows(given: Values) {
  const at = (
    key: ConceptKey,
    from: readonly ConceptKey[],
    method:
      | 'continuity-equation'
      | 'outflow-area-times-vti'
      | 'per-surface-area'
      | 'ratio-of-values'
      | 'half-time-constant',
    value: (...n: number[]) => number,
    values = given,
  ) => calculated(values, key, { section: ID, method, from, value });
  const divided = (one = 0, other = 1) => one / other;
  const area = at(
    'av-area',
    ['lvot-diameter', 'lvot-vti', 'av-vti'],
    'continuity-equation',
    continuityArea,
  );
  const stroke = at(
    'lvot-stroke-volume',
    ['lvot-diameter', 'lvot-vti'],
    'outflow-area-times-vti',
    strokeVolume,
  );
  const first = withValues(given, [area, stroke]);
  return [
    area,
    at(
      'av-area-vmax',
      ['lvot-diameter', 'lvot-vmax', 'av-vmax'],
      'continuity-equation',
      continuityArea,
    ),
    at('av-area-index', ['av-area', 'body-surface-area'], 'per-surface-area', divided, first),
    at('velocity-index', ['lvot-vti', 'av-vti'], 'ratio-of-values', divided),
    stroke,
    at(
      'lvot-stroke-index',
      ['lvot-stroke-volume', 'body-surface-area'],
      'per-surface-area',
      divided,
      first,
    ),
    at('mv-area-half-time', ['mv-half-time'], 'half-time-constant', mitralAreaByHalfTime),
  ];
}

function regurgitation(valve: 'aortic' | 'mitral', values: Values) {
  const prefix = valve === 'aortic' ? 'ar' : 'mr';
  const quantities = {
    orifice: squareMillimetres(values.number(`${prefix}-orifice`)),
    volume: values.number(`${prefix}-volume`),
    fraction: values.number(`${prefix}-fraction`),
  };
  const signs =
    valve === 'aortic'
      ? {
          venaContracta: values.number('ar-vena-contracta'),
          jetWidth: values.number('ar-jet-width'),
          halfTime: values.number('ar-half-time'),
        }
      : { venaContracta: null, jetWidth: null, halfTime: null };
  const known = [...Object.values(quantities), ...Object.values(signs)].some((v) => v !== null);
  return known ? integratedGrade(valve, aorticSigns(signs), quantities) : null;
}

/** MVA by planimetry; by half-time only beside a gradient that speaks for stenosis (11.5). */
function mitralStenosis(values: Values): string | null {
  const planimetry = values.number('mv-area-planimetry');
  if (planimetry !== null) return mitralStenosis2020(planimetry);
  const halfTime = values.number('mv-area-half-time');
  const gradient = values.number('mv-mean-gradient');
  return halfTime !== null && gradient !== null && gradient >= STENOTIC_GRADIENT
    ? mitralStenosis2020(halfTime)
    : null;
}

function run(evidence: EchoEvidence, given: Values) {
  const own = flows(given);
  const values = withValues(given, own);
  const child = isChild(evidence);
  const stenosis = stenosisGrade({
    peak: values.number('av-vmax'),
    meanGradient: values.number('av-mean-gradient'),
    area: values.number('av-area'),
    areaIndex: values.number('av-area-index'),
    strokeIndex: values.number('lvot-stroke-index'),
    ef: headlineEf(values)?.value ?? null,
  });
  const graded = {
    AS: child || stenosis === 'insufficient data' ? null : stenosis,
    AR: child ? null : regurgitation('aortic', values),
    MS: child ? null : mitralStenosis(values),
    MR: child ? null : regurgitation('mitral', values),
    TR: child ? null : tricuspidIntegrated(values.number('tr-vena-contracta'), null),
  };
  const measured = MEASURED.map((key) => values.measurement(key));
  const peak = values.measurement('av-vmax');
  const noColour = !graded.AR && !graded.MR && !graded.TR;
  const severe = (grade: string | null) =>
    grade !== null && /severe|massive|torrential|stenosis \(/i.test(grade);
  return conclude(valves, {
    measurements: [...measured, ...own],
    sentences: [
      graded.AS && `Aortic stenosis: ${graded.AS}`,
      graded.AR && `Aortic regurgitation: ${graded.AR}`,
      graded.MS && `Mitral stenosis by valve area: ${graded.MS}`,
      graded.MR && `Mitral regurgitation: ${graded.MR}`,
      graded.TR && `Tricuspid regurgitation: ${graded.TR}`,
    ],
    gaps: [
      child ? GAPS.age : null,
      peak || values.measurement('av-mean-gradient')
        ? null
        : 'Aortic stenosis cannot be graded without a CW trace.',
      peak && !values.measurement('lvot-diameter')
        ? 'Valve area not calculated; velocity-based grade only.'
        : null,
      noColour ? 'Regurgitation not assessed.' : null,
      'Whether a valve is a prosthesis, to which native-valve criteria do not apply, is not known.',
    ],
    findings: [
      graded.AS === 'very severe AS (high-gradient)'
        ? finding(ID, 'as-very-severe', `Aortic stenosis: ${graded.AS}`, 'critical', [
            peak,
            values.measurement('av-mean-gradient'),
          ])
        : graded.AS && !UNREMARKABLE.has(graded.AS)
          ? finding(ID, 'aortic-stenosis', `Aortic stenosis: ${graded.AS}`, 'abnormal', [
              peak,
              values.measurement('av-mean-gradient'),
              values.measurement('av-area'),
            ])
          : null,
      severe(graded.AR)
        ? finding(
            ID,
            'aortic-regurgitation',
            `Aortic regurgitation: ${graded.AR}`,
            'abnormal',
            measured.filter((one) => one?.concept.key.startsWith('ar-')),
          )
        : null,
      severe(graded.MR)
        ? finding(
            ID,
            'mitral-regurgitation',
            `Mitral regurgitation: ${graded.MR}`,
            'abnormal',
            measured.filter((one) => one?.concept.key.startsWith('mr-')),
          )
        : null,
      graded.MS
        ? finding(
            ID,
            'mitral-stenosis',
            `Mitral stenosis by valve area: ${graded.MS}`,
            'abnormal',
            [values.measurement('mv-area-planimetry'), values.measurement('mv-half-time')],
          )
        : null,
      severe(graded.TR)
        ? finding(
            ID,
            'tricuspid-regurgitation',
            `Tricuspid regurgitation: ${graded.TR}`,
            'abnormal',
            [values.measurement('tr-vena-contracta')],
          )
        : null,
    ],
    classifications: [
      graded.AS &&
        classification(
          ID,
          'aortic-stenosis',
          'Aortic stenosis',
          graded.AS,
          'EACVI/ASE 2017; very severe ACC/AHA 2020',
          STENOSIS_INPUTS.map((key) => ({
            name: inputName(values, key),
            met: values.measurement(key) ? true : null,
          })),
        ),
      graded.AR
        ? classification(ID, 'aortic-regurgitation', 'Aortic regurgitation', graded.AR, 'ASE 2017')
        : null,
      graded.MS
        ? classification(
            ID,
            'mitral-stenosis',
            'Mitral stenosis by valve area',
            graded.MS,
            'ACC/AHA 2020',
          )
        : null,
      graded.MR
        ? classification(ID, 'mitral-regurgitation', 'Mitral regurgitation', graded.MR, 'ASE 2017')
        : null,
      graded.TR
        ? classification(
            ID,
            'tricuspid-regurgitation',
            'Tricuspid regurgitation',
            graded.TR,
            'TVARC 2023',
          )
        : null,
    ],
  });
}

const STENOSIS_INPUTS = [
  'av-vmax',
  'av-mean-gradient',
  'av-area',
  'av-area-index',
  'lvot-stroke-index',
] as const;

function inputName(values: Values, key: (typeof STENOSIS_INPUTS)[number]): string {
  const measurement = values.measurement(key);
  return measurement ? named(measurement) : key;
}

/** Stenosis and regurgitation of the valves (echo reference 11). */
export const valves: EchoSection = {
  id: ID,
  title: 'Valves',
  needs: NEEDS,
  measures: [
    ...MEASURED,
    'av-area',
    'av-area-vmax',
    'av-area-index',
    'velocity-index',
    'lvot-stroke-volume',
    'lvot-stroke-index',
    'mv-area-half-time',
  ],
  run,
};
