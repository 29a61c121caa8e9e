import { ECHO_CONCEPTS, type EchoConcept } from '../../../concepts/echo.ts';
import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { type About, allNamed, codeOf, inWords, namedText } from './shared.ts';

const labels = (keys: readonly EchoConcept[]) =>
  keys.map((key) => ECHO_CONCEPTS[key].label).join(', ');

/** Outcomes of the RV systolic function decision table (echo 7.3). */
const RV_CONCLUSIONS = {
  'single-index-normal': 'single index normal',
  'single-index-reduced': 'single index reduced',
  normal: 'normal',
  borderline: 'borderline',
  reduced: 'reduced',
} as const;
export type RvConclusion = keyof typeof RV_CONCLUSIONS;
export const rvConclusionText = (conclusion: RvConclusion): string =>
  inWords(RV_CONCLUSIONS, conclusion);
export const rvConclusionOf = (stored: string): RvConclusion | undefined =>
  codeOf(RV_CONCLUSIONS, stored);

/** Sentence for each outcome. */
const FUNCTION = {
  'single-index-normal': (keys: readonly EchoConcept[]) =>
    `${labels(keys.slice(0, 1))} normal; single index only`,
  'single-index-reduced': (keys: readonly EchoConcept[]) =>
    `${labels(keys.slice(0, 1))} reduced; single index, RV dysfunction possible`,
  normal: () => 'Normal RV systolic function',
  borderline: (_: readonly EchoConcept[], abnormal: readonly EchoConcept[]) =>
    `Borderline RV systolic function: discordant indices (abnormal: ${labels(abnormal)})`,
  reduced: () => 'Reduced RV systolic function',
} as const satisfies Record<RvConclusion, unknown>;

interface RvFunction {
  conclusion: RvConclusion;
  judged: readonly EchoConcept[];
  abnormal: readonly EchoConcept[];
}

export const RV_FUNCTION_SENTENCES = {
  'rv-function.systolic': ({ conclusion, judged, abnormal }: RvFunction) =>
    `${FUNCTION[rvConclusionOf(conclusion) ?? conclusion](judged, abnormal)}.`,
  'rv-function.dilated': (_: Record<string, never>, { about }: About) =>
    `RV dilated: ${allNamed(about)}.`,
  'rv-function.larger-than-lv': (_: Record<string, never>, { about }: About) =>
    `The RV is larger than the LV: ${allNamed(about)}.`,
  'rv-function.wall-thickened': (_: Record<string, never>, { about }: About) =>
    `RV free wall thickened: ${allNamed(about)}.`,
  'rv-function.no-index': ({ other }: { other: boolean }) =>
    `RV systolic function was not assessed: there is no ${other ? 'other ' : ''}accepted index.`,
  'rv-function.rimp-not-counted': (of: { pulsed: number; tissue: number }, { about }: About) =>
    `${about.map(namedText).join(', ')} was not used: the machine does not state the Doppler method; abnormal is above ${of.pulsed} by pulsed and above ${of.tissue} by tissue Doppler.`,
  'rv-function.no-size': () =>
    'RV size was not assessed: there is no accepted RV basal or mid-cavity diameter.',
  'rv-function.no-ratio': () =>
    'The RV/LV ratio was not assessed: both basal diameters in the same frame are needed.',
  'rv-function.strain': ({ alone }: { alone: boolean }) =>
    `RV dilatation with reduced RV systolic function${alone ? ' by a single index' : ''}; consider acute pressure overload such as pulmonary embolism.`,
} as const satisfies SentenceTable;

export const sayOfRvFunction = statementsOf<typeof RV_FUNCTION_SENTENCES>();

/** Scales of its classifications. */
export const RV_FUNCTION_SCALES = {
  'rv-function': rvConclusionText,
} as const satisfies ScaleTable;

export const categoryOfRvFunction = categoriesOf<typeof RV_FUNCTION_SCALES>();
