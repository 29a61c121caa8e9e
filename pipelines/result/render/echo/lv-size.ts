import type { EchoConcept } from '../../../concepts/echo.ts';
import { ECHO_CONCEPTS } from '../../../concepts/echo.ts';
import { fixed } from '../../../measure/rounding.ts';
import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import {
  type Abnormality,
  type About,
  abnormalityText,
  type Geometry,
  geometryText,
  namedText,
} from './shared.ts';

export const LV_SIZE_SENTENCES = {
  'parasternal.reader-failed': () =>
    'The parasternal clips could not be analysed because of an internal error.',
  'parasternal.no-clip': () => 'No PLAX clip was found.',
  'parasternal.no-model': () => 'No permitted model measures the parasternal long axis.',
  'parasternal.no-lines': () => 'No reliable lines were found in the PLAX clips.',
  'lv-size.not-measured': ({ keys }: { keys: readonly EchoConcept[] }) =>
    `No accepted value: ${keys.map((key) => ECHO_CONCEPTS[key].abbreviation).join(', ')}.`,
  'lv-size.geometry': ({ geometry }: { geometry: Geometry }) =>
    `LV geometry: ${geometryText(geometry)}.`,
  'lv-size.geometry-without-index': () => 'LV geometry was not assessed without an LV mass index.',
  'lv-size.geometry-without-mass': () => 'LV geometry was not assessed: LV mass was withheld.',
  'lv-size.mass-per-height': (of: {
    value: number;
    decimals: number;
    grade: Abnormality | null;
    bodyMass: number;
  }) =>
    `LV mass / height^2.7 is ${Number(fixed(of.value, of.decimals))} g/m^2.7${of.grade ? `: ${abnormalityText(of.grade)}` : ''}; with a BMI of ${of.bodyMass} kg/m², indexing to BSA may hide hypertrophy.`,
  'lv-size.asymmetric-walls': ({ ratio }: { ratio: number | null }) =>
    `The walls differ by more than 3 mm: relative wall thickness and geometry are based on the posterior wall${ratio === null ? '' : `; (IVSd + LVPWd)/LVIDd is ${fixed(ratio, ECHO_CONCEPTS['relative-wall-thickness'].decimals)}`}.`,
  'lv-size.abnormal': ({ grades }: { grades: readonly Abnormality[] }, { about }: About) =>
    `${about.map((one, i) => `${namedText(one)} ${abnormalityText(grades[i] ?? 'abnormal')}`).join(', ')}.`,
} as const satisfies SentenceTable;

export const sayOfLvSize = statementsOf<typeof LV_SIZE_SENTENCES>();

/** Scales of its classifications. */
export const LV_SIZE_SCALES = {
  geometry: geometryText,
} as const satisfies ScaleTable;

export const categoryOfLvSize = categoriesOf<typeof LV_SIZE_SCALES>();
