import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed, namedText } from './shared.ts';

const TIMINGS = {
  'gls-end-systolic': 'end-systolic',
  'gls-peak-systolic': 'peak systolic',
} as const;

const STRAIN_ORIGINS = {
  machine: 'from the machine',
  person: 'entered by hand',
  'machine-views': 'mean of three views from the machine',
  contour: 'mean contour strain of three views',
} as const;
export type StrainOrigin = keyof typeof STRAIN_ORIGINS;

export const LV_STRAIN_SENTENCES = {
  'lv-strain.band': (of: { band: string; timing: keyof typeof TIMINGS; origin: StrainOrigin }) =>
    `GLS: ${of.band}; endocardial, ${TIMINGS[of.timing]}, ${STRAIN_ORIGINS[of.origin]}; values are vendor-dependent.`,
  'lv-strain.at-limit': ({ points }: { points: number }) =>
    `The GLS lies within ${points} points of a band limit, which is within measurement variability.`,
  'lv-strain.discordant-with-ef': (_: Record<string, never>, { about: [ef, strain] }: About) =>
    `${ef && namedText(ef)} is not reduced, but ${strain && namedText(strain)} is: the two are discordant.`,
  'lv-strain.contour': () =>
    'The outlines give contour strain (length of the inner outline), not speckle-tracking strain.',
  'lv-strain.smoothed': () =>
    'Strain by segment is smoothed over each view, because outlines do not show it precisely: a regional reduction is not excluded.',
  'lv-strain.sources-differ': ({ points, machine }: { points: number; machine: boolean }) =>
    `Contour strain from the outlines and strain from the machine differ by more than ${points} points${machine ? '; the machine value is used' : ''}.`,
  'lv-strain.needs-three-views': () =>
    'GLS was not assessed: three views measured by one method are needed.',
  'lv-strain.machine-views': ({ views }: { views: readonly string[] }) =>
    `The machine reports ${views.join(', ')}.`,
  'lv-strain.outlined-views': ({ views }: { views: readonly string[] }) =>
    `The outlines give ${views.join(', ')}.`,
  'lv-strain.no-view': () => 'Strain was not measured in any view.',
  'lv-strain.any-time': () =>
    'Peak strain at any time is not graded: the bands apply to end-systolic or peak systolic strain.',
  'lv-strain.no-segments': () =>
    "No segmental bull's-eye plot was made: no segment was tracked in the images.",
  'lv-strain.reduced': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: reduced longitudinal shortening.`,
} as const satisfies SentenceTable;

export const sayOfLvStrain = statementsOf<typeof LV_STRAIN_SENTENCES>();
