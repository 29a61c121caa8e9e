import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed } from './shared.ts';
import { type PulmonaryStenosisGrade, type TricuspidGrade, valveGradeText } from './valves.ts';

const CAVA_NEEDED = {
  both: 'there is no accepted IVC measurement',
  diameter: 'there is no accepted IVC diameter',
  collapse: 'there is no accepted IVC collapse',
} as const;

export const PULMONARY_HYPERTENSION_SENTENCES = {
  'ph.probability': ({ probability }: { probability: string }) =>
    `Echocardiographic probability of pulmonary hypertension: ${probability}.`,
  'ph.low-by-velocity': ({ assessed, of }: { assessed: number; of: number }) =>
    `Echocardiographic probability of pulmonary hypertension: low by TRV; ${assessed} of ${of} categories assessed.`,
  'ph.near-limit': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)} is within its variability (0.1 m/s) of a cut-off.`,
  'ph.unexpected-jet': (_: Record<string, never>, { about: [jet, ...others] }: About) =>
    jet
      ? `${allNamed([jet])} is unexpected with ${allNamed(others)}: check that the jet is not that of MR or AS, and look for pulmonary stenosis.`
      : '',
  'ph.torrential': () => 'Torrential TR: the jet velocity underestimates RV pressure.',
  'ph.severe-regurgitation': ({ grade }: { grade: TricuspidGrade }) =>
    `TR ${valveGradeText({ disease: 'tricuspid-regurgitation', grade })}: the pressure estimated from the jet velocity is uncertain.`,
  'ph.outflow-stenosis': ({ grade }: { grade: PulmonaryStenosisGrade }) =>
    `In ${valveGradeText({ disease: 'pulmonary-stenosis', grade })}, the TR velocity shows the RV pressure, not the pulmonary artery pressure.`,
  'ph.no-jet': () => 'TR peak velocity was not measured; whether a signal was sought is unknown.',
  'ph.not-assessed': () => 'The probability of pulmonary hypertension was not assessed.',
  'ph.no-atrial-pressure': (of: { missing: keyof typeof CAVA_NEEDED; machineRvsp: boolean }) =>
    `RA pressure was not assessed: ${CAVA_NEEDED[of.missing]}, and no pressure is assumed; ${
      of.machineRvsp
        ? 'RVSP is as reported by the ultrasound machine, which does not state the RA pressure used'
        : 'RVSP is not given'
    }.`,
  'ph.categories': ({ assessed, of }: { assessed: number; of: number }) =>
    `${assessed} of ${of} categories of signs were assessed.`,
  'ph.atrium-enlarged': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: RA enlarged.`,
} as const satisfies SentenceTable;

export const sayOfPressure = statementsOf<typeof PULMONARY_HYPERTENSION_SENTENCES>();
