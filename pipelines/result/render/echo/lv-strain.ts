import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed, namedText } from './shared.ts';

const TIMINGS = {
  'gls-end-systolic': 'end-systolic',
  'gls-peak-systolic': 'peak systolic',
} as const;

/** Text for the source of an overall GLS. */
const STRAIN_ORIGINS = {
  machine: 'of the machine',
  'machine-views': 'mean of three views of the machine',
  contour: 'mean of three views of contour strain',
} as const;
export type StrainOrigin = keyof typeof STRAIN_ORIGINS;

export const LV_STRAIN_SENTENCES = {
  'lv-strain.band': (of: { band: string; timing: keyof typeof TIMINGS; origin: StrainOrigin }) =>
    `GLS: ${of.band}; endocardial, ${TIMINGS[of.timing]}, ${STRAIN_ORIGINS[of.origin]}, values depend on the vendor.`,
  'lv-strain.at-limit': ({ points }: { points: number }) =>
    `The GLS lies within ${points} points of a limit of its band, which is within measurement variability.`,
  'lv-strain.discordant-with-ef': (_: Record<string, never>, { about: [ef, strain] }: About) =>
    `${ef && namedText(ef)} is normal and ${strain && namedText(strain)} is reduced: the two are discordant.`,
  'lv-strain.contour': () =>
    'What the outlines give is contour strain (length of the inner outline), not speckle tracking.',
  'lv-strain.sources-differ': ({ points, machine }: { points: number; machine: boolean }) =>
    `Contour strain of the outlines and strain of the machine differ by more than ${points} points${machine ? '; the value of the machine counts' : ''}.`,
  'lv-strain.needs-three-views': () =>
    'GLS was not assessed: it is the mean of three views of one method.',
  'lv-strain.machine-views': ({ views }: { views: readonly string[] }) =>
    `The machine reports ${views.join(', ')}.`,
  'lv-strain.outlined-views': ({ views }: { views: readonly string[] }) =>
    `The outlines give ${views.join(', ')}.`,
  'lv-strain.no-view': () => 'No view gave a strain.',
  'lv-strain.any-time': () =>
    'Peak strain at any time is not graded: the bands are of end-systolic or peak systolic strain.',
  'lv-strain.no-segments': () =>
    "A segmental bull's-eye was not made: no segment was followed in the images.",
  'lv-strain.reduced': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: reduced longitudinal shortening.`,
} as const satisfies SentenceTable;

export const sayOfLvStrain = statementsOf<typeof LV_STRAIN_SENTENCES>();
