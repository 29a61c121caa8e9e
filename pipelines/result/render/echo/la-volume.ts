import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type Abnormality, type About, abnormalityText, allNamed, namedText } from './shared.ts';

export const LA_VOLUME_SENTENCES = {
  'la-volume.grade': ({ grade }: { grade: Abnormality }) =>
    `LA volume index: ${abnormalityText(grade)}.`,
  'la-volume.at-limit': ({ within }: { within: number }) =>
    `The LA volume index lies within ${within} ml/m² of a grade limit, which is within measurement variability.`,
  'la-volume.diameter-grade': ({ grade }: { grade: Abnormality }) =>
    `LA diameter: ${abnormalityText(grade)}; diameter alone does not establish normal LA size.`,
  /** `about` contains the diameter, followed by the volume index. */
  'la-volume.diameter-disagrees': (
    { grade }: { grade: Abnormality },
    { about: [diameter, index] }: About,
  ) =>
    diameter && index
      ? `${namedText(diameter)} (${abnormalityText(grade)}) is discordant with ${namedText(index)}; the volume is used.`
      : '',
  'la-volume.one-view': () =>
    'LA volume was not assessed: both apical views (A4C and A2C) are needed.',
  'la-volume.not-indexed': () =>
    'LA volume was not indexed and not graded: height and weight are missing or implausible.',
  'la-volume.lengths-differ': () =>
    'The LA lengths in the two apical views differ by more than 5 mm; retrace the atrium.',
  'la-volume.enlarged': ({ grade }: { grade: Abnormality }, { about }: About) =>
    `${allNamed(about)}: LA volume ${abnormalityText(grade)}.`,
} as const satisfies SentenceTable;

export const sayOfLaVolume = statementsOf<typeof LA_VOLUME_SENTENCES>();
