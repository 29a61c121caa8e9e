import { ECHO_CONCEPTS, type EchoConcept } from '../../../concepts/echo.ts';
import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed, namedText } from './shared.ts';

const labels = (keys: readonly EchoConcept[]) =>
  keys.map((key) => ECHO_CONCEPTS[key].label).join(', ');

/** Text for each outcome of the RV systolic function decision table (echo 7.3). */
const FUNCTION = {
  'single index normal': (keys: readonly EchoConcept[]) =>
    `${labels(keys.slice(0, 1))} normal; single index only`,
  'single index reduced': (keys: readonly EchoConcept[]) =>
    `${labels(keys.slice(0, 1))} reduced; single index, RV dysfunction possible`,
  normal: () => 'Normal RV systolic function',
  borderline: (_: readonly EchoConcept[], abnormal: readonly EchoConcept[]) =>
    `Borderline RV systolic function: discordant indices (abnormal: ${labels(abnormal)})`,
  reduced: () => 'Reduced RV systolic function',
} as const;

interface RvFunction {
  conclusion: keyof typeof FUNCTION;
  judged: readonly EchoConcept[];
  abnormal: readonly EchoConcept[];
}

export const RV_FUNCTION_SENTENCES = {
  'rv-function.systolic': ({ conclusion, judged, abnormal }: RvFunction) =>
    `${FUNCTION[conclusion](judged, abnormal)}.`,
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
