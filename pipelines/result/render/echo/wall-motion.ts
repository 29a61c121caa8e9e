import { type SentenceTable, statementsOf } from '../../statement.ts';
import { allOf } from '../unit-text.ts';
import { type About, allNamed, namedText } from './shared.ts';

type Region = { kind: 'none' | 'global' | 'regional' } | { kind: 'territory'; artery: string };

function regionText(region: Region): string {
  switch (region.kind) {
    case 'none':
      return '';
    case 'global':
      return 'Global hypokinesis of the scored segments.';
    case 'territory':
      return `Regional abnormality within the usual territory of the ${region.artery}; coronary supply varies.`;
    case 'regional':
      return 'Regional abnormality, not confined to one coronary territory; coronary supply varies.';
  }
}

export type Scored = { name: string; score: string };

const listed = (segments: readonly Scored[]) =>
  segments.map(({ name, score }) => `${name} ${score}`).join(', ');

export const WALL_MOTION_SENTENCES = {
  'wall-motion.machine': ({ raised }: { raised: boolean }) =>
    `The wall motion score index from the machine is ${raised ? 'raised' : 'normal'}.`,
  'wall-motion.graded': ({ scored, of }: { scored: number; of: number }) =>
    `${scored} of ${of} segments were graded by thickening and inward motion of their outlines; the apex is not graded.`,
  // A segment that moves normally is graded normal unless its thickening is absent. Outlines, even
  // those by experts, show only half of the thickening, so they do not reveal a mild reduction
  // (docs/echo.md).
  'wall-motion.may-miss': () =>
    'A segment with mildly reduced motion may be graded normal: outlines show little of its thickening.',
  'wall-motion.abnormal': ({ segments }: { segments: readonly Scored[] }) =>
    `Abnormal in two views: ${listed(segments)}.`,
  'wall-motion.suspected': ({ segments }: { segments: readonly Scored[] }) =>
    `Suspected in one view, to be confirmed in a second: ${listed(segments)}.`,
  'wall-motion.region': ({ region }: { region: Region }) => regionText(region),
  'wall-motion.discordant-with-ef': (_: Record<string, never>, { about: [index, ef] }: About) =>
    `${index && namedText(index)} with ${ef && namedText(ef)}: global dysfunction or a scoring error.`,
  'wall-motion.untrusted': () =>
    'Wall motion was not graded: no permitted model has been shown to track the myocardium.',
  'wall-motion.outlines-withheld': ({ views }: { views: readonly string[] }) =>
    `Wall motion was not graded in ${allOf(views)}: a value measured on the same outlines was withheld.`,
  'wall-motion.few-segments': ({ enough, of }: { enough: number; of: number }) =>
    `Fewer than ${enough} of ${of} segments could be graded.`,
  'wall-motion.no-segment': () =>
    'No segment could be graded: motion and thickening disagree, or no second view shows the wall with reduced motion.',
  'wall-motion.raised-index': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: wall motion abnormality, segments unknown.`,
  'wall-motion.found': ({ segments, region }: { segments: readonly Scored[]; region: Region }) =>
    `Wall motion: ${listed(segments)}. ${regionText(region)}`.trim(),
  'wall-motion.possible': ({ segments }: { segments: readonly Scored[] }) =>
    `Wall motion possibly abnormal, seen in one view: ${listed(segments)}.`,
} as const satisfies SentenceTable;

export const sayOfWallMotion = statementsOf<typeof WALL_MOTION_SENTENCES>();
