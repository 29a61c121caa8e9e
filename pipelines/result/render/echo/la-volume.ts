import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed, namedText } from './shared.ts';

export const LA_VOLUME_SENTENCES = {
  'la-volume.grade': ({ grade }: { grade: string }) => `LA volume index: ${grade}.`,
  'la-volume.at-limit': ({ within }: { within: number }) =>
    `The LA volume index lies within ${within} ml/m² of a limit of its grade, which is within measurement variability.`,
  'la-volume.diameter-grade': ({ grade }: { grade: string }) =>
    `LA diameter: ${grade}; the diameter alone does not make the atrium normal.`,
  /** `about` contains the diameter, followed by the volume index. */
  'la-volume.diameter-disagrees': (
    { grade }: { grade: string },
    { about: [diameter, index] }: About,
  ) =>
    diameter && index
      ? `${namedText(diameter)} is ${grade} beside ${namedText(index)}; the volume counts.`
      : '',
  'la-volume.one-view': () =>
    'LA volume was not assessed: it takes both apical views, A4C and A2C.',
  'la-volume.not-indexed': () =>
    'LA volume was not indexed and not graded: height and weight are missing or implausible.',
  'la-volume.lengths-differ': () =>
    'The lengths of the two apical views differ by more than 5 mm; trace the atrium again.',
  'la-volume.enlarged': ({ grade }: { grade: string }, { about }: About) =>
    `${allNamed(about)}: LA volume ${grade}.`,
} as const satisfies SentenceTable;

export const sayOfLaVolume = statementsOf<typeof LA_VOLUME_SENTENCES>();
